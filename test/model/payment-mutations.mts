/** Deliberate mutations in the code of payments, each of which a world has to show: `npm run test:mutations`. */
import type { Mutation } from '../support/mutation.mts';

const paying = 'nodes/EtbWallet/paying';
const shared = 'nodes/shared';

/** Mutations of one file, by the rule that breaks: the code, and the text in its place. */
const inFile = (
	file: string,
	mutations: Record<string, [finds: string, puts: string]>,
): Mutation[] =>
	Object.entries(mutations).map(([breaks, [finds, puts]]) => ({ file, breaks, finds, puts }));

export const mutations: Mutation[] = [
	...inFile(`${paying}/paymentRecord.ts`, {
		'A reservation is not written before it is sent': [
			'change.keep(reservationOf(payment));',
			'change.keep([busyMark(payment, slot)]);',
		],
		'A reservation is written without the mark busy': [
			'change.keep(reservationOf(payment));',
			'change.keep([sentMark(payment)]);',
		],
		'A refusal frees nothing': ['change.remove(free.flatMap(marksOfUse));', ''],
		'The wait for the lock counts as age of a reservation': [
			'return await this.change(async (change) => {\n			const getAgeMs = stopwatch();',
			'const getAgeMs = stopwatch();\n		return await this.change(async (change) => {',
		],
		'A refusal leaves the doubt': [
			'change.remove(free.flatMap(marksOfUse));',
			'change.remove(free.map(sentMark));',
		],
		'A refusal frees what another run reserved since': [
			"const notMade = own.filter((each) => outcomeOfEntry(each) !== 'unknown');",
			"const notMade = reserved.filter((each) => !['paid', 'unknown'].includes(outcomeOfEntry(each)));",
		],
		'A refusal frees what a late response paid': [
			'const free = notMade.filter((each) => !paidByOthers.has(each));',
			'const free = notMade;',
		],
		'A sender without a response records no doubt': [
			"...unknown.flatMap((each) => factMarks('doubt', each)),",
			'',
		],
		'A run does not record the doubt that it finds': [
			"await change.write(inDoubt.flatMap((each) => factMarks('doubt', each)));",
			'',
		],
		'A run records a doubt about a payment that is under way': [
			"wanted.filter((each) => statesBefore.get(each) === 'inDoubt')",
			"wanted.filter((each) => ['inDoubt', 'inFlight'].includes(statesBefore.get(each) ?? ''))",
		],
		'A sender without a response doubts what another run reserved since': [
			"const unknown = own.filter((each) => outcomeOfEntry(each) === 'unknown');",
			"const unknown = reserved.filter((each) => outcomeOfEntry(each) === 'unknown');",
		],
		'Paid is recorded without the mark sent, which a person removed': [
			"[...factMarks('paid', each), paidValuesMark(each)]",
			"[...factMarks('paid', each).slice(1), paidValuesMark(each)]",
		],
		'A doubt is recorded without the mark sent, which a person removed': [
			"...unknown.flatMap((each) => factMarks('doubt', each)),",
			"...unknown.flatMap((each) => factMarks('doubt', each).slice(1)),",
		],
		'The end of a run removes the busy of its bucket': [
			'change.remove(free.flatMap(marksOfUse));',
			'change.remove([...free.flatMap(marksOfUse), ...reserved.map((each) => busyMark(each, slotNow()))]);',
		],
		'A question for a bucket makes it busy': [
			'return { statesBefore, getAgeMs };',
			'change.keep(wanted.map((each) => busyMark(each, slot)));\n\t\t\treturn { statesBefore, getAgeMs };',
		],
		'The last results of a stopped run are not recorded': [
			'alsoIfStopped ? undefined : this.stop',
			'this.stop',
		],
		'A refusal frees a reference whose reservation has expired': [
			'getAgeMs !== undefined && getAgeMs() < reservedForMs',
			'getAgeMs !== undefined',
		],
		'A reference in flight is taken for in doubt': [
			"? 'inFlight' : 'inDoubt'",
			"? 'inDoubt' : 'inDoubt'",
		],
		'A dry run reserves': [
			'async (change) => await askPaymentStates(change, batch, slotNow())',
			'async (change) => { const known = await askPaymentStates(change, batch, slotNow()); change.keep(batch.map(sentMark)); return known; }',
		],
		'Paid is not recorded': [
			"paid.flatMap((each) => [...factMarks('paid', each), paidValuesMark(each)])",
			'paid.map(sentMark)',
		],
		'Paid is recorded without the payee': [
			"[...factMarks('paid', each), paidValuesMark(each)]",
			"factMarks('paid', each)",
		],
		'Paid counts without the mark paidConfirmed': [
			'=> known.has(confirmed);',
			"=> known.has(confirmed) || confirmed.startsWith('paid');",
		],
		'Doubt counts without the mark doubtConfirmed': [
			'=> known.has(confirmed);',
			"=> known.has(confirmed) || confirmed.startsWith('doubt');",
		],
		'The confirmation of paid is asked for together with it': [
			'await change.ask(asked.map(({ mark }) => mark))',
			"await change.ask(asked.flatMap(({ mark, confirmed }) => (mark.startsWith('paid') ? [mark, confirmed] : [mark])))",
		],
		'The confirmation of doubt is asked for together with it': [
			'await change.ask(asked.map(({ mark }) => mark))',
			"await change.ask(asked.flatMap(({ mark, confirmed }) => (mark.startsWith('doubt') ? [mark, confirmed] : [mark])))",
		],
		'Half of the fact paid stays': [
			'.filter((one) => !isConfirmed(one))',
			".filter((one) => !isConfirmed(one) && !one.mark.startsWith('paid'))",
		],
		'Half of the fact doubt stays': [
			'.filter((one) => !isConfirmed(one))',
			".filter((one) => !isConfirmed(one) && !one.mark.startsWith('doubt'))",
		],
		'The payee is asked for before it is known that somebody was paid': [
			'candidates.map(({ each }) => alsoAsk(each))',
			'references.map(alsoAsk)',
		],
		'Paid to another person or amount counts as unused': [
			"states.set(entry, 'otherPayment')",
			"states.set(entry, 'unused')",
		],
		'The payee is not asked for': ['!paidValues.has(paidValuesMark(entry))', 'false'],
		'Settling: not paid leaves the mark sent': ['change.remove(freed.flatMap(marksOfUse));', ''],
		'Settling: not paid leaves the doubt': [
			'change.remove(freed.flatMap(marksOfUse));',
			'change.remove(freed.map(sentMark));',
		],
		'Settling: a reference in flight is settled as not paid': [
			"if (state === 'paid' || state === 'inFlight') return state;",
			"if (state === 'paid' || (state === 'inFlight' && says !== 'notPaid')) return state;",
		],
		'Settling: a reference in flight is settled as paid': [
			"if (state === 'paid' || state === 'inFlight') return state;",
			"if (state === 'paid' || (state === 'inFlight' && says === 'notPaid')) return state;",
		],
		'Settling: a paid reference is settled as not paid': [
			"if (state === 'paid' || state === 'inFlight') return state;",
			"if (state === 'inFlight' || (state === 'paid' && says !== 'notPaid')) return state;",
		],
		'Settling: a reference that was never sent is not recorded as paid': [
			"return mayBeOld ? 'contradicted' : 'recordedPaid';",
			"return mayBeOld ? 'contradicted' : state;",
		],
		'Settling: paid is recorded as if the service had said it': [
			"paid.flatMap((each) => factMarks('saidPaid', each))",
			"paid.flatMap((each) => factMarks('paid', each))",
		],
		'Settling: paid is recorded for no user ID and amount': ['confirmed.has(entry) && ', ''],
		'Settling: no mark stays of what was settled as not paid': [
			'...notPaid.flatMap((each) => [...new Set([settledNotPaidMark(each), statementMark(each)])]),',
			'',
		],
		'Settling: no mark stays of what a change settled as not paid that failed': [
			'				...notPaid.flatMap((each) => [...new Set([settledNotPaidMark(each), statementMark(each)])]),\n			]);',
			'			]);\n			change.keep(notPaid.map(settledNotPaidMark));',
		],
		'Settling: a person contradicts what the service said': [
			'return new Set(concerned.filter((each) => !paid.has(each)));',
			'return new Set(concerned);',
		],
		'Settling: a contradiction forgets an earlier not paid': [
			'contradicted.filter((each) => !contradicting.has(each)).map',
			'contradicted.map',
		],
		'Settling: a contradiction frees': [
			"if (contradicting.has(each)) return [each, 'contradicted'];",
			"if (contradicting.has(each)) return [each, 'settledNotPaid'];",
		],
		'Settling: paid, by an expression, replaces that somebody said not paid': [
			"return mayBeOld ? 'contradicted' : 'recordedPaid';",
			"return 'recordedPaid';",
		],
		'Settling: what takes a statement back settles as paid': [
			"if (says === 'takeBack') return state === 'unused' && wasSaidNotPaid ? 'contradicted' : state;",
			"if (says === 'takeBack' && state === 'unused') return wasSaidNotPaid ? 'contradicted' : state;",
		],
		'Settling: what takes a statement back records a reference that is unused as paid': [
			"if (says === 'takeBack') return state === 'unused' && wasSaidNotPaid ? 'contradicted' : state;",
			"if (says === 'takeBack' && (wasSaidNotPaid || state === 'inDoubt')) return state === 'unused' ? 'contradicted' : state;",
		],
		'Settling: an expression frees again and again': [
			"return mayBeOld ? 'statementRepeated' : 'settledNotPaid';",
			"return 'settledNotPaid';",
		],
	}),
	...inFile(`${paying}/paymentMarks.ts`, {
		'All references are in one bucket': ['% bucketCount', '% 1'],
		'A bucket is another one at each time': [
			'.readUInt16BE() % bucketCount',
			'.readUInt16BE() % bucketCount + Math.random()',
		],
		'The mark of the payee lacks the person': [
			'JSON.stringify([referenceKey, toUserId, amount])',
			'JSON.stringify([referenceKey, amount])',
		],
		'Slots are no longer than a reservation is its own': [
			'reservedForMs + clockDifferenceMs',
			'reservedForMs',
		],
		'The mark busy of a slot that has not begun does not count': ['[-1, 0, 1].map', '[-1, 0].map'],
		'A reservation counts until the end of its slot': ['[-1, 0, 1].map', '[0, 1].map'],
		'A mark busy never expires': ['`busy:${slot}:', '`busy:0:'],
		'A fact is recorded without its confirmation': [
			'\tfactMark(fact, keyed),\n\tconfirmedMark(fact, keyed),',
			'\tfactMark(fact, keyed),',
		],
		'Settling: a sending that a statement names is freed again and again': [
			'settledNotPaidMark({ referenceKey })\n		: `settledNotPaidOf:${JSON.stringify([referenceKey, sentAt])}`',
			'settledNotPaidMark({ referenceKey })\n		: `settledNotPaidOf:${JSON.stringify([referenceKey, sentAt, Date.now()])}`',
		],
	}),
	...inFile(`${shared}/record/recordChange.ts`, {
		'A mark that a question added stays': ['if (!before.has(mark)) this.toRemove.add(mark);', ''],
	}),
	...inFile(`${paying}/settle.ts`, {
		'Settling: a person in the editor settles only once': [
			'const isByHand = isTyped',
			'const isByHand = false && isTyped',
		],
		'Settling: a typed statement counts again on a schedule': [
			'isTyped && isStartedInEditor(context)',
			'true',
		],
		'Settling: Retry On Fail settles again': ['if (memory.failure !== undefined)', 'if (false)'],
	}),
	...inFile(`${paying}/options.ts`, {
		'Settling: Retry execution settles': ['!isRetryExecution(context)', 'true'],
		'Settling: a Mode left on Settle Unknown settles on a schedule': [
			'(isByExpression || isStartedInEditor(context))',
			'true',
		],
	}),
	...inFile(`${paying}/createDisbursement.ts`, {
		'Settling: a run that settles also pays': ["if (options.mode === 'settle')", 'if (false)'],
		'A dry run pays': ["if (options.mode === 'pay')", "if (options.mode !== 'settle')"],
	}),
	...inFile(`${shared}/reference.ts`, {
		'References that look the same are others': [
			'referenceKeyOf = normalizeText;',
			'referenceKeyOf = (reference: string): string => (false ? normalizeText(reference) : reference);',
		],
	}),
	...inFile(`${paying}/entry.ts`, {
		'A payment without a reference is sent': [
			"readReference('Reference', read('reference', entry.itemIndex))",
			"readReference('Reference', read('reference', entry.itemIndex) || `item ${entry.itemIndex}`)",
		],
		'Two payments of a run have the same reference': [
			'if (first === undefined || first.itemIndex === entry.itemIndex) return undefined;',
			'return undefined;',
		],
	}),
	...inFile(`${paying}/sending.ts`, {
		'How the last batch ended is not recorded': ['await record.recordLastResults(unrecorded);', ''],
		'What was refused is freed once more after an access that failed': [
			"unrecorded = reserved.filter((payment) => outcomeOfEntry(payment) === 'paid');",
			"unrecorded = reserved.filter((payment) => outcomeOfEntry(payment) !== 'unknown');",
		],
		'What is unknown is doubted once more after an access that failed': [
			"outcomeOfEntry(payment) === 'paid'",
			"outcomeOfEntry(payment) !== 'notPaid'",
		],
		'A failing database does not keep a payment from being sent': [
			'run.setResult(payment, noRecordResult(error));',
			'await sendConcurrently(run, [payment], () => timeoutMs);',
		],
		'A reservation lasts for ever: a process that stood still sends': [
			'() => timeoutMs - getAgeMs()',
			'() => timeoutMs',
		],
	}),
	...inFile(`${shared}/service/judge.ts`, {
		'A payment without a response is sent again': [
			'mayBeRepeated: isIdempotent(request)',
			'mayBeRepeated: true',
		],
		'A success without a proof counts': [
			'found.every(isTransactionHash) && new Set(found).size === 1',
			'true',
		],
		'A body that says no and yes is a refusal': [
			'if (finding !== undefined) return notShown(request, finding);',
			'',
		],
	}),
	...inFile(`${shared}/service/statuses.ts`, {
		'202 means that it was paid': ['new Set([202, 207])', 'new Set([207])'],
		'409 means that it was not paid': ['405, 407, 413', '405, 407, 409, 413'],
	}),
	...inFile(`${shared}/service/responseRules.ts`, {
		'An unclear state counts': [
			'{ ...rulesAgainstSuccess, ...rulesAgainstPayment }',
			'rulesAgainstSuccess',
		],
		'A success for another user counts': [': !isSame(value, each),', ': false,'],
		'A refusal with a hash counts': ['!isFieldOfRefusal(name, sent)', 'false'],
	}),
	...inFile(`${paying}/limits.ts`, {
		'A run above its maximum is sent': [
			'if (limit === undefined || !isAbove(total, limit)) return undefined;',
			'if (limit !== "") return undefined;',
		],
	}),
	...inFile(`${paying}/limits.ts`, {
		'A payment above its maximum is sent': [
			'if (maxAmountEtb === undefined || amount === undefined || !isAbove(amount, maxAmountEtb))',
			'if (maxAmountEtb !== "")',
		],
	}),
	...inFile(`${shared}/service/attempt.ts`, {
		'An attempt does not end by the clock: dripping responses never do': [
			'const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);',
			'const signal = stop ?? new AbortController().signal;',
		],
	}),
	...inFile(`${shared}/runMemory.ts`, {
		'Retry On Fail forgets what an earlier try sent': [
			'if (known !== undefined) return known;',
			'if (known !== undefined) return new WeakMap();',
		],
	}),
	...inFile(`${shared}/time.ts`, {
		'Clocks that stand still while a machine sleeps': [
			'Math.max(Date.now() - wall, performance.now() - monotonic)',
			'performance.now() - monotonic',
		],
	}),
	...inFile(`${shared}/record/marks.ts`, {
		'A database call may take for ever': [
			'AbortSignal.timeout(timeoutMs)',
			'new AbortController().signal',
		],
	}),
	...inFile(`${shared}/record/lock.ts`, {
		'No lock between processes': [
			'const getHeldMs = await acquire(lockRow, stop);',
			'const getHeldMs = stopwatch();',
		],
		'The lock is not given back': [
			'if (getHeldMs() < abandonedAfterMs) await release(lockRow);',
			'',
		],
		'The lock of a crashed process is never taken over': [
			'else if (getSameHolderMs() > takeOverAfterMs)',
			'else if (false)',
		],
		'The lock is taken over at once': ['else if (getSameHolderMs() > takeOverAfterMs)', 'else'],
		'A process that lost the lock goes on with what it read': [
			'if (getHeldMs() > safeForMs)',
			'if (false)',
		],
	}),
];
