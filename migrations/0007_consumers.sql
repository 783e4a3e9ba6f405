-- What consumers of the outbox keep: calendar entries of tickets, e-mail, loyalty points. None of it decides a sale.

-- What a booking's calendar file said last, so that its SEQUENCE rises when, and only when, it says something else (RFC 5545, 3.8.7.4).
create table calendar_entries (
  inventory_id bigint not null,
  booking_id uuid not null,
  fingerprint bytea not null,
  sequence int not null default 0,
  changed_at timestamptz not null,
  primary key (inventory_id, booking_id)
);

-- A mail to a buyer, sent at least once, always under the Message-ID made of its id. event_id is the fact it tells of; a reminder or a mail that was
-- asked for tells of none and carries its own id there. Name and address are read from the booking when it is sent, so a person is erased there once.
-- The last four columns are the mailbox page of a development server, which has no mail server to hand the mail to.
create table mails (
  inventory_id bigint not null,
  id uuid not null,
  booking_id uuid not null,
  event_id uuid not null,
  kind text not null check (kind in
    ('CONFIRMATION', 'CANCELLATION', 'PART_CANCELLATION', 'REFUND', 'NOT_BOOKED', 'PAYMENT_FAILED', 'REMINDER')),
  facts jsonb not null default '{}',
  status text not null default 'DUE' check (status in ('DUE', 'SENT', 'SKIPPED', 'PARKED')),
  attempts int not null default 0,
  next_attempt_at timestamptz not null,
  last_error text,
  created_at timestamptz not null,
  ended_at timestamptz,
  recipient text,
  subject text,
  body_text text,
  body_html text,
  primary key (inventory_id, id),
  unique (inventory_id, event_id, kind),
  check ((status = 'DUE') = (ended_at is null))
);
create index mails_due on mails (next_attempt_at) where status = 'DUE';
create index mails_by_booking on mails (inventory_id, booking_id, kind);
create unique index mails_one_reminder_a_booking on mails (inventory_id, booking_id) where kind = 'REMINDER';
create index mails_in_the_mailbox on mails (ended_at desc) where body_text is not null;

-- Which inventories had their reminders written, and for which beginning: a show that is moved later gets another round for whoever had none.
create table reminder_rounds (
  inventory_id bigint primary key,
  starts_at timestamptz not null,
  made_at timestamptz not null
);
create index inventory_descriptions_by_start on inventory_descriptions (starts_at);

-- Points given and taken back, one row a fact that changed them. A booking's rows always sum to the points of what was paid for it and kept.
create table loyalty_entries (
  inventory_id bigint not null,
  event_id uuid not null,
  booking_id uuid not null,
  customer_id text not null,
  reason text not null check (reason in ('PAID', 'REFUNDED')),
  points bigint not null check ((points > 0) = (reason = 'PAID') and points <> 0),
  created_at timestamptz not null,
  primary key (inventory_id, event_id)
);
create index loyalty_entries_by_customer on loyalty_entries (customer_id, created_at desc, event_id desc);
create index loyalty_entries_by_booking on loyalty_entries (inventory_id, booking_id);
