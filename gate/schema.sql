-- Made by `npm run build` of the files in gate/schema: change those, and not this.

---------- gate/schema/10-begin.sql

-- The pay gate's record in PostgreSQL 13 or newer: which payment was handed out for sending, how it ended, and what may be spent.
--
-- Run it as a role that may create roles and schemas (it need not be a superuser), with psql -f, or as one query of n8n's Postgres node.
-- Run it again to update: it changes nothing that is up to date. It is one statement, so it happens as a whole or not at all.
--
-- Tables and functions belong to etb_wallet_owner, which cannot log in. A login may do what etb_wallet_gate (for n8n) or etb_wallet_desk (for a
-- person) may, which are of the whole server, in the databases whose schema etb_wallet it was granted usage of.
--
-- All functions that decide take one lock, that of the budget's row in `rules`: they happen one after the other, see what the one before
-- wrote (each statement of READ COMMITTED looks anew), and cannot lock each other out.
--
-- Those that are called often are PL/pgSQL, which keeps its plans; PostgreSQL plans functions in SQL anew at each call.
-- They run with enable_seqscan = off: a connection keeps the plan that it made while a table was empty, also when the table has grown; and
-- without jit, which can take longer to compile a plan than the plan takes to run a thousand times.
--
-- A backslash stands in E'...' only: in other text it means something else where standard_conforming_strings is off.
do $setup$
declare
  c_version constant integer := 1; -- the newest of the tables. `npm run build` writes it into pay-gate.json.
  c_release constant pg_catalog.text := '0.1.0'; -- the first release of n8n-nodes-etb-wallet that has it
  -- (The search path is set below. These types are looked up before: a domain "text" in "public" would be a trap.)
  -- What the workflow Pay gate set-up asks for: {budget, limits, callers: {name: limits}, person, newPasswords}. Null: only the record.
  v_given pg_catalog.jsonb;
  v_told pg_catalog.jsonb := '[]';
  v_name pg_catalog.text;
  v_password pg_catalog.text;
  v_wrong pg_catalog.text;
  v_each record;
  v_role_before pg_catalog.text;
  v_found integer;
begin
-- Every name below is one of PostgreSQL's own, or says its schema: what somebody else made, say a function "format" in "public", never runs.
perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
perform set_config('client_min_messages', 'warning', true);
v_given := nullif(current_setting('etb_wallet.given', true), '');
-- It gives up rather than holding up all payments while it waits for a transaction that somebody forgot.
perform set_config('lock_timeout', '30s', true);
v_role_before := current_setting('role');
if current_setting('server_version_num')::integer < 130000 then
  raise exception 'The pay gate needs PostgreSQL 13 or newer; this is %', current_setting('server_version');
elsif getdatabaseencoding() <> 'UTF8' then
  raise exception 'The pay gate needs a database whose encoding is UTF8; this one is %', getdatabaseencoding();
elsif length('→') <> 1 then
  raise exception 'This text came as %, and is UTF8', current_setting('client_encoding') using hint = 'set client_encoding to UTF8';
end if;
-- Two who set up at once take turns.
perform pg_advisory_xact_lock(hashtext('etb_wallet: setting up'));

---------- gate/schema/20-roles.sql

-- The three roles of the whole server, the two logins of this database, and who sets up as a member of the owner

for v_name in select r from unnest(array['etb_wallet_owner', 'etb_wallet_gate', 'etb_wallet_desk']) r where to_regrole(r) is null loop
  execute format('create role %I nologin', v_name);
end loop;
if exists (select from pg_roles where rolname = 'etb_wallet_owner' and (rolcanlogin or rolsuper or rolbypassrls)) then
  raise exception 'The role etb_wallet_owner must neither log in nor be a superuser: alter role etb_wallet_owner nologin nosuperuser nobypassrls';
end if;

-- Roles are of the whole server, so each database has logins of its own. A login that is there keeps its password unless new ones
-- are asked for; rights and settings that it lost are given again.
if v_given is not null then
  select string_agg(l.value, ' and ') into v_wrong
  from (select v_given -> 'limits' as limits union all select value from jsonb_each(v_given -> 'callers')) o, jsonb_each_text(o.limits) l
  where l.value !~ '^[0-9]{1,15}([.][0-9]{1,2})?$';
  if v_wrong is not null then
    raise exception 'This is not an amount: %. In Your Budget write for example 10000 or 1250.50, or nothing for no limit', v_wrong;
  end if;
  -- (The gate's last: n8n fills the credential that was made last into what is imported, and a gate that cannot record must not pay.)
  for v_each in select * from (values ('Pay gate desk', 'pay_desk_', 'etb_wallet_desk'), ('Pay gate', 'pay_gate_', 'etb_wallet_gate')) l (credential, prefix, role) loop
    v_name := v_each.prefix || case when octet_length(current_database()) <= 54 then current_database() else md5(current_database()) end;
    v_password := null;
    if to_regrole(quote_ident(v_name)) is null then
      execute format('create role %I', v_name);
      v_password := '';
    end if;
    if v_password = '' or lower(v_given ->> 'newPasswords') = 'yes' then
      v_password := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
      execute format('alter role %I password %L', v_name, v_password);
    end if;
    if not pg_has_role(v_name, v_each.role, 'usage') then
      execute format('grant %I to %I', v_each.role, v_name);
    end if;
    -- What the server's defaults must not change: whose functions run, how text is read, what a transaction sees, and how long one that
    -- somebody forgot holds up the others.
    execute format('alter role %1$I login; alter role %1$I set search_path = pg_catalog, pg_temp; alter role %1$I set standard_conforming_strings = on;
      alter role %1$I set default_transaction_isolation = %2$L; alter role %1$I set default_transaction_read_only = off;
      alter role %1$I set statement_timeout = %3$L; alter role %1$I set lock_timeout = %4$L; alter role %1$I set idle_in_transaction_session_timeout = %3$L;
      alter role %1$I set synchronous_commit = on', v_name, 'read committed', '2min', '10s');
    v_told := v_told || jsonb_build_object('credential', v_each.credential, 'user', v_name, 'password', coalesce(v_password, 'as before: this login was there'));
  end loop;
end if;

-- Everything below is made by the owner. Who sets up becomes a member for as long as that takes.
begin
  grant etb_wallet_owner to current_user;
exception when insufficient_privilege then
  raise exception 'There is a role etb_wallet_owner, and "%" may not act for it: %', current_user, sqlerrm
    using hint = format('Set up as the role that made it, or a superuser allows it: grant etb_wallet_owner, etb_wallet_gate, etb_wallet_desk to %I with admin option', current_user);
end;

---------- gate/schema/30-schema.sql

-- The schema, and which version of the tables is in it. From here on all is made by the owner.

-- A schema of somebody else could hold what runs with the rights of who sets up.
if exists (select from pg_namespace where nspname = 'etb_wallet' and nspowner <> 'etb_wallet_owner'::regrole) then
  if to_regclass('etb_wallet.payment') is not null then
    raise exception 'This is a pay gate that was restored before the set-up had made its roles. Keep it: without it nobody knows who was paid'
      using hint = 'Set the gate up in an empty database of this server, and restore the backup there: docs/operating.md, "Backup". Pay nobody before that.';
  end if;
  raise exception 'There is a schema etb_wallet that this file did not make' using hint = 'Use another database.';
end if;
create schema if not exists etb_wallet authorization etb_wallet_owner;
set local role etb_wallet_owner;
-- From here on a name is one of PostgreSQL's own, or of this schema, in which nobody else can make anything.
perform set_config('search_path', 'etb_wallet, pg_temp', true);
comment on schema etb_wallet is 'The pay gate of n8n-nodes-etb-wallet. Its gate/schema.sql says what each column means.';
create table if not exists version (
  version integer primary key, -- The highest one holds
  release text not null, -- That brought it
  installed_at timestamptz not null default clock_timestamp()
);
select coalesce(max(version), 0) into v_found from version;
if v_found > c_version then
  raise exception 'This database has version % of the pay gate, and this file is version %', v_found, c_version using hint = 'Take gate/schema.sql from the newest release.';
end if;
if v_found < c_version then
  insert into version (version, release) values (c_version, c_release);
end if;

---------- gate/schema/31-version-1.sql

-- The tables of version 1. Once it is released this never changes: the next version is a file of its own, which alters these tables.

if v_found < 1 then
-- Text that is compared and sorted byte by byte. In the order of a language an index loses rows when that order changes, with another C library
-- or image of PostgreSQL under the same data: then nobody would know any more who was paid.
create domain exact as text collate "C";
-- A limit in ETB; null is no limit. (NaN is above all numbers: it would be no limit.)
create domain most_etb as numeric check (value >= 0 and value < 1e21);

-- What may be spent: one row for each budget, under which workflows pay, and one for each caller that has limits besides. A budget without a row pays
-- nobody. Changed by set_rules.
create table rules (
  budget exact check (length(budget) between 1 and 100), -- The name that workflows give it, such as main
  requested_by exact default '' check (length(requested_by) <= 200), -- Empty: the budget's own row. Or the name that the caller gives itself, which nothing proves
  paused boolean not null default false, -- Nothing new is handed out while true; what was handed out ends
  most_per_payment most_etb,
  most_per_day most_etb, -- For all payments, of the budget or of the caller, in one calendar day
  most_per_month most_etb,
  -- The rest is of the budget's own row.
  most_per_recipient_per_day most_etb, -- For one person and calendar day
  most_per_recipient_per_month most_etb,
  time_zone exact not null default 'Africa/Addis_Ababa', -- Where a day begins and ends
  -- How long a window has to be sent and recorded. Afterwards what was not recorded is unknown. Nothing is sent after half of it.
  lease interval not null default '15 minutes' check (lease > interval '0'),
  primary key (budget, requested_by)
);

-- Each attempt to make a payment: one row for each time that it was handed out. Never removed; its person and amount stay; paid is for ever.
create table payment (
  budget exact not null, -- The budget that pays
  key exact not null, -- What key_of makes of the reference: references that look the same are the same
  attempt integer not null check (attempt > 0), -- 1 for the first one. There is a next one only after all before it were not paid.
  reference exact not null, -- The caller's own name of the payment, as it was written at first
  to_user_id exact not null, -- Who gets the money
  amount_etb numeric not null check (amount_etb > 0),
  state exact not null check (state in ('sending', 'paid', 'notPaid', 'unknown')), -- sending: handed out, its end not recorded yet (after lease_until: unknown). unknown: may have been paid; a person settles it.
  surprise exact check (surprise in ('paidTwice', 'paidAfterAll')), -- What a person should know. paidTwice: another attempt is paid too. paidAfterAll: the answer came after a person, or an earlier answer, had said that it was not paid.
  requested_by exact not null, -- The name that the caller gave itself, or empty
  claim uuid, -- The claim that handed it out. Only who knows it can end it. Null: a person wrote it down as paid.
  execution exact, -- The execution of n8n that claimed it
  claimed_at timestamptz not null, -- When it was handed out or written down
  lease_until timestamptz not null, -- Until when its end has to be recorded
  spent_on date, -- The day that its money counts for. Null: it was paid without the gate, and counts for none.
  answer exact check (answer in ('paid', 'notPaid', 'unknown')), -- What the ETB Wallet node answered last, if it did
  ended_at timestamptz, -- When its end was recorded, or a person settled it
  tx_hash exact, -- What the service gave for it
  reason exact, -- Why it is not paid or unknown, or the note of the person who settled it
  settled_by exact, -- The person who settled it
  -- (No two indexes begin alike: a plan made for an empty table takes any that begins with what is asked for, and keeps it.)
  primary key (key, budget, attempt)
);
-- What is in flight, to be settled, or to be looked at
create index payment_open on payment (budget, claimed_at) where state in ('sending', 'unknown') or surprise is not null;
-- For "Find a payment"
create index payment_person on payment (to_user_id, budget, claimed_at);
create index payment_transaction on payment (tx_hash) where tx_hash is not null;

-- What is spent or reserved: the sums of the attempts that are sending, paid or unknown
create table spent (
  budget exact,
  period exact check (period in ('day', 'month')), -- A calendar day or month in the budget's time zone
  starts_on date, -- The first day of the period
  scope exact check (scope in ('budget', 'recipient', 'caller')), -- Whose sum it is: of the budget, of one recipient, of one caller
  who exact, -- The recipient's toUserId or the caller's requestedBy; empty for the budget
  amount_etb numeric not null,
  primary key (budget, period, starts_on, scope, who)
) with (fillfactor = 60);

-- Everything that was decided, told and said. Only added to.
create table history (
  id bigint generated always as identity primary key, -- In the order in which it happened, for one budget
  at timestamptz not null,
  budget exact not null,
  event exact not null, -- send, refused; paid, notPaid, unknown; latePaid, lateUnknown, lateAnswer; leaseEnded; saidPaid, saidNotPaid, saidSeen, saidPaidBefore; rules
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
create index history_of_payment on history (budget, reference, id);

-- Says what a table does not allow
create function refuse_change() returns trigger language plpgsql as $f$
begin
  raise exception 'etb_wallet.% (%) %', tg_table_name, tg_op,
    case tg_table_name
      when 'history' then 'is only added to'
      else 'keeps every payment, with its person and its amount, and what is paid stays paid'
    end;
end $f$;

create trigger only_added before update or delete or truncate on history
  for each statement execute function refuse_change();
create trigger never_removed before delete or truncate on payment
  for each statement execute function refuse_change();
-- What would make a paid payment payable again, or give it another person, amount or claim
create trigger paid_for_ever before update on payment
  for each row when (
    (old.state = 'paid' and new.state <> 'paid')
    or old.budget <> new.budget or old.key <> new.key or old.attempt <> new.attempt or old.reference <> new.reference
    or old.to_user_id <> new.to_user_id or old.amount_etb <> new.amount_etb or old.claim is distinct from new.claim
  ) execute function refuse_change();
end if;

---------- gate/schema/40-reference-key.sql

-- What looks the same is the same: the key of a reference is what keyOf of the ETB Wallet node makes of it. Capital and small letters, kinds of dashes and
-- quotes, what nobody sees and compatibility forms do not count, nor do blanks, except one between two digits.

-- The characters come from characters.json, by their names there: what the database takes for a letter or a digit depends on the server and its
-- libraries, and may change under the data. (In the form NFKD an accent is a character of its own, so the letters are few.)
create or replace function key_of(p_reference text) returns text language plpgsql immutable as $f$
declare
  c_invisible constant text := E'\u0001-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff';
  c_blanks constant text := E'\u0009\u000a\u000b\u000c\u000d\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
  c_quotes constant text := E'\u0022\u0027\u0060\u00b4\u02b9-\u02ba\u02bc\u0374\u1fef\u2018-\u201f\u2032-\u2034\u2057\uff02\uff07\uff40';
  c_dashes constant text := E'\u002d\u02d7\u058a\u05be\u1400\u1806\u2010\u2012-\u2015\u2212\u2e17\u2e1a\u2e3a-\u2e3b\u2e40\u2e5d\u301c\u3030\u30a0\U00010d6e\U00010ead';
  c_digits constant text := E'\u0030-\u0039\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d6f\u0de6-\u0def\u0e50-\u0e59\u0ed0-\u0ed9\u0f20-\u0f29\u1040-\u1049\u1090-\u1099\u17e0-\u17e9\u1810-\u1819\u1946-\u194f\u19d0-\u19d9\u1a80-\u1a89\u1a90-\u1a99\u1b50-\u1b59\u1bb0-\u1bb9\u1c40-\u1c49\u1c50-\u1c59\ua620-\ua629\ua8d0-\ua8d9\ua900-\ua909\ua9d0-\ua9d9\ua9f0-\ua9f9\uaa50-\uaa59\uabf0-\uabf9\U000104a0-\U000104a9\U00010d30-\U00010d39\U00010d40-\U00010d49\U00011066-\U0001106f\U000110f0-\U000110f9\U00011136-\U0001113f\U000111d0-\U000111d9\U000112f0-\U000112f9\U00011450-\U00011459\U000114d0-\U000114d9\U00011650-\U00011659\U000116c0-\U000116c9\U000116d0-\U000116e3\U00011730-\U00011739\U000118e0-\U000118e9\U00011950-\U00011959\U00011bf0-\U00011bf9\U00011c50-\U00011c59\U00011d50-\U00011d59\U00011da0-\U00011da9\U00011de0-\U00011de9\U00011f50-\U00011f59\U00016130-\U00016139\U00016a60-\U00016a69\U00016ac0-\U00016ac9\U00016b50-\U00016b59\U00016d70-\U00016d79\U0001e140-\U0001e149\U0001e2f0-\U0001e2f9\U0001e4f0-\U0001e4f9\U0001e5f1-\U0001e5fa\U0001e950-\U0001e959';
  c_capitals constant text := E'ÆÐØÞĐĦıŁŊŒŦƁƂƄƆƇƉƊƋƎƏƐƑƓƔƖƗƘƜƝƟƢƤƦƧƩƬƮƱƲƳƵƷƸƼǤǶǷȜȠȢȤȺȻȽȾɁɃɄɅɆɈɊɌɎͅͰͲͶͿΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςϏϘϚϜϞϠϢϤϦϨϪϬϮϷϺϽϾϿЂЄЅІЈЉЊЋЏАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӃӅӇӉӋӍӔӘӠӨӶӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖႠႡႢႣႤႥႦႧႨႩႪႫႬႭႮႯႰႱႲႳႴႵႶႷႸႹႺႻႼႽႾႿჀჁჂჃჄჅჇჍᎠᎡᎢᎣᎤᎥᎦᎧᎨᎩᎪᎫᎬᎭᎮᎯᎰᎱᎲᎳᎴᎵᎶᎷᎸᎹᎺᎻᎼᎽᎾᎿᏀᏁᏂᏃᏄᏅᏆᏇᏈᏉᏊᏋᏌᏍᏎᏏᏐᏑᏒᏓᏔᏕᏖᏗᏘᏙᏚᏛᏜᏝᏞᏟᏠᏡᏢᏣᏤᏥᏦᏧᏨᏩᏪᏫᏬᏭᏮᏯᏰᏱᏲᏳᏴᏵᲀᲁᲂᲃᲄᲅᲆᲇᲈᲉᲐᲑᲒᲓᲔᲕᲖᲗᲘᲙᲚᲛᲜᲝᲞᲟᲠᲡᲢᲣᲤᲥᲦᲧᲨᲩᲪᲫᲬᲭᲮᲯᲰᲱᲲᲳᲴᲵᲶᲷᲸᲹᲺᲽᲾᲿỺỼỾℲↃⰀⰁⰂⰃⰄⰅⰆⰇⰈⰉⰊⰋⰌⰍⰎⰏⰐⰑⰒⰓⰔⰕⰖⰗⰘⰙⰚⰛⰜⰝⰞⰟⰠⰡⰢⰣⰤⰥⰦⰧⰨⰩⰪⰫⰬⰭⰮⰯⱠⱢⱣⱤⱧⱩⱫⱭⱮⱯⱰⱲⱵⱾⱿⲀⲂⲄⲆⲈⲊⲌⲎⲐⲒⲔⲖⲘⲚⲜⲞⲠⲢⲤⲦⲨⲪⲬⲮⲰⲲⲴⲶⲸⲺⲼⲾⳀⳂⳄⳆⳈⳊⳌⳎⳐⳒⳔⳖⳘⳚⳜⳞⳠⳢⳫⳭⳲꙀꙂꙄꙆꙈꙊꙌꙎꙐꙒꙔꙖꙘꙚꙜꙞꙠꙢꙤꙦꙨꙪꙬꚀꚂꚄꚆꚈꚊꚌꚎꚐꚒꚔꚖꚘꚚꜢꜤꜦꜨꜪꜬꜮꜲꜴꜶꜸꜺꜼꜾꝀꝂꝄꝆꝈꝊꝌꝎꝐꝒꝔꝖꝘꝚꝜꝞꝠꝢꝤꝦꝨꝪꝬꝮꝹꝻꝽꝾꞀꞂꞄꞆꞋꞍꞐꞒꞖꞘꞚꞜꞞꞠꞢꞤꞦꞨꞪꞫꞬꞭꞮꞰꞱꞲꞳꞴꞶꞸꞺꞼꞾꟀꟂꟄꟅꟆꟇꟉꟋꟌ꟎Ꟑ꟒꟔ꟖꟘꟚꟜꟵ𐐀𐐁𐐂𐐃𐐄𐐅𐐆𐐇𐐈𐐉𐐊𐐋𐐌𐐍𐐎𐐏𐐐𐐑𐐒𐐓𐐔𐐕𐐖𐐗𐐘𐐙𐐚𐐛𐐜𐐝𐐞𐐟𐐠𐐡𐐢𐐣𐐤𐐥𐐦𐐧𐒰𐒱𐒲𐒳𐒴𐒵𐒶𐒷𐒸𐒹𐒺𐒻𐒼𐒽𐒾𐒿𐓀𐓁𐓂𐓃𐓄𐓅𐓆𐓇𐓈𐓉𐓊𐓋𐓌𐓍𐓎𐓏𐓐𐓑𐓒𐓓𐕰𐕱𐕲𐕳𐕴𐕵𐕶𐕷𐕸𐕹𐕺𐕼𐕽𐕾𐕿𐖀𐖁𐖂𐖃𐖄𐖅𐖆𐖇𐖈𐖉𐖊𐖌𐖍𐖎𐖏𐖐𐖑𐖒𐖔𐖕𐲀𐲁𐲂𐲃𐲄𐲅𐲆𐲇𐲈𐲉𐲊𐲋𐲌𐲍𐲎𐲏𐲐𐲑𐲒𐲓𐲔𐲕𐲖𐲗𐲘𐲙𐲚𐲛𐲜𐲝𐲞𐲟𐲠𐲡𐲢𐲣𐲤𐲥𐲦𐲧𐲨𐲩𐲪𐲫𐲬𐲭𐲮𐲯𐲰𐲱𐲲𐵐𐵑𐵒𐵓𐵔𐵕𐵖𐵗𐵘𐵙𐵚𐵛𐵜𐵝𐵞𐵟𐵠𐵡𐵢𐵣𐵤𐵥𑢠𑢡𑢢𑢣𑢤𑢥𑢦𑢧𑢨𑢩𑢪𑢫𑢬𑢭𑢮𑢯𑢰𑢱𑢲𑢳𑢴𑢵𑢶𑢷𑢸𑢹𑢺𑢻𑢼𑢽𑢾𑢿𖹀𖹁𖹂𖹃𖹄𖹅𖹆𖹇𖹈𖹉𖹊𖹋𖹌𖹍𖹎𖹏𖹐𖹑𖹒𖹓𖹔𖹕𖹖𖹗𖹘𖹙𖹚𖹛𖹜𖹝𖹞𖹟𖺠𖺡𖺢𖺣𖺤𖺥𖺦𖺧𖺨𖺩𖺪𖺫𖺬𖺭𖺮𖺯𖺰𖺱𖺲𖺳𖺴𖺵𖺶𖺷𖺸𞤀𞤁𞤂𞤃𞤄𞤅𞤆𞤇𞤈𞤉𞤊𞤋𞤌𞤍𞤎𞤏𞤐𞤑𞤒𞤓𞤔𞤕𞤖𞤗𞤘𞤙𞤚𞤛𞤜𞤝𞤞𞤟𞤠𞤡';
  c_small constant text := E'æðøþđħiłŋœŧɓƃƅɔƈɖɗƌǝəɛƒɠɣɩɨƙɯɲɵƣƥʀƨʃƭʈʊʋƴƶʒƹƽǥƕƿȝƞȣȥⱥȼƚⱦɂƀʉʌɇɉɋɍɏιͱͳͷϳαβγδεζηθικλμνξοπρστυφχψωσϗϙϛϝϟϡϣϥϧϩϫϭϯϸϻͻͼͽђєѕіјљњћџабвгдежзиклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӄӆӈӊӌӎӕәӡөӷӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆⴀⴁⴂⴃⴄⴅⴆⴇⴈⴉⴊⴋⴌⴍⴎⴏⴐⴑⴒⴓⴔⴕⴖⴗⴘⴙⴚⴛⴜⴝⴞⴟⴠⴡⴢⴣⴤⴥⴧⴭꭰꭱꭲꭳꭴꭵꭶꭷꭸꭹꭺꭻꭼꭽꭾꭿꮀꮁꮂꮃꮄꮅꮆꮇꮈꮉꮊꮋꮌꮍꮎꮏꮐꮑꮒꮓꮔꮕꮖꮗꮘꮙꮚꮛꮜꮝꮞꮟꮠꮡꮢꮣꮤꮥꮦꮧꮨꮩꮪꮫꮬꮭꮮꮯꮰꮱꮲꮳꮴꮵꮶꮷꮸꮹꮺꮻꮼꮽꮾꮿᏸᏹᏺᏻᏼᏽвдосттъѣꙋᲊაბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺჽჾჿỻỽỿⅎↄⰰⰱⰲⰳⰴⰵⰶⰷⰸⰹⰺⰻⰼⰽⰾⰿⱀⱁⱂⱃⱄⱅⱆⱇⱈⱉⱊⱋⱌⱍⱎⱏⱐⱑⱒⱓⱔⱕⱖⱗⱘⱙⱚⱛⱜⱝⱞⱟⱡɫᵽɽⱨⱪⱬɑɱɐɒⱳⱶȿɀⲁⲃⲅⲇⲉⲋⲍⲏⲑⲓⲕⲗⲙⲛⲝⲟⲡⲣⲥⲧⲩⲫⲭⲯⲱⲳⲵⲷⲹⲻⲽⲿⳁⳃⳅⳇⳉⳋⳍⳏⳑⳓⳕⳗⳙⳛⳝⳟⳡⳣⳬⳮⳳꙁꙃꙅꙇꙉꙋꙍꙏꙑꙓꙕꙗꙙꙛꙝꙟꙡꙣꙥꙧꙩꙫꙭꚁꚃꚅꚇꚉꚋꚍꚏꚑꚓꚕꚗꚙꚛꜣꜥꜧꜩꜫꜭꜯꜳꜵꜷꜹꜻꜽꜿꝁꝃꝅꝇꝉꝋꝍꝏꝑꝓꝕꝗꝙꝛꝝꝟꝡꝣꝥꝧꝩꝫꝭꝯꝺꝼᵹꝿꞁꞃꞅꞇꞌɥꞑꞓꞗꞙꞛꞝꞟꞡꞣꞥꞧꞩɦɜɡɬɪʞʇʝꭓꞵꞷꞹꞻꞽꞿꟁꟃꞔʂᶎꟈꟊɤꟍ꟏ꟑꟓꟕꟗꟙꟛƛꟶ𐐨𐐩𐐪𐐫𐐬𐐭𐐮𐐯𐐰𐐱𐐲𐐳𐐴𐐵𐐶𐐷𐐸𐐹𐐺𐐻𐐼𐐽𐐾𐐿𐑀𐑁𐑂𐑃𐑄𐑅𐑆𐑇𐑈𐑉𐑊𐑋𐑌𐑍𐑎𐑏𐓘𐓙𐓚𐓛𐓜𐓝𐓞𐓟𐓠𐓡𐓢𐓣𐓤𐓥𐓦𐓧𐓨𐓩𐓪𐓫𐓬𐓭𐓮𐓯𐓰𐓱𐓲𐓳𐓴𐓵𐓶𐓷𐓸𐓹𐓺𐓻𐖗𐖘𐖙𐖚𐖛𐖜𐖝𐖞𐖟𐖠𐖡𐖣𐖤𐖥𐖦𐖧𐖨𐖩𐖪𐖫𐖬𐖭𐖮𐖯𐖰𐖱𐖳𐖴𐖵𐖶𐖷𐖸𐖹𐖻𐖼𐳀𐳁𐳂𐳃𐳄𐳅𐳆𐳇𐳈𐳉𐳊𐳋𐳌𐳍𐳎𐳏𐳐𐳑𐳒𐳓𐳔𐳕𐳖𐳗𐳘𐳙𐳚𐳛𐳜𐳝𐳞𐳟𐳠𐳡𐳢𐳣𐳤𐳥𐳦𐳧𐳨𐳩𐳪𐳫𐳬𐳭𐳮𐳯𐳰𐳱𐳲𐵰𐵱𐵲𐵳𐵴𐵵𐵶𐵷𐵸𐵹𐵺𐵻𐵼𐵽𐵾𐵿𐶀𐶁𐶂𐶃𐶄𐶅𑣀𑣁𑣂𑣃𑣄𑣅𑣆𑣇𑣈𑣉𑣊𑣋𑣌𑣍𑣎𑣏𑣐𑣑𑣒𑣓𑣔𑣕𑣖𑣗𑣘𑣙𑣚𑣛𑣜𑣝𑣞𑣟𖹠𖹡𖹢𖹣𖹤𖹥𖹦𖹧𖹨𖹩𖹪𖹫𖹬𖹭𖹮𖹯𖹰𖹱𖹲𖹳𖹴𖹵𖹶𖹷𖹸𖹹𖹺𖹻𖹼𖹽𖹾𖹿𖺻𖺼𖺽𖺾𖺿𖻀𖻁𖻂𖻃𖻄𖻅𖻆𖻇𖻈𖻉𖻊𖻋𖻌𖻍𖻎𖻏𖻐𖻑𖻒𖻓𞤢𞤣𞤤𞤥𞤦𞤧𞤨𞤩𞤪𞤫𞤬𞤭𞤮𞤯𞤰𞤱𞤲𞤳𞤴𞤵𞤶𞤷𞤸𞤹𞤺𞤻𞤼𞤽𞤾𞤿𞥀𞥁𞥂𞥃';
  v_key text;
begin
  if p_reference ~ '^[!#-&(-_a-~]*$' then
    return lower(p_reference collate "C");
  end if;
  v_key := regexp_replace(p_reference, format('[%s]', c_invisible), '', 'g');
  v_key := regexp_replace(v_key, format('[%s]+', c_blanks), ' ', 'g');
  v_key := normalize(regexp_replace(v_key, format('[%s]', c_quotes), '''', 'g'), nfkd);
  v_key := regexp_replace(v_key, format('[%s]', c_dashes), '-', 'g');
  v_key := regexp_replace(btrim(v_key), format('(?<![%1$s]) | (?![%1$s])', c_digits), '', 'g');
  v_key := translate(lower(v_key collate "C"), c_capitals, c_small);
  v_key := normalize(regexp_replace(v_key, '[ßẞ]', 'ss', 'g'), nfkc);
  return regexp_replace(v_key, format('[%s]+', c_quotes), '''', 'g'); -- Two single quotes look like a double one
end $f$;

---------- gate/schema/41-items.sql

-- An item of a list that comes, as values of the record

-- Text without white space around it, or null. Spreadsheets turn identifiers into numbers, so whole numbers are text too.
create or replace function plain_text(p_value jsonb) returns text language plpgsql immutable as $f$
begin
  return case jsonb_typeof(p_value)
    when 'string' then nullif(btrim(p_value #>> '{}', E'\u0009\u000a\u000b\u000c\u000d\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'), '')
    when 'number' then case when p_value #>> '{}' ~ '^-?[0-9]{1,15}$' then p_value #>> '{}' end
  end;
end $f$;

-- An amount in ETB, without what calculations with numbers leave behind (0.30000000000000004 is 0.3). Null is: not a plain amount.
create or replace function plain_amount(p_value jsonb) returns numeric language plpgsql immutable as $f$
declare
  v_is_text boolean := jsonb_typeof(p_value) = 'string';
  v_text text := case when v_is_text then plain_text(p_value) when jsonb_typeof(p_value) = 'number' then p_value #>> '{}' end;
  v_amount numeric;
begin
  if length(v_text) > 1000 or v_is_text and v_text !~ '^[0-9]+([.][0-9]+)?$' then
    return null;
  end if;
  v_amount := v_text::numeric;
  if not v_is_text and abs(v_amount - round(v_amount, 2)) < 0.0000005 then
    v_amount := round(v_amount, 2);
  end if;
  -- Above that, a number of n8n has no hundredths any more.
  return case when v_amount > 0 and v_amount < 1e13 then trim_scale(v_amount) end;
end $f$;

-- The fields of an item of a list, and why it is not taken, or null
create or replace function read_item(
  p_item jsonb, out reference text, out key text, out to_user_id text, out amount_etb numeric, out requested_by text, out tx_hash text, out problem text
) language plpgsql immutable as $f$
begin
  reference := plain_text(p_item -> 'reference');
  key := key_of(left(reference, 200));
  to_user_id := plain_text(p_item -> 'toUserId');
  amount_etb := plain_amount(p_item -> 'amountEtb');
  requested_by := coalesce(plain_text(p_item -> 'requestedBy'), '');
  tx_hash := plain_text(p_item -> 'txHash');
  problem := case
    when reference is null and jsonb_typeof(p_item -> 'reference') not in ('null', 'string') then format('Reference is %s, which is not text', left(p_item ->> 'reference', 60))
    when coalesce(key, '') = '' then 'Reference is empty: give each payment a text of its own'
    when length(reference) > 200 then format('Reference is %s, which is longer than 200 characters', to_json(left(reference, 60)))
    when to_user_id is null then 'It has no toUserId: the ID that User → Create returned'
    when amount_etb is null then format('Its amountEtb is not a plain amount, such as 1250.50: %s', left(coalesce(p_item ->> 'amountEtb', 'empty'), 40))
    -- It is sent as a text, of which the node takes no third decimal, not even a zero: 1.250 may be one thousand.
    when scale(amount_etb) > 2 or (jsonb_typeof(p_item -> 'amountEtb') = 'string' and p_item ->> 'amountEtb' ~ '[.][0-9]{3}') then
      format('Its amountEtb is %s, which has more than two decimals. If its point stands between thousands, leave it out, such as 1250. Otherwise round to two decimals, such as 1250.50', to_json(left(p_item ->> 'amountEtb', 40)))
    when requested_by = '' and jsonb_typeof(p_item -> 'requestedBy') not in ('null', 'string') then 'Its requestedBy is not text'
    when greatest(length(to_user_id), length(requested_by), length(tx_hash)) > 200 then 'Its toUserId, requestedBy or txHash is longer than 200 characters'
  end;
end $f$;

---------- gate/schema/42-answers.sql

-- The answer of the ETB Wallet node, as values of the record

-- What the ETB Wallet node said of a payment that it was to send: an outcome that is certain, or unknown.
-- paid: what it told besides, of a payment that was made: amountEtb, requestedAmountEtb, paidAt
create or replace function read_answer(
  p_item jsonb, p_answer jsonb, out outcome text, out code text, out tx_hash text, out message text, out paid jsonb
) language plpgsql immutable as $f$
declare
  -- With "On Error: Continue (using error output)" n8n puts the answer under error.
  v_answer jsonb := case when jsonb_typeof(p_answer -> 'error') = 'object' then p_answer || (p_answer -> 'error') else p_answer end;
begin
  -- (A dry run sent nothing.)
  outcome := case v_answer ->> 'outcome' when 'ready' then 'notPaid' else v_answer ->> 'outcome' end;
  if outcome in ('paid', 'notPaid', 'unknown') and v_answer ->> 'toUserId' = p_item ->> 'toUserId'
    and coalesce(v_answer ->> 'reference', p_item ->> 'reference') = p_item ->> 'reference'
  then
    code := coalesce(v_answer ->> 'code', outcome);
    tx_hash := nullif(left(v_answer ->> 'txHash', 200), ''); -- what is longer no index takes
    if outcome = 'paid' then
      paid := jsonb_strip_nulls(jsonb_build_object('amountEtb', v_answer -> 'amountEtb', 'requestedAmountEtb', v_answer -> 'requestedAmountEtb', 'paidAt', v_answer -> 'paidAt'));
    else
      message := nullif(concat_ws('. ', rtrim(v_answer ->> 'message', '. '), coalesce(v_answer ->> 'remedy', v_answer ->> 'description')), '');
    end if;
  else
    outcome := 'unknown'; code := 'unclear';
    message := 'The ETB Wallet node did not say how it ended. Ask the partner service, then settle it';
  end if;
end $f$;

---------- gate/schema/50-lock.sql

-- The clock, and the lock of a budget

-- The time now. It is the only clock of the gate: a test can put another in its place.
create or replace function clock() returns timestamptz language sql as $f$
  select clock_timestamp()
$f$;

-- Lets one transaction at a time decide for a budget, and gives its rules. @throws when there is no such budget, when the transaction would not see
-- what others wrote, or when somebody holds the lock too long, who is named
create or replace function lock_budget(p_budget text) returns rules language plpgsql set lock_timeout = '10s' as $f$
declare
  v_rules rules;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'The pay gate needs the isolation level READ COMMITTED, and this transaction is %', upper(current_setting('transaction_isolation'));
  end if;
  -- What is told must survive a crash, and the end of the main server, whatever the settings are. (It holds for the rest of the transaction.)
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  select * into v_rules from rules r where r.budget = p_budget and r.requested_by = '' for update;
  if not found then
    raise exception 'The pay gate has no rules for the budget "%", so nobody is paid', p_budget
      using hint = 'Run the workflow "Pay gate set-up", or save limits at the desk.';
  end if;
  return v_rules;
exception when lock_not_available then
  raise exception 'The pay gate waited 10 seconds for a connection that holds the budget "%": %', p_budget, coalesce((
    select string_agg(format('%s (login %s)', a.pid, a.usename), ', ') from pg_stat_activity a
    where a.pid <> pg_backend_pid() and not exists (select from pg_locks l where l.pid = a.pid and not l.granted)
      and exists (select from pg_locks l where l.pid = a.pid and l.relation = 'rules'::regclass and l.mode <> 'AccessShareLock')
      and exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'transactionid') -- it wrote something; who only waited has none
  ), 'it has let go just now')
    using errcode = 'lock_not_available', hint = 'Somebody forgot a transaction that is open. An administrator ends it: select pg_terminate_backend(number)';
end $f$;

---------- gate/schema/51-attempts.sql

-- The attempts of a payment, and the history of each

-- The attempt that says what a payment is: a paid one, else one that may be paid, else the last one; null when there is none
create or replace function deciding_attempt(p_budget text, p_key text) returns payment language plpgsql stable as $f$
declare
  v_row payment;
begin
  select * into v_row from payment p where p.budget = p_budget and p.key = p_key
  order by array_position(array['paid', 'sending', 'unknown', 'notPaid'], p.state::text), p.attempt desc limit 1;
  return v_row;
end $f$;

-- Whether a reference, with this deciding attempt, belongs to another payment than one of this amount to this person. Who was certainly not paid,
-- by the service's word and no person's, leaves it free: a wrong user ID can be corrected.
create or replace function is_of_another(p_row payment, p_to_user_id text, p_amount numeric) returns boolean language plpgsql stable as $f$
begin
  return (p_row.to_user_id <> p_to_user_id or p_row.amount_etb <> p_amount) and (p_row.state <> 'notPaid' or exists (
    select from payment p where p.budget = p_row.budget and p.key = p_row.key and p.settled_by is not null
  ));
end $f$;

-- Adds a line about an attempt to the history
create or replace function write_down(
  p_at timestamptz, p_payment payment, p_event text, p_execution text, p_by_person text, p_detail text
) returns void language plpgsql as $f$
begin
  insert into history (at, budget, event, reference, attempt, to_user_id, amount_etb, requested_by, claim, execution, by_person, detail)
  values (p_at, p_payment.budget, p_event, p_payment.reference, p_payment.attempt, p_payment.to_user_id, p_payment.amount_etb, p_payment.requested_by,
    p_payment.claim, p_execution, p_by_person, p_detail);
end $f$;

---------- gate/schema/52-limits.sql

-- What is spent or reserved, and whether a limit allows more

-- Adds to what is spent or reserved, for the budget, each person and each caller; with amounts below zero money is given back
create or replace function reserve(p_budget text, p_day date, p_to text[], p_by text[], p_amounts numeric[]) returns void language plpgsql as $f$
begin
  insert into spent as s (budget, period, starts_on, scope, who, amount_etb)
  select p_budget, y.period, y.starts_on, x.scope, x.who, sum(t.amount_etb)
  from unnest(p_to, p_by, p_amounts) t (to_user_id, requested_by, amount_etb)
  cross join lateral (values ('budget', ''), ('recipient', t.to_user_id), ('caller', t.requested_by)) x (scope, who)
  cross join (values ('day', p_day), ('month', date_trunc('month', p_day)::date)) y (period, starts_on)
  group by x.scope, x.who, y.period, y.starts_on
  on conflict (budget, period, starts_on, scope, who) do update set amount_etb = s.amount_etb + excluded.amount_etb;
end $f$;

-- Why the rules do not allow a payment, as a code and a message; both are null if they do. p_claimed, p_claimed_to, p_claimed_by: what this claim
-- hands out already, altogether, to this person and for this caller.
create or replace function objection(
  p_rules rules, p_to_user_id text, p_requested_by text, p_amount numeric, p_day date,
  p_claimed numeric, p_claimed_to numeric, p_claimed_by numeric, out code text, out message text
) language plpgsql stable as $f$
declare
  v_caller rules;
  v_limit record;
  v_spent numeric;
begin
  select * into v_caller from rules r where r.budget = p_rules.budget and r.requested_by = p_requested_by and p_requested_by <> '';
  if p_rules.paused then
    code := 'paused'; message := 'Payments are paused';
  elsif v_caller.paused then
    code := 'paused'; message := format('Payments of the caller "%s" are paused', p_requested_by);
  end if;
  for v_limit in
    select * from (values
      ('budget', '', null, p_rules.most_per_payment, 'for one payment', 0),
      ('caller', p_requested_by, null, v_caller.most_per_payment, 'for one payment of this caller', 0),
      ('recipient', p_to_user_id, 'day', p_rules.most_per_recipient_per_day, 'for one recipient and day', p_claimed_to),
      ('recipient', p_to_user_id, 'month', p_rules.most_per_recipient_per_month, 'for one recipient and month', p_claimed_to),
      ('caller', p_requested_by, 'day', v_caller.most_per_day, 'for this caller and day', p_claimed_by),
      ('caller', p_requested_by, 'month', v_caller.most_per_month, 'for this caller and month', p_claimed_by),
      ('budget', '', 'day', p_rules.most_per_day, 'for one day', p_claimed),
      ('budget', '', 'month', p_rules.most_per_month, 'for one month', p_claimed)
    ) l (scope, who, period, most, words, claimed)
    where l.most is not null and code is null
  loop
    v_spent := null;
    if v_limit.period is not null then
      v_spent := v_limit.claimed + coalesce((
        select s.amount_etb from spent s
        where s.budget = p_rules.budget and s.scope = v_limit.scope and s.who = v_limit.who and s.period = v_limit.period
          and s.starts_on = date_trunc(v_limit.period, p_day)::date
      ), 0);
    end if;
    if coalesce(v_spent, 0) + p_amount > v_limit.most then
      code := 'aboveLimit';
      message := format('Above the most %s, %s ETB', v_limit.words, v_limit.most) || coalesce(', of which ' || v_spent || ' are spent or reserved', '');
      return;
    end if;
  end loop;
end $f$;

---------- gate/schema/60-claim.sql

-- What the gate calls before it sends

-- For the gate: decides each item of a window, in order, in one transaction, and hands out what is to be sent now.
-- p_items: [{reference, toUserId, amountEtb, requestedBy}]. p_clock: the caller's time now; without it the database's counts.
-- p_version: of the tables that the caller was made for. items: one for each item, in order: {outcome, code, message, reference, toUserId, amountEtb,
-- txHash}; outcome and code are null where it is still to be sent. send: what to send now, in order: {reference, toUserId, amountEtb, claim, notAfter,
-- execution}. claim: the proof that record asks for. not_after: nothing of it may be sent later than that, by the caller's clock. p_execution comes
-- back in send: the ETB Wallet node sends what its own execution claimed, and nothing else.
create or replace function claim(
  p_budget text, p_items json, p_execution text default null, p_clock timestamptz default null, p_version integer default null,
  out items jsonb, out send jsonb, out claim uuid, out not_after text
) language plpgsql security definer as $f$
#variable_conflict use_column
declare
  v_version version;
  v_items jsonb[] := array(select jsonb_array_elements(p_items::jsonb));
  v_claim uuid := gen_random_uuid();
  v_rules rules;
  v_now timestamptz;
  v_day date;
  v_not_after text;
  -- What this claim hands out: altogether, to each person and for each caller, by their numbers in it.
  v_claimed numeric := 0;
  v_claimed_to numeric[] := array_fill(0::numeric, array[cardinality(v_items)]);
  v_claimed_by numeric[] := v_claimed_to;
  v_item record;
  v_row payment;
  v_code text; v_message text; v_tx_hash text;
  v_told jsonb[] := '{}'; v_send jsonb[] := '{}';
  v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
begin
  select * into v_version from version v order by v.version desc limit 1;
  if p_version <> v_version.version then
    raise exception 'The workflow needs version % of the pay gate, and this database has version %', p_version, v_version.version
      using hint = case when p_version < v_version.version then format('Import pay-gate.json of release %s in the place of the old one, and publish it.', v_version.release)
        else 'Run gate-set-up.json of the release that the workflow is from.' end;
  end if;

  v_rules := lock_budget(p_budget);
  v_now := clock();
  v_day := (v_now at time zone v_rules.time_zone)::date;
  -- Half of the lease is left for a request that was begun at the last moment. By the caller's clock, which may be another.
  v_not_after := to_char((coalesce(p_clock, v_now) + v_rules.lease / 2) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

  for v_item in
    select r.*, dense_rank() over (order by r.to_user_id) as person, dense_rank() over (order by r.requested_by) as caller
    from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n
  loop
    v_row := null; v_code := null; v_message := null; v_tx_hash := null;
    if v_item.problem is not null then
      v_code := 'invalid'; v_message := v_item.problem;
    else
      v_row := deciding_attempt(p_budget, v_item.key);
      if is_of_another(v_row, v_item.to_user_id, v_item.amount_etb) then
        -- (An agent that guesses references does not learn who got how much.)
        v_code := 'otherPayment';
        v_message := 'Its reference belongs to another payment: ' || case when v_row.requested_by = v_item.requested_by
          then format('%s ETB to %s', v_row.amount_etb, v_row.to_user_id) else 'look for it at the desk' end;
      elsif v_row.claim = v_claim then
        v_code := 'sameReference';
        v_message := format('The list names its reference twice: only the first one is sent, %s', to_json(left(v_row.reference, 60)));
      elsif v_row.state = 'paid' then
        v_code := 'paidBefore'; v_tx_hash := v_row.tx_hash; v_message := 'It was paid before, and is not sent again';
      elsif v_row.state = 'sending' and v_row.lease_until > v_now then
        v_code := 'inFlight'; v_message := 'Another execution is sending it: run this again later';
      elsif v_row.state in ('sending', 'unknown') then
        v_code := 'inDoubt'; v_tx_hash := v_row.tx_hash;
        v_message := coalesce(v_row.reason, 'It was handed out for sending, and how that ended was never recorded. Ask the partner service, then settle it');
        if v_row.state = 'sending' then
          update payment p set state = 'unknown', reason = v_message
          where p.budget = p_budget and p.key = v_row.key and p.attempt = v_row.attempt;
          perform write_down(v_now, v_row, 'leaseEnded', p_execution, null, null);
        end if;
      else
        -- New, or not paid last time.
        select o.code, o.message into v_code, v_message from objection(v_rules, v_item.to_user_id, v_item.requested_by, v_item.amount_etb, v_day,
          v_claimed, v_claimed_to[v_item.person], v_claimed_by[v_item.caller]) o;
      end if;
    end if;

    if v_code is null then
      -- (Of a payment that was not paid, the deciding attempt is the last one. It keeps the reference that it had at first.)
      insert into payment as p (budget, key, attempt, reference, to_user_id, amount_etb, state, requested_by, claim, execution, claimed_at, lease_until, spent_on)
      values (p_budget, v_item.key, coalesce(v_row.attempt, 0) + 1, coalesce(v_row.reference, v_item.reference), v_item.to_user_id, v_item.amount_etb, 'sending',
        v_item.requested_by, v_claim, p_execution, v_now, v_now + v_rules.lease, v_day)
      returning p.* into v_row;
      perform write_down(v_now, v_row, 'send', p_execution, null, null);
      v_claimed := v_claimed + v_item.amount_etb;
      v_claimed_to[v_item.person] := v_claimed_to[v_item.person] + v_item.amount_etb;
      v_claimed_by[v_item.caller] := v_claimed_by[v_item.caller] + v_item.amount_etb;
      v_to := array_append(v_to, v_item.to_user_id); v_by := array_append(v_by, v_item.requested_by); v_amounts := array_append(v_amounts, v_item.amount_etb);
      v_send := array_append(v_send, jsonb_build_object(
        'reference', v_item.reference, 'toUserId', v_item.to_user_id, 'amountEtb', v_item.amount_etb::text, 'claim', v_claim, 'notAfter', v_not_after,
        'execution', p_execution));
    elsif v_code not in ('paidBefore', 'inFlight', 'inDoubt') then
      -- What is refused again and again for the same reason is written down once: a payroll that is tried every minute while payments are paused
      -- would fill the disk. (Of a limit it does not count how much of it is spent.)
      insert into history (at, budget, event, reference, to_user_id, amount_etb, requested_by, claim, execution, detail)
      select v_now, p_budget, 'refused', n.reference, left(v_item.to_user_id, 200), v_item.amount_etb, left(v_item.requested_by, 200), v_claim, p_execution, v_message
      from (select left(coalesce(v_row.reference, v_item.reference, ''), 200) as reference) n
      where not exists (
        select from (select * from history h where h.budget = p_budget and h.reference = n.reference order by h.id desc limit 20) h
        where h.event = 'refused' and h.at > coalesce(v_row.ended_at, v_row.claimed_at, '-infinity')
          and h.to_user_id is not distinct from left(v_item.to_user_id, 200) and h.amount_etb is not distinct from v_item.amount_etb
          and h.requested_by is not distinct from left(v_item.requested_by, 200) and split_part(h.detail, ', of which', 1) = split_part(v_message, ', of which', 1)
      );
    end if;
    v_told := array_append(v_told, jsonb_build_object(
      'outcome', case when v_code = 'paidBefore' then 'alreadyPaid' when v_code in ('inFlight', 'inDoubt') then 'unknown' when v_code is not null then 'notPaid' end,
      'code', v_code, 'message', v_message, 'txHash', v_tx_hash
    ) || jsonb_strip_nulls(jsonb_build_object('reference', v_item.reference, 'toUserId', v_item.to_user_id, 'amountEtb', v_item.amount_etb)));
  end loop;

  perform reserve(p_budget, v_day, v_to, v_by, v_amounts);
  items := to_jsonb(v_told); send := to_jsonb(v_send); claim := v_claim; not_after := v_not_after;
end $f$;

---------- gate/schema/61-record.sql

-- What the gate calls after it has sent

-- For the gate: records how the attempts of a claim ended. p_items: what claim gave as items. p_answers: what the ETB Wallet node gave for send, in
-- its order: one for each, also for errors. It ends only what this claim handed out, and never changes what is paid. What was not
-- paid, also in the words of a person, it opens again when a later answer says paid or unknown. It can be repeated. items: each with its outcome, in order.
-- @throws when this record does not have the claim: then nothing at all is recorded
create or replace function record(
  p_budget text, p_claim uuid, p_items json, p_answers json, p_execution text default null, out items jsonb
) language plpgsql security definer as $f$
declare
  v_items jsonb[] := array(select jsonb_array_elements(p_items::jsonb));
  v_answers jsonb[] := array(select jsonb_array_elements(p_answers::jsonb));
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_is_complete boolean := cardinality(v_answers) = (select count(*) from unnest(v_items) i where i ->> 'outcome' is null);
  v_sent integer := 0;
  v_item jsonb;
  v_key text;
  v_said record;
  v_row payment;
  v_event text; v_before text;
  v_asks boolean;
  v_sign integer;
  v_day date; v_to text[] := '{}'; v_by text[] := '{}'; v_amounts numeric[] := '{}';
  v_told jsonb[] := '{}';
begin
  foreach v_item in array v_items loop
    v_key := key_of(v_item ->> 'reference');
    v_asks := v_item ->> 'code' = 'inFlight';
    if v_item ->> 'outcome' is null then
      v_sent := v_sent + 1;
      v_said := read_answer(v_item, case when v_is_complete then v_answers[v_sent] end);
      select * into v_row from payment p where p.budget = p_budget and p.key = v_key and p.claim = p_claim order by p.attempt limit 1;
      if not found then
        raise exception 'This record did not hand out the payment "%": it was restored from a backup, or was behind when it took over. Nothing is recorded', v_item ->> 'reference'
          using hint = 'Write down first what was paid since: docs/operating.md, "After a restore".';
      end if;
      v_before := coalesce(v_row.settled_by || ' settled it', 'It was recorded') || ' as not paid';
      if v_said.outcome = 'paid' and v_row.state = 'paid' and v_said.tx_hash <> v_row.tx_hash and not exists (
        select from payment p where p.budget = p_budget and p.key = v_key and p.tx_hash = v_said.tx_hash
      ) then
        -- Another txHash is another payment. It gets an attempt of its own, which was not paid until now.
        v_before := 'This claim was paid before, as ' || v_row.tx_hash;
        v_row.attempt := (select max(p.attempt) + 1 from payment p where p.budget = p_budget and p.key = v_key);
        v_row.state := 'notPaid';
        insert into payment values (v_row.*);
      end if;
      v_event := case
        when v_row.state = 'sending' then v_said.outcome
        when v_row.settled_by is null and v_row.state = 'unknown' and v_said.outcome = 'paid' then v_said.outcome
        when v_row.settled_by is null and v_row.state = 'unknown' and v_said.outcome = 'notPaid' and v_row.answer is null then v_said.outcome -- only its lease had ended
        when v_row.state = 'notPaid' and v_said.outcome = 'paid' then 'latePaid'
        -- (An answer that was recorded before a person settled it is no news.)
        when v_row.state = 'notPaid' and v_said.outcome = 'unknown' and v_row.answer is distinct from 'unknown' then 'lateUnknown'
        when v_row.answer is distinct from v_said.outcome then 'lateAnswer'
      end;
      if v_event = 'lateAnswer' then
        -- It changes nothing, but that a txHash is kept.
        perform write_down(v_now, v_row, v_event, p_execution, null, concat_ws(' ', v_said.outcome, v_said.tx_hash, v_said.message));
        update payment p set answer = v_said.outcome,
          tx_hash = case when p.state = 'paid' and v_said.outcome = 'paid' then coalesce(p.tx_hash, v_said.tx_hash) else p.tx_hash end
        where p.budget = p_budget and p.key = v_key and p.attempt = v_row.attempt;
      elsif v_event is not null then
        if v_event in ('latePaid', 'lateUnknown') then
          v_said.message := concat_ws(' ', format('%s. Later another answer came: %s.', v_before, v_said.outcome), v_said.message);
        end if;
        -- What was given back counts as spent again; what was not paid is given back. All of one claim is of one day.
        v_sign := case when v_event in ('latePaid', 'lateUnknown') then 1 when v_event = 'notPaid' then -1 end;
        if v_sign is not null then
          v_day := v_row.spent_on;
          v_to := array_append(v_to, v_row.to_user_id::text); v_by := array_append(v_by, v_row.requested_by::text); v_amounts := array_append(v_amounts, v_sign * v_row.amount_etb);
        end if;
        update payment p set
          state = v_said.outcome, answer = v_said.outcome, tx_hash = v_said.tx_hash, reason = v_said.message, ended_at = v_now, settled_by = null,
          surprise = case
            when v_said.outcome = 'paid' and exists (select from payment o where o.budget = p_budget and o.key = v_key and o.state = 'paid') then 'paidTwice'
            when v_event = 'latePaid' then 'paidAfterAll'
          end
        where p.budget = p_budget and p.key = v_key and p.attempt = v_row.attempt;
        perform write_down(v_now, v_row, v_event, p_execution, null, coalesce(v_said.tx_hash, v_said.message));
      end if;
      v_item := v_item || jsonb_build_object('outcome', v_said.outcome, 'code', v_said.code, 'message', v_said.message, 'txHash', v_said.tx_hash) || coalesce(v_said.paid, '{}');
      v_asks := v_said.outcome <> 'paid' and (v_event is null or v_event = 'lateAnswer');
    end if;
    if v_asks then
      -- What the payment is now: by another claim, which ended while this window was sent, or by another attempt of this one.
      v_row := deciding_attempt(p_budget, v_key);
      v_item := v_item || jsonb_build_object('txHash', v_row.tx_hash) || case
        when v_row.state = 'paid' then jsonb_build_object('outcome', 'alreadyPaid', 'code', 'paidBefore', 'message', 'It was paid before, and is not sent again')
        when v_row.state = 'sending' then jsonb_build_object('outcome', 'unknown', 'code', 'inFlight', 'message', 'Another execution is sending it: run this again later')
        when v_row.state = v_item ->> 'outcome' and v_item ->> 'code' <> 'inFlight' then jsonb_build_object('message', coalesce(v_row.reason, v_item ->> 'message'))
        else jsonb_build_object('outcome', v_row.state, 'code', case v_row.state when 'unknown' then 'inDoubt' else 'refused' end, 'message', v_row.reason)
      end;
    end if;
    v_told := array_append(v_told, v_item);
  end loop;
  perform reserve(p_budget, v_day, v_to, v_by, v_amounts);
  items := to_jsonb(v_told);
end $f$;

---------- gate/schema/70-settle.sql

-- What a person at the desk says of payments: how one ended, and which were paid without the gate

-- Who does it, without blanks around the name. @throws when nobody is named
create or replace function person(p_by text) returns text language plpgsql immutable as $f$
begin
  if coalesce(btrim(p_by), '') = '' then
    raise exception 'Say who does it';
  end if;
  return left(btrim(p_by), 200);
end $f$;

-- For the desk: a person says what became of an attempt, the one that they asked the partner service about. "Not paid" only of what is unknown: then
-- it may be sent again. "Paid" also of what was taken for not paid, unless it was sent again since. Of a payment that is paid it only takes a
-- surprise off the list. @returns the state
create or replace function settle(p_budget text, p_reference text, p_attempt integer, p_was_paid boolean, p_by text, p_note text) returns text language plpgsql security definer as $f$
declare
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_state text := case when p_was_paid then 'paid' when not p_was_paid then 'notPaid' end;
  v_row payment;
begin
  select * into v_row from payment p where p.budget = p_budget and p.key = key_of(p_reference) and p.attempt = p_attempt;
  if v_row.key is null then
    raise exception 'The budget "%" has no payment with the reference "%" and the attempt %', p_budget, p_reference, coalesce(p_attempt::text, '(none given)');
  elsif v_state is null then
    raise exception 'Say whether it was paid';
  elsif v_row.state = 'paid' and not (p_was_paid and v_row.surprise is not null) then
    raise exception 'The payment "%" is paid, and stays paid', p_reference;
  elsif v_row.lease_until > v_now and (v_row.state = 'sending' or v_row.state = 'unknown' and not p_was_paid) then
    -- (The answer "unknown" may be of a copy of the execution that is still sending it.)
    raise exception 'The payment "%" may still be sent: settle it after %', p_reference, to_char(v_row.lease_until at time zone v_rules.time_zone, 'YYYY-MM-DD HH24:MI:SS');
  elsif v_row.state = 'notPaid' and exists (select from payment p where p.budget = p_budget and p.key = v_row.key and p.attempt > p_attempt) then
    raise exception 'The payment "%" was sent again since you looked: look again, and ask the partner service about that', p_reference;
  elsif v_row.state = 'notPaid' and not p_was_paid then
    raise exception 'The payment "%" is known as not paid already', p_reference;
  end if;
  if v_row.state = 'paid' then
    update payment p set surprise = null where p.budget = p_budget and p.key = v_row.key and p.attempt = p_attempt;
    perform write_down(v_now, v_row, 'saidSeen', null, v_by, p_note);
    return 'paid';
  end if;
  if (v_row.state = 'notPaid') = p_was_paid then
    perform reserve(p_budget, v_row.spent_on, array[v_row.to_user_id]::text[], array[v_row.requested_by]::text[],
      array[case when p_was_paid then v_row.amount_etb else -v_row.amount_etb end]);
  end if;
  update payment p set state = v_state, settled_by = v_by, reason = p_note, ended_at = v_now
  where p.budget = p_budget and p.key = v_row.key and p.attempt = p_attempt;
  perform write_down(v_now, v_row, case when p_was_paid then 'saidPaid' else 'saidNotPaid' end, null, v_by, p_note);
  return v_state;
end $f$;

-- For the desk: a person writes down what was paid without the gate, so that the gate pays nobody of the list: all that it would pay now.
-- p_items: [{reference, toUserId, amountEtb, txHash}]. It counts as spent only where the gate handed it out once.
-- items: each with its outcome, in order: written, alreadyPaid, or refused with the message.
create or replace function write_down_paid(p_budget text, p_items json, p_by text, p_note text, out items jsonb) language plpgsql security definer as $f$
#variable_conflict use_column
declare
  v_items jsonb[] := array(select jsonb_array_elements(p_items::jsonb));
  v_rules rules := lock_budget(p_budget);
  v_now timestamptz := clock();
  v_by text := person(p_by);
  v_item record;
  v_row payment;
  v_outcome text; v_message text;
  v_told jsonb[] := '{}';
begin
  for v_item in select r.* from unnest(v_items) with ordinality i (item, n), read_item(i.item) r order by i.n loop
    v_row := deciding_attempt(p_budget, v_item.key);
    v_outcome := 'refused'; v_message := v_item.problem;
    if v_message is not null then
      null;
    elsif is_of_another(v_row, v_item.to_user_id, v_item.amount_etb) then
      v_message := format('Its reference belongs to another payment: %s ETB to %s', v_row.amount_etb, v_row.to_user_id);
    elsif v_row.state = 'sending' and v_row.lease_until > v_now then
      v_message := 'The gate is sending it now';
    elsif v_row.state = 'paid' then
      v_outcome := 'alreadyPaid'; v_message := 'It is recorded as paid';
    elsif v_row.to_user_id = v_item.to_user_id and v_row.amount_etb = v_item.amount_etb then
      perform settle(p_budget, v_row.reference, v_row.attempt, true, v_by, p_note);
      update payment p set tx_hash = coalesce(p.tx_hash, v_item.tx_hash) where p.budget = p_budget and p.key = v_row.key and p.attempt = v_row.attempt;
      v_outcome := 'written';
    else
      insert into payment as p (budget, key, attempt, reference, to_user_id, amount_etb, state, requested_by, claimed_at, lease_until, ended_at, tx_hash, reason, settled_by)
      values (p_budget, v_item.key, coalesce(v_row.attempt, 0) + 1, coalesce(v_row.reference, v_item.reference), v_item.to_user_id, v_item.amount_etb, 'paid',
        v_item.requested_by, v_now, v_now, v_now, v_item.tx_hash, p_note, v_by)
      returning p.* into v_row;
      perform write_down(v_now, v_row, 'saidPaidBefore', null, v_by, p_note);
      v_outcome := 'written';
    end if;
    v_told := array_append(v_told, jsonb_build_object('outcome', v_outcome, 'message', v_message, 'reference', v_item.reference, 'toUserId', v_item.to_user_id,
      'amountEtb', v_item.amount_etb, 'txHash', coalesce(v_row.tx_hash, v_item.tx_hash)));
  end loop;
  items := to_jsonb(v_told);
end $f$;

---------- gate/schema/71-set-rules.sql

-- How a person at the desk changes the rules

-- For the desk: changes the rules that are named, of a budget or of one of its callers, and sets a budget up that has none. Null takes a limit away.
-- @returns all rules of the budget or the caller
create or replace function set_rules(p_budget text, p_changes jsonb, p_by text, p_requested_by text default '') returns rules language plpgsql security definer as $f$
declare
  v_by text := person(p_by);
  v_who text := coalesce(plain_text(to_jsonb(p_requested_by)), '');
  v_unknown text := (select string_agg(k, ', ') from jsonb_object_keys(p_changes) k where k not in ('paused', 'most_per_payment', 'most_per_day', 'most_per_month')
    and (v_who <> '' or k not in ('most_per_recipient_per_day', 'most_per_recipient_per_month', 'time_zone', 'lease')));
  v_rules rules;
begin
  if v_unknown is not null then
    raise exception 'There is no rule with this name: %', v_unknown;
  end if;
  -- (It looks first: the insert would wait for a transaction that changes the row, and not say for whom.)
  if v_who = '' and not exists (select from rules r where r.budget = p_budget and r.requested_by = '') then
    insert into rules (budget) values (p_budget) on conflict do nothing;
  end if;
  v_rules := lock_budget(p_budget);
  if v_who <> '' then
    insert into rules (budget, requested_by) values (p_budget, v_who) on conflict do nothing;
    select * into v_rules from rules r where r.budget = p_budget and r.requested_by = v_who;
  end if;
  v_rules := jsonb_populate_record(v_rules, p_changes);
  if v_rules.lease not between interval '2 minutes' and interval '1 day' then
    raise exception 'The lease is %, and must be from 2 minutes to 1 day: half of it has to be longer than a payment may take', v_rules.lease;
  elsif p_changes ? 'time_zone' and not exists (select from pg_timezone_names z where z.name = v_rules.time_zone) then
    raise exception 'There is no time zone "%": write one such as Africa/Addis_Ababa', v_rules.time_zone;
  end if;
  update rules r set paused = v_rules.paused, most_per_payment = v_rules.most_per_payment, most_per_day = v_rules.most_per_day,
    most_per_month = v_rules.most_per_month, most_per_recipient_per_day = v_rules.most_per_recipient_per_day,
    most_per_recipient_per_month = v_rules.most_per_recipient_per_month, time_zone = v_rules.time_zone, lease = v_rules.lease
  where r.budget = p_budget and r.requested_by = v_who;
  insert into history (at, budget, event, by_person, detail) values (clock(), p_budget, 'rules', v_by, concat_ws(': ', nullif(v_who, ''), p_changes));
  return v_rules;
end $f$;

---------- gate/schema/80-views.sql

-- What the desk reads

-- All attempts, with their state now: an attempt whose lease ended before its end was recorded is unknown
create or replace view payments as
  select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,
    case when p.state = 'sending' and p.lease_until <= clock() then 'unknown' else p.state end as state, p.surprise,
    p.tx_hash, p.reason, p.requested_by, p.execution, p.claimed_at, p.lease_until, p.spent_on, p.ended_at, p.settled_by, p.key
  from payment p;

-- The attempts that are in flight or that a person has to look at. state: inFlight; unknown; mayBePaidTwice: unknown, and another attempt is
-- paid; paidTwice and paidAfterAll: a surprise that nobody took note of yet
create or replace view open_payments as
  select p.budget, p.reference, p.attempt, p.to_user_id, p.amount_etb,
    case
      when p.surprise is not null then p.surprise
      when p.state = 'sending' and p.lease_until > clock() then 'inFlight'
      when exists (select from payment o where o.budget = p.budget and o.key = p.key and o.state = 'paid') then 'mayBePaidTwice'
      else 'unknown'
    end as state,
    p.reason, p.tx_hash, p.requested_by, p.execution, p.claimed_at, p.lease_until
  from payment p
  where p.state in ('sending', 'unknown') or p.surprise is not null;

---------- gate/schema/90-rights.sql

-- Who may do what

revoke all on schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all tables in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all sequences in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
revoke all on all functions in schema etb_wallet from public, etb_wallet_gate, etb_wallet_desk;
grant execute on function claim, record to etb_wallet_gate;
grant execute on function settle, write_down_paid, set_rules to etb_wallet_desk;
-- (A view reads its tables as its owner, and calls functions as its reader.)
grant execute on function clock, key_of to etb_wallet_desk;
-- What runs with the owner's rights, whoever calls it and from where: a name in it, and in what it calls, is one of this schema.
for v_name in
  select oid::regprocedure::text from pg_proc where pronamespace = 'etb_wallet'::regnamespace and (prosecdef or prorettype = 'trigger'::regtype)
loop
  execute format('alter function %1$s set search_path = etb_wallet, pg_temp; alter function %1$s set enable_seqscan = off; alter function %1$s set jit = off', v_name);
end loop;
-- The sequence too: the desk's login makes the backup.
grant select on all tables in schema etb_wallet to etb_wallet_desk;
grant select on all sequences in schema etb_wallet to etb_wallet_desk;
-- The roles are of the whole server. A login may do what its role may in the databases where it was granted usage of the schema, and in no other:
-- a copy of another database brings the logins of that along, and they lose it.
for v_name in
  select r.rolname from pg_namespace n, aclexplode(n.nspacl) a join pg_roles r on r.oid = a.grantee
  where n.nspname = 'etb_wallet' and r.rolname ~ '^pay_(gate|desk)_' and substring(r.rolname from 10) not in (current_database(), md5(current_database()))
loop
  execute format('revoke all on schema etb_wallet from %I', v_name);
end loop;

---------- gate/schema/99-end.sql

-- The first limits, and the end: who sets up is who they were before

-- A budget and a caller that are there keep their limits.
if v_given is not null then
  execute (select format('grant usage on schema etb_wallet to %s', string_agg(quote_ident(l ->> 'user'), ', ')) from jsonb_array_elements(v_told) l);
  for v_each in select '' as who, v_given -> 'limits' as limits union all select * from jsonb_each(v_given -> 'callers') loop
    if not exists (select from rules r where r.budget = v_given ->> 'budget' and r.requested_by = v_each.who) then
      perform set_rules(v_given ->> 'budget', v_each.limits, v_given ->> 'person', v_each.who);
    end if;
  end loop;
  perform set_config('etb_wallet.told', (select jsonb_build_object('logins', v_told, 'rules', to_jsonb(r), 'payments', (select count(*) from payment))
    from rules r where r.budget = v_given ->> 'budget' and r.requested_by = '')::text, true);
end if;

perform set_config('role', v_role_before, true);
revoke etb_wallet_owner from current_user;
end $setup$;
