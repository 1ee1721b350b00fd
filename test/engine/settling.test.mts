/** Mode: a dry run and a run that settles send nothing, and only a person settles, in the editor. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { Fault, PresetName } from '../../sandbox/faults.mts';
import type { RunOptions, RunResult } from '../../lab/engine/engine.mts';
import { deduplicator } from '../../lab/engine/engine.mts';
import {
	answerOf,
	itemsFor,
	nodeId,
	outcomesOf,
	paidNames,
	pay,
	payInEachTest,
	payments,
	sandbox,
	timePassesForEachLook,
	user,
} from '../../lab/engine/paying.mts';

payInEachTest();

const requests = (): number => payments().length;
const record = (): string[] => [...(deduplicator.rows.get(`wf1:${nodeId}`) ?? [])].sort();

const onError = 'continueErrorOutput';

const emptyRecord =
	'This node remembers no payments yet. If it is a copy, or was made anew, the other one may have paid these people.';

const settle = async (
	items: IDataObject[],
	finding: string,
	options: Partial<RunOptions> = {},
): Promise<RunResult> => await pay(items, { mode: 'settle', finding }, options);

/** Pays all, of whom these end as unknown. */
async function leaveUnknown(
	items: IDataObject[],
	unknown: string[],
	fault: Fault | PresetName = 'error500BeforePaying',
): Promise<void> {
	sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
		unknown.some((name) => bodyText.includes(`"${user(name)}"`)) ? fault : undefined,
	);
	await pay(items, {}, { onError });
	sandbox.faults.clear();
}

/** As they do for a run that waits for another execution. */
const hoursPass = (): void => timePassesForEachLook('node', 3_600_000);

describe('what a person found out', () => {
	test('that it was not paid makes it free; the next run with Pay sends it, once', async () => {
		const items = itemsFor('a', 'b');
		await leaveUnknown(items, ['a']);
		const sent = requests();
		const settled = await settle(items, 'notPaid');
		expect(settled.output.map(({ json }) => [json.mode, json.outcome, json.message])).toEqual([
			['settle', 'ready', 'Settled as not paid, nothing was sent. A run with Mode on Pay sends it'],
			['settle', 'alreadyPaid', 'Paid or settled as paid before, not sent again'],
		]);
		expect(settled.hints).toEqual([
			'Settle Unknown, nothing was sent: 0 settled as paid, 1 as not paid, 0 still unknown, 1 as before. Now set Mode back to what it was: Pay sends 1 of them',
		]);
		expect(requests()).toBe(sent);
		expect(outcomesOf(await pay(items))).toEqual(['paid', 'alreadyPaid']);
		for (const finding of ['notPaid', 'paid', 'unclear'])
			expect(outcomesOf(await settle(items, finding))).toEqual(['alreadyPaid', 'alreadyPaid']);
		expect(outcomesOf(await pay(items))).toEqual(['alreadyPaid', 'alreadyPaid']);
		expect(paidNames()).toEqual(['a', 'b']);
	});

	test('that it was paid is for ever', async () => {
		const items = itemsFor('a');
		await leaveUnknown(items, ['a'], 'error500AfterPaying');
		const { output } = await settle(items, 'paid');
		expect(output[0]?.json).toMatchObject({
			outcome: 'alreadyPaid',
			message: 'Settled as paid, nothing was sent',
		});
		expect(outcomesOf(await settle(items, 'notPaid'))).toEqual(['alreadyPaid']);
		expect(outcomesOf(await pay(items))).toEqual(['alreadyPaid']);
		expect(paidNames()).toEqual(['a']);
	});

	test.each(['unclear', ''])('that it is not clear yet (%p) leaves all', async (finding) => {
		const items = itemsFor('a', 'b');
		await leaveUnknown(items, ['a']);
		const before = record();
		const settled = await settle(items, finding);
		expect(outcomesOf(settled)).toEqual(['unknown', 'alreadyPaid']);
		expect(answerOf(settled.output[0] ?? { json: {} }).message).toMatch(
			/^Not settled, because its Finding is empty or Not Clear Yet/,
		);
		expect(record()).toEqual(before);
	});

	test('holds for each item on its own, and for nothing else', async () => {
		const items = itemsFor('a', 'b', 'c', 'd').map((item, index) => ({
			...item,
			finding: ['paid', 'notPaid', undefined, 'notPaid'][index],
		}));
		await leaveUnknown(itemsFor('a', 'b', 'c', 'd'), ['a', 'b', 'c']);
		const sent = requests();
		const settled = await settle(items, 'fromItem');
		expect(outcomesOf(settled)).toEqual(['alreadyPaid', 'ready', 'unknown', 'alreadyPaid']);
		expect(settled.output[3]?.json.message).toBe(
			'Its Finding is notPaid, but this node knows it as paid, maybe since you asked. Ask the partner service again: only if it was not paid, pay it under another reference',
		);
		expect(settled.hints).toEqual([
			'Settle Unknown, nothing was sent: 1 settled as paid, 1 as not paid, 1 with a finding that changed nothing, 1 still unknown, 0 as before. Read why a finding changed nothing, and settle again what was paid. Then empty the field finding in your list, and set Mode back to what it was: Pay sends 1 of them',
		]);
		expect(requests()).toBe(sent);
	});

	test.each(['={{ $json.found }}', '={{ "notPaid" }}', '={{ "fromItem" }}', 'Paid', 7])(
		'is not taken from an expression, which may read what was found out before, nor from elsewhere (%p)',
		async (finding) => {
			const items = itemsFor('a').map((item) => ({ ...item, found: 'notPaid' }));
			await leaveUnknown(items, ['a'], 'error500AfterPaying');
			const before = record();
			const parameters = { mode: 'settle', finding };
			const { error } = await pay(items, parameters);
			expect(error?.message).toMatch(/^Finding is .*, which is not in its list$/);
			expect(error?.description).toMatch(/^Nobody was paid\. Choose one from the list/);
			expect(outcomesOf(await pay(items, parameters, { onError }))).toEqual(['unknown']);
			expect(record()).toEqual(before);
			expect(paidNames()).toEqual(['a']);
		},
	);

	test.each([
		['paid', 'notPaid'],
		['notPaid', 'paid'],
		['paid', undefined],
		['notPaid', 'no'],
		['no', 'paid'],
	])('that contradicts itself (%p, then %p) is not recorded', async (first, second) => {
		const items = itemsFor('a', 'b');
		await leaveUnknown(items, ['a', 'b'], 'error500AfterPaying');
		const before = record();
		const [a = {}, b = {}] = items;
		const rows = [
			{ ...a, finding: first },
			{ ...b, finding: 'paid' },
			{ ...a, reference: 'PAY-A', finding: second },
		];
		const stopped = await settle(rows, 'fromItem');
		expect(stopped.error?.message).toBe('Nothing was settled, because 2 items cannot be used');
		const contradictions = /which another item has with another Finding/g;
		expect(stopped.error?.description?.match(contradictions)).toHaveLength(
			[first, second].includes('no') ? 1 : 2,
		);
		expect(record()).toEqual(before);
		const { output, errorOutput } = await settle(rows, 'fromItem', { onError });
		expect(output.map(answerOf)).toMatchObject([{ outcome: 'alreadyPaid', reference: 'pay-b' }]);
		expect(errorOutput.map(answerOf)).toMatchObject([
			{ outcome: 'unknown' },
			{ outcome: 'unknown' },
		]);
		expect(outcomesOf(await pay(items))).toEqual(['unknown', 'alreadyPaid']);
	});

	test.each([
		['paid', 'notPaid'],
		['notPaid', 'paid'],
		['unclear', 'paid'],
		['recordPaid', 'notPaid'],
		['notPaid', 'notPaid'],
	])(
		'chosen for all (%p) is refused for a list in which somebody has one (%p)',
		async (finding, own) => {
			const rows = itemsFor('a', 'b');
			await leaveUnknown(rows, ['a', 'b'], 'error500AfterPaying');
			const before = record();
			for (const column of ['finding', 'Finding ']) {
				for (const others of [undefined, 'unclear']) {
					const items = rows.map((item, index) => ({ ...item, [column]: index ? own : others }));
					const { error } = await settle(items, finding);
					expect(error?.description).toContain(
						`Item 0: Finding is "${finding}", and the field finding of item 1 is "${own}". If that field says what the partner service said, choose From Each Item. Otherwise empty it: then Finding holds for each unknown payment of your list.`,
					);
					const went = await settle(items, finding, { onError });
					expect(outcomesOf(went)).toEqual(['unknown', 'unknown']);
				}
			}
			expect(record()).toEqual(before);
			expect(paidNames()).toEqual(['a', 'b']);
		},
	);

	test('of each item is refused for a list that arrives without the column', async () => {
		const items = itemsFor('a', 'b');
		await leaveUnknown(items, ['a', 'b'], 'error500AfterPaying');
		const before = record();
		const missing = 'No item has a field finding, from which From Each Item reads';
		const { error } = await settle(items, 'fromItem');
		expect(error?.message).toBe('Nothing was settled, because 2 items cannot be used');
		expect(error?.description).toContain(missing);
		const went = await settle(items, 'fromItem', { onError });
		expect(outcomesOf(went)).toEqual(['unknown', 'unknown']);
		expect(record()).toEqual(before);
		const [a = {}, b = {}] = items;
		const half = await settle([a, { ...b, finding: 'paid' }], 'fromItem');
		expect(outcomesOf(half)).toEqual(['unknown', 'alreadyPaid']);
	});

	test('chosen for all holds for items that say it is not clear', async () => {
		const items = itemsFor('a', 'b').map((item) => ({ ...item, finding: 'unclear' }));
		await leaveUnknown(items, ['a', 'b']);
		const settled = await settle(items, 'notPaid');
		expect(outcomesOf(settled)).toEqual(['ready', 'ready']);
		expect(settled.hints.at(-1)).toContain(
			'2 as not paid, 0 still unknown, 0 as before. Make sure that you asked about all 2 that were not paid. Then set Mode back to what it was: Pay sends 2 of them',
		);
	});

	test('does not contradict that of a row whose amount cannot be read', async () => {
		const [a = {}, b = {}] = itemsFor('a', 'b');
		await leaveUnknown([a, b], ['a', 'b']);
		const rows = [a, { ...a, amountEtb: '' }, b];
		const settled = await settle(rows, 'paid', { onError });
		expect(outcomesOf(settled)).toEqual(['alreadyPaid', 'alreadyPaid', 'unknown']);
		expect(answerOf(settled.errorOutput[0] ?? { json: {} }).message).toMatch(/^Amount/);
	});

	test('may have blanks around it', async () => {
		const items = itemsFor('a').map((item) => ({ ...item, finding: ' paid ' }));
		await leaveUnknown(itemsFor('a'), ['a']);
		expect(outcomesOf(await settle(items, 'fromItem'))).toEqual(['alreadyPaid']);
	});

	test.each([
		['Paid', 'alreadyPaid'],
		['not paid', 'ready'],
		['NOTPAID ', 'ready'],
		['not_paid.', 'ready'],
	])('is understood as people write it (%p)', async (finding, outcome) => {
		await leaveUnknown(itemsFor('a'), ['a']);
		const items = itemsFor('a').map((item) => ({ ...item, finding }));
		expect(outcomesOf(await settle(items, 'fromItem'))).toEqual([outcome]);
	});

	test.each(['yes', 'not clear', 'paid?', 1, true, ['paid']])(
		'is no other word of an item (%p)',
		async (finding) => {
			await leaveUnknown(itemsFor('a'), ['a']);
			const items = itemsFor('a').map((item) => ({ ...item, finding }));
			const { error } = await settle(items, 'fromItem');
			expect(error?.message).toBe(
				`The field finding of the item is ${JSON.stringify(finding)} [item 0]`,
			);
			expect(error?.description).toContain('Write paid, notPaid or nothing');
		},
	);

	test('that it was paid is told not to hold for what this node never sent', async () => {
		const items = itemsFor('a').map((item) => ({ ...item, finding: 'paid' }));
		const { output, hints } = await settle(items, 'fromItem');
		expect(output[0]?.json.message).toMatch(
			/A run with Mode on Pay sends it, although its Finding is paid\. If it was paid, write recordPaid into its field finding, and settle with From Each Item$/,
		);
		expect(hints.at(-1)).toContain(
			'1 with a finding that changed nothing, 0 still unknown, 0 as before. Read why a finding changed nothing, and settle again what was paid. Then empty the field finding in your list, and set Mode back to what it was',
		);
	});

	test('corrects that it was not paid, until it is sent', async () => {
		const items = itemsFor('a', 'b').map((item) => ({ ...item, finding: 'paid' }));
		await leaveUnknown(itemsFor('a'), ['a'], 'error500AfterPaying');
		await settle(itemsFor('a'), 'notPaid');
		const settled = await settle(items, 'fromItem');
		expect(outcomesOf(settled)).toEqual(['alreadyPaid', 'ready']);
		expect(settled.output[0]?.json.message).toBe('Settled as paid, nothing was sent');
		expect(outcomesOf(await pay(itemsFor('a', 'b')))).toEqual(['alreadyPaid', 'paid']);
		expect(paidNames()).toEqual(['a', 'b']);
	});

	test('that it was paid, chosen for all, leaves free what was settled as not paid, and says so', async () => {
		await leaveUnknown(itemsFor('a'), ['a']);
		await settle(itemsFor('a'), 'notPaid');
		await leaveUnknown(itemsFor('b'), ['b'], 'error500AfterPaying');
		const settled = await settle(itemsFor('a', 'b'), 'paid');
		expect(outcomesOf(settled)).toEqual(['ready', 'alreadyPaid']);
		expect(settled.output[0]?.json.message).toBe(
			'Settled as not paid before, and not sent since. A run with Mode on Pay sends it. If it was paid, write recordPaid into its field finding, and settle with From Each Item',
		);
		expect(settled.hints).toEqual([
			'Settle Unknown, nothing was sent: 1 settled as paid, 0 as not paid, 1 with a finding that changed nothing, 0 still unknown, 0 as before. Read why a finding changed nothing, and settle again what was paid. Then set Mode back to what it was: Pay sends 1 of them',
		]);
		expect(outcomesOf(await pay(itemsFor('a', 'b')))).toEqual(['paid', 'alreadyPaid']);
	});

	test('that it was not paid, given again, is told to be known', async () => {
		await leaveUnknown(itemsFor('a'), ['a']);
		await settle(itemsFor('a'), 'notPaid');
		const { output } = await settle(itemsFor('a'), 'notPaid');
		expect(output[0]?.json).toMatchObject({
			outcome: 'ready',
			message:
				'Nothing here was unknown. Settled as not paid before, and not sent since. A run with Mode on Pay sends it',
		});
	});

	test.each([
		['paid', 'notPaid'],
		['recordPaid', undefined],
	])(
		'that is written although the database gives no answer (%s) lets nobody be paid again',
		async (finding, before) => {
			const [item = {}] = itemsFor('a');
			if (before !== undefined) {
				await leaveUnknown([item], ['a'], 'error500AfterPaying');
				await settle([item], before);
			}
			const ask = deduplicator.checkProcessedAndRecord.bind(deduplicator);
			let isLost = false;
			jest
				.spyOn(deduplicator, 'checkProcessedAndRecord')
				.mockImplementation(async (entries, ...more) => {
					const answer = await ask(entries, ...more);
					if (isLost || !entries.some((mark) => String(mark).startsWith('paid:sent')))
						return answer;
					isLost = true;
					throw new Error('connection lost');
				});
			const settled = await settle([{ ...item, finding }], 'fromItem', { onError });
			expect(outcomesOf(settled)).toEqual(['unknown']);
			const sent = requests();
			expect(outcomesOf(await pay([item]))).toEqual(['alreadyPaid']);
			expect(requests()).toBe(sent);
		},
	);

	test.each([['settled:pay-a'], [`freed:payment:["pay-a","etbw_a","10"]`]])(
		'is not corrected by what an interrupted question left (%s)',
		async (mark) => {
			user('a');
			deduplicator.rows.set(`wf1:${nodeId}`, [mark]);
			const items = itemsFor('a').map((item) => ({ ...item, finding: 'paid' }));
			expect(outcomesOf(await settle(items, 'fromItem'))).toEqual(['ready']);
			expect(outcomesOf(await pay(itemsFor('a')))).toEqual(['paid']);
		},
	);

	test.each([
		{ Finding: 'paid' },
		{ finding: 'notPaid', Finding: 'paid' },
		{ finding: 'notPaid', ｆinding: 'paid' },
	])('is not taken from a column that is almost named finding (%p)', async (columns) => {
		await leaveUnknown(itemsFor('a'), ['a']);
		const items = itemsFor('a').map((item) => ({ ...item, ...columns }));
		const { error } = await settle(items, 'fromItem');
		expect(error?.message).toMatch(
			/^The item has ".inding" where this node takes "finding" \[item 0\]$/,
		);
	});

	test('gives a copy its record, and says which were not known', async () => {
		const items = itemsFor('a', 'b');
		await pay(items);
		const copy = { nodeId: `${nodeId}-copy` };
		const settled = await settle(items, 'recordPaid', copy);
		expect(outcomesOf(settled)).toEqual(['alreadyPaid', 'alreadyPaid']);
		expect(settled.hints).toEqual([
			emptyRecord,
			'Settle Unknown, nothing was sent: 0 settled as paid, 0 as not paid, 2 recorded as paid that would have been sent, 0 still unknown, 0 as before. Now set Mode back to what it was',
		]);
		const again = await pay(items, {}, copy);
		expect(outcomesOf(again)).toEqual(['alreadyPaid', 'alreadyPaid']);
		expect(again.hints).toEqual(['0 paid, 2 already paid, total 0 ETB']);
		expect(paidNames()).toEqual(['a', 'b']);
	});

	test.each(['notPaid', 'paid', 'unclear'])(
		'%s records nothing about what this node did not send',
		async (finding) => {
			const settled = await settle(itemsFor('a'), finding);
			expect(outcomesOf(settled)).toEqual(['ready']);
			expect(answerOf(settled.output[0] ?? { json: {} }).message).toMatch(
				/^Nothing here was unknown\. This node knows no unknown payment under this reference/,
			);
			expect(settled.hints).toEqual([
				emptyRecord,
				'Settle Unknown: nothing here was unknown, so nothing was settled or sent. Did another node pay somebody here? If not, set Mode back to what it was: Pay sends 1 of them',
			]);
			expect(record()).toEqual([]);
		},
	);

	test('the steps of the error leave free what was never sent, or refused', async () => {
		const items = itemsFor('a', 'b', 'c', 'd', 'e');
		const options = { concurrency: 2 };
		sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
			bodyText.includes(user('a'))
				? 'error500AfterPaying'
				: bodyText.includes(user('b'))
					? 'refused'
					: undefined,
		);
		const { error } = await pay(items, { options });
		expect(error?.message).toContain('1 not paid, 1 unknown, 3 not attempted');
		const settled = await settle(items, 'paid');
		expect(outcomesOf(settled)).toEqual(['alreadyPaid', 'ready', 'ready', 'ready', 'ready']);
		sandbox.faults.clear();
		await pay(items, { options });
		expect(paidNames()).toEqual(['a', 'b', 'c', 'd', 'e']);
	});

	test('does not hold for another amount or person under the same reference', async () => {
		const [item] = itemsFor('a');
		await leaveUnknown([{ ...item }], ['a'], 'error500AfterPaying');
		const others = [
			{ ...item, amountEtb: 11 },
			{ ...item, toUserId: user('b') },
		];
		for (const other of others) {
			const tried = await pay([other], {}, { onError });
			expect(outcomesOf(tried)).toEqual(['unknown']);
			expect(answerOf(tried.output[0] ?? { json: {} }).message).toMatch(
				/^This person may have been paid another amount under this reference/,
			);
			for (const finding of ['notPaid', 'paid']) {
				const settled = await settle([other], finding);
				expect(outcomesOf(settled)).toEqual(['unknown']);
				expect(settled.hints.at(-1)).toMatch(
					/Read why a finding changed nothing, and settle again what was paid. Then set Mode back to what it was$/,
				);
			}
		}
		await settle([{ ...item }], 'paid');
		for (const other of others) {
			expect(outcomesOf(await pay([other], {}, { onError }))).toEqual(['notPaid']);
			const settled = await settle([other], 'paid', { onError });
			expect(settled.hints).toEqual([
				'Settle Unknown, nothing was sent: 0 settled as paid, 0 as not paid, 0 still unknown, 0 as before, 1 with an error. Correct what has an error and settle again, or leave it out. Then set Mode back to what it was',
			]);
		}
		expect(paidNames()).toEqual(['a']);
	});

	test('limits, the balance and If Reference Was Used do not matter', async () => {
		const items = itemsFor('a', 'b');
		await leaveUnknown(items, ['a']);
		sandbox.books.setTreasuryBalance(1);
		const options = {
			maxAmountEtb: '1',
			maxTotalEtb: '1',
			checkBalance: true,
			ifReferenceUsed: 'fail',
		};
		const settled = await pay(items, { mode: 'settle', finding: 'paid', options });
		expect(outcomesOf(settled)).toEqual(['alreadyPaid', 'alreadyPaid']);
	});

	test('what cannot be read is unknown, for nobody looked at its payment; the others are settled', async () => {
		const items = itemsFor('a', 'b', 'c', 'd');
		await leaveUnknown(items, ['a', 'b', 'c']);
		const before = record();
		const rows = [
			{ ...items[0], finding: 'It was paid' },
			{ ...items[1], finding: 'notPaid' },
			{ ...items[2], reference: '', finding: 'paid' },
			{ ...items[1], finding: 'notPaid' },
			{ ...items[3], toUserId: '', finding: 'paid' },
		];
		const { output, errorOutput } = await settle(rows, 'fromItem', { onError });
		expect(output.map(answerOf)).toMatchObject([{ outcome: 'ready', reference: 'pay-b' }]);
		expect(errorOutput.map(answerOf)).toMatchObject([
			{
				...{
					outcome: 'unknown',
					reference: 'pay-a',
					message: 'The field finding of the item is "It was paid"',
				},
				...{ toUserId: user('a'), amountEtb: 10 },
			},
			{ outcome: 'unknown', message: 'Reference is empty' },
			{ outcome: 'unknown', message: 'Reference is "pay-b", which item 1 has too' },
			{ outcome: 'unknown', reference: 'pay-d' },
		]);
		expect(before.filter((mark) => !record().includes(mark)).join()).not.toMatch(/pay-[acd]/);
		expect(outcomesOf(await pay(items))).toEqual(['unknown', 'paid', 'unknown', 'alreadyPaid']);
	});

	test('an item without a reference is refused', async () => {
		const { error } = await settle([{ toUserId: user('a'), amountEtb: 10 }], 'notPaid');
		expect(error?.message).toBe('Reference is empty [item 0]');
		expect(requests()).toBe(0);
	});
});

describe('a finding that is left in the list', () => {
	const left = (finding: unknown, ...names: string[]): IDataObject[] =>
		itemsFor(...names).map((item) => ({ ...item, finding }) as IDataObject);

	test.each([
		...['notPaid', 'paid', 'recordPaid', 'Not Paid', 'It was paid', 'It Was Not Paid', 'not–paid'],
		...['paid;', 'p\u200baid', 'PAİD', 'ｐａｉｄ', 'ተከፍሏል', 'paıd', 'no', '\uf0fc', 7, false],
	])('lets Pay send nobody who was not sent before (%p)', async (finding) => {
		await pay(itemsFor('a'));
		const items = [...left(finding, 'a', 'b'), ...itemsFor('c')];
		const stopped = await pay(items);
		expect(stopped.error?.message).toContain(
			`Not sent, because the field finding of this payment is "${String(finding)}"`,
		);
		expect(paidNames()).toEqual(['a']);
		const dry = await pay(items, { mode: 'dryRun' }, { onError });
		expect(outcomesOf(dry)).toEqual(['alreadyPaid', 'ready', 'notPaid']);
		const went = await pay(items, {}, { onError });
		expect(outcomesOf(went)).toEqual(['alreadyPaid', 'paid', 'notPaid']);
		expect(went.hints.at(-1)).toBe('1 paid, 1 already paid, 1 not paid, total 10 ETB');
		await pay([...left('', 'a', 'b'), ...itemsFor('c')]);
		expect(paidNames()).toEqual(['a', 'b', 'c']);
	});

	test.each([[['paid']], [{ name: 'Not paid' }]])(
		'is noticed as a table service gives it (%j)',
		async (finding) => {
			const went = await pay(left(finding, 'a'), {}, { onError });
			expect(outcomesOf(went)).toEqual(['notPaid']);
			expect(went.errorOutput[0]?.json.error).toMatchObject({
				message: `Not sent, because the field finding of this payment is ${JSON.stringify(JSON.stringify(finding))}`,
			});
		},
	);

	test.each(['pay', 'dryRun'])(
		'in one of two rows of a payment lets neither be sent (%s)',
		async (mode) => {
			for (const reference of ['pay-a', 'PAY-A']) {
				const items = [
					...itemsFor('a'),
					...left('paid', 'a').map((row) => ({ ...row, reference })),
				];
				const went = await pay(items, { mode }, { onError });
				expect(outcomesOf(went)).toEqual(['notPaid', 'notPaid']);
				expect(went.errorOutput[0]?.json.error).toMatchObject({
					message: 'Not sent, because the field finding of this payment is "paid"',
				});
				const contradiction = `Reference is "${reference}", which another item has with another Finding`;
				expect(went.errorOutput[1]?.json.error).toMatchObject({ message: contradiction });
				const stopped = await pay(items, { mode });
				expect(stopped.error?.message).toContain(contradiction);
				expect(stopped.error?.description).not.toContain('remove this row');
			}
			expect(paidNames()).toEqual([]);
		},
	);

	test('lets nobody be sent who has no reference', async () => {
		const item = { toUserId: user('a'), amountEtb: 10, finding: 'paid' };
		expect(outcomesOf(await pay([item], {}, { onError }))).toEqual(['notPaid']);
		expect(paidNames()).toEqual([]);
	});

	test('leads to what records a payment that the service refused, and had made', async () => {
		await leaveUnknown(itemsFor('a'), ['a'], 'refused');
		const item = left('paid', 'a');
		const { error } = await pay(item);
		expect(error?.description).toContain('Was it paid? Then write recordPaid into that field');
		const settled = await settle(item, 'fromItem');
		expect(settled.output[0]?.json.message).toContain('If it was paid, write recordPaid');
		await settle(left('recordPaid', 'a'), 'fromItem');
		expect(outcomesOf(await pay(itemsFor('a')))).toEqual(['alreadyPaid']);
	});

	test('is noticed in a field that is almost named so', async () => {
		const items = itemsFor('a').map((item) => ({ ...item, finding: '', 'Finding ': 'notPaid' }));
		expect(outcomesOf(await pay(items, {}, { onError }))).toEqual(['notPaid']);
	});

	test('of an unknown payment leads to settling', async () => {
		await leaveUnknown(itemsFor('a'), ['a']);
		const { output } = await pay(left('paid', 'a'));
		expect(output[0]?.json.message).toMatch(
			/^Not sent again: .*\. Its finding is there: set Mode to Settle Unknown and Finding to From Each Item/,
		);
	});

	test('does not count for the treasury: its item is not sent', async () => {
		await pay(itemsFor('c'));
		sandbox.books.setTreasuryBalance(10);
		const items = [...itemsFor('a'), ...left('notPaid', 'b')];
		const went = await pay(items, { options: { checkBalance: true } }, { onError });
		expect(outcomesOf(went)).toEqual(['paid', 'notPaid']);
	});

	test.each(['', ' ', null, undefined, 'unclear', '\u200b', [], [null], [''], {}])(
		'is not there (%p)',
		async (finding) => {
			expect(outcomesOf(await pay(left(finding, 'a')))).toEqual(['paid']);
		},
	);

	test('settles no later payment, of this reference or another one', async () => {
		await leaveUnknown(itemsFor('a'), ['a']);
		const settled = await settle(left('notPaid', 'a'), 'fromItem');
		expect(settled.hints.at(-1)).toContain(
			'Now empty the field finding in your list, and set Mode back to what it was: Pay sends 1 of them',
		);
		await leaveUnknown([...left('notPaid', 'a', 'b')], ['a', 'b'], 'error500AfterPaying');
		expect(paidNames()).toEqual([]);
		await leaveUnknown(itemsFor('a', 'b'), ['a', 'b'], 'error500AfterPaying');
		expect(outcomesOf(await settle(left('', 'a', 'b'), 'fromItem'))).toEqual([
			'unknown',
			'unknown',
		]);
		expect(paidNames()).toEqual(['a', 'b']);
	});

	test('and a database that fails lets nobody be sent whose finding is there', async () => {
		jest.spyOn(deduplicator, 'checkProcessedAndRecord').mockRejectedValueOnce(new Error('gone'));
		const went = await pay([...left('notPaid', 'a'), ...itemsFor('b')], {}, { onError });
		expect(paidNames()).not.toContain('a');
		expect(outcomesOf(went)).toContain('notPaid');
	});
});

test('a run that stopped names why others were refused, and what to do about who was unknown before', async () => {
	const items = itemsFor('a', 'b', 'c');
	await leaveUnknown(itemsFor('a'), ['a']);
	sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
		bodyText.includes(user('c'))
			? { process: 'never', answer: { status: 422, body: '{"message":"The wallet is closed"}' } }
			: undefined,
	);
	const { error } = await pay(items);
	expect(error?.description).toMatch(
		/Unknown, item 0: Not sent again: .*set Mode to Settle Unknown/,
	);
	expect(error?.description).toMatch(
		/Not paid: item 2 pay-c \(.*, 10 ETB\): .*The wallet is closed/,
	);
});

describe('what another execution is sending', () => {
	test('is waited for, and then told as it ended', async () => {
		sandbox.setLatency(100);
		const items = itemsFor('a', 'b');
		const paying = pay(items);
		while (requests() === 0) await new Promise(setImmediate);
		expect(outcomesOf(await settle(items, 'notPaid'))).toEqual(['alreadyPaid', 'alreadyPaid']);
		expect(outcomesOf(await paying)).toEqual(['paid', 'paid']);
		expect(paidNames()).toEqual(['a', 'b']);
	});

	test.each(['notPaid', 'paid', 'recordPaid'])(
		'and ends as unknown meanwhile stays so, whatever was found out before: %s',
		async (finding) => {
			sandbox.setLatency(100);
			const items = itemsFor('a');
			const paying = leaveUnknown(items, ['a'], 'error500AfterPaying');
			while (requests() === 0) await new Promise(setImmediate);
			const settled = await settle(items, finding);
			await paying;
			expect(outcomesOf(settled)).toEqual(['unknown']);
			expect(answerOf(settled.output[0] ?? { json: {} }).message).toMatch(
				/^Not settled: another execution was sending it until now/,
			);
			expect(outcomesOf(await pay(items))).toEqual(['unknown']);
			expect(paidNames()).toEqual(['a']);
		},
	);

	test('and is refused meanwhile stays free, whatever was found out before', async () => {
		sandbox.setLatency(100);
		const items = itemsFor('a');
		const paying = leaveUnknown(items, ['a'], 'refused');
		while (requests() === 0) await new Promise(setImmediate);
		const settled = await settle(items, 'recordPaid');
		expect(outcomesOf(settled)).toEqual(['ready']);
		expect(settled.output[0]?.json.message).toContain('although its Finding is recordPaid');
		expect(settled.hints.at(-1)).toMatch(
			/Read why a finding changed nothing, and settle again what was paid\. Then set Mode/,
		);
		await paying;
		expect(outcomesOf(await pay(items))).toEqual(['paid']);
	});

	test('and never ends is in doubt from then on; only the next run heeds a finding', async () => {
		const items = itemsFor('a');
		const marks = ['references', 'sent:pay-a', `payment:["pay-a","${user('a')}","10"]`];
		deduplicator.rows.set(`wf1:${nodeId}`, marks);
		hoursPass();
		const first = await settle(items, 'notPaid');
		jest.restoreAllMocks();
		expect(outcomesOf(first)).toEqual(['unknown']);
		expect(answerOf(first.output[0] ?? { json: {} }).message).toMatch(
			/^Not settled: another execution was sending it until now/,
		);
		expect(first.hints.at(-1)).toMatch(
			/1 still unknown.* Read why a finding changed nothing, and settle again what was paid. Then set Mode back to what it was$/,
		);
		expect(outcomesOf(await settle(items, 'notPaid'))).toEqual(['ready']);
		expect(outcomesOf(await pay(items))).toEqual(['paid']);
	});

	test.each(['pay', 'settle'])(
		'of whose end only a half is recorded stays unknown, whatever a person says (%s)',
		async (mode) => {
			// As it is left when n8n dies in the middle of asking for another payment of this reference.
			const marks = ['references', 'sent:pay-a', `payment:["pay-a","${user('a')}","10"]`];
			deduplicator.rows.set(`wf1:${nodeId}`, [...marks, 'doubt:sent:pay-a']);
			for (let round = 0; round < 2; round++) {
				hoursPass();
				const { output } = await pay(itemsFor('a'), { mode, finding: 'notPaid' });
				jest.restoreAllMocks();
				expect(output.map(answerOf)).toMatchObject([
					{
						outcome: 'unknown',
						message: expect.stringMatching(/^This person may have/) as unknown,
					},
				]);
			}
			expect(requests()).toBe(0);
		},
	);
});

test('a payment that was settled as not paid, sent again and refused is in doubt, and can be settled again', async () => {
	const items = itemsFor('a');
	await leaveUnknown(items, ['a']);
	await settle(items, 'notPaid');
	sandbox.faults.next('POST /disburse', { process: 'never', answer: { status: 422, body: '{}' } });
	expect(outcomesOf(await pay(items, {}, { onError }))).toEqual(['notPaid']);
	expect(outcomesOf(await pay(items))).toEqual(['unknown']);
	expect(outcomesOf(await settle(items, 'notPaid'))).toEqual(['ready']);
	expect(outcomesOf(await pay(items))).toEqual(['paid']);
});

describe('a database that fails', () => {
	test('in the middle of questions about a payment that is refused then leaves nothing of them', async () => {
		const items = itemsFor('a');
		const payment = `payment:["pay-a","${user('a')}","10"]`;
		sandbox.faults.plan('POST /disburse', () => {
			const halves = ['paid', 'doubt'].flatMap((fact) => [
				`${fact}:${payment}`,
				`${fact}:sent:pay-a`,
			]);
			deduplicator.rows.set(`wf1:${nodeId}`, [...record(), ...halves]);
			return { process: 'never', answer: { status: 422, body: '{}' } };
		});
		expect(outcomesOf(await pay(items, {}, { onError }))).toEqual(['notPaid']);
		sandbox.faults.clear();
		expect(record()).toEqual(['references']);
		expect(outcomesOf(await pay(items))).toEqual(['paid']);
	});

	test.each(['paid', 'notPaid'])(
		'while a finding is recorded (%s) makes it unknown, and Retry On Fail heeds it no second time',
		async (finding) => {
			const items = itemsFor('a');
			await leaveUnknown(items, ['a'], 'error500AfterPaying');
			const ask = deduplicator.checkProcessedAndRecord;
			let failures = 0;
			const spy = jest
				.spyOn(deduplicator, 'checkProcessedAndRecord')
				.mockImplementation(async (entries, ...more) => {
					const answer = await ask(entries, ...more);
					if (entries.includes('settled:pay-a') && failures++ === 0)
						throw new Error('connection lost');
					return answer;
				});
			const settled = await settle(items, finding, { onError, retryOnFail: true });
			expect(outcomesOf(settled)).toEqual(['unknown']);
			expect(settled.hints.at(-1)).toMatch(/, 0 still unknown, 0 as before, 1 with an error\. /);
			expect(answerOf(settled.errorOutput[0] ?? { json: {} }).message).toMatch(
				/^It is not certain that the finding was recorded/,
			);
			expect(failures).toBe(1);
			spy.mockRestore();
			expect(requests()).toBe(1);
		},
	);
});

describe('settling is a person’s choice in the editor', () => {
	const refusal = /^Nobody was paid: Mode is on Settle Unknown/;

	test.each(['trigger', 'webhook', 'integrated', 'retry', 'cli', 'error', 'internal'] as const)(
		'in an execution of mode %s it refuses, and nothing changes',
		async (mode) => {
			const items = itemsFor('a', 'b');
			await leaveUnknown(items, ['a']);
			const before = record();
			const sent = requests();
			const { error } = await settle(items, 'notPaid', { mode });
			expect(error?.message).toMatch(refusal);
			expect(`${error?.message} ${error?.description}`.match(/Nobody was paid/g)).toHaveLength(1);
			expect(record()).toEqual(before);
			expect(requests()).toBe(sent);
		},
	);

	test('a refused run with a reference twice leaves no trace, however often', async () => {
		const twice = [...itemsFor('a'), ...itemsFor('a')];
		for (let round = 0; round < 3; round++)
			await settle(twice, 'notPaid', { mode: 'trigger', onError });
		expect(record()).toEqual([]);
		expect(outcomesOf(await pay(itemsFor('a')))).toEqual(['paid']);
	});

	test.each([
		['the mode', { mode: 'settle', finding: 'notPaid' }, refusal],
		['an option', { options: { concurrency: 0 } }, /^Concurrency is 0/],
	])(
		'a run that is refused for %s and goes on says of each what the record says',
		async (_what, fields: INodeParameters, why) => {
			const items = itemsFor('a', 'b', 'c');
			await leaveUnknown(items.slice(0, 2), ['a']);
			const before = record();
			const sent = requests();
			const options = { mode: 'trigger', onError } as const;
			const { output, errorOutput, hints } = await pay(items, fields, options);
			expect(hints).toEqual([expect.stringMatching(why)]);
			expect(output.map(answerOf)).toMatchObject([
				{ outcome: 'unknown', reference: 'pay-a', amountEtb: 10 },
				{ outcome: 'alreadyPaid', reference: 'pay-b', amountEtb: 10 },
			]);
			expect(errorOutput.map(answerOf)).toMatchObject([
				{ outcome: 'notPaid', reference: 'pay-c', message: expect.stringMatching(why) as unknown },
			]);
			expect(record()).toEqual(before);
			expect(requests()).toBe(sent);
		},
	);

	test.each(['=settle', '={{ "settle" }}', "={{ $json.reference ? 'settle' : 'pay' }}"])(
		'and not an expression’s (%s)',
		async (mode) => {
			const { error } = await pay(itemsFor('a'), { mode, finding: 'notPaid' });
			expect(error?.message).toBe('Mode is "settle" by an expression');
			expect(requests()).toBe(0);
		},
	);
});

describe('Mode', () => {
	test.each([
		['={{ $json.approved ? "pay" : "dryRun" }}', false, 'ready'],
		['={{ $json.approved ? "pay" : "dryRun" }}', true, 'paid'],
		['=dryRun', true, 'ready'],
		['dryRun', true, 'ready'],
		['pay', false, 'paid'],
	])('%s with %p ends as %s', async (mode, approved, outcome) => {
		const items = itemsFor('a').map((item) => ({ ...item, approved }));
		expect(outcomesOf(await pay(items, { mode }))).toEqual([outcome]);
		expect(requests()).toBe(outcome === 'paid' ? 1 : 0);
	});

	test('holds for the whole run', async () => {
		const items = itemsFor('a', 'b').map((item, index) => ({
			...item,
			mode: ['pay', 'dryRun'][index],
		}));
		const { error } = await pay(items, { mode: '={{ $json.mode }}' });
		expect(error?.message).toBe('Mode is "pay" for item 0, and "dryRun" for item 1');
		expect(requests()).toBe(0);
	});

	test.each(['={{ "Pay" }}', '={{ $json.nothing }}', '={{ null }}', ''])(
		'as %p is none, and nothing is sent',
		async (mode) => {
			const { error } = await pay(itemsFor('a'), { mode });
			expect(error?.message).toMatch(/^Mode is /);
			expect(requests()).toBe(0);
		},
	);

	test.each<[string, Partial<RunOptions>]>([
		['pay', { mode: 'evaluation' }],
		['settle', { mode: 'evaluation' }],
		['pay', { calledIn: 'evaluation' }],
	])('an evaluation of n8n is a dry run (%s, %o)', async (mode, options) => {
		const items = itemsFor('a');
		const fields = { mode, finding: 'paid' };
		const evaluated = await pay(items, fields, options);
		expect(evaluated.output.map(({ json }) => [json.outcome, json.mode])).toEqual([
			['ready', 'dryRun'],
		]);
		expect(record()).toEqual([]);
		expect(outcomesOf(await pay(items))).toEqual(['paid']);
	});
});

describe('hints', () => {
	const empty = /^This node remembers no payments yet\. If it is a copy/;

	test('an empty record is said, in dry runs too, and only then', async () => {
		const items = itemsFor('a', 'b');
		expect((await pay(items, { mode: 'dryRun' })).hints[0]).toMatch(empty);
		expect((await pay(items)).hints[0]).toMatch(empty);
		for (const mode of ['pay', 'dryRun'])
			expect((await pay([...items, ...itemsFor('c')], { mode })).hints.join()).not.toMatch(empty);
		const unprotected = items.map(({ toUserId, amountEtb }) => ({ toUserId, amountEtb }));
		const other = { nodeId: `${nodeId}-other` };
		expect((await pay(unprotected, {}, other)).hints.join()).not.toMatch(empty);
	});

	test.each(['pay', 'dryRun'])('one person twice in a run is said (%s)', async (mode) => {
		const items = [
			...itemsFor('a', 'b'),
			{ toUserId: user('a'), amountEtb: 5.5, reference: 'second' },
		];
		const { hints, output } = await pay(items, { mode });
		expect(hints).toContain(
			`People with more than one payment in this run: ${user('a')} (2 payments, 15.5 ETB: items 0, 2)`,
		);
		expect(output).toHaveLength(3);
	});

	test('twenty people are named, and the number of the others', async () => {
		const names = Array.from({ length: 25 }, (_, index) => `u${index}`);
		const items = [...itemsFor(...names), ...itemsFor(...names)].map((item, index) => ({
			...item,
			reference: `r${index}`,
		}));
		const { hints } = await pay(items, { mode: 'dryRun' });
		expect(hints.join('\n')).toMatch(/^People with more than one .*items 19, 44\); and 5 more$/m);
	});
});

/** What n8n keeps of an error, and shows; n8n's own part is the stack. */
const sizeOf = ({ error }: RunResult): number => JSON.stringify(error).length;

test('what cannot be used is listed in the order of the items', async () => {
	const [a = {}, b = {}] = itemsFor('a', 'b');
	const { error } = await pay([a, { ...a, reference: 'PAY-A' }, { ...b, amountEtb: 'no' }]);
	expect(error?.description).toMatch(/^Item 1: Reference is .*Item 2: Amount/);
});

test('a run of 50,000 rows that is refused makes a short error, with all that it holds', async () => {
	const items = Array.from({ length: 50_000 }, (_, index) => ({
		toUserId: 'u',
		amountEtb: 10,
		reference: `r${index}`,
	}));
	const refused = await pay(items, { options: { maxTotalEtb: '1' } });
	expect(refused.error?.message).toMatch(/^The payments of this run add up to 500,000 ETB/);
	expect(sizeOf(refused)).toBeLessThan(10_000);
	expect(requests()).toBe(0);
});

test('50,000 bad rows make a short error, with their number', async () => {
	const items = Array.from({ length: 50_000 }, (_, index) => ({
		toUserId: '',
		amountEtb: 10,
		reference: `r${index}`,
	}));
	const result = await pay(items);
	const { error } = result;
	expect(error?.message).toBe('Nobody was paid, because 50000 items cannot be used');
	expect(error?.description).toMatch(/^Item 0: .*<br\/>Item 19: [^<]*<br\/>and 49980 more$/);
	expect(sizeOf(result)).toBeLessThan(10_000);
});
