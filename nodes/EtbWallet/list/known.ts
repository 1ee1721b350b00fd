/** What is known of people besides the list: the table of people with their wallets, and the register of payments. */
import { grouped } from '../../shared/grouped';
import { InvalidValueError, show } from '../../shared/invalidValue';
import { lookOf, mobileIn, personOf } from '../../shared/lookalikes';
import { property } from '../../shared/unknownValues';
import { textOf, visibleText, withoutPlaceholder } from './cells';
import { employeeIn } from './people';
import type { Period } from './period';

/** Somebody, as a list, the table or the register has them. Empty texts for what is not known. */
export interface Facts {
	/** Their employee number as it is written. */
	employee: string;
	/** In the form that is compared. */
	person: string;
	name: string;
	phone: string;
	email: string;
	userId: string;
	/** In ETB. */
	amountEtb?: number;
}

/** A telephone number in the form that is compared; empty for what is none. */
export function phoneOf(text: string): string {
	const digits = text.normalize('NFKC').replace(/\.0$/, '').replace(/[^\d]/g, '');
	return mobileIn(digits) ?? (digits.length < 7 || /^0+$/.test(digits) ? '' : digits);
}

/** The rows of a table, of an expression that gives them or n8n's items of them. @throws {InvalidValueError} if it is none */
function rowsIn(given: unknown, field: string, example: string): unknown[] {
	if (Array.isArray(given)) return given.map((item: unknown) => property(item, 'json') ?? item);
	throw new InvalidValueError(
		`${field} is ${show(given)}`,
		`Give it the rows of a table by an expression, such as ${example}, or leave it empty.`,
	);
}

const textIn = (row: unknown, field: string): string =>
	withoutPlaceholder(visibleText(property(row, field)));

function factsIn(row: unknown, person: string): Facts {
	const amount = Number(textIn(row, 'amountEtb') || textIn(row, 'askedEtb') || NaN);
	return {
		employee: textIn(row, 'employee') || person,
		person,
		name: textIn(row, 'name'),
		phone: textIn(row, 'phone'),
		email: textIn(row, 'email'),
		userId: textIn(row, 'userId'),
		...(Number.isFinite(amount) && { amountEtb: amount }),
	};
}

/** The people who have a wallet, by employee number and by user ID. */
export class KnownPeople {
	readonly all: Facts[];
	private readonly byPerson: Map<string, Facts[]>;
	private readonly byWallet: Map<string, Facts[]>;

	/**
	 * @param given rows with `employee`, `name`, `userId`, and perhaps `phone` and `amountEtb`, or n8n's items of them; those
	 * without an employee number are left out
	 * @throws {InvalidValueError} if it is no list, or has an employee number that a spreadsheet changed
	 */
	constructor(given: unknown, now: Date) {
		this.all = rowsIn(given, 'Known People', "{{ $('People').all() }}").flatMap((row) => {
			// Nobody, such as the one item of an empty table.
			if (textIn(row, 'employee') === '') return [];
			const cell = property(row, 'employee');
			return [factsIn(row, employeeIn(cell, now, 'An employee of Known People').person)];
		});
		this.byPerson = grouped(this.all, ({ person }) => person);
		this.byWallet = grouped(this.all, ({ userId }) => lookOf(userId));
	}

	of = (person: string): Facts | undefined => this.byPerson.get(person)?.[0];

	/**
	 * The wallet of a person: the one of the table, which the list may repeat, but not change.
	 * @param inList empty if the list has none
	 * @param isNewcomerReady whether somebody without a wallet gets one later
	 */
	walletOf(
		person: string,
		inList: string,
		isNewcomerReady: boolean,
	): { userId: string; problem: string } {
		const [known, ...others] = this.byPerson.get(person) ?? [];
		const userId = inList === '' ? (known?.userId ?? '') : inList;
		const owners = userId === '' ? [] : (this.byWallet.get(lookOf(userId)) ?? []);
		const owner = owners.find((each) => each !== known);
		const refused = (problem: string) => ({ userId: inList, problem });
		if (others.length > 0) return refused('Known People has this employee number twice.');
		if (owner !== undefined) {
			return refused(
				`The wallet is that of ${owner.employee} (${owner.name}) in Known People. Correct the list or the table.`,
			);
		}
		if (userId === '' && !isNewcomerReady)
			return refused('Known People has no wallet for this person: set them up first.');
		if (known !== undefined && known.userId !== '' && owners.length === 0)
			return refused(`Known People has another wallet, ${known.userId}.`);
		return { userId: known?.userId || userId, problem: '' };
	}
}

export interface Payment extends Facts {
	/** In the form that is compared. */
	reference: string;
	purpose: string;
	period: Period;
	/** As the register has it; empty if it does not. */
	paidAt: string;
	txHash: string;
	workflow: string;
}

/** `<purpose>-<period>-<person>` of rows without these columns. */
const partsOfReference = /^(?<purpose>.+?)-(?<period>\d{4}-\d{2})-(?<person>.+)$/;

/** The payments that the register has, by reference and by person. */
export class KnownPayments {
	readonly paid: Payment[];
	private readonly byReference: Map<string, Payment[]>;
	private readonly byPerson: Map<string, Payment[]>;
	private readonly unknown: Map<string, Payment[]>;

	/**
	 * @param given rows with `reference` and `outcome`, and perhaps the other columns of the register, or n8n's items of them;
	 * those without a reference are left out
	 * @throws {InvalidValueError} if it is no list
	 */
	constructor(given: unknown) {
		const rows = rowsIn(given, 'Known Payments', "{{ $('Payments').all() }}");
		const withOutcome = (outcome: string): Payment[] =>
			rows.filter((row) => property(row, 'outcome') === outcome).flatMap(paymentIn);
		this.paid = withOutcome('paid');
		this.byReference = grouped(this.paid, ({ reference }) => reference);
		this.byPerson = grouped(this.paid, ({ person }) => person);
		this.unknown = grouped(withOutcome('unknown'), ({ reference }) => reference);
	}

	paidAs = (reference: string): Payment | undefined => this.byReference.get(lookOf(reference))?.[0];
	unknownAs = (reference: string): Payment | undefined => this.unknown.get(lookOf(reference))?.[0];

	/** The payments of a person under other references, of the latest period last. */
	of(person: string, reference: string): Payment[] {
		const others = (this.byPerson.get(person) ?? []).filter(
			(payment) => payment.reference !== lookOf(reference),
		);
		return others.sort((one, other) =>
			one.period + one.paidAt < other.period + other.paidAt ? -1 : 1,
		);
	}
}

function paymentIn(row: unknown): Payment[] {
	const reference = textOf(property(row, 'reference'));
	if (reference === '') return [];
	const parts = partsOfReference.exec(reference)?.groups;
	const person = personOf(textIn(row, 'person') || (parts?.person ?? ''));
	return [
		{
			...factsIn(row, person),
			reference: lookOf(reference),
			purpose: textIn(row, 'purpose') || (parts?.purpose ?? ''),
			period: textIn(row, 'period') || (parts?.period ?? ''),
			paidAt: textOf(property(row, 'paidAt') ?? property(row, 'createdAt')),
			txHash: textIn(row, 'txHash'),
			workflow: textIn(row, 'workflow'),
		},
	];
}
