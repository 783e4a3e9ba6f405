// What a store of visitors must do, in memory or in Redis: each of these is one step that nobody can slip into. test/waiting-room runs one suite over both.

/** The part of a room's settings that its moves depend on. */
export type Room = {
  inventoryId: number
  round: number
  status: 'PRE_QUEUE' | 'OPEN' | 'PAUSED' | 'CLOSED'
  activeMax: number
  /** Null: as fast as places become free. */
  admitPerMinute: number | null
  /** Something is left to sell; without it nobody is admitted. */
  selling: boolean
}

/**
 * Times are milliseconds of the store's clock. `untilMs` is when the place is given to somebody else unless the visitor is heard of again, and until then
 * the signed pass is good by itself; `endMs` is when the admission ends in any case. `no` tells two admissions of one visitor apart.
 */
export type Admission = { no: number; untilMs: number; endMs: number }

/** How fast the line has moved of late, older moves weighing less: places freed in `timeMs`, and who left the line in `waitedMs` of everybody's waiting. */
export type Pace = { freed: number; timeMs: number; departed: number; waitedMs: number }

export type Place = {
  /** GONE: not known here (any more): left, silent for too long, admission over, or never joined. */
  status: 'PRE_QUEUE' | 'WAITING' | 'ADMITTED' | 'GONE'
  /** This call made the place. */
  first: boolean
  /** Below zero: from the draw; above: the microsecond of joining, and for who is GONE, of now. Who has the lower one comes first. */
  score: number
  /** How many stand before. */
  ahead: number
  /** Places that nobody has at this moment. */
  free: number
  pace: Pace
  admission: Admission | null
  nowMs: number
}

/** What a visitor brings along to be believed by a store that lost its memory: the score of their ticket, their signed admission. */
export type Proof = { score: number | null; admission: Admission | null }

export type RoomCount = { waiting: number; active: number; admitted: number }

export type StoreRules = {
  /** Not heard of for this long, a visitor is gone. */
  goneMs: number
  admissionTtlMs: number
}

/** Rejects when the store is away; nothing was changed then, or all of it. */
export type RoomStore = {
  /** A round that has just been made: nothing was given out before, so nothing has to be waited for. */
  begin(room: Room): Promise<void>
  /** Joining again keeps the place. `drawnScore` is the visitor's place should the draw decide. Admits at once while there are free places and nobody before. */
  join(room: Room, visitor: string, drawnScore: number): Promise<Place>
  /** A sign of life. `keepMs`: an admitted visitor's place is kept at least this long from now, also without another one (they are paying). */
  visit(room: Room, visitor: string, proof: Proof, keepMs?: number): Promise<Place>
  /** Left or finished: the place is free at once. */
  leave(room: Room, visitors: string[]): Promise<void>
  /** From now on who joins stands behind those who were there; answers them, in no order. Repeating it changes nothing. */
  open(room: Room): Promise<string[]>
  /** Forgets who is gone, admits who is next; a bounded number each time. */
  move(room: Room): Promise<RoomCount>
  /** Adds what this process saw of a show's hold attempts; answers how many all processes saw in the last whole second. */
  countAttempts(inventoryId: number, attempts: number): Promise<number>
  /** The room is off. */
  forget(room: Pick<Room, 'inventoryId' | 'round'>): Promise<void>
}
