// The desk of the pay gate: what each page asks the database for, shows, reads from a person and writes down.
// The Code nodes of gate-desk.json are this file and a last line. The rules are not here: the database decides, whatever comes.

/** The words for a limit that is none: a person writes them to take one away. */
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

/** The choices of a page, by their meaning in the record. */
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
	lateAnswer: 'late response',
	leaseEnded: 'end never told',
	saidPaid: 'settled: paid',
	saidNotPaid: 'settled: not paid',
	saidSeen: 'taken note of',
	saidPaidBefore: 'written down as paid before',
	latePaid: 'late response: paid',
	lateUnknown: 'late response: unknown',
	rules: 'limits changed',
};

/** The warning about a payment in this state that is to be settled. */
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
/** The meaning of a choice in the record. Undefined for no answer, two answers, or another one: those mean nothing. */
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

/**
 * Each thing that a person can do. `ask`: the function of the record that finds what its page shows, of the budget. `page`: the page.
 * `read`: the arguments of the function `save`, after the budget, of what the person chose, or what is missing. `done`: the page after it.
 */
const todos = {
	'See what needs me, and settle it': {
		ask: 'desk_open',
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
		save: 'desk_settle',
		done: ({ was_paid, done }) => ({
			title: 'Settled',
			text: was_paid
				? 'They are recorded as paid, and are never sent again.'
				: 'They are recorded as not paid. Their money is free again, and they are sent when their workflow runs again.',
			html: table('', done, 'n reference state'),
		}),
	},
	'See what was spent': {
		ask: 'desk_spent',
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
		ask: 'desk_limits',
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
		save: 'desk_find',
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
		ask: 'desk_limits',
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
			return paused === undefined
				? chooseOne(choices.stop)
				: [JSON.stringify({ paused: paused === 'true' }), by];
		},
		save: 'desk_set',
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
		ask: 'desk_limits',
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
		save: 'desk_set',
		done: ({ changed }) => ({
			...{ title: 'Saved', text: 'These limits hold from now on.' },
			html: changesTable(changed),
		}),
	},
	'Limits of one caller': {
		ask: 'desk_callers',
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
			return [JSON.stringify(all), by, who];
		},
		save: 'desk_set',
		done({ who, changed, is_known }) {
			const what = changed.paused ? 'Its payments are stopped' : 'It may pay, within its limits';
			const unknown =
				'. The gate does not know this name yet: look whether it is written as in the workflow that pays.';
			return {
				title: 'Saved',
				text: `${what}: ${who}${is_known ? '' : unknown}`,
				html: changesTable(changed),
			};
		},
	},
	'See what happened lately': {
		ask: 'desk_lately',
		page: ({ events }) => ({
			title: 'What happened lately',
			text: 'The newest 200 entries, without those that only say that a payment was handed out.',
			html: table('', events, 'at event reference amount_etb to_user_id who detail'),
		}),
	},
};

/** The call of a function of the record, with its values. */
const call = (name, values) => ({
	query: `select etb_wallet.${name}(${values.map((_, index) => `$${index + 1}`).join(', ')}) as found`,
	values,
});

/** The query of the page that a person chose. */
const ask = ({ todo, budget }) => call(todos[todo].ask, [budget]);

/** The query that writes down the choices of a person. A question without an answer changes nothing. */
function read({ todo, answer, found, budget, by }) {
	const { read: readAnswer, save } = todos[todo];
	const values = readAnswer?.({ answer, found, by }) ?? missing('There is nothing to change here.');
	return Array.isArray(values) ? call(save, [budget, ...values]) : values;
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
