// The facts about a world and its runs, and the questions about them that rules of more than one subject ask.
import type { N8nProcess } from './n8n-process.mts';
import type { Plan, RunPlan, VariantKind, PlannedStatement } from './plan.mts';
import type { Line } from './reported-lines.mts';
import type { Books, Sent } from './service-books.mts';
import type { SimulatedDatabase } from './simulated-database.mts';
import type { Log } from './log.mts';
import type { Timeline } from './virtual-time.mts';

export interface World {
	plan: Plan;
	timeline: Timeline;
	books: Books;
	database: SimulatedDatabase;
	log: Log;
	runs: RunFacts[];
	/** The broken rules, in words; none in a good world. */
	violations: string[];
	/** Outcomes that were told, and excuses that were used, by how often. */
	counts: Map<string, number>;
	/** Crashes, pauses and set clocks so far. */
	disruptions: number;
	/** By `idOf`: when a payment was told to be paid, and the record had it. No run may say less of it later (`isPaidForEver`). */
	paidForEver: Map<string, PaidForEver>;
}

export interface PaidForEver {
	at: number;
	/** Whether the service said it. Otherwise it can be the statement of a person, which a person can contradict. */
	isProven: boolean;
}

interface Payment {
	/** The key of the reference, which may be paid once. */
	key: string;
	toUserId: string;
	amount: number;
}

/** The payment that an item asks for. */
export interface Payee extends Payment {
	/** The reference as the item spells it. */
	reference: string;
	variant: VariantKind;
}

/** `planned`: a run of the plan. The others are healthy runs at the end of a world, in this order. */
export type Role = 'planned' | 'last' | 'settling' | 'final';

/** The facts about a run of the node. */
export interface RunFacts {
	/** The index among the runs of the world. */
	number: number;
	name: string;
	role: Role;
	plan: RunPlan;
	payees: Payee[];
	process: N8nProcess;
	/** By item, the statements of a person, and when the person gave them. */
	statements: PlannedStatement[];
	givenAt: number;
	/** By item, the name of the sending that *notPaid* is about, if the statement names it. */
	sentAt: (string | undefined)[];
	beganAt: number;
	/** By key: the first and the last time that the run asked the record for a reference. */
	askedFirst: Map<string, number>;
	asked: Map<string, number>;
	/** By item, the lines that the last try told. */
	lines: Map<number, Line>;
	stoodStillBefore: number;
	stoppedAt?: number;
	endedAt?: number;
	diedAt?: number;
	/** The time of the last call of the database: a run that was stopped may call it after its end. */
	calledAt?: number;
	/** Defined once the run has begun: the marks of its node and the number of disruptions at that time. */
	before?: { row: ReadonlySet<string>; disrupted: number };
	/** Each begins a run when this one has ended or its process died. */
	next: (() => void)[];
	died(): void;
}

/** In ms, until a write has arrived that was under way when its process died or its execution was stopped. */
export const writeMs = 10_000;

export const lastActAt = ({ endedAt, diedAt, stoppedAt, calledAt = 0 }: RunFacts): number => {
	const end = Math.max(endedAt ?? diedAt ?? Infinity, calledAt);
	return diedAt === undefined && stoppedAt === undefined ? end : end + writeMs;
};

export const hasBegun = ({ before }: RunFacts): boolean => before !== undefined;

/** Whether the run settles, and the node accepts it: not in Retry execution, nor from a schedule with typed fields. */
export const maySettle = ({ plan }: RunFacts): boolean =>
	plan.does === 'settle' &&
	plan.mode !== 'retry' &&
	(plan.by === 'expression' || plan.mode === 'manual');

/**
 * Whether *notPaid* frees a reference in this run only if no statement freed it before, or none that named the same
 * sending: a loop may repeat the run.
 */
export const countsOnce = ({ plan }: RunFacts): boolean => plan.by === 'expression';

/** Whether the run may settle, and gives this statement about a reference to the node. */
export const says = (run: RunFacts, statement: PlannedStatement, key: string): boolean =>
	maySettle(run) &&
	run.payees.some((payee, item) => payee.key === key && run.statements[item] === statement);

/** The name of the sending that the statements of a run about a reference are about, if they name one. */
export const sendingOf = ({ payees, sentAt }: RunFacts, key: string): string | undefined =>
	sentAt[payees.findLastIndex((payee) => payee.key === key)];

/** When the run first asked the record for a reference, or began if it never asked. */
export const askedAt = ({ askedFirst, beganAt }: RunFacts, key: string): number =>
	askedFirst.get(key) ?? beganAt;

/** The row of the database that remembers the payments of the node. */
export const scopeOf = ({ plan }: RunFacts): string => `n:pay-${plan.node}`;

/** Whether a request pays exactly this payee. */
export const isOf =
	({ key, toUserId, amount }: Payee) =>
	(sent: Sent): boolean =>
		sent.key === key && sent.toUserId === toUserId && sent.amountEtb === amount;

/** The name of a payment in `paidForEver`. */
export const idOf = ({ key, toUserId, amount }: Payment): string => `${key} ${toUserId} ${amount}`;

export function broken({ violations, log }: World, rule: string): void {
	violations.push(rule);
	log(() => `*** ${rule}`);
}

export function count({ counts }: World, name: string): void {
	counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Counts an excuse if it applies. @returns whether it does */
export function isExcused(world: World, name: string, applies: boolean): boolean {
	if (applies) count(world, `excuse: ${name}`);
	return applies;
}

/** Disruptions and failures of the database so far. */
export const disruptionCount = ({ disruptions, database }: World): number =>
	disruptions + database.disrupted();

/** The marks of the node of a run, now. */
export const rowOf = ({ database }: World, run: RunFacts): Set<string> =>
	new Set(database.rows.get(scopeOf(run)));

/** The runs in which a person said that a payment was not made, at some time after its reservation. */
export const runsSayingNotPaid = ({ runs }: World, { key, grounds }: Sent): RunFacts[] =>
	runs.filter(
		(run) => says(run, 'notPaid', key) && hasBegun(run) && lastActAt(run) >= grounds.reservedAt,
	);

/** Whether a run may settle, and says that a reference was not paid, or takes back that it was. */
export const contradictsPaid = (run: RunFacts, key: string): boolean =>
	hasBegun(run) && (says(run, 'notPaid', key) || says(run, 'takeBack', key));

/** Whether a payment was told to be paid before this time, and stays so. */
export function isPaidForEver(world: World, payee: Payment, before: number): boolean {
	const { at, isProven } = world.paidForEver.get(idOf(payee)) ?? { at: Infinity, isProven: false };
	const isContradicted = world.runs.some(
		(run) => contradictsPaid(run, payee.key) && lastActAt(run) >= at,
	);
	return at < before && (isProven || !isContradicted);
}

/** Whether the other run had begun, and not ended yet when the first began. */
export const isDuring = (run: RunFacts, other: RunFacts): boolean =>
	hasBegun(other) && lastActAt(other) >= run.beganAt;

/** Whether a limit refuses the whole run before it reserves, so that it records nothing. */
export const isAboveLimit = ({ payees, plan }: RunFacts): boolean =>
	payees.reduce((sum, { amount }) => sum + amount, 0) > (plan.maxTotalEtb ?? Infinity);
