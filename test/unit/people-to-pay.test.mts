/** The page of *Set up people to pay*. */
import { z } from 'zod';
import { checkList } from '../../nodes/EtbWallet/list/checkList.ts';
import { pageAndRows, people, period, purpose, type Rows } from '../support/example-code.mts';

describe('the page of people to set up', () => {
	/** The page and its choices after this list, with these people in the table. */
	function pageOfPeople(list: Rows, known: Rows) {
		const settings = { purpose, period, now: new Date(), people: known, setsUpPeople: true };
		const rows = checkList(list, settings).map(({ row }) => ({ ...row }));
		const runs = {
			'Set up people': [[{ payroll: 'monthly' }]],
			People: [known],
			'Check List': [rows],
		};
		const [shown] = pageAndRows('people-to-pay.json', runs, 0, 'Page');
		const { page, fields } = z.object({ page: z.string(), fields: z.unknown() }).parse(shown);
		return {
			page,
			isDeclineFirst: JSON.stringify(fields).includes('[{"option":"Change nothing"}'),
		};
	}
	const known = { ...people[0], employeeKey: 'E1', payroll: 'monthly', phone: '0911000001' };

	test('has a large warning about an amount that is very different, and changes nothing first', () => {
		const { page, isDeclineFirst } = pageOfPeople([{ ...known, amountEtb: 10_000 }], [known]);
		expect(page).toMatch(/<h2><em>Very different from before: Person 1 \(E-1\)/);
		expect(isDeclineFirst).toBe(true);
		const usual = pageOfPeople([{ ...known, amountEtb: 1100 }], [known]);
		expect(usual.page).not.toContain('Very different');
		expect(usual.isDeclineFirst).toBe(false);
	});

	test('names in red who has the telephone of another number', () => {
		const other = { ...people[1], employeeKey: 'E2', phone: known.phone };
		expect(pageOfPeople([other], [known]).page).toMatch(
			/<h4>With the telephone or wallet of another number, see below: Person 2 \(E-2\)/,
		);
	});
});
