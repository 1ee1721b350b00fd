// Plays the runs of a world: the node is executed as n8n does it, and the rules judge it by the facts about the run.
import { runNode, type NodeRun, type Outside } from './execution.mts';
import type { N8nProcess } from './n8n-process.mts';
import { spellings, type RunPlan, type PlannedStatement } from './plan.mts';
import { messageOf } from './reported-lines.mts';
import { judgeTry } from './rules-results.mts';
import { judgeEnd } from './rules.mts';
import { referenceKeyOf, type Books } from './service-books.mts';
import type { Log } from './log.mts';
import { randomFrom } from './virtual-time.mts';
import { broken, disruptionCount, rowOf } from './world.mts';
import type { Payee, Role, RunFacts, World } from './world.mts';

/** Adds a run to those of the world. @param given the statements of an earlier run, if they are used again */
export function newRun(
	{ runs, books, timeline }: World,
	runPlan: RunPlan,
	process: N8nProcess,
	next: (() => void)[],
	role: Role = 'planned',
	given?: Pick<RunFacts, 'statements' | 'givenAt' | 'sentAt'>,
): RunFacts {
	const payees = payeesOf(runPlan);
	const run: RunFacts = {
		number: runs.length,
		name: `run ${runs.length}${role === 'planned' ? '' : ` (${role})`}`,
		role,
		plan: runPlan,
		payees,
		process,
		statements:
			given?.statements ?? payees.map(({ key }, item) => statementOn(books, runPlan, key, item)),
		givenAt: given?.givenAt ?? timeline.now,
		sentAt: given?.sentAt ?? payees.map(({ key }) => sendingOfUnknown(runs, runPlan, key)),
		beganAt: 0,
		askedFirst: new Map(),
		asked: new Map(),
		lines: new Map(),
		stoodStillBefore: process.stoodStill,
		next,
		died: () => {
			run.diedAt = timeline.now;
			for (const each of next) each();
		},
	};
	runs.push(run);
	return run;
}

/**
 * The statement of a person about an item. A person who asks the service tells the truth, and nothing while a request may
 * still be carried out; other statements are guesses.
 */
function statementOn(
	books: Books,
	{ does, items }: RunPlan,
	key: string,
	item: number,
): PlannedStatement {
	const { statement = 'nothing' } = items[item] ?? {};
	if (does !== 'settle') return 'nothing';
	if (statement !== 'asks') return statement;
	if (books.isPending(key)) return 'nothing';
	return books.paymentsOf(key).length > 0 ? 'paid' : 'notPaid';
}

/** The name of the sending that the last run which told a reference unknown was about, as a register has it. */
function sendingOfUnknown(
	runs: readonly RunFacts[],
	{ by, namesSending }: RunPlan,
	key: string,
): string | undefined {
	if (by === 'typed' || !namesSending) return undefined;
	const last = runs.findLast(
		({ plan, endedAt, lines, payees }) =>
			plan.does === 'pay' &&
			endedAt !== undefined &&
			[...lines].some(([item, { outcome }]) => outcome === 'unknown' && payees[item]?.key === key),
	);
	return last && `sending ${last.number}`;
}

/** Plays a run from its arrival in the process to its end. */
export function playRun(world: World, run: RunFacts): void {
	const { number, name, plan, process, payees, statements } = run;
	process.arrival(plan.does === 'settle' ? plan.statementAgeMs : 0, () => {
		run.beganAt = world.timeline.now;
		run.before = { row: rowOf(world, run), disrupted: disruptionCount(world) };
		logBeginning(world.log, run);
		const controller = new AbortController();
		if (plan.stopAfterSteps !== undefined)
			process.afterSteps(plan.stopAfterSteps, () => {
				if (run.endedAt !== undefined) return;
				run.stoppedAt = world.timeline.now;
				world.log(() => `${name} is stopped`);
				controller.abort();
			});
		const nodeRun: NodeRun = {
			...plan,
			number,
			name,
			process,
			nodeId: `pay-${plan.node}`,
			parameters: parametersOf(plan, payees, statements),
			items: payees.map((payee, item) => itemOf(payee, statements[item], run.sentAt[item])),
			signal: controller.signal,
			random: randomFrom(plan.noise),
		};
		void runNode(nodeRun, outsideOf(world, run)).then(
			() => {
				run.endedAt = world.timeline.now;
				judgeEnd(world, run);
				goOn(world, run);
			},
			(error: unknown) => {
				broken(world, `${name} threw ${messageOf(error)}`);
			},
		);
	});
}

function outsideOf(world: World, run: RunFacts): Outside {
	const { database, books, log, timeline } = world;
	const { payees, asked, askedFirst } = run;
	return {
		database,
		books,
		log,
		grounds: (toUserId) => ({ reservedAt: asked.get(referenceKeyOf(toUserId)) ?? run.beganAt }),
		called: () => {
			run.calledAt = timeline.now;
		},
		looked: (marks) => {
			for (const { key } of payees) {
				if (!marks.includes(`sent:${key}`)) continue;
				if (!asked.has(key)) askedFirst.set(key, timeline.now);
				asked.set(key, timeline.now);
			}
		},
		tried: (result, tryIndex) => {
			if ('error' in result) log(() => `${run.name} fails: ${messageOf(result.error)}`);
			judgeTry(world, run, result, tryIndex);
		},
	};
}

/** A loop, or a caller of the workflow, runs the node again with the statements that a person gave at the beginning. */
function goOn(world: World, run: RunFacts): void {
	const { plan, process, next } = run;
	for (const each of next) each();
	const [afterMs, ...repeats] = plan.repeats;
	if (afterMs === undefined) return;
	process.arrival(afterMs, () => {
		const again = { ...plan, repeats, statementAgeMs: 0 };
		playRun(world, newRun(world, again, process, [], 'planned', run));
	});
}

function logBeginning(log: Log, run: RunFacts): void {
	log(() => {
		const { name, process, plan, payees, statements, givenAt } = run;
		const items = payees.map(
			({ toUserId, amount, reference }, item) =>
				`${reference || 'no reference'} (${toUserId}, ${amount} ETB, ${statements[item]})`,
		);
		const { node, does, by, mode, timeout, concurrency, tries, onError, checkBalance } = plan;
		const { maxAmountEtb, maxTotalEtb } = plan;
		const options = { by, givenAt, mode, timeout, concurrency, tries, onError, checkBalance };
		return `${name} begins in ${process.name}, node ${node}, ${does}: ${items.join(', ')} ${JSON.stringify({ ...options, maxAmountEtb, maxTotalEtb })}`;
	});
}

function payeesOf({ node, items }: RunPlan): Payee[] {
	return items.map(({ person, variant, spelling }): Payee => {
		const key = `inv-${node}${person}`;
		const suffix = { same: '', otherAmount: '', otherPerson: '-other', noReference: '-none' };
		return {
			key,
			reference: variant === 'noReference' ? '' : (spellings[spelling]?.(key) ?? key),
			toUserId: `user-${node}${person}${suffix[variant]}`,
			amount: variant === 'otherAmount' ? 11 : 10,
			variant,
		};
	});
}

/** An item as an expression reads it; one without a reference is named by no statement. */
function itemOf(
	{ toUserId, amount, reference }: Payee,
	statement: PlannedStatement = 'nothing',
	sentAt?: string,
): Record<string, unknown> {
	const named = (stated: PlannedStatement, more: object): unknown => {
		if (statement !== stated || reference === '') return '';
		return Object.keys(more).length > 0 ? [{ reference, ...more }] : reference;
	};
	return {
		to: toUserId,
		amount,
		ref: reference,
		mode: 'settle',
		paid: named('paid', {}),
		takeBack: named('takeBack', {}),
		notPaid: named('notPaid', sentAt === undefined ? {} : { sentAt }),
	};
}

/** The parameters of the node in a run. */
export function parametersOf(
	plan: RunPlan,
	payees: Payee[],
	statements: PlannedStatement[],
): Record<string, unknown> {
	const { does, by, timeout, concurrency, checkBalance, maxAmountEtb, maxTotalEtb } = plan;
	const named = (statement: PlannedStatement): string =>
		payees
			.filter((_, item) => statements[item] === statement)
			.map(({ reference }) => reference)
			.join('\n');
	const isByExpression = does === 'settle' && by === 'expression';
	return {
		resource: 'disbursement',
		operation: 'create',
		reference: '={{ $json.ref }}',
		toUserId: '={{ $json.to }}',
		amountEtb: '={{ $json.amount }}',
		mode: isByExpression ? '={{ $json.mode }}' : does,
		...(does === 'settle' && {
			wasPaid: isByExpression ? '={{ $json.paid }}' : named('paid'),
			wasNotPaid: isByExpression ? '={{ $json.notPaid }}' : named('notPaid'),
			takeBack: isByExpression ? '={{ $json.takeBack }}' : named('takeBack'),
		}),
		options: {
			timeout,
			concurrency,
			checkBalance,
			...(maxAmountEtb !== undefined && { maxAmountEtb }),
			...(maxTotalEtb !== undefined && { maxTotalEtb }),
		},
	};
}
