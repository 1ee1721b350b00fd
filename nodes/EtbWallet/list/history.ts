/** The history of a person in the table of people and the register. */
import { normalizeText } from '../../shared/normalizeText';
import { referenceKeyOf } from '../../shared/reference';
import { groupBy } from '../../shared/groupBy';
import { isPaid, isUnknown, type KnownTables, type RegisteredPayment } from './knownTables';
import { listReference } from '../../shared/listReference';
import type { Period } from './period';
import type { Person } from './rows';

/** The known facts about the person of a row. */
export interface History {
	/** The person in Known People. */
	knownPerson?: Person;
	/** The row of this very payment, if the register has it as paid. Then it is not sent. */
	paidBefore?: RegisteredPayment;
	/** The rows of this very payment that the register has as unknown. */
	unknownRows: RegisteredPayment[];
	/** The unknown rows of other payments to the person, of any purpose and period. */
	otherUnknownRows: RegisteredPayment[];
	/** All other payments with the employee number of the person, for any purpose, sorted by period. */
	paymentsToPerson: RegisteredPayment[];
	/** Payments without an employee number to the wallet of the person. Their name can be any text. */
	walletPayments: RegisteredPayment[];
	/** The part of `paymentsToPerson` for the purpose of the list. */
	paymentsForPurpose: RegisteredPayment[];
	/** The last of `paymentsForPurpose` before the period of the list, or the newest if there is none before. */
	lastTime?: RegisteredPayment;
}

const noHistory: History = {
	unknownRows: [],
	otherUnknownRows: [],
	paymentsToPerson: [],
	walletPayments: [],
	paymentsForPurpose: [],
};

/** Sorts by period, and in a period by time. */
function comparePeriods(one: RegisteredPayment, other: RegisteredPayment): number {
	const first = one.period + one.paidAt;
	const second = other.period + other.paidAt;
	return first === second ? 0 : first < second ? -1 : 1;
}

const walletOf = ({ userId }: Person): string => `wallet ${normalizeText(userId)}`;

/** The employee number of a payment, or the wallet if it has none: a workflow that pays one user writes only that. */
const ownerOf = ({ person }: RegisteredPayment): string => person.employeeKey || walletOf(person);

/** Makes the function that finds the history of a person by the employee number and the wallet. */
export function historyFinder(
	{ people = [], register = [] }: KnownTables,
	{ purpose, period }: { purpose: string; period: Period },
): (person: Person) => History {
	const peopleByKey = new Map(people.map((person) => [person.employeeKey, person]));
	const paidTo = groupBy(register.filter(isPaid), ownerOf);
	const paidReferences = new Set(register.filter(isPaid).map(({ referenceKey }) => referenceKey));
	// Two workflows at once can write one reference as paid and as unknown, or twice as unknown. Then paid
	// counts, or the last row.
	const unknown = register.filter(
		(each) => isUnknown(each) && !paidReferences.has(each.referenceKey),
	);
	const unknownByReference = new Map(unknown.map((each) => [each.referenceKey, each]));
	const unknownTo = groupBy([...unknownByReference.values()], ownerOf);
	// Each payment is found under its reference, and under the one that the list would give it.
	const references = register.flatMap((payment) =>
		[...new Set([payment.referenceKey, payment.listReferenceKey])].map((key) => ({
			key,
			payment,
		})),
	);
	const byReference = groupBy(references, ({ key }) => key);

	return (person) => {
		const { employeeKey } = person;
		if (employeeKey === '') return noHistory;
		const owners = [employeeKey, ...(person.userId ? [walletOf(person)] : [])];
		const reference = referenceKeyOf(listReference(purpose, period, employeeKey));
		const rows = (byReference.get(reference) ?? []).map(({ payment }) => payment);
		const paidBefore = rows.find(isPaid);
		const unknownRows = rows.filter((each) => !paidBefore && isUnknown(each));
		const paymentsToPerson = (paidTo.get(employeeKey) ?? [])
			.filter((each) => !rows.includes(each))
			.sort(comparePeriods);
		const paymentsForPurpose = paymentsToPerson.filter(
			(each) => normalizeText(each.purpose) === normalizeText(purpose),
		);
		const before = paymentsForPurpose.filter((each) => each.period < period);
		return {
			knownPerson: peopleByKey.get(employeeKey),
			paidBefore,
			unknownRows,
			otherUnknownRows: owners
				.flatMap((owner) => unknownTo.get(owner) ?? [])
				.filter((each) => !rows.includes(each)),
			paymentsToPerson,
			walletPayments: person.userId ? (paidTo.get(walletOf(person)) ?? []) : [],
			paymentsForPurpose,
			lastTime: (before.length > 0 ? before : paymentsForPurpose).at(-1),
		};
	};
}
