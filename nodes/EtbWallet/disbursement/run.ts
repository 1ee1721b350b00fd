/** What a run that pays works with: its options, its rows, and how each of them ends. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../../shared/account';
import type { Decimal } from '../../shared/decimal';
import type { Failure } from '../../shared/service/failure';

/** What a run does. Only `pay` sends. */
export const modes = ['pay', 'dryRun', 'settle'] as const;
export type Mode = (typeof modes)[number];

/** What a person found out about a payment whose outcome is not known. */
export const findings = ['paid', 'recordPaid', 'notPaid', 'unclear'] as const;
export type Finding = (typeof findings)[number];

/** What holds for the whole run. */
export interface RunOptions {
	mode: Mode;
	timeoutMs: number;
	concurrency: number;
	/** In ETB. */
	maxAmount?: Decimal;
	/** In ETB. */
	maxTotal?: Decimal;
	checkBalance: boolean;
	/** Only in a run that settles: one finding for all payments, or each has its own. */
	finding?: Finding | 'fromItem';
	/** Whether a reference that was used before is an error. */
	failsIfUsed: boolean;
}

/** An outcome with its reasons. `unknown`: it may have been made. `ready`: a run with Mode on Pay would send it. */
export type Ending =
	| { outcome: 'paid'; answer: IDataObject }
	| { outcome: 'notPaid' | 'unknown' | 'alreadyPaid'; error: Failure }
	/**
	 * Nothing was sent. `settled`: what a person's finding changed; `newlyPaid`: a run with Mode on Pay would have sent it;
	 * `nothing`: the record says something else than the finding of the item.
	 */
	| {
			outcome: 'alreadyPaid' | 'unknown' | 'ready';
			message: string;
			settled?: 'paid' | 'notPaid' | 'newlyPaid' | 'nothing';
	  };

/** An item, with what could be read of its payment, and how that ended, once it has. */
export interface Row {
	itemIndex: number;
	toUserId?: string;
	/** In ETB. */
	amount?: Decimal;
	reference?: string;
	/** In a run that settles. */
	finding?: Finding;
	/** In any other run: what its field `finding` still says about an earlier payment. It is not sent. */
	oldFinding?: string;
	/** Whether its item has a finding of its own, in a run that settles. */
	hasOwnFinding?: boolean;
	ending?: Ending;
}

export interface Payment extends Row {
	toUserId: string;
	amount: Decimal;
}

export type EndedRow = Row & { ending: Ending };

export interface Run {
	context: IExecuteFunctions;
	options: RunOptions;
	/** Rows that earlier tries ended, and not as `notPaid`, by item, as they were read then: an expression may give another value now. */
	endedBefore: Map<number, EndedRow>;
	/** Says whether another run could pay an unknown payment again. */
	protectionOf: (row: Row) => string;
}

/** A run whose rows have been read. */
export interface Batch extends Run {
	account: Account;
	rows: Row[];
	/** Called once for each payment that ended. */
	end: (payment: Payment, ending: Ending) => void;
	/** Whether nothing more may be sent. */
	isStopping(): boolean;
}
