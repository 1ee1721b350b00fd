/** Values in the words of the pages and files. */
import { sumOf, type PaymentRow, type RegisterRow } from './payment-row.mts';

export const escapeHtml = (value: string | number | null | undefined): string =>
	String(value ?? '').replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The sum of the amounts, such as 4,713.00. */
export const formatSum = (rows: PaymentRow[]): string =>
	sumOf(rows)
		.toFixed(2)
		.replace(/\B(?=(\d{3})+\.)/g, ',');

export const peopleText = ({ length }: { length: number }): string =>
	`${length} ${length === 1 ? 'person' : 'people'}`;

/** Names with numbers, for a page. */
export const namesWithNumbers = (rows: PaymentRow[]): string =>
	rows
		.map(({ name, employee }) => escapeHtml(employee ? `${name} (${employee})` : name))
		.join(', ');

export const localTime = (time: string | number | Date) =>
	DateTime.fromJSDate(new Date(time)).setZone('Africa/Addis_Ababa');

/** The minute in Addis Ababa, such as 2026-10-25 09:00. */
export const minuteOf = (time: string | number | Date): string =>
	localTime(time).toFormat('yyyy-LL-dd HH:mm');

/** Period and purpose, such as `2026-10 salary`. */
export const forWhat = ({ period, purpose }: RegisterRow): string =>
	[period, purpose].filter(Boolean).join(' ') || 'Other payments';
