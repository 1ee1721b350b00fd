-- Version 1 of the tables. Once it is released it never changes: the next version is a file of its own, which alters these tables. The build makes a comment in the database of each `--`
-- at the end of a column, and of those above a table.

create domain etb_wallet.most_etb as numeric check (value >= 0 and value < 1e21); -- (NaN is above all numbers: it would be no limit.)
comment on domain etb_wallet.most_etb is 'A limit in ETB; null is no limit';

-- One row for each budget, under which workflows pay. A budget without a row pays nobody. Changed by set_rules.
create table etb_wallet.rules (
  budget text primary key check (length(budget) between 1 and 100), -- The name that workflows give it, such as main
  paused boolean not null default false, -- Nothing new is handed out while true; what was handed out ends
  only_known_recipients boolean not null default false, -- Whether only those in recipient are paid
  only_known_callers boolean not null default false, -- Whether only those in caller may ask, by the name that they give themselves
  most_per_payment etb_wallet.most_etb, -- In ETB
  most_per_recipient_per_day etb_wallet.most_etb, -- In ETB, for one person and calendar day
  most_per_recipient_per_month etb_wallet.most_etb, -- In ETB, for one person and calendar month
  most_per_day etb_wallet.most_etb, -- In ETB, for all in one calendar day
  most_per_month etb_wallet.most_etb, -- In ETB, for all in one calendar month
  time_zone text not null default 'Africa/Addis_Ababa', -- Where a day begins and ends
  lease interval not null default '15 minutes' check (lease > interval '0'), -- How long a window has to be sent and recorded. Afterwards what was not recorded is unknown. Nothing is sent after half of it.
  wait interval not null default '10 seconds' check (wait between interval '0' and interval '1 minute') -- How long a claim waits for references that another claim is sending
);

-- Known recipients. Changed by set_recipient.
create table etb_wallet.recipient (
  budget text, -- The budget that they belong to
  to_user_id text check (length(to_user_id) between 1 and 200), -- The ID that User → Create returned
  primary key (budget, to_user_id)
);

-- Rules of one caller, besides those of the budget. Changed by set_caller.
create table etb_wallet.caller (
  budget text, -- The budget that it belongs to
  requested_by text check (length(requested_by) <= 200), -- The name that the caller gives itself, which nothing proves; empty: those that give none
  paused boolean not null default false, -- Nothing new is handed out for this caller while true
  most_per_payment etb_wallet.most_etb, -- In ETB
  most_per_day etb_wallet.most_etb, -- In ETB, for all its payments in one calendar day
  most_per_month etb_wallet.most_etb, -- In ETB, for all its payments in one calendar month
  primary key (budget, requested_by)
);

-- Each attempt to make a payment: one row for each time that it was handed out. Never removed; its person and amount stay; paid is for ever.
create table etb_wallet.payment (
  budget text not null, -- The budget that pays
  reference text not null, -- The caller's own key of the payment
  attempt integer not null check (attempt > 0), -- 1 for the first one. There is a next one only after all before it were not paid.
  look text not null, -- The reference without case, blanks and compatibility forms: references with the same look are not of one list
  to_user_id text not null, -- Who gets the money: the same in all attempts
  amount_etb numeric not null check (amount_etb > 0), -- How much, in ETB: the same in all attempts
  state text not null check (state in ('sending', 'paid', 'notPaid', 'unknown')), -- sending: handed out, its end not recorded yet (after lease_until: unknown). unknown: may have been paid; a person settles it.
  surprise text check (surprise in ('paidTwice', 'paidAfterAll')), -- What a person should know. paidTwice: another attempt is paid too. paidAfterAll: the answer came after a person, or an earlier answer, had said that it was not paid.
  requested_by text not null, -- The name that the caller gave itself, or empty
  claim uuid, -- The claim that handed it out. Only who knows it can end it. Null: a person wrote it down as paid.
  execution text, -- The execution of n8n that claimed it
  claimed_at timestamptz not null, -- When it was handed out or written down
  lease_until timestamptz not null, -- Until when its end has to be recorded
  spent_on date, -- The day that its money counts for. Null: it was paid without the gate, and counts for none.
  answer text check (answer in ('paid', 'notPaid', 'unknown')), -- What the ETB Wallet node answered last, if it did
  ended_at timestamptz, -- When its end was recorded, or a person settled it
  tx_hash text, -- What the service gave for it
  reason text, -- Why it is not paid or unknown, or the note of the person who settled it
  settled_by text, -- The person who settled it
  confirmed_at timestamptz, -- When the event disburse.completed came for it, or a person said that it needs none
  confirmed_by text, -- That person
  -- (No two indexes begin alike: a plan made for an empty table takes any that begins with what is asked for, and keeps it.)
  primary key (reference, budget, attempt)
);
-- What is in flight, to be settled, or to be looked at
create index payment_open on etb_wallet.payment (budget, claimed_at) where state in ('sending', 'unknown') or surprise is not null;
-- References that look the same
create index payment_look on etb_wallet.payment (look, budget);
-- What is paid and waits for its event
create index payment_unconfirmed on etb_wallet.payment (budget, tx_hash) where state = 'paid' and confirmed_at is null;

-- What is spent or reserved: the sums of the attempts that are sending, paid or unknown
create table etb_wallet.spent (
  budget text, -- The budget that pays
  scope text check (scope in ('budget', 'recipient', 'caller')), -- Whose sum it is: of the budget, of one recipient, of one caller
  who text, -- The recipient's toUserId or the caller's requestedBy; empty for the budget
  period text check (period in ('day', 'month')), -- A calendar day or month in the budget's time zone
  starts_on date, -- The first day of the period
  amount_etb numeric not null, -- In ETB
  primary key (budget, scope, who, period, starts_on)
) with (fillfactor = 60);

-- Each txHash that an event disburse.completed told, also when it came before the answer to the payment
create table etb_wallet.confirmation (
  budget text, -- The budget whose event it was
  tx_hash text check (length(tx_hash) between 1 and 200), -- As the event told it
  received_at timestamptz not null, -- When it came first
  primary key (budget, tx_hash)
);

-- Everything that was decided, told and said. Only added to.
create table etb_wallet.history (
  id bigint generated always as identity primary key, -- In the order in which it happened, for one budget
  at timestamptz not null, -- When
  budget text not null, -- The budget
  event text not null, -- send, refused; paid, notPaid, unknown; latePaid, lateUnknown, lateAnswer; leaseEnded; saidPaid, saidNotPaid, saidSeen, saidPaidBefore, saidConfirmed; confirmed; rules, recipient, caller
  reference text, -- The payment's reference
  attempt integer, -- Which attempt it is about
  to_user_id text, -- Who gets the money
  amount_etb numeric, -- How much, in ETB
  requested_by text, -- The name that the caller gave itself
  claim uuid, -- The claim that handed it out
  execution text, -- The execution of n8n that did it
  by_person text, -- The person who did it
  detail text -- The reason, txHash, note or change
);
-- The story of one payment
create index history_of_payment on etb_wallet.history (budget, reference, id);

-- Says what a table does not allow
create function etb_wallet.refuse_change() returns trigger
language plpgsql set search_path = etb_wallet, pg_temp as $f$
begin
  raise exception 'etb_wallet.% (%) %', tg_table_name, tg_op,
    case tg_table_name
      when 'history' then 'is only added to'
      else 'keeps every payment, with its person and its amount, and what is paid stays paid'
    end;
end $f$;

create trigger only_added before update or delete or truncate on etb_wallet.history
  for each statement execute function etb_wallet.refuse_change();
comment on trigger only_added on etb_wallet.history is 'Refuses every change and removal';
create trigger never_removed before delete or truncate on etb_wallet.payment
  for each statement execute function etb_wallet.refuse_change();
comment on trigger never_removed on etb_wallet.payment is 'Refuses every removal';
create trigger paid_for_ever before update on etb_wallet.payment
  for each row when (
    (old.state = 'paid' and new.state <> 'paid')
    or old.budget <> new.budget or old.reference <> new.reference or old.attempt <> new.attempt
    or old.to_user_id <> new.to_user_id or old.amount_etb <> new.amount_etb or old.claim is distinct from new.claim
  ) execute function etb_wallet.refuse_change();
comment on trigger paid_for_ever on etb_wallet.payment is 'Refuses what would make a paid payment payable again, or give it another person, amount or claim';
