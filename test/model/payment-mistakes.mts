/** Deliberate mistakes in the built code of payments, each of which a world has to show: `npm run test:mutations`. */
import type { Mutation } from '../../lab/mutation.mts';

const ledger = 'nodes/EtbWallet/disbursement/ledger.js';
const lock = 'nodes/shared/record/lock.js';
const entries = 'nodes/shared/record/entries.js';
const questions = 'nodes/EtbWallet/disbursement/questions.js';
const windows = 'nodes/EtbWallet/disbursement/windows.js';
const rows = 'nodes/EtbWallet/disbursement/rows.js';
const checks = 'nodes/EtbWallet/disbursement/checks.js';
const reference = 'nodes/EtbWallet/disbursement/reference.js';
const claims = 'nodes/EtbWallet/disbursement/claims.js';
const claimedItem = 'nodes/EtbWallet/disbursement/claimedItem.js';
const payClaims = 'nodes/EtbWallet/disbursement/payClaims.js';
const success = 'nodes/shared/service/success.js';
const disburse = 'nodes/EtbWallet/disbursement/disburse.js';
const payment = 'nodes/EtbWallet/disbursement/payment.js';
const attempt = 'nodes/shared/service/attempt.js';
const retries = 'nodes/shared/service/retries.js';
const elapsed = 'nodes/shared/elapsed.js';
const n8n = 'nodes/shared/n8n.js';

export const mistakes: Mutation[] = [
	{
		breaks: 'An attempt does not end by the clock: dripping answers never do',
		file: attempt,
		finds: 'const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);',
		puts: 'const signal = stop ?? new AbortController().signal;',
	},
	{
		breaks: 'A refused payment frees its reference although a person settled it',
		file: ledger,
		finds: `const isSettled = (payment) => before.has(settledMark(payment));`,
		puts: `const isSettled = () => false;`,
	},
	{
		breaks: 'A reference may be paid to another person',
		file: ledger,
		finds: `return paidToAnother.has(payment) ? 'paidToAnother' : 'heldByAnother';`,
		puts: `return 'unused';`,
	},
	{
		breaks: 'A database call may take for ever',
		file: entries,
		finds: 'AbortSignal.timeout(timeoutMs)',
		puts: 'new AbortController().signal',
	},
	{
		breaks: 'A dry run, or a look at what is left to pay, claims references',
		file: questions,
		finds: `await entries.remove([...questions.toRemove]);`,
		puts: ``,
	},
	{
		breaks: 'No lock between processes',
		file: lock,
		finds: 'const heldForMs = await waitForLock(row, stop);',
		puts: 'const heldForMs = (0, elapsed_1.stopwatch)();',
	},
	{
		breaks: 'The lock is not given back',
		file: lock,
		finds: 'if (heldForMs() < abandonedAfterMs)\n            await release(row);',
		puts: '',
	},
	{
		breaks: 'The lock of a crashed process is never taken over',
		file: lock,
		finds: 'else if (sameProcessForMs() > takeOverAfterMs)',
		puts: 'else if (false)',
	},
	{
		breaks: 'The lock is taken over at once',
		file: lock,
		finds: 'else if (sameProcessForMs() > takeOverAfterMs)',
		puts: 'else',
	},
	{
		breaks: 'A process that lost the lock goes on with what it read',
		file: lock,
		finds: 'if (heldForMs() > safeForMs)',
		puts: 'if (false)',
	},
	{
		breaks: 'Sent first, recorded afterwards',
		file: ledger,
		finds: `questions.ask([...others.map(settledMark), ...payments.flatMap(claimMarks)], [`,
		puts: `questions.ask(others.map(settledMark), [`,
	},
	{
		breaks: 'The mark of a claim is left out',
		file: ledger,
		finds: 'const claimMarks = (payment) => [sentMark(payment), ',
		puts: 'const claimMarks = (payment) => [',
	},
	{
		breaks: 'The mark of the payment is left out',
		file: ledger,
		finds: 'const claimMarks = (payment) => [sentMark(payment), paymentMark(payment)]',
		puts: 'const claimMarks = (payment) => [sentMark(payment)]',
	},
	{
		breaks: 'Paid is not recorded',
		file: ledger,
		finds: `[exports.referencesMark, ...paid.flatMap(paidMarks)]`,
		puts: `[exports.referencesMark, ...paid.flatMap(claimMarks)]`,
	},
	{
		breaks: 'Doubt is not recorded',
		file: ledger,
		finds: `await questions.write([...settled.filter(isClaimed), ...unknown].flatMap(doubtFact));`,
		puts: ``,
	},
	{
		breaks: 'A late answer is recorded without its claim, which a person removed',
		file: ledger,
		finds: `[exports.referencesMark, ...paid.flatMap(paidMarks)]`,
		puts: `[exports.referencesMark, ...paid.flatMap(paidFact)]`,
	},
	{
		breaks: 'Settling: no mark stays of a finding that it was not paid',
		file: ledger,
		finds: `...notPaid.flatMap(freedFact),`,
		puts: ``,
	},
	{
		breaks: 'Settling: no mark stays of a finding that it was paid',
		file: ledger,
		finds: `...paid.map(settledMark),`,
		puts: ``,
	},
	{
		breaks: 'Settling: a late end takes a freed reference back',
		file: ledger,
		finds: `const isClaimed = (payment) => claimMarks(payment).every((mark) => claims.has(mark));`,
		puts: `await questions.write(settled.flatMap(claimMarks)); const isClaimed = () => true;`,
	},
	{
		breaks: 'Settling: a late end leaves no doubt beside a claim',
		file: ledger,
		finds: `[...settled.filter(isClaimed), ...unknown`,
		puts: `[...unknown`,
	},
	{
		breaks: 'Settling: what is being sent is settled too',
		file: ledger,
		finds: `const notPaid = found('notPaid', 'inDoubt');`,
		puts: `const notPaid = [...found('notPaid', 'inDoubt'), ...found('notPaid', 'inFlight')];`,
	},
	{
		breaks: 'Settling: what ended while the run waited is settled too',
		file: ledger,
		finds: `wanted.filter((each) => each.hasWaited)`,
		puts: `wanted.filter(() => false)`,
	},
	{
		breaks: 'Settling: what is paid is settled too',
		file: ledger,
		finds: `const notPaid = found('notPaid', 'inDoubt');`,
		puts: `const notPaid = [...found('notPaid', 'inDoubt'), ...found('notPaid', 'paid')]; questions.remove(found('notPaid', 'paid').flatMap(paidFact));`,
	},
	{
		breaks: 'Settling: what this node does not know is not recorded as paid',
		file: ledger,
		finds: `const newlyPaid = [...found('recordPaid', 'unused'), ...found('recordPaid', 'freed')];`,
		puts: `const newlyPaid = []; for (const payment of found('recordPaid', 'unused')) answers.set(payment, 'newlyPaid');`,
	},
	{
		breaks: 'Settling: a finding paid is recorded also for what was never sent',
		file: ledger,
		finds: `const newlyPaid = [...found('recordPaid', 'unused'), ...found('recordPaid', 'freed')];`,
		puts: `const newlyPaid = [...found('recordPaid', 'unused'), ...found('recordPaid', 'freed'), ...found('paid', 'unused')];`,
	},
	{
		breaks: 'Settling: a finding not paid cannot be corrected',
		file: ledger,
		finds: `const corrected = found('paid', 'freed').filter(({ hasOwnFinding }) => hasOwnFinding);`,
		puts: `const corrected = [];`,
	},
	{
		breaks: 'Settling: a finding not paid leaves the claim',
		file: ledger,
		finds: `questions.remove(notPaid.flatMap(doubtMarks));`,
		puts: ``,
	},
	{
		breaks: 'Settling: a run that settles also pays',
		file: disburse,
		finds: `if (options.mode === 'settle') {`,
		puts: `if (false) {`,
	},
	{
		breaks: 'Settling: Retry On Fail heeds a finding again',
		file: windows,
		finds: `this.batch.end(payment, { outcome: 'unknown', error: (0, answers_1.notSettled)(error) });`,
		puts: `this.batch.end(payment, { outcome: 'notPaid', error: (0, answers_1.notSettled)(error) });`,
	},
	{
		breaks: 'Settling: Retry execution and schedules settle',
		file: checks,
		finds: `if (!(0, n8n_1.isRunByPerson)(context)) {`,
		puts: `if (false) {`,
	},
	{
		breaks: 'Retry execution pays although the node remembers nothing',
		file: disburse,
		finds: `if ((0, n8n_1.isRepeated)(context) && (marks === 0 || begunForgetful.has(endedBefore)))`,
		puts: `if (false)`,
	},
	{
		breaks:
			'Retry execution pays when another execution records something between two of its tries',
		file: disburse,
		finds: `(marks === 0 || begunForgetful.has(endedBefore))`,
		puts: `marks === 0`,
	},
	{
		breaks: 'Another amount under a reference that is unknown is told as not paid',
		file: ledger,
		finds: `return paidToAnother.has(payment) ? 'paidToAnother' : 'heldByAnother';`,
		puts: `return 'paidToAnother';`,
	},
	{
		breaks: 'What an interrupted question about another payment left is given up as in doubt',
		file: ledger,
		finds: `const doubtful = givenUp.filter((payment) => !ended.has(payment));`,
		puts: `const doubtful = givenUp; ended.clear();`,
	},
	{
		breaks: 'Two references that look the same are paid in one run',
		file: reference,
		finds: `const look = (0, exports.lookOf)(reference);`,
		puts: `const look = reference;`,
	},
	{
		breaks: 'A fact is one mark: a question that was interrupted is believed',
		file: ledger,
		finds: 'return new Set(candidates.filter(isTrue));',
		puts: 'return new Set(candidates);',
	},
	{
		breaks: 'Marks of a question stay',
		file: questions,
		finds: `for (const mark of marks)
            if (!before.has(mark))
                this.toRemove.add(mark);`,
		puts: ``,
	},
	{
		breaks: 'A claim lasts for ever: a process that stood still sends',
		file: windows,
		finds: '() => timeoutMs - ageMs()',
		puts: '() => timeoutMs',
	},
	{
		breaks: 'Clocks that stand still while a machine sleeps',
		file: elapsed,
		finds: 'Math.max(Date.now() - wall, performance.now() - monotonic)',
		puts: 'performance.now() - monotonic',
	},
	{
		breaks: 'Another execution is not waited for',
		file: windows,
		finds: 'isGivenUp: waitedMs !== undefined && waitedMs() >= timeoutMs + recordingMs,',
		puts: 'isGivenUp: true,',
	},
	{
		breaks: 'Another execution is waited for without an end',
		file: windows,
		finds: 'isGivenUp: waitedMs !== undefined && waitedMs() >= timeoutMs + recordingMs,',
		puts: 'isGivenUp: false,',
	},
	{
		breaks: 'How the last window ended is not recorded',
		file: windows,
		finds: 'await this.recordLast();',
		puts: '',
	},
	{
		breaks:
			'What was refused is freed once more after an access that failed: another run may have claimed it',
		file: windows,
		finds: `this.unrecorded = ended.filter(({ ending }) => ending && ending.outcome !== 'notPaid');`,
		puts: `this.unrecorded = ended;`,
	},
	{
		breaks: 'Retry On Fail forgets what an earlier try sent',
		file: n8n,
		finds: 'if (known !== undefined)\n        return known;\n    const value = new WeakMap();',
		puts: 'const value = new WeakMap();\n    return value;',
	},
	{
		breaks: 'A payment without an answer is sent again',
		file: retries,
		finds: "return mayRepeat || !attempt.sent ? 'retry' : 'unknown';",
		puts: "return 'retry';",
	},
	{
		breaks: 'A body that contradicts itself counts',
		file: success,
		finds: `if (said.size > 1 || isRepeated({ body, text }))`,
		puts: `if (false)`,
	},
	{
		breaks: 'A failing database does not keep a payment from being sent',
		file: windows,
		finds: `                if (!waiting.has(payment))
                    batch.end(payment, { outcome: 'notPaid', error: (0, answers_1.notRecorded)(error) });`,
		puts: `                if (!waiting.has(payment))
                    await (0, sending_1.sendConcurrently)(batch, [payment], batch.end);`,
	},
	{
		breaks: 'An item without the reference it should have is paid',
		file: payment,
		finds: `(0, invalidValue_1.isAbsent)(given) && !isExpected ?`,
		puts: `(0, invalidValue_1.isAbsent)(given) ?`,
	},
	{
		breaks: 'Stop does not end the pauses and the waiting',
		file: rows,
		finds: `stop?.aborted === true || (stopsAtFailure && hasFailure)`,
		puts: `stopsAtFailure && hasFailure`,
	},
	{
		breaks: 'The pay gate: a claim that another process used is used again',
		file: claims,
		finds: 'if (before.has(claimMark(claim)))',
		puts: 'if (false)',
	},
	{
		breaks: 'The pay gate: a claim that another node of this process used is used again',
		file: claims,
		finds: '(usedHere.get(claim) ?? own) !== own',
		puts: 'false',
	},
	{
		breaks: 'The pay gate: nobody looks at Not After',
		file: claimedItem,
		finds: 'passedMs() < msAtFirst ? msAtFirst : 0',
		puts: 'Infinity',
	},
	{
		breaks: 'The pay gate: Not After is only looked at before the first payment',
		file: payClaims,
		finds: `({ itemIndex }) => claims.msLeft(itemIndex)`,
		puts: `((left) => ({ itemIndex }) => left[itemIndex])(rows.map((_, index) => claims.msLeft(index)))`,
	},
	{
		breaks: 'The pay gate: a payment may take longer than its lease',
		file: claimedItem,
		finds: 'passedMs() < msAtFirst ? msAtFirst : 0',
		puts: 'passedMs() < msAtFirst ? Infinity : 0',
	},
	{
		breaks: 'The pay gate: what another execution claimed is sent',
		file: claims,
		finds: 'if (execution !== ownExecution)\n                return claimedByOther(execution);',
		puts: '',
	},
	{
		breaks: 'The pay gate: what is too late is not paid, also when its claim was used before',
		file: claims,
		finds: 'const { claim, execution = ownExecution, problem } = items[itemIndex] ?? {};',
		puts: "const { claim, execution = ownExecution, problem, msLeft } = items[itemIndex] ?? {}; if (msLeft?.() === 0) return { outcome: 'notPaid', error: { message: 'late', description: '' } };",
	},
	{
		breaks: 'The pay gate: a run that is refused as a whole says not paid of all',
		file: payClaims,
		finds: `ending: (0, rows_1.unlessInvalid)(() => claims.objection(itemIndex)),`,
		puts: ``,
	},
	{
		breaks: 'The pay gate: a claim is used up after the credential was loaded',
		file: payClaims,
		finds: `const claims = await (0, claims_1.useClaims)(context, read, run.endedBefore);`,
		puts: `let claims; try { await (0, account_1.loadAccount)(context); } catch (error) { return (0, rows_1.refuseAll)(run, error, context.getInputData().map((_, itemIndex) => ({ itemIndex }))); } claims = await (0, claims_1.useClaims)(context, read, run.endedBefore);`,
	},
	{
		breaks: 'The pay gate: a failing database does not keep a payment from being sent',
		file: claims,
		finds: `return failure && claimNotRecorded(failure);`,
		puts: `return undefined;`,
	},
	{
		breaks: 'The pay gate: Retry On Fail cannot go on with its own claims',
		file: claims,
		finds: 'ownClaims.set(tries, own);',
		puts: '',
	},
];
