// The rules of results: each try tells of each item once, and has a reason for each line.
import { fieldsOf, type TryResult } from './execution.mts';
import { reasons, type Told } from './reasons.mts';
import { linesOf, type Line } from './reported-lines.mts';
import { broken, disruptionCount, isOf, isPaidForEver, maySettle } from './world.mts';
import type { Payee, RunFacts, World } from './world.mts';

/** Judges the result of a try, and keeps its lines. */
export function judgeTry(world: World, run: RunFacts, result: TryResult, tryIndex: number): void {
	const settles = maySettle(run);
	const lines = settles ? settledLines(run, result) : (linesOf(result) ?? []);
	world.log(() => {
		const told = lines.map(({ item, code = 'notAttempted' }) => `${run.payees[item]?.key} ${code}`);
		return `${run.name} tells${tryIndex > 0 ? ` (try ${tryIndex + 1})` : ''}: ${told.join(', ')}`;
	});
	keepLines(world, run, lines);
	const inOrder = lines.every(({ item }, index) => item >= (lines[index - 1]?.item ?? 0));
	if ('output' in result && !settles && !inOrder)
		broken(world, `${run.name} tells items in another order`);
	const isFailed = 'error' in result || (settles && isNotSettled(result));
	const mayBePartial = isFailed || run.stoppedAt !== undefined;
	const expected = settles
		? run.payees.filter(
				({ reference }, item) => run.statements[item] !== 'nothing' && reference !== '',
			)
		: run.payees;
	if (!mayBePartial && run.lines.size !== expected.length)
		broken(world, `${run.name} tells ${run.lines.size} of ${expected.length} items`);
	// A run that fails to settle tells of no item: nothing was done.
	const isSilent = settles && isFailed;
	const isUndisturbed = disruptionCount(world) === 0 && run.stoppedAt === undefined;
	if (isSilent && isUndisturbed && namesWell(run))
		broken(world, `${run.name} settles nothing, and nothing went wrong`);
	for (const [item, payee] of run.payees.entries()) {
		const line = run.lines.get(item) ?? { item, outcome: 'notAttempted' };
		if (!isSilent && (run.lines.has(item) || !settles)) judgeLine(world, run, payee, line);
	}
}

/** Keeps the lines of a try in place of those of the try before. */
function keepLines(world: World, run: RunFacts, lines: readonly Line[]): void {
	run.lines.clear();
	for (const line of lines) {
		const payee = run.payees[line.item];
		if (payee === undefined || run.lines.has(line.item))
			broken(world, `${run.name} tells of an item twice, or of none (${line.item})`);
		if ((line.toUserId ?? payee?.toUserId) !== payee?.toUserId)
			broken(world, `${run.name} tells of ${line.toUserId} for the item of ${payee?.toUserId}`);
		run.lines.set(line.item, line);
	}
}

function judgeLine(world: World, run: RunFacts, payee: Payee, line: Line): void {
	const { item, outcome, code = '' } = line;
	const { key } = payee;
	const result = `${outcome} ${code}`.trim();
	const own = world.books.sent.filter(({ run: by }) => by === run.number).filter(isOf(payee));
	const isHealthy = disruptionCount(world) === 0 && !wasStopped(world, key);
	const told: Told = { world, run, payee, key, statement: run.statements[item], own, isHealthy };
	const say = (text: string): void => {
		broken(world, `${run.name} tells ${key} ${result}, but ${text}`);
	};
	const mayTell = reasons[result];
	if (mayTell === undefined) say('there is no such result');
	else if (!mayTell(told)) say('there is no reason for it');
	const isTwice = run.payees.some((other) => other !== payee && other.key === key);
	const mayBePaid = own.some(({ isPaid, isPending }) => isPaid || isPending);
	if (['notPaid', 'notAttempted'].includes(outcome) && mayBePaid && !isTwice)
		say('it was paid, or the service may still pay it');
	if (run.plan.does !== 'pay' && own.length > 0) say('it does not pay, and something was sent');
	const isNoLonger =
		['paid', 'ready'].includes(outcome) ||
		(outcome === 'unknown' && (run.plan.does !== 'settle' || code === 'contradicted'));
	if (isNoLonger && isPaidForEver(world, payee, run.beganAt))
		say('it was told to be paid, for ever');
}

const wasStopped = ({ runs }: World, key: string): boolean =>
	runs.some(
		({ stoppedAt, payees }) => stoppedAt !== undefined && payees.some((payee) => payee.key === key),
	);

/** The lines of a run that settles: one for each item that names a reference, since the node tells of references. */
function settledLines({ payees, statements }: RunFacts, result: TryResult): Line[] {
	if ('error' in result) return [];
	return result.output.flatMap(({ json }) => {
		const { reference, outcome, code } = fieldsOf(json);
		const key = payees.find((each) => each.reference.trim() === reference)?.key;
		return payees.flatMap((payee, item) =>
			payee.key === key && statements[item] !== 'nothing' && payee.reference !== ''
				? [{ item, outcome: String(outcome), code: String(code) }]
				: [],
		);
	});
}

/** Whether a run tells in one item, without a reference, that it settled nothing. */
const isNotSettled = (result: TryResult): boolean =>
	'output' in result &&
	result.output.some(({ json }) => {
		const fields = fieldsOf(json);
		const { code, reference } = fieldsOf(fields.error ?? fields);
		return code === 'notSettled' && reference === undefined;
	});

/** Whether the statements of a run name a reference, and none with two meanings. */
function namesWell({ payees, statements }: RunFacts): boolean {
	const named = payees.flatMap(({ key, reference }, item) =>
		reference !== '' && statements[item] !== 'nothing' ? [`${statements[item]} ${key}`] : [],
	);
	const keys = [...new Set(named)].map((each) => each.replace(/^\w+ /, ''));
	return keys.length > 0 && new Set(keys).size === keys.length;
}
