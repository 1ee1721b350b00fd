/** What each page of the pay gate's desk shows, made from what its query found. */
import {
	type Cell,
	type Found,
	type Row,
	allOfThem,
	callerLimits,
	choices,
	limit,
	limits,
	money,
	noLimit,
	rowOf,
	rowsOf,
	state,
	textOf,
	time,
	todos,
	twoWayRules,
} from './words.mts';

export type Todo = keyof typeof todos;
/** A field of n8n's form. */
interface Field {
	fieldLabel: string;
	fieldName: string;
	fieldType: 'text' | 'textarea' | 'radio' | 'checkbox';
	requiredField?: boolean;
	placeholder?: string;
	defaultValue?: string;
	fieldOptions?: { values: Array<{ option: string }> };
}

interface Page {
	title: string;
	text: string;
	tables?: Array<{ title: string; rows: Row[]; columns: string }>;
	/** The fields of the form, and its button. Without them nothing more is asked. */
	fields?: Field[];
	button?: string;
}

/** Each column of a table: its title, and how its values look. */
const columns: Record<string, [title: string, shown?: (value: Cell) => string]> = {
	n: ['No.'],
	reference: ['Reference'],
	amount_etb: ['ETB', money],
	to_user_id: ['To User ID'],
	sent_at: ['Sent', time],
	ended_at: ['Ended', time],
	ends_at: ['Ends at the Latest', time],
	confirmed_at: ['Confirmed', time],
	at: ['When', time],
	starts_on: ['Day'],
	period: ['When'],
	state: ['State', state],
	event: ['What', state],
	requested_by: ['Asked for by'],
	settled_by: ['Settled by'],
	who: ['Who'],
	by_caller: ['Caller'],
	confirmed_by: ['Confirmed by'],
	spent: ['Spent', money],
	most: ['Limit', limit],
	left: ['Left', limit],
	got: ['Got This Month (ETB)', money],
	tx_hash: ['Transaction'],
	attempt: ['Try'],
	execution: ['Execution'],
	detail: ['Detail'],
	why: ['Why'],
	change: ['What'],
	now: ['Now'],
	payments: ['Payments'],
	most_per_payment: [limits.most_per_payment, limit],
	most_per_day: [limits.most_per_day, limit],
	most_per_month: [limits.most_per_month, limit],
};

/** Text as HTML: what the database or a person wrote is never a part of the page. */
const safe = (value: Cell): string =>
	textOf(value).replace(
		/[^\p{L}\p{N} .,:;()@/_?!+-]/gu,
		(character) => `&#${character.codePointAt(0)};`,
	);

function tableHtml({ title, rows, columns: names }: NonNullable<Page['tables']>[number]): string {
	if (rows.length === 0) return '';
	const shown = names.split(' ').map((name) => ({ name, column: columns[name] ?? [name] }));
	// On a phone each cell stands on a line of its own, with its title before it.
	const cell = (
		value: Cell,
		[title, show = textOf]: [string, ((value: Cell) => string)?],
	): string => {
		const text =
			value === null || value === undefined ? (show === limit ? noLimit : '') : show(value);
		return text === '' ? '<td></td>' : `<td><b>${safe(title)}: </b>${safe(text)}</td>`;
	};
	const line = (row: Row): string =>
		`<tr>${shown.map(({ name, column }) => cell(row[name], column)).join('')}</tr>`;
	return [
		title === '' ? '' : `<h2>${safe(title)}</h2>`,
		`<table><thead><tr>${shown.map(({ column }) => `<th>${safe(column[0])}</th>`).join('')}</tr></thead>`,
		`<tbody>${rows.map(line).join('')}</tbody></table>`,
	].join('');
}

const values = (options: string[]): Field['fieldOptions'] => ({
	values: options.map((option) => ({ option })),
});

/** One answer out of few. None is chosen before: what was not answered changes nothing. */
const radio = (fieldName: string, fieldLabel: string, options: Row): Field => ({
	...{ fieldLabel, fieldName, fieldType: 'radio', requiredField: true },
	fieldOptions: values(Object.values(options).map(String)),
});
const text = (fieldName: string, fieldLabel: string, more: Partial<Field> = {}): Field => ({
	...{ fieldLabel, fieldName, fieldType: 'text' },
	...more,
});
/** Payments to tick, by their number. */
const ticks = (payments: Row[], last: string[] = []): Field => ({
	...{
		fieldLabel: 'Which payments?',
		fieldName: 'which',
		fieldType: 'checkbox',
		requiredField: true,
	},
	fieldOptions: values([
		...payments.map(
			({ n, reference, amount_etb, to_user_id }) =>
				`${textOf(n)}. ${textOf(reference)}: ${money(amount_etb)} ETB to ${textOf(to_user_id)}`,
		),
		...last,
	]),
});
const note: Field = {
	...{ fieldLabel: 'Who told you, and when? For example a ticket number', fieldName: 'note' },
	...{ fieldType: 'textarea', requiredField: true },
};

/** What a person should know of a payment in this state that is to be settled. */
const openAdvice: Record<string, string> = {
	unknown:
		' UNKNOWN: it may have been made. Until somebody settles it, it is not sent again, and its money counts as spent. Before you say that it was not paid, look in n8n whether the execution that sent it has ended.',
	mayBePaidTwice:
		' MAY BE PAID TWICE: it is paid, and another try of it may have been paid too. Ask about that try.',
	paidTwice:
		' PAID TWICE: the service said twice that it paid. Ask for the money back, then settle it as paid to take it off this list.',
	paidAfterAll:
		' PAID AFTER ALL: somebody settled it as not paid, and later the service said that it paid. Settle it as paid to take it off this list.',
};

/** The pages before something is done, by what the person wants to do. */
const pages: Record<Todo, (found: Found) => Page> = {
	settle: (found) => {
		const open = rowsOf(found.open);
		const inFlight = {
			...{ title: 'Being sent now: nothing to do', rows: rowsOf(found.in_flight) },
			columns: 'reference amount_etb to_user_id sent_at ends_at',
		};
		if (open.length === 0) {
			return { title: 'Nothing needs you', text: 'No payment is unknown.', tables: [inFlight] };
		}
		const counts = Object.entries(rowOf(found.counts)).filter(([name]) => name !== 'inFlight');
		const all = counts.reduce((sum, [, count]) => sum + Number(count), 0);
		const advice = counts.map(([name]) => openAdvice[name] ?? '').join('');
		return {
			title: 'What needs you',
			text: `Ask the partner service about each: give it the person, the amount and the time. Then tick those with the same answer, and say what it said.${advice}${all > open.length ? ` There are ${all}; the first ${open.length} are shown.` : ''}`,
			tables: [
				{
					...{ title: 'To be settled', rows: open },
					columns:
						'n reference amount_etb to_user_id sent_at attempt state tx_hash requested_by execution why',
				},
				inFlight,
			],
			fields: [
				ticks(open),
				radio('answer', 'What did the partner service say?', choices.settle),
				note,
			],
			button: 'Settle',
		};
	},
	spent: (found) => ({
		title: 'What was spent',
		text: `In ETB. What is being sent, or unknown, counts as spent.${found.paused ? ' Payments are stopped now.' : ''}`,
		tables: [
			{ title: 'Altogether', rows: rowsOf(found.altogether), columns: 'period spent most left' },
			{ title: 'By caller, this month', rows: rowsOf(found.callers), columns: 'by_caller spent' },
			{
				title: 'Who got most this month',
				rows: rowsOf(found.recipients),
				columns: 'to_user_id spent',
			},
			{ title: 'Day by day', rows: rowsOf(found.days), columns: 'starts_on spent' },
		],
	}),
	find: () => ({
		title: 'Find a payment',
		text: 'By its reference, by the beginning of its reference, by the person who gets it, or by the transaction hash.',
		fields: [text('what', 'Reference, To User ID or transaction hash', { requiredField: true })],
		button: 'Find',
	}),
	stop: (found) => ({
		title: todos.stop,
		text: found.paused
			? 'Payments are STOPPED now: the gate hands out nothing.'
			: 'Payments are running now. When you stop them, nothing new is sent, whoever asks; at most those 50 of a running call that are being sent at this moment still end. What was not sent is told as "not paid", and can be sent later.',
		fields: [radio('answer', 'What shall be?', choices.stop)],
		button: 'Save',
	}),
	limits: (found) => {
		const now = rowOf(found.limits);
		const { only_known_recipients: whoMayBePaid, only_known_callers: whoMayPay } = choices;
		return {
			title: 'Limits',
			text: `${found.has_budget ? '' : 'The gate has no limits yet. Saving makes them. '}Amounts in ETB. To take a limit away, write "${noLimit}"; an empty field leaves it as it is. A limit of 0 lets nothing through. They hold from the next payment on.`,
			fields: [
				...Object.entries(limits).map(([name, title]) =>
					text(name, title, { defaultValue: textOf(now[name] ?? noLimit) }),
				),
				{
					...radio('only_known_recipients', twoWayRules.only_known_recipients, whoMayBePaid),
					defaultValue: whoMayBePaid[now.only_known_recipients === 'true' ? 'true' : 'false'],
				},
				{
					...radio('only_known_callers', twoWayRules.only_known_callers, whoMayPay),
					defaultValue: whoMayPay[now.only_known_callers === 'true' ? 'true' : 'false'],
				},
			],
			button: 'Save',
		};
	},
	recipients: (found) => ({
		title: todos.recipients,
		text: `On the list: ${textOf(found.count)}. ${found.only_known ? 'Only they are paid.' : `The list has no effect now: everybody is paid. To change that, choose "${choices.only_known_recipients.true}" under "${todos.limits}".`}`,
		tables: [{ title: 'The list', rows: rowsOf(found.known), columns: 'to_user_id got' }],
		fields: [
			text('add', 'Put these on the list (one To User ID per line)', { fieldType: 'textarea' }),
			text('remove', 'Take these off the list (one To User ID per line)', {
				fieldType: 'textarea',
			}),
		],
		button: 'Save',
	}),
	callers: (found) => ({
		title: todos.callers,
		text: `A caller is a workflow, by the name that it gives itself (requestedBy). Nothing proves that name: these limits help against mistakes, not against somebody who can edit workflows. ${found.only_known ? 'Only callers on the list may pay.' : 'Callers that are not on the list may pay, within the limits of all.'} An empty field leaves a limit as it is; to take it away, write "${noLimit}".`,
		tables: [
			{
				title: 'The list',
				rows: rowsOf(found.callers).map((row) => ({
					...row,
					payments: row.paused ? 'stopped' : 'allowed',
				})),
				columns: 'by_caller payments most_per_payment most_per_day most_per_month',
			},
		],
		fields: [
			text('who', 'Caller, as in requestedBy', { requiredField: true, placeholder: 'payroll' }),
			radio('answer', 'What shall be?', choices.callers),
			...callerLimits.map((name) =>
				text(name, `${limits[name]} (ETB)`, { placeholder: 'as it is' }),
			),
		],
		button: 'Save',
	}),
	unconfirmed: (found) => {
		const unconfirmed = rowsOf(found.unconfirmed);
		if (unconfirmed.length === 0) {
			return {
				title: 'All is confirmed',
				text: 'An event confirmed each payment that was made more than a day ago.',
			};
		}
		const count = Number(found.count);
		return {
			title: 'No event confirmed them',
			text: `Paid more than a day ago, and no event told of it: ${count}. Ask the partner service about each, then tick it and write down what you were told: it is taken off this list, and stays paid. If the service says that it did not pay somebody, pay that person under another reference. (Without the workflow "Pay gate: confirm payments" no payment is ever confirmed.)${count > unconfirmed.length ? ` The newest ${unconfirmed.length} are shown.` : ''}`,
			tables: [
				{
					...{ title: '', rows: unconfirmed },
					columns: 'n reference amount_etb to_user_id ended_at attempt tx_hash requested_by',
				},
			],
			fields: [
				ticks(unconfirmed, count > unconfirmed.length ? [`${allOfThem}: ${count}`] : []),
				note,
			],
			button: 'Take Off the List',
		};
	},
	happened: (found) => ({
		title: 'What happened lately',
		text: 'The newest 200 entries, without those that only say that a payment was handed out or confirmed.',
		tables: [
			{
				...{ title: '', rows: rowsOf(found.events) },
				columns: 'at event reference amount_etb to_user_id who detail',
			},
		],
	}),
};

/** The rules that were changed, as rows. */
const changes = (changed: Found[string]): Row[] =>
	Object.entries({ ...limits, ...twoWayRules })
		.filter(([name]) => name in rowOf(changed))
		.map(([name, title]) => {
			const value = rowOf(changed)[name];
			const known =
				name === 'only_known_recipients'
					? choices.only_known_recipients
					: choices.only_known_callers;
			if (typeof value === 'boolean')
				return { change: title, now: known[value ? 'true' : 'false'] };
			return { change: title, now: value === null ? noLimit : `${money(value)} ETB` };
		});

/** The pages after something was done. */
const answers: Partial<Record<Todo, (found: Found) => Page>> = {
	settle: (found) => ({
		title: 'Settled',
		text: found.was_paid
			? 'They are recorded as paid, and are never sent again.'
			: 'They are recorded as not paid. Their money is free again, and they are sent when their workflow runs again.',
		tables: [{ title: '', rows: rowsOf(found.done), columns: 'n reference state' }],
	}),
	find: (found) => {
		const payments = rowsOf(found.payments);
		const references = new Set(payments.map(({ reference }) => reference)).size;
		const few = ['No payment was found', 'One payment'][references] ?? 'Payments';
		return {
			title: payments.length === 50 ? 'The newest 50' : few,
			text: `Looked for: ${textOf(found.searched)}`,
			tables: [
				{
					...{ title: '', rows: payments },
					columns:
						'reference attempt amount_etb to_user_id state sent_at ended_at tx_hash confirmed_at confirmed_by requested_by settled_by why',
				},
				{
					...{ title: 'Its history', rows: rowsOf(found.history) },
					columns: 'at event attempt who execution detail',
				},
			],
		};
	},
	stop: (found) =>
		found.paused
			? {
					title: 'Payments are stopped',
					text: `Nothing new is sent until somebody resumes. What was being sent at this moment still ends; "${todos.settle}" tells when.`,
				}
			: {
					title: 'Payments are running',
					text: 'What was refused meanwhile is paid when its workflow runs again.',
				},
	limits: (found) => ({
		title: 'Saved',
		text: 'These limits hold from now on.',
		tables: [{ title: '', rows: changes(found.changed), columns: 'change now' }],
	}),
	recipients: (found) => ({
		title: 'Saved',
		text: 'The list of known recipients now:',
		tables: [
			{
				title: '',
				rows: rowsOf(found.done).map((row) => ({
					...row,
					now: row.is_known ? 'on the list' : 'not on the list',
				})),
				columns: 'to_user_id now',
			},
		],
	}),
	callers: (found) => {
		const change = rowOf(found.changes);
		const what =
			found.changes === null
				? 'It is not on the list any more'
				: change.paused
					? 'Its payments are stopped'
					: 'It may pay, within its limits';
		return {
			title: 'Saved',
			text: `${what}: ${textOf(found.who)}${found.is_known ? '' : '. The gate does not know this name yet: look whether it is written as in the workflow that pays.'}`,
			tables: [{ title: '', rows: changes(change), columns: 'change now' }],
		};
	},
	unconfirmed: (found) => ({
		title: 'Taken off the list',
		text: `Payments: ${textOf(found.count)}. They stay paid.`,
	}),
};

/** What came to the drawing: what a query found, or why there is nothing. */
export interface Drawing {
	/** What the person wants to do, as the first page words it. */
	todo: string;
	/** Whether the person has sent a page, so that this is what became of it. */
	isAnswer: boolean;
	/** What the query found; none when the database could not be asked. */
	found?: Found;
	/** What is missing in what the person chose, so that the database was not asked. */
	missing?: string;
	/** The error of n8n or PostgreSQL. */
	error?: string;
}

/** The connection ended while the database may have been saving. */
const cut =
	/^(Connection terminated|Connection timed out|terminating connection|Query read timeout|read E|write E)/i;

function failure({ todo, isAnswer, missing, error }: Drawing): Page {
	if (missing !== undefined) return { title: 'Nothing was changed', text: missing };
	if (!isAnswer) {
		return {
			title: 'The desk cannot ask the database',
			text: `The desk could not ask the database: ${error ?? 'look at this execution in n8n, its red node says why'}. Nothing was changed. See that PostgreSQL runs, and that each Postgres node of the workflow Pay gate desk has the credential Pay gate desk.`,
		};
	}
	const why =
		error ??
		'The desk could not ask the database. Look at this execution in n8n: its red node says why.';
	if (cut.test(why)) return { title: 'Look whether it was saved', text: why };
	if (todo !== todos.stop) return { title: 'Nothing was changed', text: why };
	return {
		title: 'Nothing was changed: look whether payments are stopped',
		text: `${why} To stop payments all the same, unpublish the workflow Pay gate.`,
	};
}

function pageOf(drawing: Drawing): Page {
	const { found, isAnswer } = drawing;
	const [name] = Object.entries(todos).find(([, words]) => words === drawing.todo) ?? [];
	const page = [...Object.entries(isAnswer ? answers : pages)].find(([todo]) => todo === name)?.[1];
	if (!found || !page) return failure(drawing);
	if (!isAnswer && !found.has_budget && name !== 'limits') {
		return {
			title: drawing.todo,
			text: `The gate has no limits yet, so it pays nobody. Run the workflow Pay gate set-up, or choose "${todos.limits}" here.`,
		};
	}
	return page(found);
}

/**
 * Draws a page.
 * @returns text and HTML of the page, and `fields` as n8n's form wants them, in JSON: empty when nothing more is asked
 */
export function draw(drawing: Drawing) {
	const { title, text, tables = [], fields = [], button = '' } = pageOf(drawing);
	return {
		...{ title, text: safe(text), html: tables.map(tableHtml).join(''), button },
		// n8n would take a dollar sign in the JSON for the beginning of an expression.
		fields: fields.length === 0 ? '' : JSON.stringify(fields).replaceAll('$', '\\u0024'),
		found: drawing.found ?? {},
	};
}
