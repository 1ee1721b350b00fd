/** Random lives of one budget of the pay gate, lived in PostgreSQL and compared with the model call by call. */
import fc from 'fast-check';
import type pg from 'pg';
import { z } from 'zod';
import {
	claim,
	moveClock,
	settle,
	rows,
	setRules,
	record,
	value,
	type Answer,
	type Claimed,
	type GateDatabase,
	type Item,
	type Told,
} from '../support/server.mts';
import {
	keyOf,
	LEASE_MS,
	type GateModel,
	type CallerRules,
	type Expected,
	type Rules,
} from './model.mts';

/** One call. Windows are counted from the last one back, so that a life that is cut shorter keeps its meaning. */
export type Call =
	| { kind: 'claim'; items: Item[] }
	| { kind: 'record'; windowsBack: number; answers: AnswerKind[] }
	| { kind: 'settle'; reference: string; attempt: number; wasPaid: boolean }
	| { kind: 'paidBefore'; items: Item[] }
	| { kind: 'move'; minutes: number }
	| { kind: 'rules'; changes: Partial<Rules> }
	| { kind: 'caller'; requestedBy: string; rules: CallerRules };

type AnswerKind =
	| 'paid'
	| 'paidAgain'
	| 'notPaid'
	| 'unknown'
	| 'errorUnknown'
	| 'silent'
	| 'otherPerson'
	| 'missing'
	| 'refused';

const references = ['r1', 'r2', 'r3', 'r4', 'r5', 'R5'];
const callers = ['', 'payroll', 'agent'];
const amounts = [10, 10, 25.5, '40.00'];

const oneOf = fc.constantFrom;
const goodItem = fc.record({
	reference: oneOf(...references),
	toUserId: oneOf('u1', 'u1', 'u1', 'u2'),
	amountEtb: oneOf<number | string>(...amounts),
	requestedBy: oneOf(...callers),
});
const badItem = oneOf<Item>(
	{ toUserId: 'u1', amountEtb: 10 },
	{ reference: ' ', toUserId: 'u1', amountEtb: 10 },
	{ reference: 'r1', amountEtb: 10 },
	{ reference: 'r1', toUserId: 'u1', amountEtb: '1,000' },
	{ reference: 'r1', toUserId: 'u1', amountEtb: '1.250' },
	{ reference: 'r2', toUserId: 'u1', amountEtb: 0 },
	{},
);
const anyItem = fc.oneof({ weight: 12, arbitrary: goodItem }, { weight: 1, arbitrary: badItem });
const items = fc.array(anyItem, { minLength: 1, maxLength: 5 });
const most = fc.option(oneOf(1000, 2550, 4000, 5100, 10_000), { nil: undefined });
const rarely = oneOf(true, false, false, false, false, false);
const windowsBack = fc.nat({ max: 3 });

const answerKind = oneOf<AnswerKind>(
	...(['paid', 'paid', 'paidAgain', 'notPaid', 'notPaid', 'unknown', 'errorUnknown'] as const),
	...(['silent', 'otherPerson', 'missing', 'refused'] as const),
);
const changes = fc.record(
	{
		paused: rarely,
		...{ mostPerPayment: most, mostPerRecipientPerDay: most, mostPerRecipientPerMonth: most },
		...{ mostPerDay: most, mostPerMonth: most },
		timeZone: oneOf('Africa/Addis_Ababa', 'UTC', 'Pacific/Kiritimati'),
	},
	{ requiredKeys: [] },
);
const ofCaller = { paused: rarely, mostPerPayment: most, mostPerDay: most, mostPerMonth: most };

const is = <Kind extends Call['kind']>(kind: Kind) => fc.constant(kind);
const settling = {
	reference: oneOf(...references),
	attempt: oneOf(1, 1, 1, 2, 2, 3),
	wasPaid: fc.boolean(),
};
const answers = fc.array(answerKind, { minLength: 5, maxLength: 5 });
const few = fc.array(goodItem, { minLength: 1, maxLength: 2 });
const asked = { requestedBy: oneOf('payroll', 'agent'), rules: fc.record(ofCaller) };
// No sum of these is a lease, so that no test stands on its edge.
const minutes = oneOf(4, 11, 11, 540, 1500);

export const calls: fc.Arbitrary<Call> = fc.oneof(
	{ weight: 8, arbitrary: fc.record({ kind: is('claim'), items }) },
	{ weight: 8, arbitrary: fc.record({ kind: is('record'), windowsBack, answers }) },
	{ weight: 1, arbitrary: fc.record({ kind: is('paidBefore'), items: few }) },
	{ weight: 5, arbitrary: fc.record({ kind: is('settle'), ...settling }) },
	{ weight: 4, arbitrary: fc.record({ kind: is('move'), minutes }) },
	{ weight: 2, arbitrary: fc.record({ kind: is('rules'), changes }) },
	{ weight: 1, arbitrary: fc.record({ kind: is('caller'), ...asked }) },
);

/** A call that was made, with what it was given and what it answered. */
export interface Done {
	/** Where in the order of the database it happened; undefined when it was refused. */
	order?: number;
	connection: number;
	call: Call;
	/** In ms, by the gate's clock. */
	nowMs: number;
	window?: Claimed;
	answers?: Answer[];
	/** What `record` told. */
	told?: Told[];
	/** What else the call gave. */
	gave?: string | string[];
	refused?: string;
}

const etb = (hundredths: number | undefined): number | null =>
	hundredths === undefined ? null : hundredths / 100;

/** As `set_rules` wants them. */
function rulesInSql(changes: Partial<Rules> | CallerRules): object {
	const inSnakeCase = (name: string) =>
		name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
	return Object.fromEntries(
		Object.entries<unknown>({ ...changes }).map(([name, rule]) => [
			inSnakeCase(name),
			typeof rule === 'number' || rule === undefined ? etb(rule) : rule,
		]),
	);
}

export function txHashOf(window: Claimed, reference: string): string {
	return `0x${window.claim.slice(0, 8)}-${reference}`;
}

function answersFor(window: Claimed, kinds: AnswerKind[]): Answer[] {
	return window.send.flatMap(({ reference, toUserId }, index): Answer[] => {
		const kind = kinds[0] === 'refused' ? 'refused' : (kinds[index] ?? 'silent');
		switch (kind) {
			case 'paid':
				return [{ toUserId, outcome: 'paid', txHash: txHashOf(window, reference) }];
			case 'paidAgain': // with another txHash
				return [{ toUserId, outcome: 'paid', txHash: `${txHashOf(window, reference)}-again` }];
			case 'notPaid':
				return [{ error: { toUserId, outcome: 'notPaid', message: 'The wallet is closed' } }];
			case 'unknown':
				return [{ toUserId, outcome: 'unknown', message: 'No answer' }];
			case 'errorUnknown':
				return [{ error: { toUserId, outcome: 'unknown', message: 'No answer' } }];
			case 'otherPerson':
				return [{ toUserId: `${toUserId}x`, outcome: 'paid', txHash: '0x' }];
			case 'missing':
				return [];
			case 'refused': // the node refused the whole run
				return [{ error: { toUserId, outcome: 'notPaid', message: 'The credential is gone' } }];
			case 'silent':
				return [{}];
		}
	});
}

/** One budget's life in the database. */
export class Life {
	readonly budget: string;
	readonly done: Done[] = [];
	private readonly windows: Claimed[] = [];
	private readonly connections: pg.Client[];

	constructor(budget: string, connections: pg.Client[]) {
		this.budget = budget;
		this.connections = connections;
	}

	/** Makes a call in a transaction of its own, and notes its place in the order while the gate's lock is held. */
	async make(connection: number, call: Call): Promise<void> {
		const client = this.connections[connection];
		if (client === undefined) throw new Error(`no connection ${connection}`);
		const done: Done = { connection, call, nowMs: 0 };
		if (!this.prepare(done)) return;
		await client.query('begin');
		try {
			await this.send(client, done);
			const [row] = await rows(
				client,
				z.object({ place: z.coerce.number(), now: z.coerce.number() }),
				"select nextval('etb_wallet.test_order') as place, extract(epoch from etb_wallet.clock()) * 1000 as now",
			);
			done.order = row?.place;
			done.nowMs = row?.now ?? NaN;
			await client.query('commit');
			if (call.kind === 'claim' && done.window !== undefined) this.windows.push(done.window);
		} catch (error) {
			await client.query('rollback');
			done.refused = error instanceof Error ? error.message : String(error);
		}
		this.done.push(done);
	}

	/** Chooses the window that a call is about, as things are now; false when there is none. */
	private prepare(done: Done): boolean {
		const { call } = done;
		if (!('windowsBack' in call)) return true;
		done.window = this.windows.at(-1 - call.windowsBack);
		if (done.window === undefined) return false;
		if (call.kind === 'record') done.answers = answersFor(done.window, call.answers);
		return true;
	}

	private async send(client: pg.Client, done: Done): Promise<void> {
		const { budget } = this;
		const { call, window } = done;
		switch (call.kind) {
			case 'claim':
				done.window = await claim(client, budget, call.items);
				break;
			case 'record':
				if (window) done.told = await record(client, budget, window, done.answers ?? []);
				break;
			case 'settle':
				done.gave = await settle(client, budget, call.reference, call.wasPaid, call.attempt);
				break;
			case 'move':
				await client.query(
					"select from etb_wallet.rules where budget = $1 and requested_by = '' for update",
					[budget],
				);
				await client.query(
					"update etb_wallet.test_clock set moved = moved + $1 * interval '1 minute'",
					[call.minutes],
				);
				break;
			case 'rules':
				await setRules(client, budget, rulesInSql(call.changes));
				break;
			case 'caller':
				await client.query("select etb_wallet.set_rules($1, $2, 'Abebe', $3)", [
					...[budget, JSON.stringify(rulesInSql(call.rules)), call.requestedBy],
				]);
				break;
			case 'paidBefore':
				done.gave = (
					await value(
						client,
						z.array(z.object({ outcome: z.string() })),
						'select items from etb_wallet.write_down_paid($1, $2, $3, $4)',
						[budget, JSON.stringify(call.items), 'Abebe', 'paid before'],
					)
				).map(({ outcome }) => outcome);
				break;
		}
	}
}

/** A database whose gate has a clock that tests can move, and connections to it. */
export interface Stage {
	connections: pg.Client[];
	/** A new budget, and the clock set back. */
	begin(): Promise<Life>;
	end(): Promise<void>;
}

export async function stage(database: GateDatabase, connectionCount: number): Promise<Stage> {
	await moveClock(database);
	const connections = await Promise.all(
		Array.from({ length: connectionCount }, async () => await database.connect('superuser')),
	);
	const [first] = connections;
	if (first === undefined) throw new Error('no connection');
	await first.query('create sequence etb_wallet.test_order');
	let lives = 0;
	return {
		connections,
		async begin() {
			const budget = `life ${++lives}`;
			await first.query(
				"update etb_wallet.test_clock set started_at = clock_timestamp(), moved = '0'",
			);
			await setRules(first, budget, { lease: `${LEASE_MS / 1000} seconds` });
			return new Life(budget, connections);
		},
		async end() {
			await Promise.all(connections.map(async (client) => await client.end()));
		},
	};
}

/** Refusals that a person or the workflow may meet; any other error is a fault. */
const REFUSALS =
	/stays paid|may still be sent|known as not paid|has no payment with the reference|was sent again since you looked/;

/** What does not fit, or undefined. Calls are compared with the model in the order in which they happened. */
export function misfit(model: GateModel, done: Done): string | undefined {
	const { call, window, nowMs } = done;
	const compare = (expected: Expected[], told: Told[] | undefined) => {
		const misfits = expected.flatMap(({ outcome, code, message, txHash }, index) => {
			const item = told?.[index];
			if (item?.outcome !== outcome)
				return [`item ${index}: ${outcome} expected, ${String(item?.outcome)} told`];
			if (code !== undefined && item.code !== code)
				return [`item ${index}: ${code} expected, ${item.code} told`];
			if (message !== undefined && !message.test(item.message ?? ''))
				return [`item ${index}: like ${message.source} expected, "${item.message}" told`];
			if (txHash !== undefined && txHash !== item.txHash)
				return [`item ${index}: txHash ${txHash} expected, ${item.txHash} told`];
			return [];
		});
		if (told?.length !== expected.length) misfits.push(`${told?.length} items told`);
		return misfits.length === 0 ? undefined : misfits.join('; ');
	};
	switch (call.kind) {
		case 'claim': {
			if (window === undefined) return `failed: ${done.refused}`;
			const expected = model.claim(window.claim, call.items, nowMs);
			const sent = expected.filter(({ outcome }) => outcome === null).length;
			return (
				compare(expected, window.items) ??
				(window.send.length === sent ? undefined : `${window.send.length} to send, not ${sent}`)
			);
		}
		case 'record':
			if (window === undefined || done.told === undefined) return `failed: ${done.refused}`;
			return compare(model.record(window.claim, window.items, done.answers ?? []), done.told);
		case 'settle': {
			if (done.refused !== undefined && !REFUSALS.test(done.refused))
				return `failed: ${done.refused}`;
			const expected = model.settle(call.reference, call.attempt, call.wasPaid, nowMs);
			return expected === done.gave ? undefined : `${expected ?? 'a refusal'} expected`;
		}
		case 'paidBefore': {
			const expected = model.writeDownPaid(call.items, nowMs).join();
			return expected === String(done.gave) ? undefined : `${expected} expected`;
		}
		case 'rules':
			model.rules = { ...model.rules, ...call.changes };
			break;
		case 'caller':
			model.callers.set(call.requestedBy, { ...call.rules });
			break;
		case 'move':
			break;
	}
	return done.refused === undefined ? undefined : `failed: ${done.refused}`;
}

const attempt = z.object({
	reference: z.string(),
	attempt: z.number(),
	toUserId: z.string(),
	amount: z.coerce.number(),
	requestedBy: z.string(),
	state: z.string(),
	surprise: z.string().nullable(),
	claim: z.string().nullable(),
	spentOn: z.string().nullable(),
	settledByPerson: z.boolean(),
	txHash: z.string().nullable(),
});

/** What the tables hold that the model does not, and what does not add up in them; undefined when all fits. */
export async function tablesMisfit(
	client: pg.Client,
	budget: string,
	model: GateModel,
): Promise<string | undefined> {
	const inTable = await rows(
		client,
		attempt,
		`select reference, attempt, to_user_id as "toUserId", amount_etb * 100 as amount, requested_by as "requestedBy", state, surprise, claim,
			spent_on::text as "spentOn", settled_by is not null as "settledByPerson", tx_hash as "txHash"
		from etb_wallet.payment where budget = $1 order by reference collate "C", attempt`,
		[budget],
	);
	const inModel = model.attempts
		.map((known) => attempt.parse(known))
		.sort((a, b) => a.attempt - b.attempt)
		.sort((a, b) => (a.reference === b.reference ? 0 : a.reference < b.reference ? -1 : 1));
	if (JSON.stringify(inTable) !== JSON.stringify(inModel))
		return `payments in the table: ${JSON.stringify(inTable)}\nexpected: ${JSON.stringify(inModel)}`;
	const sums = await rows(
		client,
		z.object({ key: z.string(), kept: z.coerce.number(), summed: z.coerce.number() }),
		`with kept as (select scope, who, period, starts_on, amount_etb from etb_wallet.spent where budget = $1),
		summed as (
			select x.scope, x.who, y.period, y.starts_on, sum(p.amount_etb) as amount_etb from etb_wallet.payment p
			cross join lateral (values ('budget', ''), ('recipient', p.to_user_id), ('caller', p.requested_by)) x (scope, who)
			cross join lateral (values ('day', p.spent_on), ('month', date_trunc('month', p.spent_on)::date)) y (period, starts_on)
			where p.budget = $1 and p.state <> 'notPaid' and p.spent_on is not null group by 1, 2, 3, 4)
		select concat_ws(' ', scope, case when scope <> 'budget' then who end, case period when 'day' then starts_on::text else to_char(starts_on, 'YYYY-MM') end) as key,
			coalesce(k.amount_etb, 0) * 100 as kept, coalesce(s.amount_etb, 0) * 100 as summed
		from kept k full join summed s using (scope, who, period, starts_on)`,
		[budget],
	);
	const wrong = sums.filter(
		({ key, kept, summed }) => kept !== summed || kept !== (model.spent.get(key) ?? 0),
	);
	return wrong.length === 0 ? undefined : `what is spent does not add up: ${JSON.stringify(wrong)}`;
}

/**
 * The one promise that needs no model: between two times that a reference is handed out, somebody said that it was not
 * paid. And what was told paid stays so.
 * @param done in the order in which it happened
 */
export function brokenPromise(done: Done[]): string | undefined {
	/** For each reference, its claims in the order of its attempts, and what may have been paid or is paid of them. */
	const claims = new Map<string, string[]>();
	const out = new Map<string, Map<string, 'out' | 'paid'>>();
	/** Who was to get how much when it was handed out, or written down, last. */
	const last = new Map<string, string>();
	const payee = ({ toUserId, amountEtb }: Item) => `${String(toUserId)} ${Number(amountEtb)}`;
	const of = (reference: string) => {
		const own = out.get(keyOf(reference)) ?? new Map<string, 'out' | 'paid'>();
		out.set(keyOf(reference), own);
		return own;
	};
	for (const { call, window, told, gave } of done) {
		if (call.kind === 'claim') {
			for (const { reference, claim: own, ...item } of window?.send ?? []) {
				last.set(keyOf(reference), payee(item));
				if (of(reference).size > 0)
					return `${reference} was handed out again while it was ${[...of(reference).values()].join()}`;
				claims.set(keyOf(reference), [...(claims.get(keyOf(reference)) ?? []), own]);
				of(reference).set(own, 'out');
			}
		}
		if (call.kind === 'paidBefore') {
			for (const [index, { reference, ...item }] of call.items.entries()) {
				if (!Array.isArray(gave) || gave[index] !== 'written') continue;
				const key = keyOf(String(reference));
				// For another person or amount it is an attempt of its own.
				if (last.get(key) !== payee(item))
					claims.set(key, [...(claims.get(key) ?? []), 'a person']);
				last.set(key, payee(item));
				of(String(reference)).set('a person', 'paid');
			}
		}
		if (call.kind === 'settle' && gave !== undefined) {
			const own = claims.get(keyOf(call.reference))?.[call.attempt - 1] ?? '';
			if (gave === 'paid') of(call.reference).set(own, 'paid');
			else if (of(call.reference).get(own) === 'paid')
				return `${call.reference} was paid, and a person's word changed that`;
			else of(call.reference).delete(own);
		}
		for (const [index, item] of (told ?? []).entries()) {
			if (item.reference === undefined || window?.items[index]?.outcome !== null) continue;
			const own = of(item.reference);
			if (item.outcome === 'paid') own.set(window.claim, 'paid');
			else if (item.outcome === 'notPaid' && own.get(window.claim) === 'paid')
				return `${item.reference} was paid, and an answer changed that`;
			else if (item.outcome === 'notPaid') own.delete(window.claim);
		}
	}
	return undefined;
}

const itemInWords = ({ reference, toUserId, amountEtb, requestedBy }: Item): string =>
	`${JSON.stringify(reference)} ${JSON.stringify(amountEtb)} ETB to ${JSON.stringify(toUserId)} by ${JSON.stringify(requestedBy)}`;

/** A call as a line that a person can read. */
export function inWords({
	connection,
	call,
	window,
	answers,
	told,
	gave,
	refused,
	nowMs,
}: Done): string {
	const by = `[${connection}] ${new Date(nowMs).toISOString().slice(0, 16)} `;
	const end = refused === undefined ? '' : ` → refused: ${refused}`;
	const short = window?.claim.slice(0, 8);
	switch (call.kind) {
		case 'claim':
			return `${by}claim ${short}:${call.items.map((item, index) => `\n      ${itemInWords(item)} → ${window?.items[index]?.outcome} ${window?.items[index]?.message ?? ''}`).join('')}${end}`;
		case 'record': {
			const given = answers
				?.map((answer) => (answer.error ?? answer).outcome ?? 'nothing')
				.join(', ');
			return `${by}${call.kind} ${short} ${given ?? ''} → ${told?.map(({ reference, outcome }) => `${reference} ${outcome}`).join(', ')}${end}`;
		}
		case 'settle':
			return `${by}a person says that ${call.reference}, attempt ${call.attempt}, was ${call.wasPaid ? '' : 'not '}paid → ${String(gave ?? '')}${end}`;
		case 'paidBefore':
			return `${by}a person writes down as paid:${call.items.map((item) => `\n      ${itemInWords(item)}`).join('')} → ${String(gave)}${end}`;
		case 'move':
			return `${by}${call.minutes} minutes went by${end}`;
		case 'rules':
			return `${by}rules ${JSON.stringify(call.changes)}${end}`;
		case 'caller':
			return `${by}caller "${call.requestedBy}" ${JSON.stringify(call.rules)}${end}`;
	}
}
