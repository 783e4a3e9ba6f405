-- The waiting room's lasting part: the operator's wishes, the draw that anybody can check, and which admission paid for what.
-- Who waits where is in Redis or in memory: it changes with every heartbeat, and signed tickets bring it back.

-- One row for each inventory that ever had a waiting room; a new round, with a new seed, begins whenever it is switched on again.
create table waiting_rooms (
  inventory_id bigint primary key,
  status text not null check (status in ('OFF', 'PRE_QUEUE', 'OPEN', 'PAUSED', 'CLOSED')),
  round int not null check (round > 0),
  active_max int not null check (active_max > 0),
  -- Null: as fast as places become free.
  admit_per_minute int check (admit_per_minute > 0),
  opens_at timestamptz,
  message text,
  -- Made when the round begins; its SHA-256 is told to everybody who waits, the seed itself once the draw was made.
  seed bytea not null check (length(seed) = 32),
  -- When this round was switched on: whoever held seats before needs no admission to pay for them.
  began_at timestamptz not null,
  opened_at timestamptz,
  -- Who took part in the draw, in the order it gave; null before.
  drawn text[],
  -- Opened by load, and closed again when nobody waits.
  automatic boolean not null default false,
  changed_at timestamptz not null
);

-- An admission is good for one purchase: the hold it was taken to the checkout with. Written under the lock of the inventory.
create table admission_purchases (
  inventory_id bigint not null,
  round int not null,
  visitor text not null,
  admission_no bigint not null,
  hold_id uuid not null,
  claimed_at timestamptz not null,
  -- Set once the purchase is made and the visitor's place was given to the next one.
  freed_at timestamptz,
  primary key (inventory_id, round, visitor, admission_no)
);
-- What the rooms look through twice a second: purchases that may be finished by now.
create index admission_purchases_open on admission_purchases (inventory_id, round) where freed_at is null;
