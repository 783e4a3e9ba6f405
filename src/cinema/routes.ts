// The cinema's doors: what is on, the seats of a show, holding them, and the administration.
import type { Config } from '#config.ts'
import type { App } from '#core/http.ts'
import type { PlaceHoldParts } from '#holds/place-hold.ts'
import type { Limits } from '#limits/create-limits.ts'
import type { WaitingRooms } from '#waiting-room/waiting-rooms.ts'
import { cinemaAdminRoutes } from './admin-routes.ts'
import { openProgramme } from './programme.ts'
import { programmeRoutes } from './programme-routes.ts'
import { scheduleAdminRoutes } from './schedule-admin-routes.ts'
import { openSeatMaps } from './seat-map.ts'
import { seatRoutes } from './seat-routes.ts'

export type CinemaParts = PlaceHoldParts & {
  config: Pick<Config, 'seatsPerHoldMax' | 'seatsPerCustomerMax'>
  limits: Limits
  waitingRooms: WaitingRooms
}

export function cinemaRoutes(app: App, parts: CinemaParts): void {
  const { sql } = parts
  const programme = openProgramme(sql)
  programmeRoutes(app, { sql, programme })
  seatRoutes(app, { ...parts, programme, seatMaps: openSeatMaps({ sql, programme }) })
  cinemaAdminRoutes(app, { sql, programme })
  scheduleAdminRoutes(app, { sql, programme })
}
