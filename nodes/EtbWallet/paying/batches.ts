/** Cuts values into batches of `size`. */
export function batchesOf<Value>(size: number, values: Value[]): Value[][] {
	return Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
		values.slice(index * size, (index + 1) * size),
	);
}
