// The desk of the pay gate: what each page asks the database for, shows, reads from a person and writes down.
// The Code nodes of gate-desk.json are this file and a last line. The rules are not here: the database decides, whatever comes.

/** What a limit that is none looks like, and what a person writes to take one away. */
const noLimit = 'no limit';

/** The limits of all together and, the first three, of one caller, in ETB, by their names in the record. */
const limits = {
	most_per_payment: 'Most for one payment',
	most_per_day: 'Most per day',
	most_per_month: 'Most per month',
	most_per_recipient_per_day: 'Most for one person per day',
	most_per_recipient_per_month: 'Most for one person per month',
};
const callerLimits = Object.keys(limits).slice(0, 3);

/** What can be chosen on a page, by what it means in the record. */
const choices = {
	settle: { true: 'They were paid', false: 'They were not paid: they may be sent again' },
	stop: { true: 'Stop all payments', false: 'Let payments through' },
	callers: {
		allow: 'Allow it, with the limits below',
		stop: 'Stop its payments',
	},
};

/** States of payments and events of the history, as a person reads them. Others are shown as they are. */
const stateWords = {
	sending: 'being sent',
	inFlight: 'being sent',
	notPaid: 'not paid',
	mayBePaidTwice: 'MAY BE PAID TWICE',
	paidTwice: 'PAID TWICE',
	paidAfterAll: 'PAID AFTER ALL',
	send: 'handed out',
	lateAnswer: 'late answer',
	leaseEnded: 'end never told',
	saidPaid: 'settled: paid',
	saidNotPaid: 'settled: not paid',
	saidSeen: 'taken note of',
	saidPaidBefore: 'written down as paid before',
	latePaid: 'late answer: paid',
	lateUnknown: 'late answer: unknown',
	rules: 'limits changed',
};

/** What a person should know of a payment in this state that is to be settled. */
const openAdvice = {
	unknown:
		' UNKNOWN: it may have been made. Until somebody settles it, it is not sent again, and its money counts as spent. Before you say that it was not paid, look in n8n whether the execution that sent it has ended.',
	mayBePaidTwice:
		' MAY BE PAID TWICE: it is paid, and another attempt of it may have been paid too. Ask about that attempt.',
	paidTwice:
		' PAID TWICE: the service said twice that it paid. Ask for the money back, then settle it as paid to take it off this list.',
	paidAfterAll:
		' PAID AFTER ALL: somebody settled it as not paid, and later the service said that it paid. Settle it as paid to take it off this list.',
};

/** An amount in ETB: 1200.5 is "1,200.50". */
function money(etb) {
	const [whole, part = ''] = String(etb).split('.');
	const cents = part.replace(/0+$/, '').padEnd(2, '0');
	return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents}`;
}
const limit = (etb) => (etb == null ? noLimit : money(etb));
/** A time as PostgreSQL writes it into JSON, to the minute. */
const time = (at) => String(at).slice(0, 16).replace('T', ' ');
const state = (word) => (Object.hasOwn(stateWords, word) ? stateWords[word] : String(word));
const text = (value) => String(value ?? '');

/** Each column of a table: its title, and how its values look. */
const columns = {
	n: ['No.'],
	reference: ['Reference'],
	amount_etb: ['ETB', money],
	to_user_id: ['To User ID'],
	sent_at: ['Sent', time],
	ended_at: ['Ended', time],
	ends_at: ['Ends at the Latest', time],
	at: ['When', time],
	starts_on: ['Day'],
	period: ['When'],
	state: ['State', state],
	event: ['What', state],
	requested_by: ['Asked for by'],
	settled_by: ['Settled by'],
	who: ['Who'],
	by_caller: ['Caller'],
	spent: ['Spent', money],
	most: ['Limit', limit],
	left: ['Left', limit],
	tx_hash: ['Transaction'],
	attempt: ['Attempt'],
	execution: ['Execution'],
	detail: ['Detail'],
	why: ['Why'],
	change: ['What'],
	now: ['Now'],
	payments: ['Payments'],
	...Object.fromEntries(callerLimits.map((name) => [name, [limits[name], limit]])),
};

/** Text as HTML: what the database or a person wrote is never a part of the page. */
const safe = (value) =>
	text(value).replace(/[^\p{L}\p{N} .,:;()@/_?!+-]/gu, (sign) => `&#${sign.codePointAt(0)};`);

/** A table as HTML. On a phone each cell stands on a line of its own, with its title before it. */
function table(title, rows, names) {
	if (!rows?.length) return '';
	const shown = names.split(' ');
	const cell = (row, name) => {
		const [heading, show = text] = columns[name];
		const written = row[name] == null && show !== limit ? '' : show(row[name]);
		return written === '' ? '<td></td>' : `<td><b>${heading}: </b>${safe(written)}</td>`;
	};
	const lines = rows.map((row) => `<tr>${shown.map((name) => cell(row, name)).join('')}</tr>`);
	const headings = shown.map((name) => `<th>${columns[name][0]}</th>`).join('');
	const heading = title === '' ? '' : `<h2>${title}</h2>`;
	return `${heading}<table><thead><tr>${headings}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
}

const options = (words) => ({ values: words.map((option) => ({ option })) });
/** One answer out of few. None is chosen before: what was not answered changes nothing. */
const radio = (fieldName, fieldLabel, words, more = {}) => ({
	...{ fieldLabel, fieldName, fieldType: 'radio', requiredField: true },
	...{ fieldOptions: options(Object.values(words)), ...more },
});
const textField = (fieldName, fieldLabel, more) => ({
	...{ fieldLabel, fieldName, fieldType: 'text' },
	...more,
});

const written = (value) => (typeof value === 'string' ? value.trim() : '');
/** What a choice means in the record. Undefined for no answer, two answers, or another one: those mean nothing. */
const meaning = (words, chosen) => Object.keys(words).find((name) => words[name] === chosen);
const missing = (why) => ({ missing: why });
const chooseOne = (words) =>
	missing(`No answer was chosen. Go back, and choose one: ${Object.values(words).join(' / ')}.`);

/** An amount as people write it, as a number in text: 1,250,000.50 is 1250000.50. */
const amount = (given) =>
	given.replace(/^\d{1,3}(,\d{3})+([.]\d+)?$/, (found) => found.replaceAll(',', ''));

/** The limits that were filled in with something new; those that are no amounts stand in `wrong`. */
function limitsOf(names, answer, now) {
	const filled = names
		.map((name) => [name, written(answer[name])])
		.filter(([name, given]) => given !== '' && given !== text(now[name] ?? noLimit))
		.map(([name, given]) => [name, given === noLimit ? null : amount(given)]);
	const wrong = filled
		.map(([, given]) => given)
		.filter((given) => given !== null && !/^\d+([.]\d{1,2})?$/.test(given));
	return {
		changes: Object.fromEntries(filled),
		wrong:
			wrong.length > 0 &&
			missing(
				`These are not amounts, so nothing was changed. Write for example 10000 or 1250.50, or "${noLimit}". Found: ${wrong.join(', ')}`,
			),
	};
}

/** The rules that were changed, as a table. */
function changesTable(changed) {
	const rows = Object.entries(limits)
		.filter(([name]) => name in changed)
		.map(([name, change]) => ({
			change,
			now: `${limit(changed[name])}${changed[name] === null ? '' : ' ETB'}`,
		}));
	return table('', rows, 'change now');
}

const ofBudget = "budget = $1 and requested_by = ''";
const hasBudget = `'has_budget', exists (select from etb_wallet.rules where ${ofBudget})`;

/**
 * Each thing that a person can do. `ask`: the query of its page, with the budget. `page`: what it shows of what was found.
 * `read`: the values of `save`, after the budget, of what the person chose, or what is missing. `done`: the page after it.
 */
const todos = {
	'See what needs me, and settle it': {
		// What may have been paid, or was paid twice, in the order in which it should be looked at, and what is being sent.
		ask: `with o as (
			select row_number() over (order by o.state = 'inFlight', o.state = 'unknown', o.claimed_at, o.reference, o.attempt) as n,
				o.reference, o.amount_etb::text, o.to_user_id, o.claimed_at at time zone r.time_zone as sent_at, o.state, o.requested_by,
				o.attempt, o.execution, o.tx_hash, coalesce(o.reason, case o.state when 'unknown' then 'Nothing told how it ended' end) as why, o.lease_until at time zone r.time_zone as ends_at
			from etb_wallet.open_payments o join etb_wallet.rules r on r.budget = o.budget and r.requested_by = ''
			where o.budget = $1
		)
		select json_build_object(${hasBudget},
			'counts', (select json_object_agg(state, count) from (select state, count(*) from o group by state) c),
			'open', (select json_agg(o order by n) from o where state <> 'inFlight' and n <= 100),
			'in_flight', (select json_agg(o order by n) from (select * from o where state = 'inFlight' order by n limit 50) o)
		) as found`,
		page({ open, counts = {}, in_flight }) {
			const inFlight = table(
				'Being sent now: nothing to do',
				in_flight,
				'reference amount_etb to_user_id sent_at ends_at',
			);
			if (!open)
				return { title: 'Nothing needs you', text: 'No payment is unknown.', html: inFlight };
			const states = Object.keys(counts ?? {}).filter((name) => name !== 'inFlight');
			const all = states.reduce((sum, name) => sum + counts[name], 0);
			const few = all > open.length ? ` There are ${all}; the first ${open.length} are shown.` : '';
			return {
				title: 'What needs you',
				text: `Ask the partner service about each: give it the person, the amount and the time. Then tick those with the same answer, and say what it said.${states.map((name) => openAdvice[name]).join('')}${few}`,
				html:
					table(
						'To be settled',
						open,
						'n reference amount_etb to_user_id sent_at attempt state tx_hash requested_by execution why',
					) + inFlight,
				fields: [
					{
						...{ fieldLabel: 'Which payments?', fieldName: 'which', fieldType: 'checkbox' },
						requiredField: true,
						fieldOptions: options(
							open.map(
								({ n, reference, amount_etb, to_user_id }) =>
									`${n}. ${reference}: ${money(amount_etb)} ETB to ${to_user_id}`,
							),
						),
					},
					radio('answer', 'What did the partner service say?', choices.settle),
					textField('note', 'Who told you, and when? For example a ticket number', {
						...{ fieldType: 'textarea', requiredField: true },
					}),
				],
				button: 'Settle',
			};
		},
		read({ answer, found, by }) {
			const ticks = [answer.which].flat().map(text);
			const ticked = (found.open ?? []).filter(({ n }) =>
				ticks.some((tick) => tick.startsWith(`${n}. `)),
			);
			const wasPaid = meaning(choices.settle, answer.answer);
			if (ticked.length === 0)
				return missing('Nothing was ticked. Go back, and tick the payments that you asked about.');
			if (wasPaid === undefined) return chooseOne(choices.settle);
			const which = ticked.map(({ n, reference, attempt }) => ({ n, reference, attempt }));
			return [wasPaid, by, written(answer.note), JSON.stringify(which)];
		},
		// All that were ticked, or none.
		save: `with done as materialized (
			select x.n, x.reference, etb_wallet.settle($1, x.reference, x.attempt, $2::boolean, $3, $4) as state
			from json_to_recordset($5::json) x (n integer, reference text, attempt integer)
		)
		select json_build_object('was_paid', $2::boolean, 'done', (select json_agg(done order by n) from done)) as found`,
		done: ({ was_paid, done }) => ({
			title: 'Settled',
			text: was_paid
				? 'They are recorded as paid, and are never sent again.'
				: 'They are recorded as not paid. Their money is free again, and they are sent when their workflow runs again.',
			html: table('', done, 'n reference state'),
		}),
	},
	'See what was spent': {
		// What is spent or reserved: payments that are being sent or unknown count.
		ask: `with s as (select *, (etb_wallet.clock() at time zone time_zone)::date as today from etb_wallet.rules where ${ofBudget}),
		month as (
			select p.scope, p.who as to_user_id, coalesce(nullif(p.who, ''), '(no name)') as by_caller, p.amount_etb::text as spent, p.amount_etb
			from s join etb_wallet.spent p using (budget) where p.period = 'month' and p.starts_on = date_trunc('month', s.today)::date and p.amount_etb > 0
		)
		select json_build_object('has_budget', exists (select from s),
			'paused', (select paused from s),
			'altogether', (
				select json_agg(json_build_object('period', y.title, 'spent', coalesce(p.amount_etb, 0)::text, 'most', y.most::text,
					'left', (y.most - least(y.most, coalesce(p.amount_etb, 0)))::text) order by y.period)
				from s cross join lateral (values ('day', today, most_per_day, 'Today (' || today || ')'),
					('month', date_trunc('month', today)::date, most_per_month, 'This month (' || to_char(today, 'YYYY-MM') || ')')) y (period, starts_on, most, title)
				left join etb_wallet.spent p on p.budget = s.budget and p.scope = 'budget' and p.period = y.period and p.starts_on = y.starts_on
			),
			'callers', (select json_agg(m order by amount_etb desc) from (select * from month where scope = 'caller' order by amount_etb desc, to_user_id limit 20) m),
			'recipients', (select json_agg(m order by amount_etb desc) from (select * from month where scope = 'recipient' order by amount_etb desc, to_user_id limit 20) m),
			'days', (select json_agg(d order by starts_on desc) from (
				select p.starts_on, p.amount_etb::text as spent from s join etb_wallet.spent p using (budget)
				where p.period = 'day' and p.starts_on > s.today - 31 and p.scope = 'budget'
			) d)
		) as found`,
		page: ({ paused, altogether, callers, recipients, days }) => ({
			title: 'What was spent',
			text: `In ETB. What is being sent, or unknown, counts as spent.${paused ? ' Payments are stopped now.' : ''}`,
			html: [
				table('Altogether', altogether, 'period spent most left'),
				table('By caller, this month', callers, 'by_caller spent'),
				table('Who got most this month', recipients, 'to_user_id spent'),
				table('Day by day', days, 'starts_on spent'),
			].join(''),
		}),
	},
	'Find a payment': {
		ask: `select json_build_object(${hasBudget}) as found`,
		page: () => ({
			title: 'Find a payment',
			text: 'By its reference, by the beginning of its reference, by the person who gets it, or by the transaction hash.',
			fields: [
				textField('what', 'Reference, To User ID or transaction hash', { requiredField: true }),
			],
			button: 'Find',
		}),
		read: ({ answer }) =>
			written(answer.what) === ''
				? missing('Nothing was looked for: the field was empty.')
				: [written(answer.what)],
		// At most 50 attempts, of a person the newest; of very many that begin so any. And the history of the reference, or of the only one.
		save: `with f as (
			(select * from (select p.* from etb_wallet.payments p where p.budget = $1
				and p.key >= etb_wallet.key_of($2) collate "C" and p.key < (etb_wallet.key_of($2) || chr(1114109)) collate "C" limit 1000) p
				order by p.key limit 50)
			union (select p.* from etb_wallet.payments p where p.budget = $1 and p.to_user_id = $2 order by p.claimed_at desc limit 50)
			union (select p.* from etb_wallet.payments p where p.budget = $1 and p.tx_hash = $2 limit 50)
		),
		t as (
			select p.reference, p.attempt, p.amount_etb::text, p.to_user_id, p.state, p.claimed_at at time zone r.time_zone as sent_at,
				p.ended_at at time zone r.time_zone as ended_at, p.tx_hash, p.requested_by, p.settled_by, p.reason as why, p.claimed_at
			from f p join etb_wallet.rules r on r.budget = p.budget and r.requested_by = '' order by p.claimed_at desc limit 50
		), h as (
			select e.id, e.at at time zone r.time_zone as at, e.event, e.attempt, coalesce(e.by_person, e.requested_by) as who, e.execution, e.detail
			from etb_wallet.history e join etb_wallet.rules r on r.budget = e.budget and r.requested_by = ''
			where e.budget = $1 and e.reference = (
				select case when count(distinct reference) = 1 or bool_or(key = etb_wallet.key_of($2))
					then (array_agg(reference order by key <> etb_wallet.key_of($2)))[1] end from f
			)
			order by e.id desc limit 100
		)
		select json_build_object(
			'searched', $2, 'payments', (select json_agg(t order by claimed_at desc) from t), 'history', (select json_agg(h order by id) from h)
		) as found`,
		done({ searched, payments, history }) {
			const references = new Set(payments?.map(({ reference }) => reference)).size;
			const few = ['No payment was found', 'One payment'][references] ?? 'Payments';
			return {
				title: payments?.length === 50 ? '50 of them' : few,
				text: `Looked for: ${searched}`,
				html:
					table(
						'',
						payments,
						'reference attempt amount_etb to_user_id state sent_at ended_at tx_hash requested_by settled_by why',
					) + table('Its history', history, 'at event attempt who execution detail'),
			};
		},
	},
	'Stop or resume all payments': {
		ask: `select json_build_object(${hasBudget}, 'paused', (select paused from etb_wallet.rules where ${ofBudget})) as found`,
		page: ({ paused }) => ({
			title: 'Stop or resume all payments',
			text: paused
				? 'Payments are STOPPED now: the gate hands out nothing.'
				: 'Payments are running now. When you stop them, nothing new is sent, whoever asks; at most those 50 of a running call that are being sent at this moment still end. What was not sent is told as "not paid", and can be sent later.',
			fields: [radio('answer', 'What shall be?', choices.stop)],
			button: 'Save',
		}),
		read({ answer, by }) {
			const paused = meaning(choices.stop, answer.answer);
			return paused === undefined ? chooseOne(choices.stop) : [paused, by];
		},
		save: `select json_build_object('paused', (etb_wallet.set_rules($1, jsonb_build_object('paused', $2::boolean), $3)).paused) as found`,
		done: ({ paused }) =>
			paused
				? {
						title: 'Payments are stopped',
						text: 'Nothing new is sent until somebody resumes. What was being sent at this moment still ends; "See what needs me, and settle it" tells when.',
					}
				: {
						title: 'Payments are running',
						text: 'What was refused meanwhile is paid when its workflow runs again.',
					},
		failed: {
			title: 'Nothing was changed: look whether payments are stopped',
			text: ' To stop payments all the same, unpublish the workflow Pay gate.',
		},
	},
	'Change limits': {
		isForNewBudget: true,
		ask: `with r as (select * from etb_wallet.rules where ${ofBudget})
		select json_build_object(${hasBudget}, 'limits', (select json_build_object(
			'most_per_day', most_per_day::text, 'most_per_month', most_per_month::text, 'most_per_payment', most_per_payment::text,
			'most_per_recipient_per_day', most_per_recipient_per_day::text, 'most_per_recipient_per_month', most_per_recipient_per_month::text
		) from r)) as found`,
		page: ({ has_budget, limits: now }) => ({
			title: 'Limits',
			text: `${has_budget ? '' : 'The gate has no limits yet. Saving makes them. '}Amounts in ETB. To take a limit away, write "${noLimit}"; an empty field leaves it as it is. A limit of 0 lets nothing through. They hold from the next payment on.`,
			fields: Object.entries(limits).map(([name, title]) =>
				textField(name, title, { defaultValue: text(now?.[name] ?? noLimit) }),
			),
			button: 'Save',
		}),
		read({ answer, found, by }) {
			const { changes, wrong } = limitsOf(Object.keys(limits), answer, found.limits ?? {});
			if (wrong) return wrong;
			if (Object.keys(changes).length === 0) return missing('All fields are as they were.');
			return [JSON.stringify(changes), by];
		},
		// Only what the person changed, so that two people who change different limits do not undo each other.
		save: `with done as materialized (select etb_wallet.set_rules($1, $2::jsonb, $3))
		select json_build_object('changed', $2::json) as found from done`,
		done: ({ changed }) => ({
			...{ title: 'Saved', text: 'These limits hold from now on.' },
			html: changesTable(changed),
		}),
	},
	'Limits of one caller': {
		ask: `with c as (
			select requested_by as by_caller, case when paused then 'stopped' else 'allowed' end as payments,
				most_per_payment::text, most_per_day::text, most_per_month::text
			from etb_wallet.rules where budget = $1 and requested_by <> ''
		)
		select json_build_object(${hasBudget}, 'callers', (select json_agg(c order by by_caller) from c)) as found`,
		page: ({ callers }) => ({
			title: 'Limits of one caller',
			text: `A caller is a workflow, by the name that it gives itself (requestedBy). Nothing proves that name: these limits help against mistakes, not against somebody who can edit workflows. Callers that are not on the list may pay, within the limits of all. An empty field leaves a limit as it is; to take it away, write "${noLimit}".`,
			html: table('The list', callers, `by_caller payments ${callerLimits.join(' ')}`),
			fields: [
				textField('who', 'Caller, as in requestedBy', {
					...{ requiredField: true, placeholder: 'payroll' },
				}),
				radio('answer', 'What shall be?', choices.callers),
				...callerLimits.map((name) =>
					textField(name, `${limits[name]} (ETB)`, { placeholder: 'as it is' }),
				),
			],
			button: 'Save',
		}),
		read({ answer, found, by }) {
			const what = meaning(choices.callers, answer.answer);
			const who = written(answer.who);
			if (who === '') return missing('No caller was named.');
			if (what === undefined) return chooseOne(choices.callers);
			const now = found.callers?.find(({ by_caller }) => by_caller === who) ?? {};
			const { changes, wrong } = limitsOf(callerLimits, answer, now);
			if (wrong) return wrong;
			const all = what === 'allow' ? { paused: false, ...changes } : { paused: true };
			return [who, JSON.stringify(all), by];
		},
		// A name that is not known yet may be a mistake.
		save: `with known as materialized (
			select exists (select from etb_wallet.rules where budget = $1 and requested_by = $2)
				or exists (select from etb_wallet.spent where budget = $1 and period = 'month' and starts_on > current_date - 100 and scope = 'caller' and who = $2) as is_known
		), done as materialized (select etb_wallet.set_rules($1, $3::jsonb, $4, $2))
		select json_build_object('who', $2, 'changes', $3::json, 'is_known', is_known) as found from known, done`,
		done({ who, changes, is_known }) {
			const what = changes.paused ? 'Its payments are stopped' : 'It may pay, within its limits';
			const unknown =
				'. The gate does not know this name yet: look whether it is written as in the workflow that pays.';
			return {
				title: 'Saved',
				text: `${what}: ${who}${is_known ? '' : unknown}`,
				html: changesTable(changes),
			};
		},
	},
	'See what happened lately': {
		// The newest first. Of payments that went as they should, handing out is left out.
		ask: `with e as (
			select e.id, e.at at time zone r.time_zone as at, e.event, e.reference, e.amount_etb::text, e.to_user_id,
				coalesce(e.by_person, e.requested_by) as who, left(e.detail, 300) as detail
			from etb_wallet.history e join etb_wallet.rules r on r.budget = e.budget and r.requested_by = ''
			where e.budget = $1 and e.event <> 'send'
			order by e.id desc limit 200
		)
		select json_build_object(${hasBudget}, 'events', (select json_agg(e order by id desc) from e)) as found`,
		page: ({ events }) => ({
			title: 'What happened lately',
			text: 'The newest 200 entries, without those that only say that a payment was handed out.',
			html: table('', events, 'at event reference amount_etb to_user_id who detail'),
		}),
	},
};

/** The query of the page that a person chose. */
const ask = ({ todo, budget }) => ({ query: todos[todo].ask, values: [budget] });

/** What a person chose, as the query that writes it down. What was not answered changes nothing. */
function read({ todo, answer, found, budget, by }) {
	const { read: readAnswer, save } = todos[todo];
	const values = readAnswer?.({ answer, found, by }) ?? missing('There is nothing to change here.');
	return Array.isArray(values) ? { query: save, values: [budget, ...values] } : values;
}

/** The connection ended while the database may have been saving. */
const cut =
	/^(Connection terminated|Connection timed out|terminating connection|Query read timeout|read E|write E)/i;

/** The page that says why there is nothing to show. */
function failure({ todo, isAnswer, missing: why, error }) {
	if (why !== undefined) return { title: 'Nothing was changed', text: why };
	if (!isAnswer)
		return {
			title: 'The desk cannot ask the database',
			text: `The desk could not ask the database: ${error ?? 'look at this execution in n8n, its red node says why'}. Nothing was changed. See that PostgreSQL runs, and that both Postgres nodes of the workflow Pay gate desk have the credential Pay gate desk.`,
		};
	const said =
		error ??
		'The desk could not ask the database. Look at this execution in n8n: its red node says why.';
	if (cut.test(said)) return { title: 'Look whether it was saved', text: said };
	const { title = 'Nothing was changed', text: also = '' } = todos[todo].failed ?? {};
	return { title, text: said + also };
}

/**
 * A page.
 * @param isAnswer whether the person has sent a page, so that this is what became of it
 * @param found what the query found; none when the database could not be asked
 * @param missing what is missing in what the person chose, so that the database was not asked
 * @param error of n8n or PostgreSQL
 * @returns text and HTML, and `fields` as n8n's form wants them, in JSON: empty when nothing more is asked
 */
function draw({ todo, isAnswer, found, missing: why, error }) {
	const { page, done, isForNewBudget } = todos[todo];
	const hasPage = found && (isAnswer || found.has_budget || isForNewBudget);
	const shown = hasPage
		? (isAnswer ? done : page)(found)
		: found
			? {
					title: todo,
					text: 'The gate has no limits yet, so it pays nobody. Run the workflow Pay gate set-up, or choose "Change limits" here.',
				}
			: failure({ todo, isAnswer, missing: why, error });
	const { title, text: words, html = '', fields, button = '' } = shown;
	return {
		...{ title, text: safe(words), html, button },
		// n8n would take a dollar sign in the JSON for the beginning of an expression.
		fields: fields === undefined ? '' : JSON.stringify(fields).replaceAll('$', '\\u0024'),
		found: found ?? {},
	};
}
