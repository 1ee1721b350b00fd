/** Median and range of repeated measurements. */
export interface Spread {
	median: number;
	min: number;
	max: number;
}

/** The value below which the share `q` (0 to 1) of the values lies. NaN when there are none. */
export function quantile(values: number[], q: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	const position = (sorted.length - 1) * q;
	const below = sorted[Math.floor(position)] ?? NaN;
	const above = sorted[Math.ceil(position)] ?? NaN;
	return below + (above - below) * (position - Math.floor(position));
}

export const spread = (values: number[]): Spread => ({
	median: quantile(values, 0.5),
	min: Math.min(...values),
	max: Math.max(...values),
});

/** One ratio per round, so that what slows a whole round down does not count. */
export const ratios = (numerators: number[], denominators: number[]): Spread =>
	spread(numerators.map((numerator, round) => numerator / (denominators[round] ?? NaN)));

/** Such as `4.2 (3.9 to 4.8)`, with at least three significant digits. */
export function shown({ median, min, max }: Spread): string {
	return min === max ? digits(median) : `${digits(median)} (${digits(min)} to ${digits(max)})`;
}

/** A number with three significant digits, or whole when it is large. */
export function digits(value: number): string {
	if (!Number.isFinite(value)) return '-';
	const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
	return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(decimals, 3) });
}

/** A table in Markdown. */
export function table(header: string[], rows: string[][]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const rule = header.map((_, column) => (column === 0 ? '---' : '--:'));
	return [line(header), line(rule), ...rows.map(line)].join('\n');
}
