/** Groups items, in order. `Map.groupBy` does the same, but the Node.js 20 of older n8n does not have it. */
export function groupBy<Item, Group>(
	items: readonly Item[],
	groupOf: (item: Item) => Group,
): Map<Group, Item[]> {
	const groups = new Map<Group, Item[]>();
	for (const item of items) {
		const group = groups.get(groupOf(item));
		if (group === undefined) groups.set(groupOf(item), [item]);
		else group.push(item);
	}
	return groups;
}
