/** A deliberate mistake in the project's own code, which tests have to notice. */
export interface Mutation {
	/** The consequence of the mistake. */
	breaks: string;
	file: string;
	/** The text in the file, which occurs once. */
	finds: string;
	puts: string;
}

/** The source with the mistake in it. Throws when the file does not have exactly one place for it. */
export function mutated(source: string, { file, breaks, finds, puts }: Mutation): string {
	const places = source.split(finds).length - 1;
	if (places !== 1) throw new Error(`"${breaks}" fits ${places} places of ${file}, not one`);
	return source.replace(finds, () => puts);
}
