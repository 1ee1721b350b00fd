/** Items of a list that have something in common. */

/**
 * Makes the function that finds the others with the same form. An empty form matches no other.
 * @param items an item may come several times, with the same `id`
 * @returns a function from the form and the id of an item to the names of at most three others
 */
export function sameValueFinder(items: ReadonlyArray<{ form: string; id: unknown; name: string }>) {
	const byForm = new Map<string, Map<unknown, string>>();
	for (const { form, id, name } of items) {
		const names = byForm.get(form) ?? new Map<unknown, string>();
		// The item itself and three others are enough, because 20,000 items may all have one form.
		if (form !== '' && names.size < 4) byForm.set(form, names.set(id, name));
	}
	return (form: string, id: unknown): string => {
		const others = [...(byForm.get(form) ?? [])].filter(([other]) => other !== id);
		const names = others.map(([, name]) => name);
		return names.slice(0, 3).join(', ');
	};
}
