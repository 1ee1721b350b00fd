/** Items of a list that have something in common. */

/**
 * Makes the function that finds the others with the same value. An empty value matches no other.
 * @param items an item may come several times, with the same `id`
 * @returns a function from the value and the id of an item to the names of at most three others
 */
export function sameValueFinder(
	items: ReadonlyArray<{ value: string; id: unknown; name: string }>,
) {
	const byValue = new Map<string, Map<unknown, string>>();
	for (const { value, id, name } of items) {
		const names = byValue.get(value) ?? new Map<unknown, string>();
		// The item itself and three others are enough, because 20,000 items may all have one value.
		if (value !== '' && names.size < 4) byValue.set(value, names.set(id, name));
	}
	return (value: string, id: unknown): string => {
		const others = [...(byValue.get(value) ?? [])].filter(([other]) => other !== id);
		const names = others.map(([, name]) => name);
		return names.slice(0, 3).join(', ');
	};
}
