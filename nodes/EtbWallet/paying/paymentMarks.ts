/**
 * The marks of the record of references, and the times for which they count. A mark is a text that n8n keeps:
 *
 * mark | its meaning | its end
 * --- | --- | ---
 * `sent` | the reference is used: it was reserved, or a person settled it as paid | the reference becomes unused
 * `busy` | a reservation in this bucket; it counts for three slots of time | none, but the change that added it may remove it
 * `paid`, `paidConfirmed` | the fact *paid*: a response of the service said that it was paid | none
 * `payee` | the user ID and the amount that were paid | none
 * `saidPaid`, `saidPaidConfirmed` | the fact *saidPaid*: a person said that it was paid. Without the fact *paid*, each user ID and amount fits | a person contradicts it
 * `doubt`, `doubtConfirmed` | the fact *doubt*: nobody knows how the payment ended | the reference becomes unused
 * `settledNotPaid` | a person said that it was not paid | a person contradicts that
 * `settledNotPaidOf` | a person said that what was sent at this time was not paid | none
 *
 * **A fact** is recorded in one call: *sent*, the fact, and the fact *confirmed*. It counts only with its
 * confirmation.
 *
 * **A bucket** is one of 16 groups of references, whose reservations share a *busy* in each slot. So the end of a run
 * removes marks only of payments that were not made.
 *
 * **A slot** is longer than `reservedForMs` by the 10 s by which clocks may differ, so no other process takes a
 * reservation for doubtful while its run may use it.
 */
import { createHash } from 'node:crypto';
import type { KeyedEntry } from './entry';
import { maxTimeoutMs } from './optionBounds';

/** The record knows a reference by its key. */
export interface Keyed {
	referenceKey: string;
}

/** A fact needs two marks; the second confirms the first. */
export type Fact = 'paid' | 'saidPaid' | 'doubt';

/** The time in ms for which a reservation belongs to its run: long enough to get a response and record it. */
export const reservedForMs = maxTimeoutMs + 15_000;

/** The largest difference between the clocks of two processes, in ms. */
const clockDifferenceMs = 10_000;

/** A slot of time, in ms. */
const slotMs = reservedForMs + clockDifferenceMs;

/** The time, in ms, from the last reservation in a bucket until each process sees it as in doubt. */
const inFlightMs = 2 * slotMs + clockDifferenceMs;

export const inFlightMinutes = Math.ceil(inFlightMs / 60_000);

export const slotNow = (): number => Math.floor(Date.now() / slotMs);

/**
 * The number of groups of references. Each slot with a reservation leaves at most this many *busy* marks for
 * ever. With only one group, a single payment would keep every interrupted reference in flight.
 */
const bucketCount = 16;

/** The bucket must be the same in each process and version, because they share the record. */
const bucketOf = ({ referenceKey }: Keyed): number =>
	createHash('sha256').update(referenceKey).digest().readUInt16BE() % bucketCount;

export const sentMark = ({ referenceKey }: Keyed): string => `sent:${referenceKey}`;
export const busyMark = (keyed: Keyed, slot: number): string => `busy:${slot}:${bucketOf(keyed)}`;
/** The marks of this slot, the one before, and the next one: the clock of another process may be ahead. */
export const busyMarks = (keyed: Keyed, slot: number): string[] =>
	[-1, 0, 1].map((later) => busyMark(keyed, slot + later));
export const factMark = (fact: Fact, { referenceKey }: Keyed): string => `${fact}:${referenceKey}`;
export const confirmedMark = (fact: Fact, { referenceKey }: Keyed): string =>
	`${fact}Confirmed:${referenceKey}`;
/** The mark of the user ID and the amount that were paid. */
export const paidValuesMark = ({ referenceKey, toUserId, amount }: KeyedEntry): string =>
	`payee:${JSON.stringify([referenceKey, toUserId, amount])}`;
export const settledNotPaidMark = ({ referenceKey }: Keyed): string =>
	`settledNotPaid:${referenceKey}`;
/** The mark of a *not paid* about the reference of a statement, or about the sending that it names. */
export const statementMark = ({ referenceKey, sentAt }: Keyed & { sentAt?: string }): string =>
	sentAt === undefined
		? settledNotPaidMark({ referenceKey })
		: `settledNotPaidOf:${JSON.stringify([referenceKey, sentAt])}`;

/** The marks of a fact. *Sent* is written again, because a person may have settled it as not paid meanwhile. */
export const factMarks = (fact: Fact, keyed: Keyed): string[] => [
	sentMark(keyed),
	factMark(fact, keyed),
	confirmedMark(fact, keyed),
];

/** The marks that a reference loses when it becomes unused: *sent*, and its doubt. */
export const marksOfUse = (keyed: Keyed): string[] => factMarks('doubt', keyed);
