/** Deliberate mistakes in the code of payments, each of which a world has to show: `npm run test:mutations`. */
import type { Mutation } from '../support/mutation.mts';

const paying = 'nodes/EtbWallet/disbursement';
const shared = 'nodes/shared';

/** Those in one file. */
const inFile = (
	file: string,
	...mistakes: readonly (readonly [breaks: string, finds: string, puts: string])[]
): Mutation[] => mistakes.map(([breaks, finds, puts]) => ({ file, breaks, finds, puts }));

export const mistakes: Mutation[] = [
	...inFile(
		`${paying}/paymentRecord.ts`,
		[
			'A claim is not written before it is sent',
			'access.keepIfDone([...claimed.map(sentMark), ...marksOfMet(met)]);',
			'access.keepIfDone(marksOfMet(met));',
		],
		[
			'A refusal frees nothing',
			'access.remove(unpaid.flatMap((payment) => [sentMark(payment), doubtMark(payment)]));',
			'',
		],
		[
			'A refusal leaves the doubt of whoever met the claim',
			'unpaid.flatMap((payment) => [sentMark(payment), doubtMark(payment)])',
			'unpaid.map(sentMark)',
		],
		[
			'A refusal frees what another run claimed since',
			"const notMade = own.filter((each) => outcomeOfRow(each) !== 'unknown');",
			"const notMade = ended.filter((each) => !['paid', 'unknown'].includes(outcomeOfRow(each)));",
		],
		[
			'A refusal frees what a late answer paid',
			'const unpaid = notMade.filter((payment) => !paid.has(payment));',
			'const unpaid = notMade;',
		],
		[
			'A sender that gives up late doubts what another run claimed since',
			'const unknown = own.filter(',
			'const unknown = ended.filter(',
		],
		['Slots are no longer than a sender has its claim', 'ownForMs + 10_000', 'ownForMs'],
		['The doubt of a sender without an answer is not written', '...unknown.map(doubtMark)', ''],
		[
			'A claim that was met counts on after its sender gave up',
			'access.remove(unknown.flatMap(metMarks));',
			'',
		],
		[
			'A run that pays does not write what it met',
			'access.keepIfDone([...claimed.map(sentMark), ...marksOfMet(met)]);',
			'access.keepIfDone(claimed.map(sentMark));',
		],
		['Settling: it does not write what it met', 'access.keepIfDone(marksOfMet(met));', ''],
		[
			'A run that meets a claim writes no mark met',
			'[doubtMark(each), metMark(each)]);',
			'[doubtMark(each)]);',
		],
		[
			'The mark met is not looked at',
			'const isMet = metMarks(each).some((mark) => doubts.has(mark));',
			'const isMet = false;',
		],
		['What a clock that is ahead has met does not count', '[-1, 0, 1].map', '[-1, 0].map'],
		['What was met counts until the end of the slot', '[-1, 0, 1].map', '[0, 1].map'],
		[
			'What is in flight is taken for in doubt',
			"&& !isMet ? 'inDoubt' : 'inFlight'",
			"&& !isMet ? 'inDoubt' : 'inDoubt'",
		],
		[
			'What no run has met is taken for in doubt',
			'doubts.has(doubtMark(each)) && !isMet',
			'!isMet',
		],
		[
			'A dry run writes what it met',
			'const { states, payees } = await statesOf(access, payments, sent, payeeMark);',
			'const { states, met, payees } = await statesOf(access, payments, sent, payeeMark);\n            access.keepIfDone(marksOfMet(met));',
		],
		[
			'A dry run claims',
			'const sent = await access.ask(payments.map(sentMark));',
			'const sent = await access.ask(payments.map(sentMark));\n            access.keepIfDone(payments.map(sentMark));',
		],
		[
			'Paid is not recorded',
			'paid.flatMap((each) => [...paidMarks(each), payeeMark(each)])',
			'paid.map(sentMark)',
		],
		[
			'Paid is recorded without its claim, which a person freed',
			'[sentMark(keyed), paidMark(keyed), sureMark(keyed)]',
			'[paidMark(keyed), sureMark(keyed)]',
		],
		[
			'Paid is recorded without the mark sure',
			'[sentMark(keyed), paidMark(keyed), sureMark(keyed)]',
			'[sentMark(keyed), paidMark(keyed)]',
		],
		[
			'Paid is recorded without the payee',
			'[...paidMarks(each), payeeMark(each)]',
			'paidMarks(each)',
		],
		[
			'Paid counts without the mark sure',
			'const isSure = (each: Each): boolean => known.has(sureMark(each));',
			'const isSure = () => true;',
		],
		[
			'Sure is asked for together with paid',
			'const asked = await access.ask(used.map(paidMark));',
			'const asked = await access.ask(used.flatMap((each) => [paidMark(each), sureMark(each)]));',
		],
		[
			'Half of the fact that it was paid stays',
			'access.remove(candidates.filter((each) => !isSure(each)).map(paidMark));',
			'',
		],
		[
			'The payee is asked for before it is known that somebody was paid',
			'candidates.map(payeeOf)',
			'references.map(payeeOf)',
		],
		[
			'Paid to another person or amount counts as unused',
			"known.set(payment, 'paidToAnother')",
			"known.set(payment, 'unused')",
		],
		['The payee is not asked for', '&& !payees.has(payeeMark(payment))', '&& false'],
		[
			'Settling: not paid leaves the claim',
			'access.remove(freed.flatMap((each) => [sentMark(each), doubtMark(each)]));',
			'',
		],
		[
			'Settling: not paid leaves the doubt',
			'freed.flatMap((each) => [sentMark(each), doubtMark(each)])',
			'freed.map(sentMark)',
		],
		[
			'Settling: what is in flight is settled as not paid',
			"areIn(wasNotPaid, 'inDoubt')",
			"[...areIn(wasNotPaid, 'inDoubt'), ...areIn(wasNotPaid, 'inFlight')]",
		],
		[
			'Settling: what is in flight is settled as paid',
			"areIn(wasPaid, 'inDoubt')",
			"[...areIn(wasPaid, 'inDoubt'), ...areIn(wasPaid, 'inFlight')]",
		],
		[
			'Settling: what is paid is settled as not paid',
			"areIn(wasNotPaid, 'inDoubt')",
			"[...areIn(wasNotPaid, 'inDoubt'), ...areIn(wasNotPaid, 'paid')]",
		],
		['Settling: what was never sent is not recorded as paid', "areIn(wasPaid, 'unused')", '[]'],
		[
			'Settling: paid is recorded without anybody',
			'[...paidMarks(each), anybodyMark(each)]',
			'paidMarks(each)',
		],
		['Settling: no mark stays of what was freed', 'await access.write(freed.map(freedMark));', ''],
		[
			'Settling: no mark stays of what was freed by an access that failed',
			'await access.write(freed.map(freedMark));',
			'access.keepIfDone(freed.map(freedMark));',
		],
		[
			'Settling: by an expression it frees again and again',
			'!(once && before.has(freedMark(each)))',
			'true',
		],
	),
	...inFile(`${paying}/access.ts`, [
		'What a question added stays',
		'if (!before.has(mark)) this.toRemove.add(mark);',
		'',
	]),
	...inFile(
		`${paying}/settle.ts`,
		[
			'Settling: a person in the editor settles only once',
			'const once = !(',
			'const once = true || !(',
		],
		[
			'Settling: a typed word counts again on a schedule',
			'(isTyped && isStartedInEditor(context))',
			'(true)',
		],
		['Settling: Retry On Fail settles again', 'if (tries.failure !== undefined)', 'if (false)'],
	),
	...inFile(
		`${paying}/options.ts`,
		['Settling: Retry execution settles', 'if (isRetryExecution(context)) {', 'if (false) {'],
		[
			'Settling: a Mode left on Settle Unknown settles on a schedule',
			'if (isByExpression || isStartedInEditor(context))',
			'if (true)',
		],
	),
	...inFile(
		`${paying}/disburse.ts`,
		['Settling: a run that settles also pays', "if (options.mode === 'settle')", 'if (false)'],
		['A dry run pays', "if (options.mode === 'pay')", "if (options.mode !== 'settle')"],
	),
	...inFile(`${paying}/reference.ts`, [
		'References that look the same are others',
		'(reference: string): string =>\n\twithoutCase(',
		'(reference: string): string =>\n\ttrue ? reference : withoutCase(',
	]),
	...inFile(
		`${paying}/payment.ts`,
		[
			'A payment without a reference is sent',
			"requiredReference(read('reference', row.itemIndex))",
			"requiredReference(read('reference', row.itemIndex) || `item ${row.itemIndex}`)",
		],
		[
			'Two payments of a run have the same reference',
			"return new RefusedValueError(\n\t\t\t'sameReference'",
			"return undefined && new RefusedValueError(\n\t\t\t'sameReference'",
		],
	),
	...inFile(
		`${paying}/sending.ts`,
		['How the last window ended is not recorded', 'await record.end(unrecorded);', ''],
		[
			'What was refused is freed once more after an access that failed',
			"unrecorded = ended.filter((payment) => outcomeOfRow(payment) === 'paid');",
			"unrecorded = ended.filter((payment) => outcomeOfRow(payment) !== 'unknown');",
		],
		[
			'What is unknown is doubted once more after an access that failed',
			"outcomeOfRow(payment) === 'paid'",
			"outcomeOfRow(payment) !== 'notPaid'",
		],
		[
			'A failing database does not keep a payment from being sent',
			'run.end(payment, notRecorded(error));',
			'await sendConcurrently(run, [payment], () => timeoutMs);',
		],
		[
			'A claim lasts for ever: a process that stood still sends',
			'() => timeoutMs - ageMs()',
			'() => timeoutMs',
		],
		['409 means that it was not paid', 'undecided: [409, 423, 425]', 'undecided: []'],
	),
	...inFile(
		`${shared}/service/answer.ts`,
		[
			'A payment without an answer is sent again',
			"verdict: mayRepeat ? 'retry' : 'unknown', code: 'noAnswer'",
			"verdict: 'retry', code: 'noAnswer'",
		],
		['A body that contradicts itself counts', 'said.size === 1 && typeof only', 'typeof only'],
	),
	...inFile(`${shared}/service/attempt.ts`, [
		'An attempt does not end by the clock: dripping answers never do',
		'const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);',
		'const signal = stop ?? new AbortController().signal;',
	]),
	...inFile(`${shared}/n8n.ts`, [
		'Retry On Fail forgets what an earlier try sent',
		'if (known !== undefined) return known;',
		'if (known !== undefined) return new WeakMap();',
	]),
	...inFile(`${shared}/time.ts`, [
		'Clocks that stand still while a machine sleeps',
		'Math.max(Date.now() - wall, performance.now() - monotonic)',
		'performance.now() - monotonic',
	]),
	...inFile(`${shared}/record/marks.ts`, [
		'A database call may take for ever',
		'AbortSignal.timeout(timeoutMs)',
		'new AbortController().signal',
	]),
	...inFile(
		`${shared}/record/lock.ts`,
		[
			'No lock between processes',
			'const heldForMs = await waitForLock(lockRow, stop);',
			'const heldForMs = stopwatch();',
		],
		[
			'The lock is not given back',
			'if (heldForMs() < abandonedAfterMs) await release(lockRow);',
			'',
		],
		[
			'The lock of a crashed process is never taken over',
			'else if (sameProcessForMs() > takeOverAfterMs)',
			'else if (false)',
		],
		['The lock is taken over at once', 'else if (sameProcessForMs() > takeOverAfterMs)', 'else'],
		[
			'A process that lost the lock goes on with what it read',
			'if (heldForMs() > safeForMs)',
			'if (false)',
		],
	),
];
