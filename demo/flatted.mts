/**
 * Decodes the `flatted` text in which n8n keeps execution data: a JSON array whose first entry is the value,
 * and in which every string inside an object or array is the index of another entry.
 * Throws a SyntaxError when `text` is not such an array.
 */
export function decodeFlatted(text: string): unknown {
	const entries: unknown = JSON.parse(text);
	if (!Array.isArray(entries)) throw new SyntaxError('Flatted text is a JSON array');
	const decoded = new Map<number, unknown>();

	const decodeEntry = (index: number): unknown => {
		if (decoded.has(index)) return decoded.get(index);
		const entry: unknown = entries[index];
		if (typeof entry !== 'object' || entry === null) return entry;
		// Remembered before it is filled, since an entry may lead back to itself.
		if (Array.isArray(entry)) {
			const list: unknown[] = [];
			decoded.set(index, list);
			list.push(...entry.map(decodeValue));
			return list;
		}
		const object: Record<string, unknown> = {};
		decoded.set(index, object);
		for (const [key, value] of Object.entries(entry)) object[key] = decodeValue(value);
		return object;
	};
	const decodeValue = (value: unknown) =>
		typeof value === 'string' ? decodeEntry(Number(value)) : value;

	return decodeEntry(0);
}
