-- The tables of version 2. Once it is released they never change here: the next version is a block at the end of this file, which alters them.

do $types$
begin
  -- Text that is compared and sorted byte by byte. In the order of a language an index loses rows when that order changes, with another C library
  -- or image of PostgreSQL under the same data: then nobody would know any more who was paid.
  if to_regtype('exact') is null then
    create domain exact as text collate "C";
  end if;
  -- A limit in ETB; null is no limit. (NaN is above all numbers: it would be no limit.)
  if to_regtype('most_etb') is null then
    create domain most_etb as numeric check (value >= 0 and value < 1e21);
  end if;
end $types$;

create table if not exists version (
  version integer primary key, -- The highest one holds
  release text not null, -- The release that brought it
  installed_at timestamptz not null default clock_timestamp(),
  server integer -- The major version of PostgreSQL that made the keys of the payments. claim refuses another one.
);

-- The limits: one row for each budget, under which workflows pay, and one for each caller that has limits besides. A budget without a row pays
-- nobody. Changed by set_rules.
create table if not exists rules (
  budget exact check (length(budget) between 1 and 100), -- The name that workflows give it, such as main
  requested_by exact default '' check (length(requested_by) <= 200), -- Empty: the budget's own row. Or what key_of makes of the name that the caller gives itself, which nothing proves
  paused boolean not null default false, -- Nothing new is handed out while true; what was handed out ends
  most_per_payment most_etb,
  most_per_day most_etb, -- For all payments, of the budget or of the caller, in one calendar day
  most_per_month most_etb,
  -- The rest is of the budget's own row.
  most_per_recipient_per_day most_etb, -- For one person and calendar day
  most_per_recipient_per_month most_etb,
  time_zone exact not null default 'Africa/Addis_Ababa', -- A day begins and ends there
  -- The time to send and record a window. Afterwards an attempt that was not recorded is unknown. Nothing is sent after half of it.
  lease interval not null default '15 minutes' check (lease > interval '0'),
  primary key (budget, requested_by)
);

-- Each attempt to make a payment: one row for each time that it was handed out, that a person wrote it down as paid, or that a second payment of
-- its claim was found. Never removed; its person and amount stay; paid is for ever.
create table if not exists payment (
  budget exact not null, -- The budget that pays
  key exact not null, -- The reference by key_of: references that look the same are the same
  attempt integer not null check (attempt > 0), -- 1 for the first one. The next one is handed out only when all before it are notPaid.
  reference exact not null, -- The caller's own name of the payment, as it was written at first
  to_user_id exact not null, -- The person who gets the money
  amount_etb numeric not null check (amount_etb > 0),
  state exact not null check (state in ('sending', 'paid', 'notPaid', 'unknown')), -- sending: handed out, its end not recorded yet (after lease_until: unknown). unknown: may have been paid; a person settles it.
  surprise exact check (surprise in ('paidTwice', 'paidAfterAll')), -- A person should know of it. paidTwice: another attempt is paid too. paidAfterAll: the answer came after a person, or an earlier answer, had said that it was not paid.
  requested_by exact not null, -- The name that the caller gave itself, or empty
  claim uuid, -- The claim that handed it out, which record asks for. Null: a person wrote it down as paid.
  execution exact, -- The execution of n8n that claimed it
  claimed_at timestamptz not null, -- When it was handed out or written down
  lease_until timestamptz not null, -- Its end has to be recorded by then
  spent_on date, -- The day that its money counts for. Null: it was paid without the gate, and counts for none.
  answer exact check (answer in ('paid', 'notPaid', 'unknown')), -- The last answer of the ETB Wallet node, if it came
  ended_at timestamptz, -- When its end was recorded, or a person settled it
  tx_hash exact, -- The transaction hash of the service
  reason exact, -- The reason why it is not paid or unknown, or the note of the person who settled it
  settled_by exact, -- The person who settled it
  -- (No two indexes have the same first column. A plan made for an empty table takes any index whose first column is asked for, and keeps it.)
  primary key (key, budget, attempt)
);
-- The attempts that are in flight, to be settled, or to be looked at
create index if not exists payment_open on payment (budget, claimed_at) where state in ('sending', 'unknown') or surprise is not null;
-- For "Find a payment"
create index if not exists payment_person on payment (to_user_id, budget, claimed_at);
create index if not exists payment_transaction on payment (tx_hash) where tx_hash is not null;

-- The money that is spent or reserved: the sums of the attempts that are sending, paid or unknown
create table if not exists spent (
  budget exact,
  period exact check (period in ('day', 'month')), -- A calendar day or month in the budget's time zone
  starts_on date, -- The first day of the period
  scope exact check (scope in ('budget', 'recipient', 'caller')), -- Whose sum it is: of the budget, of one recipient, of one caller
  who exact, -- The recipient's toUserId or the caller's requestedBy, by key_of; empty for the budget
  amount_etb numeric not null,
  name exact not null default '', -- The toUserId or requestedBy, as it was written at first
  primary key (budget, period, starts_on, scope, who)
) with (fillfactor = 60);

-- Each attempt, answer, refusal (a repeated one once), settlement and change of the rules. Only added to.
create table if not exists history (
  id bigint generated always as identity primary key, -- In the order in which it happened, for one budget
  at timestamptz not null,
  budget exact not null,
  event exact not null, -- send, refused; paid, notPaid, unknown; latePaid, lateUnknown, lateAnswer; leaseEnded; saidPaid, saidNotPaid, saidSeen, saidPaidBefore; rules; newKey
  reference exact, -- As the payment has it
  attempt integer, -- Which attempt it is about
  to_user_id exact,
  amount_etb numeric,
  requested_by exact,
  claim uuid,
  execution exact, -- The execution of n8n that did it
  by_person exact, -- The person who did it
  detail exact -- The reason, txHash, note or change
);
-- The story of one payment
create index if not exists history_of_payment on history (budget, reference, id);

-- Says what a table does not allow
create or replace function refuse_change() returns trigger language plpgsql as $f$
begin
  raise exception 'etb_wallet.% (%) %', tg_table_name, tg_op,
    case tg_table_name
      when 'history' then 'is only added to'
      else 'keeps every payment, with its person and its amount, and what is paid stays paid'
    end;
end $f$;

do $guards$
declare
  v_before integer := current_setting('etb_wallet.version_before')::integer;
begin
  if v_before = 1 then
    -- Functions that decide take the lock of their row in rules first. While the set-up holds all rows, none of them stops halfway, at spent or payment.
    perform from rules for update;
    alter table version add column server integer;
    alter table spent add column name exact not null default '';
    drop trigger paid_for_ever on payment;
  end if;
  if v_before = 0 then
    create trigger only_added before update or delete or truncate on history
      for each statement execute function refuse_change();
    create trigger never_removed before delete or truncate on payment
      for each statement execute function refuse_change();
  end if;
  if v_before < 2 then
    -- Refuses changes that make a paid payment payable again, or give a payment another person, amount or claim. The set-up may change the key to the one
    -- that the reference has on this server, and with the key the attempt's number.
    create trigger paid_for_ever before update on payment
      for each row when (
        (old.state = 'paid' and new.state <> 'paid')
        or (old.key <> new.key and new.key <> key_of(new.reference)) or (old.attempt <> new.attempt and old.key = new.key)
        or old.budget <> new.budget or old.reference <> new.reference
        or old.to_user_id <> new.to_user_id or old.amount_etb <> new.amount_etb or old.claim is distinct from new.claim
      ) execute function refuse_change();
  end if;
end $guards$;
