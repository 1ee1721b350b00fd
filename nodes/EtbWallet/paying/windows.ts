/** Windows: payments that are asked for, or reserved, together. */

/** Cuts values into windows of `size`. */
export function windowsOf<Value>(size: number, values: Value[]): Value[][] {
	return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
		values.slice(index * size, (index + 1) * size),
	);
}
