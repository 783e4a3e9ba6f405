// The cinema's doors: what is on, the seats of a show, holding them, and the administration.
import type { Config } from '#config.ts'
import type { App } from '#core/http.ts'
import type { Metrics } from '#core/metrics.ts'
import type { PlaceHoldParts } from '#holds/place-hold.ts'
import type { SeatBoards } from '#inventory/seat-boards.ts'
import type { Limits } from '#limits/create-limits.ts'
import type { WaitingRooms } from '#waiting-room/waiting-rooms.ts'
import { cinemaAdminRoutes } from './admin-routes.ts'
import { openProgramme } from './programme.ts'
import { programmeRoutes } from './programme-routes.ts'
import { scheduleAdminRoutes } from './schedule-admin-routes.ts'
import { seatMapRoutes } from './seat-map-routes.ts'
import { seatRoutes } from './seat-routes.ts'
import { seatStreamRoutes } from './seat-stream-routes.ts'

export type CinemaParts = PlaceHoldParts & {
  config: Pick<Config, 'seatsPerHoldMax' | 'seatsPerCustomerMax' | 'sseConnectionsMax' | 'sseConnectionsPerAddressMax'>
  metrics: Pick<Metrics, 'observe'>
  boards: SeatBoards
  limits: Limits
  waitingRooms: WaitingRooms
}

export function cinemaRoutes(app: App, parts: CinemaParts): void {
  const { sql } = parts
  const programme = openProgramme(sql)
  programmeRoutes(app, { sql, programme })
  seatMapRoutes(app, { ...parts, programme })
  seatStreamRoutes(app, { ...parts, programme })
  seatRoutes(app, { ...parts, programme })
  cinemaAdminRoutes(app, { sql, programme })
  scheduleAdminRoutes(app, { sql, programme, boards: parts.boards })
}
