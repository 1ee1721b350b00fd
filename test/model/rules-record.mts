// The rules of the record: a run leaves there the facts that it tells, and nothing else.
import {
	broken,
	disruptionCount,
	isAboveLimit,
	rowOf,
	says,
	sendingOf,
	type RunFacts,
	type World,
} from './world.mts';

const marksOf = (facts: readonly string[], key: string): string[] =>
	facts.map((fact) => `${fact}:${key}`);

const saidPaidFacts = ['saidPaid', 'saidPaidConfirmed'];
const doubtFacts = ['doubt', 'doubtConfirmed'];
const reservationFacts = ['sent', ...doubtFacts];

const statementMarks = (run: RunFacts, key: string): string[] => [
	`settledNotPaid:${key}`,
	`settledNotPaidOf:${JSON.stringify([key, sendingOf(run, key)])}`,
];

/** Judges the changes of a run that went on alone while nothing went wrong. */
export function judgeChanges(world: World, run: RunFacts): void {
	const before = run.before?.row ?? new Set();
	const after = rowOf(world, run);
	const added = new Set([...after].filter((mark) => !before.has(mark)));
	const removed = new Set([...before].filter((mark) => !after.has(mark)));
	for (const [item, { code }] of run.lines) {
		const key = run.payees[item]?.key ?? '';
		judgeFacts(world, run, key, code);
		if (code === 'inDoubt' && run.plan.does === 'pay')
			for (const mark of marksOf(doubtFacts, key)) added.delete(mark);
		if (code === 'settledPaid')
			for (const mark of marksOf(['sent', ...saidPaidFacts], key)) added.delete(mark);
		if (code === 'contradicted') {
			for (const mark of marksOf(reservationFacts, key)) added.delete(mark);
			removed.delete(`settledNotPaid:${key}`);
			for (const mark of marksOf(saidPaidFacts, key)) removed.delete(mark);
			if (says(run, 'notPaid', key))
				for (const mark of statementMarks(run, key)) added.delete(mark);
		}
		if (code !== 'settledNotPaid') continue;
		for (const mark of statementMarks(run, key)) added.delete(mark);
		for (const mark of marksOf(reservationFacts, key)) removed.delete(mark);
	}
	// After a disruption, the run may remove the marks of an interrupted question.
	const rest = [...added, ...(disruptionCount(world) > 0 ? [] : removed)];
	if (rest.length > 0) broken(world, `${run.name} leaves a trace: ${rest.join(' ')}`);
}

/** Judges the marks of one reference by the code that the run told of it. */
function judgeFacts(world: World, run: RunFacts, key: string, code?: string): void {
	const after = rowOf(world, run);
	const hasAll = (facts: readonly string[]): boolean =>
		marksOf(facts, key).every((mark) => after.has(mark));
	const notRecorded = `${run.name} tells ${key} ${code}, and does not record it`;
	if (code === 'settledPaid' && !hasAll(['sent', ...saidPaidFacts])) broken(world, notRecorded);
	const isFree = !marksOf(reservationFacts, key).some((mark) => after.has(mark));
	if (code === 'settledNotPaid' && !(isFree && hasAll(['settledNotPaid'])))
		broken(world, notRecorded);
	const isSaidPaid = marksOf(saidPaidFacts, key).some((mark) => after.has(mark));
	if (code === 'contradicted' && (isSaidPaid || !hasAll(reservationFacts)))
		broken(world, notRecorded);
	// A run that was stopped before it had the lock never asked, and could not remove a mark that another left.
	const hadAccess = code !== 'noRecord' && run.askedFirst.has(key);
	for (const fact of ['paid', 'saidPaid', ...(code === 'inFlight' ? ['doubt'] : [])])
		if (hadAccess && hasAll([fact]) && !hasAll([`${fact}Confirmed`]))
			broken(world, `${run.name} leaves half of the fact ${fact} of ${key}`);
	// A run that pays records the doubt that it finds.
	const findsDoubt = code === 'inDoubt' && run.plan.does === 'pay';
	if (findsDoubt && !isAboveLimit(run) && !hasAll(doubtFacts)) broken(world, notRecorded);
}

/** A doubt that outlives its reservation would make a reference in doubt as soon as it is reserved again. */
export function judgeDoubts(world: World, when: string): void {
	for (const row of world.database.rows.values())
		for (const mark of row) {
			const [, key = ''] = /^doubt(?:Confirmed)?:(.*)$/s.exec(mark) ?? [];
			if (key !== '' && !row.includes(`sent:${key}`))
				broken(world, `${key} is unused, and a doubt is left of it (${when})`);
		}
}
