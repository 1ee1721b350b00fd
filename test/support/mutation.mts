import { readFileSync } from 'node:fs';

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
export function mutated(source: string, mutation: Mutation): string {
	const misfit = misfitIn(source, mutation);
	if (misfit !== undefined) throw new Error(misfit);
	return source.replace(mutation.finds, () => mutation.puts);
}

/** Those that do not fit exactly one place of their file, in words. */
export const misfitsOf = (mutations: readonly Mutation[]): string[] =>
	mutations.flatMap((mutation) => misfitIn(readFileSync(mutation.file, 'utf8'), mutation) ?? []);

function misfitIn(source: string, { file, breaks, finds }: Mutation): string | undefined {
	const places = source.split(finds).length - 1;
	return places === 1 ? undefined : `"${breaks}" fits ${places} places of ${file}, not one`;
}
