// The pay gate's record as gate/schema.sql keeps it, as far as one claim after the other is concerned.

/** How a row ended, as far as it is known. */
type State = 'sending' | 'paid' | 'notPaid' | 'unknown';

interface Row {
	state: State;
	claim: string;
	/** In ms of the world. */
	leaseUntil: number;
	isSettled: boolean;
	hasEnded: boolean;
	/** An answer that said paid after the record said otherwise. */
	isPaidLate: boolean;
}

/** What a window is told: references to send now, under one claim. */
export interface Window {
	claim: string;
	references: string[];
	/** In ms of the world: when it was claimed. */
	claimedAt: number;
}

/** A dry run sent nothing; what is not said clearly is unknown. */
function outcomeOf(told: string): 'paid' | 'notPaid' | 'unknown' {
	if (told === 'paid') return 'paid';
	return told === 'notPaid' || told === 'ready' ? 'notPaid' : 'unknown';
}

export class GateRecord {
	private readonly rows = new Map<string, Row>();
	private claims = 0;
	private readonly lease: number;

	/** @param lease in ms */
	constructor(lease: number) {
		this.lease = lease;
	}

	claim(references: string[], now: number): Window {
		const claim = `00000000-0000-4000-8000-${(++this.claims).toString(16).padStart(12, '0')}`;
		const handedOut = references.filter((reference) => {
			const row = this.rows.get(reference);
			return row === undefined || (row.state === 'notPaid' && !row.isPaidLate);
		});
		for (const reference of handedOut)
			this.rows.set(reference, {
				state: 'sending',
				claim,
				leaseUntil: now + this.lease,
				isSettled: false,
				hasEnded: false,
				isPaidLate: false,
			});
		return { claim, references: handedOut, claimedAt: now };
	}

	settle(claim: string, outcomes: ReadonlyMap<string, string>): void {
		for (const [reference, told] of outcomes) {
			const row = this.rows.get(reference);
			if (row === undefined) continue;
			const outcome = outcomeOf(told);
			const isOpen =
				row.state === 'sending' ||
				(row.state === 'unknown' &&
					(outcome === 'paid' || (outcome === 'notPaid' && !row.hasEnded)));
			if (row.claim === claim && !row.isSettled && isOpen) {
				row.state = outcome;
				row.hasEnded = true;
			} else if (outcome === 'paid' && (row.state !== 'paid' || row.claim !== claim)) {
				row.isPaidLate = true;
			}
		}
	}

	/** What a person has to settle. */
	unknown(now: number): string[] {
		return [...this.rows]
			.filter(([, row]) => this.isUnknown(row, now) || (row.state === 'notPaid' && row.isPaidLate))
			.map(([reference]) => reference);
	}

	/** A person's word. */
	resolve(reference: string, wasPaid: boolean, now: number): void {
		const row = this.rows.get(reference);
		if (row === undefined || (!wasPaid && row.isPaidLate)) return;
		if (!wasPaid && row.state === 'unknown' && row.leaseUntil > now) return;
		row.state = wasPaid ? 'paid' : 'notPaid';
		row.isSettled = true;
		row.hasEnded = true;
		row.isPaidLate = false;
	}

	private isUnknown(row: Row, now: number): boolean {
		return row.state === 'unknown' || (row.state === 'sending' && row.leaseUntil <= now);
	}
}
