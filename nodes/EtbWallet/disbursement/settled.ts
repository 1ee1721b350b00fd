/** What a run that settled tells: what the findings changed, and what to do next. */
import { hasError, hasMessage, isUnknown } from './ending';
import type { Row } from './run';

/** What the findings of a run changed. */
export function settledSummary(rows: Row[]): string {
	const countOf = (what: string): number => rows.filter((row) => changeOf(row) === what).length;
	const [paid, notPaid, newly] = [countOf('paid'), countOf('notPaid'), countOf('newlyPaid')];
	const unheeded = countOf('nothing');
	const ready = rows.filter(({ ending }) => ending?.outcome === 'ready').length;
	const isInColumn = rows.some(({ hasOwnFinding }) => hasOwnFinding);
	const back = `${isInColumn ? 'empty the field finding in your list, and ' : ''}set Mode back to what it was${ready > 0 ? `: Pay sends ${ready} of them` : ''}`;
	if (isNothingSettled(rows))
		return `Settle Unknown: nothing here was unknown, so nothing was settled or sent. ${ready > 0 ? 'Did another node pay somebody here? If not, ' : 'Now '}${back}`;
	const failed = rows.filter(hasError).length;
	const unknown = rows.filter(hasMessage).filter(isUnknown);
	const stopped = rows.filter(({ ending }) => ending === undefined).length;
	const unchanged =
		rows.length - paid - notPaid - newly - unheeded - unknown.length - failed - stopped;
	const counts = [
		`${paid} settled as paid, ${notPaid} as not paid`,
		...ifAny(newly, 'recorded as paid that would have been sent'),
		...ifAny(unheeded, 'with a finding that changed nothing'),
		`${unknown.length} still unknown`,
		`${unchanged} as before`,
		...ifAny(failed, 'with an error'),
		...ifAny(stopped, 'not attempted'),
	];
	const hasUnheeded = unheeded > 0 || unknown.some(({ finding }) => finding !== 'unclear');
	const before = [
		...(notPaid > 1 && !isInColumn
			? [`Make sure that you asked about all ${notPaid} that were not paid`]
			: []),
		...(hasUnheeded ? ['Read why a finding changed nothing, and settle again what was paid'] : []),
		...(failed > 0 ? ['Correct what has an error and settle again, or leave it out'] : []),
		...(stopped > 0 ? ['Settle again'] : []),
	];
	const next = before.length > 0 ? `${before.join('. ')}. Then ${back}` : `Now ${back}`;
	return `Settle Unknown, nothing was sent: ${counts.join(', ')}. ${next}`;
}

const ifAny = (count: number, what: string): string[] => (count > 0 ? [`${count} ${what}`] : []);

const changeOf = ({ ending }: Row): string | undefined =>
	ending !== undefined && 'settled' in ending ? ending.settled : undefined;

const isNothingSettled = (rows: Row[]): boolean =>
	rows.every((row) => hasMessage(row) && changeOf(row) === undefined && !isUnknown(row));

/** Lets a run that settled nothing say so in its first item that has a message. */
export function tellNothingSettled(rows: Row[]): void {
	const first = rows.find(hasMessage);
	if (first === undefined || !isNothingSettled(rows)) return;
	first.ending = { ...first.ending, message: `Nothing here was unknown. ${first.ending.message}` };
}
