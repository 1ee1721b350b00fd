/** Mode: a dry run and a run that settles send nothing, and what a person found out counts once. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import {
	credentialFor,
	deduplicator,
	type NodeRun,
	type RunResult,
} from '../support/engine/engine.mts';
import {
	resultIn,
	codes,
	codesOf,
	dieSending,
	itemsFor,
	leaveUnknown,
	nodeId,
	paidNames,
	pay,
	payInEachTest,
	payments,
	record,
	sandbox,
	timePasses,
} from '../support/engine/paying.mts';

payInEachTest();

const onError = 'continueErrorOutput';
const sent = (): number => payments().length;

interface Named extends INodeParameters {
	wasPaid?: string;
	wasNotPaid?: string;
}

/** Settles as a person does in the editor: with fixed fields, and whatever items arrive. */
const settle = async (
	named: Named,
	options: Partial<NodeRun> = {},
	fields: INodeParameters = {},
): Promise<RunResult> => await pay([{}], { ...fields, mode: 'settle', ...named }, options);

const known = async (...names: string[]): Promise<unknown[]> =>
	codes(
		(await pay(itemsFor(...names), { mode: 'dryRun' }, { onError: 'continueRegularOutput' }))
			.output,
	);

describe('naming references', () => {
	test('settles one as paid and one as not, in one run that sends nothing; the next one pays one', async () => {
		await leaveUnknown(itemsFor('a', 'b', 'c'), ['a', 'b']);
		const requests = sent();
		const { output, hints } = await settle({ wasPaid: 'pay-a', wasNotPaid: 'pay-b' });
		expect(output.map(({ json }) => json)).toMatchObject([
			{ outcome: 'alreadyPaid', code: 'settledPaid', mode: 'settle', reference: 'pay-a' },
			{ outcome: 'ready', code: 'settledNotPaid', mode: 'settle', reference: 'pay-b' },
		]);
		expect(hints.join()).toMatch(/nothing was sent\..*now set it back, and run the workflow again/);
		expect(sent()).toBe(requests);
		const { output: paid } = await pay(itemsFor('a', 'b', 'c'));
		expect(codes(paid)).toEqual(['paidBefore', 'paid', 'paidBefore']);
	});

	test('needs no account: a credential that cannot be used keeps nobody from settling', async () => {
		await leaveUnknown(itemsFor('a'), ['a']);
		const credential = { ...credentialFor(sandbox), apiKey: '' };
		const { output } = await settle({ wasPaid: 'pay-a' }, { credential });
		expect(codes(output)).toEqual(['settledPaid']);
	});

	test('that this node never sent, as in a copy, records those that were paid, and nothing of those that were not', async () => {
		await pay(itemsFor('a', 'b'));
		const copy = { nodeId: `${nodeId}-copy` };
		expect(codesOf(await settle({ wasNotPaid: 'pay-a' }, copy))).toEqual(['ready']);
		expect(deduplicator.rows.get(`wf1:${copy.nodeId}`) ?? []).toEqual([]);
		const { output } = await settle({ wasPaid: 'pay-a\npay-b' }, copy);
		expect(codes(output)).toEqual(['settledPaid', 'settledPaid']);
		for (const { json } of output) expect(json.message).toMatch(/^Recorded as paid, although/);
		expect(codesOf(await pay(itemsFor('a', 'b'), {}, copy))).toEqual(['paidBefore', 'paidBefore']);
		expect(paidNames()).toEqual(['a', 'b']);
	});

	test('in another spelling settles them, each once, without empty lines', async () => {
		await leaveUnknown(itemsFor('a', 'b'), ['a', 'b']);
		const { output } = await settle({
			wasPaid: '\r\n PAY-A \n\npay\u2011a\r\npay-a',
			wasNotPaid: 'pay-b\n',
		});
		expect(output.map(({ json }) => json.code)).toEqual(['settledPaid', 'settledNotPaid']);
	});

	test.each([
		['nothing', {}],
		['blanks', { wasPaid: ' \n', wasNotPaid: '\n' }],
		['one in both fields', { wasPaid: 'pay-a', wasNotPaid: 'pay-b\nPAY-A' }],
		['what nobody sees', { wasNotPaid: 'pay-a\n\u200b' }],
		['what is too long', { wasNotPaid: `pay-a\n${'x'.repeat(201)}` }],
		['an object', { wasNotPaid: "={{ { reference: 'pay-a' } }}" }],
	] as [string, Named][])('%s is refused, and nothing is settled', async (_what, named) => {
		await leaveUnknown(itemsFor('a', 'b'), ['a', 'b']);
		const before = record();
		const { error } = await settle(named);
		expect(`${error?.message} ${error?.description}`).toMatch(
			/(Was Paid|Was Not Paid|answers about) .*Nothing was settled/s,
		);
		expect(record()).toEqual(before);
		expect(sent()).toBe(2);
	});

	test.each([onError, 'continueRegularOutput'] as const)(
		'by an expression that gives nothing is an error of each item (%s)',
		async (continues) => {
			const { output, errorOutput } = await pay(
				[{ line: 1 }],
				{ mode: 'settle', wasNotPaid: '={{ $json.nothing }}' },
				{ onError: continues },
			);
			const told = continues === onError ? errorOutput : output;
			expect(told.map(resultIn)).toMatchObject([{ code: 'notSettled' }]);
		},
	);

	test('by an expression, as text or as a list, settles those of all items', async () => {
		await leaveUnknown(itemsFor('a', 'b', 'c'), ['a', 'b', 'c']);
		const items = [{ found: 'pay-a' }, { found: ['pay-b', 'pay-c'] }, { found: null }, {}];
		const { output } = await pay(items, { mode: 'settle', wasPaid: '={{ $json.found }}' });
		expect(output.map(({ json }) => json.reference)).toEqual(['pay-a', 'pay-b', 'pay-c']);
		expect(codes(output)).toEqual(Array(3).fill('settledPaid'));
	});
});

describe('was not paid', () => {
	const again = async (
		named: Named,
		options: Partial<NodeRun>,
		mode = 'settle',
	): Promise<unknown[]> => {
		await leaveUnknown(itemsFor('a'), ['a'], 'error500BeforePaying');
		const items = [{ found: 'pay-a', settles: true }];
		return codesOf(await pay(items, { mode, ...named }, options));
	};
	const expression = { wasNotPaid: '={{ $json.found }}' };
	const byExpression = "={{ $json.settles ? 'settle' : 'pay' }}";

	test('by an expression counts once for each reference, and a second time only if it is typed in the editor', async () => {
		const webhook = { mode: 'webhook' } as const;
		expect(await again(expression, webhook, byExpression)).toEqual(['settledNotPaid']);
		expect(await again(expression, webhook, byExpression)).toEqual(['notSettled']);
		expect(await again({ wasNotPaid: 'pay-a' }, webhook, byExpression)).toEqual(['notSettled']);
		expect(await again(expression, {})).toEqual(['notSettled']);
		expect(await again({ wasNotPaid: 'pay-a' }, {}, byExpression)).toEqual(['notSettled']);
		expect(await known('a')).toEqual(['inDoubt']);
		expect(sent()).toBe(2);
		expect(await again({ wasNotPaid: 'pay-a' }, {})).toEqual(['settledNotPaid']);
		expect(await again(expression, webhook, byExpression)).toEqual(['notSettled']);
		expect(await again({ wasNotPaid: 'pay-a' }, {})).toEqual(['settledNotPaid']);
		expect(paidNames()).toEqual([]);
	});

	test.each([
		['by an expression', (reference: string) => `={{ '${reference}' }}`],
		['in the editor', (reference: string) => reference],
	])('is taken back %s, which settles nothing else', async (_how, named) => {
		await leaveUnknown(itemsFor('freed', 'open'), ['freed', 'open']);
		await pay(itemsFor('paid'));
		expect(codesOf(await settle({ wasNotPaid: 'pay-freed' }))).toEqual(['settledNotPaid']);
		const takeBack = async (name: string): Promise<unknown[]> => {
			return codesOf(await pay([{}], { mode: 'settle', takeBack: named(`pay-${name}`) }));
		};
		expect(await takeBack('open')).toEqual(['inDoubt']);
		expect(await takeBack('never')).toEqual(['ready']);
		expect(await takeBack('paid')).toEqual(['paidBefore']);
		expect(await takeBack('freed')).toEqual(['contradicted']);
		// A page that was opened before has the same answer.
		expect(await takeBack('freed')).toEqual(['inDoubt']);
		expect(await known('freed', 'open', 'never', 'paid')).toEqual([
			...['inDoubt', 'inDoubt', 'ready', 'paidBefore'],
		]);
	});

	test.each([
		{ wasNotPaid: 'pay-open', takeBack: 'PAY-open' },
		{ wasPaid: 'pay-open', takeBack: 'pay-open' },
		{ wasPaid: "={{ [{ reference: 'pay-open', sentAt: '10:00' }] }}" },
		{
			wasNotPaid:
				"={{ [10, 11].map((sentAt) => ({ reference: 'pay-open', sentAt: `${sentAt}:00` })) }}",
		},
	])('is not settled by a statement with two meanings: %j', async (named) => {
		await leaveUnknown(itemsFor('open'), ['open']);
		const { error } = await settle(named);
		expect(error?.message).toMatch(/pay-open/i);
		expect(await known('open')).toEqual(['inDoubt']);
	});

	test('by an expression that names a sending counts once for each', async () => {
		const webhook = { mode: 'webhook' } as const;
		const of = (sentAt: string): Named => ({
			wasNotPaid: `={{ [{ reference: 'PAY-a', sentAt: '${sentAt}' }] }}`,
		});
		expect(await again(of('10:00'), webhook, byExpression)).toEqual(['settledNotPaid']);
		expect(await again(of('10:00'), webhook, byExpression)).toEqual(['notSettled']);
		expect(await again(expression, webhook, byExpression)).toEqual(['notSettled']);
		expect(await known('a')).toEqual(['inDoubt']);
		expect(await again(of('10:30'), webhook, byExpression)).toEqual(['settledNotPaid']);
		expect(await again(of('10:30'), webhook, byExpression)).toEqual(['notSettled']);
		expect(await again(of('11:00'), webhook, byExpression)).toEqual(['settledNotPaid']);
		const paid = { mode: byExpression, wasPaid: "={{ 'pay-a' }}" };
		expect(codesOf(await pay([{ settles: true }], paid, webhook))).toEqual(['contradicted']);
		expect(await known('a')).toEqual(['inDoubt']);
	});

	test('by an expression counts once in an execution that goes on after it waited', async () => {
		const resumed = { mode: 'manual', resumed: true } as const;
		expect(await again(expression, resumed, byExpression)).toEqual(['settledNotPaid']);
		expect(await again({ wasNotPaid: 'pay-a' }, resumed, byExpression)).toEqual(['notSettled']);
	});
});

test('was paid after not paid makes it unknown again, unless it is typed in the editor', async () => {
	const state = async (named: Named, mode = "={{ 'settle' }}"): Promise<unknown[]> =>
		codesOf(await pay([{}], { mode, ...named }, { mode: 'webhook' }));
	await leaveUnknown(itemsFor('a', 'b'), ['a', 'b'], 'error500BeforePaying');
	expect(await state({ wasNotPaid: 'pay-a' })).toEqual(['settledNotPaid']);
	expect(await state({ wasPaid: 'pay-a\npay-b' })).toEqual(['contradicted', 'settledPaid']);
	expect(await known('a', 'b')).toEqual(['inDoubt', 'paidBefore']);
	expect(await state({ wasNotPaid: 'pay-a' })).toEqual(['settledNotPaid']);
	const byExpression = { wasPaid: "={{ 'pay-a' }}" };
	expect(codesOf(await settle(byExpression))).toEqual(['contradicted']);
	expect(await state({ wasPaid: 'pay-a' })).toEqual(['settledPaid']);
	await leaveUnknown(itemsFor('c'), ['c'], 'error500BeforePaying');
	expect(await state({ wasNotPaid: 'pay-c' })).toEqual(['settledNotPaid']);
	expect(codesOf(await settle({ wasPaid: 'pay-c' }))).toEqual(['settledPaid']);
	expect(await known('a', 'c')).toEqual(['paidBefore', 'paidBefore']);
});

describe('a payment that only a person said was paid', () => {
	const webhook = { mode: 'webhook' } as const;
	const state = async (named: Named): Promise<unknown[]> =>
		codesOf(await pay([{}], { mode: "={{ 'settle' }}", ...named }, webhook));
	const contradictions: [string, Named][] = [
		['by an expression', { wasNotPaid: "={{ 'pay-a' }}" }],
		['of one sending', { wasNotPaid: "={{ [{ reference: 'pay-a', sentAt: '10:00' }] }}" }],
	];

	test.each(contradictions)(
		'is unknown again when somebody contradicts that, %s, which counts once',
		async (_how, contradiction) => {
			await leaveUnknown(itemsFor('a'), ['a']);
			expect(await state({ wasPaid: 'pay-a' })).toEqual(['settledPaid']);
			expect(await state(contradiction)).toEqual(['contradicted']);
			expect(await state(contradiction)).toEqual(['notSettled']);
			expect(await known('a')).toEqual(['inDoubt']);
			expect(codesOf(await pay(itemsFor('a'), {}, { onError }))).toEqual(['inDoubt']);
			expect(await state({ wasPaid: 'pay-a' })).toEqual(['settledPaid']);
			expect(await known('a')).toEqual(['paidBefore']);
		},
	);

	test('is not freed when a contradiction is repeated that failed at any call of the database', async () => {
		const ask = deduplicator.checkProcessedAndRecord;
		for (let failing = 1; ; failing++) {
			const names = [`before${failing}`, `after${failing}`];
			const references = names.map((name) => `pay-${name}`);
			await leaveUnknown(itemsFor(...names), names, 'error500AfterPaying');
			expect(await state({ wasPaid: references.join('\n') })).toHaveLength(2);
			let calls = 0;
			for (const reference of references) {
				calls = 0;
				const fails = jest
					.spyOn(deduplicator, 'checkProcessedAndRecord')
					.mockImplementation(async (entries, ...more) => {
						const concerns = entries.some((entry) => String(entry).includes(reference));
						if (!concerns || ++calls !== failing) return await ask(entries, ...more);
						if (reference.includes('after')) await ask(entries, ...more);
						throw new Error('connection lost');
					});
				const contradiction = {
					wasNotPaid: `={{ [{ reference: '${reference}', sentAt: '10:00' }] }}`,
				};
				await pay([{}], { mode: "={{ 'settle' }}", ...contradiction }, { ...webhook, onError });
				fails.mockRestore();
				expect(await state(contradiction)).not.toContain('settledNotPaid');
			}
			if (calls < failing) break;
			expect(codesOf(await pay(itemsFor(...names), {}, { onError }))).not.toContain('paid');
		}
	});

	test('is not one that the service paid, also if the database failed whenever somebody contradicted it', async () => {
		await pay(itemsFor('a'));
		const contradiction = { wasNotPaid: "={{ [{ reference: 'pay-a', sentAt: '10:00' }] }}" };
		const fails = jest
			.spyOn(deduplicator, 'removeProcessed')
			.mockRejectedValue(new Error('connection lost'));
		for (const fields of [contradiction, { takeBack: 'pay-a' }, contradiction])
			await pay([{}], { mode: "={{ 'settle' }}", ...fields }, { ...webhook, onError });
		fails.mockRestore();
		expect(await state(contradiction)).toEqual(['paidBefore']);
		expect(await state(contradiction)).toEqual(['paidBefore']);
		expect(codesOf(await pay(itemsFor('a'), {}, { onError }))).toEqual(['paidBefore']);
		expect(paidNames()).toEqual(['a']);
	});

	test('is unknown again when somebody takes that back, and then not paid', async () => {
		await leaveUnknown(itemsFor('a'), ['a'], 'error500BeforePaying');
		expect(await state({ wasPaid: 'pay-a' })).toEqual(['settledPaid']);
		const takeBack = { takeBack: 'pay-a' };
		expect(await state(takeBack)).toEqual(['contradicted']);
		expect(await state(takeBack)).toEqual(['inDoubt']);
		expect(await state({ wasNotPaid: 'pay-a' })).toEqual(['settledNotPaid']);
		expect(codesOf(await pay(itemsFor('a')))).toEqual(['paid']);
	});

	test('was a slip: typed, it takes two statements to pay it, also if this node never sent it', async () => {
		expect(codesOf(await settle({ wasPaid: 'pay-a' }))).toEqual(['settledPaid']);
		expect(codesOf(await settle({ wasNotPaid: 'pay-a' }))).toEqual(['contradicted']);
		expect(await known('a')).toEqual(['inDoubt']);
		expect(codesOf(await settle({ wasNotPaid: 'pay-a' }))).toEqual(['settledNotPaid']);
		expect(codesOf(await pay(itemsFor('a')))).toEqual(['paid']);
		expect(codesOf(await settle({ wasNotPaid: 'pay-a' }))).toEqual(['paidBefore']);
		expect(record().some((mark) => mark.startsWith('saidPaid'))).toBe(false);
	});
});

describe('who may settle', () => {
	const refused: [string, Partial<NodeRun>, string?][] = [
		...(['trigger', 'webhook', 'integrated', 'cli', 'error', 'internal'] as const).map(
			(mode): (typeof refused)[number] => [`a fixed mode in ${mode}`, { mode }],
		),
		['a fixed mode after a wait', { mode: 'manual', resumed: true }],
		['Retry execution', { mode: 'retry' }],
		['Retry execution, by an expression', { mode: 'retry' }, "={{ 'settle' }}"],
		['a sub-workflow of Retry execution', { calledIn: 'retry' }, "={{ 'settle' }}"],
	];
	test.each(refused)(
		'not %s: nothing is sent and nothing freed, loudly',
		async (...[, options, mode]) => {
			const items = itemsFor('a', 'b', 'c');
			await leaveUnknown(items.slice(0, 2), ['a']);
			const before = record();
			const requests = sent();
			const fields = { mode: mode ?? 'settle', wasNotPaid: 'pay-a', wasPaid: 'pay-c' };
			const { error } = await pay(items, fields, options);
			expect(`${error?.message} ${error?.description}`).toMatch(/Mode is on Settle Unknown/);
			const went = await pay(items, fields, { ...options, onError });
			expect(codesOf(went)).toEqual(['paidBefore', 'inDoubt', 'settings']);
			expect(went.hints.join()).toMatch(/Mode is on Settle Unknown/);
			// The items do not matter: a run that settles needs none.
			expect(codesOf(await pay([{}], fields, { ...options, onError }))).toEqual(['settings']);
			expect(record()).toEqual(before);
			expect(sent()).toBe(requests);
		},
	);

	test('a database that fails is told, and lets nobody be paid again', async () => {
		await leaveUnknown(itemsFor('a', 'b'), ['a', 'b'], 'error500AfterPaying');
		const ask = deduplicator.checkProcessedAndRecord;
		const fails = jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockImplementation(async (entries, ...more) => {
				const result = await ask(entries, ...more);
				if (entries.includes('paid:pay-a')) throw new Error('connection lost');
				return result;
			});
		const { error } = await settle({ wasPaid: 'pay-a', wasNotPaid: 'pay-b' });
		expect(error?.message).toMatch(/^It is not certain that this was recorded/);
		fails.mockRestore();
		expect(
			(await known('a', 'b')).every((code) => code === 'paidBefore' || code === 'inDoubt'),
		).toBe(true);
		expect(codesOf(await settle({ wasPaid: 'pay-a\npay-b' })).length).toBe(2);
		expect(paidNames()).toEqual(['a', 'b']);
	});

	test('a database that fails is not tried again by Retry On Fail', async () => {
		await leaveUnknown(itemsFor('a'), ['a'], 'error500AfterPaying');
		const ask = deduplicator.checkProcessedAndRecord;
		let failures = 1;
		const fails = jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockImplementation(async (entries, ...more) => {
				const result = await ask(entries, ...more);
				if (entries.includes('paid:pay-a') && failures-- > 0) throw new Error('connection lost');
				return result;
			});
		const run = { retryOnFail: true, maxTries: 2, onError: 'continueErrorOutput' } as const;
		const told = codesOf(await settle({ wasPaid: 'pay-a' }, run));
		fails.mockRestore();
		expect(told).toEqual(['notSettled']);
	});
});

/** Payments that end late, and are claimed anew meanwhile: the stories of `test/model`. */
describe('what another execution is sending', () => {
	test('was cut off: after the minutes that a dry run names, a dry run says what to do', async () => {
		await dieSending(itemsFor('a'));
		const dryRun = async (): Promise<IDataObject | undefined> => {
			const { errorOutput } = await pay(itemsFor('a'), { mode: 'dryRun' }, { onError });
			return errorOutput.map(resultIn)[0];
		};
		const first = await dryRun();
		expect(first).toMatchObject({ outcome: 'unknown', code: 'inFlight' });
		expect(codesOf(await settle({ wasNotPaid: 'pay-a' }))).toEqual(['inFlight']);
		const [, minutes] = /for (\d+) minutes/.exec(JSON.stringify(first)) ?? [];
		timePasses(Number(minutes) * 60_000);
		const later = await dryRun();
		expect(later).toMatchObject({ outcome: 'unknown', code: 'inDoubt' });
		expect(later?.remedy).toMatch(/Settle Unknown/);
		expect(codesOf(await settle({ wasNotPaid: 'pay-a' }))).toEqual(['settledNotPaid']);
		expect(codesOf(await pay(itemsFor('a')))).toEqual(['paid']);
	});

	test('is in flight also for a process whose clock is a slot of time behind', async () => {
		await dieSending(itemsFor('a'));
		timePasses(-145_000);
		expect(codesOf(await settle({ wasNotPaid: 'pay-a' }))).toEqual(['inFlight']);
		expect(codesOf(await pay(itemsFor('a'), {}, { onError }))).toEqual(['inFlight']);
	});
});

describe('Mode', () => {
	test.each([
		['={{ $json.approved ? "pay" : "dryRun" }}', false, 'ready'],
		['={{ $json.approved ? "pay" : "dryRun" }}', true, 'paid'],
		['=dryRun', true, 'ready'],
		['dryRun', true, 'ready'],
		['pay', false, 'paid'],
	])('%s with %p ends as %s', async (mode, approved, code) => {
		const items = itemsFor('a').map((item) => ({ ...item, approved }));
		expect(codesOf(await pay(items, { mode }))).toEqual([code]);
		expect(sent()).toBe(code === 'paid' ? 1 : 0);
	});

	test.each([
		['pay', 'dryRun'],
		['pay', 'settle'],
		['dryRun', 'pay'],
	])('holds for the whole run: %s and %s send nothing', async (...mode) => {
		const items = itemsFor('a', 'b').map((item, index) => ({ ...item, mode: mode[index] }));
		const { error } = await pay(items, { mode: '={{ $json.mode }}', wasPaid: 'pay-a' });
		expect(error?.message).toContain(`"${mode[0]}" for item 0, and "${mode[1]}" for item 1`);
		expect(sent()).toBe(0);
		expect(record()).toEqual([]);
	});

	test.each(['={{ "Pay" }}', '={{ $json.nothing }}', '={{ null }}', ''])(
		'as %p is none',
		async (mode) => {
			expect((await pay(itemsFor('a'), { mode })).error?.message).toMatch(/^Mode is /);
			expect(sent()).toBe(0);
		},
	);

	test.each<[string, Partial<NodeRun>]>([
		['pay', { mode: 'evaluation' }],
		['settle', { mode: 'evaluation' }],
		['pay', { calledIn: 'evaluation' }],
	])('%s is a dry run in an evaluation of n8n (%o)', async (mode, options) => {
		const { output } = await pay(itemsFor('a'), { mode, wasPaid: 'pay-a' }, options);
		expect(output.map(({ json }) => [json.code, json.mode])).toEqual([['ready', 'dryRun']]);
		expect(record()).toEqual([]);
		expect(codesOf(await pay(itemsFor('a')))).toEqual(['paid']);
	});
});

test('the record keeps the marks that earlier versions wrote: with others, a paid reference would be paid again', async () => {
	await leaveUnknown(itemsFor('paid', 'lost', 'free', 'open'), ['lost', 'free', 'open']);
	await settle({ wasPaid: 'pay-lost' });
	const wasNotPaid = "={{ [{ reference: 'pay-free', sentAt: '2026-11-25' }] }}";
	expect(codesOf(await settle({ wasNotPaid }))).toEqual(['settledNotPaid']);
	expect(record().filter((mark) => !mark.startsWith('busy:'))).toEqual([
		'doubt:pay-lost',
		'doubt:pay-open',
		'doubtConfirmed:pay-lost',
		'doubtConfirmed:pay-open',
		'paid:pay-paid',
		'paidConfirmed:pay-paid',
		'payee:["pay-paid","etbw_paid","10"]',
		'saidPaid:pay-lost',
		'saidPaidConfirmed:pay-lost',
		'sent:pay-lost',
		'sent:pay-open',
		'sent:pay-paid',
		'settledNotPaid:pay-free',
		'settledNotPaidOf:["pay-free","2026-11-25"]',
	]);
});
