/** Whose wallet a row of a list is paid into. */
import { grouped } from '../../shared/grouped';
import { InvalidValueError, show } from '../../shared/invalidValue';
import { property } from '../../shared/unknownValues';
import { folded, textOf } from './cells';
import { employeeIn, type Employee } from './people';

interface Known {
	/** As it is written. */
	employee: string;
	name: string;
	userId: string;
}

export interface Wallet {
	/** Empty if there is none. */
	userId: string;
	/** Why nobody may be paid into it; empty for nothing. */
	problem: string;
	/** What whoever approves should know; empty for nothing. */
	remark: string;
}

/** The people who have a wallet, by employee number and by user ID. */
export class KnownPeople {
	private readonly byPerson: Map<string, Known[]>;
	private readonly byWallet: Map<string, Known[]>;

	/**
	 * @param given rows with `employee`, `name` and `userId`, or n8n's items of them; those without an employee number are left out
	 * @throws {InvalidValueError} if it is no list, or has an employee number that a spreadsheet changed
	 */
	constructor(given: unknown, now: Date) {
		if (!Array.isArray(given)) {
			throw new InvalidValueError(
				`Known People is ${show(given)}`,
				"Give it the rows of a table by an expression, such as {{ $('People').all() }}, or leave it empty.",
			);
		}
		const known = given.flatMap((item: unknown) => knownIn(property(item, 'json') ?? item, now));
		this.byPerson = grouped(known, ({ key }) => key);
		this.byWallet = grouped(known, ({ userId }) => folded(userId));
	}

	/** The wallet of a row: the one of the table, which the list may repeat, but not change. */
	walletOf({ key }: Employee, name: string, inList: string): Wallet {
		const [known, ...others] = this.byPerson.get(key) ?? [];
		const wallet = inList === '' ? (known?.userId ?? '') : inList;
		const owners = wallet === '' ? [] : (this.byWallet.get(folded(wallet)) ?? []);
		const owner = owners.find((each) => each !== known);
		const refused = (problem: string): Wallet => ({ userId: inList, problem, remark: '' });
		if (others.length > 0) return refused('The table of people has this employee number twice.');
		if (owner !== undefined) {
			return refused(
				`The wallet is that of ${owner.employee} (${owner.name}) in the table of people. Correct the list or the table.`,
			);
		}
		if (known === undefined && inList !== '')
			return { userId: inList, problem: '', remark: 'The wallet stands in this list alone.' };
		if (known === undefined || known.userId === '')
			return refused('The known people have no wallet for this person: set them up first.');
		if (inList !== '' && owners.length === 0)
			return refused(`The table of people has another wallet, ${known.userId}.`);
		const isOther = known.name !== '' && folded(known.name) !== folded(name);
		const remark = isOther ? `The wallet was made for ${known.name}.` : '';
		return { userId: known.userId, problem: '', remark };
	}
}

function knownIn(row: unknown, now: Date): Array<Known & { key: string }> {
	const textIn = (field: string): string => textOf(property(row, field));
	// Nobody, such as the one item of an empty table.
	if (textIn('employee') === '') return [];
	const cell = property(row, 'employee');
	const { shown: employee, key } = employeeIn(cell, now, 'An employee of Known People');
	return [{ employee, key, name: textIn('name'), userId: textIn('userId') }];
}
