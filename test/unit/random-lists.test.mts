/**
 * 1,000 lists of the shape that real ones have: each person gets the amount of the named column, in their own
 * wallet, or nothing.
 */
import fc from 'fast-check';
import { checkList } from '../../nodes/EtbWallet/list/checkList.ts';

const now = new Date('2026-11-26T18:00:00Z');

interface Member {
	/** As the table of people has it. */
	number: string;
	name: string;
	wallet: string;
	gross: number;
	net: number;
	/** Where their row of the list stands. */
	line?: number;
}

/** Chooses one of several, the same ones for a seed. */
type Pick = <Item>(...items: Item[]) => Item;

function pickFrom(seed: number): Pick {
	let state = seed;
	return (...items) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		const [item] = items.slice(Math.floor((state / 2 ** 32) * items.length));
		if (item === undefined) throw new Error('there is nothing to choose from');
		return item;
	};
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const names = [
	'Abebe Kebede',
	'ሰላማዊት ደስታ',
	'Sara  Tesfaye',
	'Ato Total Bekele',
	'Sumeya Ali',
	'Dr. Andr\u00e9 Sum',
];
const headingSets = [
	{ employee: 'Staff No', name: 'Full name', amountEtb: 'Net to pay', phone: 'Mobile' },
	{ employee: 'የሠራተኛ ቁጥር', name: 'ሙሉ ስም', amountEtb: 'የተጣራ ክፍያ', phone: 'ስልክ' },
	{ employee: 'employee', name: 'name', amountEtb: 'amountEtb', phone: 'phone' },
];

/** Each number is another one, and together they have what once made two of them one. */
function numbered(pick: Pick, count: number): string[] {
	const kinds: Array<(index: number) => string> = [
		(index) => `E-${701 + index}`,
		(index) => `${index + 1}-12`,
		(index) => `${index + 1}1-2`,
		(index) => `TT/${index}/2018`,
		(index) => String(45_990 + index),
		(index) => `09110007${10 + index}`,
		(index) => `07110007${10 + index}`,
		(index) => `ሠ ${index}`,
	];
	return Array.from({ length: count }, (_, index) => pick(...kinds)(index));
}

/** The number as somebody else would write it. */
function writtenNumber(pick: Pick, number: string): unknown {
	const phone = /^0([79]\d{8})$/.exec(number)?.[1];
	if (phone !== undefined) {
		return pick<unknown>(
			...[number, `+251${phone}`, `251 ${phone}`, phone, Number(phone), `\u202a0${phone}\u202c`],
			`0${phone.slice(0, 3)} ${phone.slice(3, 5)} ${phone.slice(5)}`,
		);
	}
	if (/^\d+$/.test(number))
		return pick<unknown>(number, Number(number), `00${number}`, `${number}.0`);
	return pick<unknown>(number, number.toLowerCase(), number.replaceAll('-', '\u2011'));
}

/** An amount in a cell, as a person or a formula writes it. */
const writtenAmount = (pick: Pick, amount: number): unknown =>
	pick<unknown>(
		...[amount, amount.toFixed(2), amount + 0.0012, `ETB ${amount.toFixed(2)}`],
		amount.toLocaleString('en', { minimumFractionDigits: 2 }),
		`\u200e${amount.toFixed(2)} Birr`,
	);

function listOf(pick: Pick) {
	const own = pick(...headingSets);
	const count = 1 + pick(...upTo(12));
	const members: Member[] = numbered(pick, count).map((number, index) => ({
		number,
		name: pick(...names),
		wallet: `etbw_${index}`,
		net: (1 + pick(...upTo(999)) * 5_003 + index) / 100,
		gross: 60_000 + index,
	}));
	const isAlone = ({ number }: Member): boolean =>
		members.filter((other) => other.number === number).length === 1;
	const columns = ['No.', 'gross', 'tax', 'employee', 'name', 'amountEtb', 'phone', 'remark']
		.map((column) => ({ column, place: pick(...upTo(1_000)) }))
		.sort((one, other) => one.place - other.place)
		.map(({ column }) => column);
	const sheet: unknown[][] = [];
	if (pick(true, false)) sheet.push(['Tana Textile'], ['Prepared by: Hirut', 'TIN 0012345678'], []);
	sheet.push(columns.map((column) => (column in own ? own[column as keyof typeof own] : column)));
	const rowOf = (cells: Record<string, unknown>): unknown[] =>
		columns.map((column) => cells[column]);
	for (const [index, member] of members.entries()) {
		if (pick(...upTo(10)) === 0) sheet.push([]);
		if (pick(...upTo(10)) === 0) sheet.push(rowOf({ 'No.': 'Finance department' }));
		member.line = sheet.push(
			rowOf({
				'No.': index + 1,
				gross: member.gross,
				tax: member.gross - member.net,
				remark: 'ok',
				employee: writtenNumber(pick, member.number),
				name: member.name,
				amountEtb: writtenAmount(pick, member.net),
				phone: pick<unknown>('', '0911000701', '+251711000701', 911_000_702, '-'),
			}),
		);
	}
	const sum = members.reduce((total, { net }) => total + net, 0);
	const totals = [
		{ 'No.': 'TOTAL', amountEtb: sum },
		{ name: 'ጠቅላላ ድምር', amountEtb: sum },
		{ employee: 'Grand Total', name: `${count} employees`, amountEtb: sum },
		{ 'No.': count, name: 'Finance Total', amountEtb: sum },
		{ amountEtb: 0 },
	];
	sheet.push(rowOf(pick(...totals)), []);
	sheet.push(rowOf({ 'No.': 'Prepared by: Hirut M.' }), rowOf({ name: 'Checked by' }));
	return { sheet, own, members: members.filter(isAlone), all: members };
}

test('nobody gets another amount than that of the named column, nor another wallet', () => {
	let paid = 0;
	let expected = 0;
	fc.assert(
		fc.property(fc.nat(), fc.boolean(), (seed, hasTable) => {
			const { sheet, own, members, all } = listOf(pickFrom(seed));
			const table = members.map(({ number, name, wallet }) => ({
				employee: number,
				name,
				userId: wallet,
			}));
			const rows = checkList(
				sheet.map((row) => ({ row })),
				{
					purpose: 'salary',
					period: '2026-11',
					now,
					ownHeadings: own,
					...(hasTable ? { people: table } : { setsUpPeople: true }),
				},
			).map(({ row }) => row);
			const ready = rows.filter(({ status }) => status === 'ready');
			for (const row of ready) {
				const member = members.find(({ line }) => line === row.line);
				expect(row.amountEtb).toBe(member?.net);
				if (hasTable) expect(row.toUserId).toBe(member?.wallet);
			}
			// A person with a number of their own is paid: no total, title or signature is in the way.
			expect(ready.map(({ line }) => line)).toEqual(members.map(({ line }) => line));
			expect(new Set(ready.map(({ reference }) => reference)).size).toBe(ready.length);
			// Everything that stands in the list is told.
			const filled = sheet.flatMap((row, index) =>
				row.some((cell) => cell !== undefined && cell !== '') ? [index + 1] : [],
			);
			const first = Math.min(...all.map(({ line = 0 }) => line));
			expect(rows.filter(({ line }) => line >= first).map(({ line }) => line)).toEqual(
				filled.filter((line) => line >= first),
			);
			paid += ready.length;
			expected += all.length;
		}),
		{ numRuns: 1_000 },
	);
	expect(paid).toBeGreaterThan(expected / 2);
});
