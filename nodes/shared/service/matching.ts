/** Rules by their names, so that the rule that judged a response can be shown. */

/** Patterns, by the names of their rules. */
export type Patterns = Readonly<Record<string, RegExp>>;

/** Patterns for the name of a field and for its values, by the names of their rules. */
export type FieldRules = Readonly<Record<string, [names: RegExp, values: RegExp]>>;

/** A rule, and the part of a response that it matched. */
export interface Match {
	rule: string;
	matched: string;
}

/** Why a response does not mean what its status means, with the rule that found it, if one did. */
export interface Finding extends Partial<Match> {
	/** Words that follow "The service answered 422". */
	evidence: string;
}

/** Makes a pattern of the words of each rule, in capital or small letters. */
export const compilePatterns = (rules: Record<string, string | string[]>): Patterns =>
	Object.fromEntries(
		Object.entries(rules).map(([rule, words]) => [rule, RegExp([words].flat().join('|'), 'i')]),
	);

/** Makes a pattern that matches any of these names, in capital or small letters. */
export const wholeName = (names: string[]): RegExp => RegExp(`^(?:${names.join('|')})$`, 'i');

/** The patterns of these rules for the values of a field. */
export const patternsForField = (rules: FieldRules, field: string): Patterns =>
	Object.fromEntries(
		Object.entries(rules)
			.filter(([, [names]]) => names.test(field))
			.map(([rule, [, values]]) => [rule, values]),
	);

/** The first rule that matches. A lookahead alone matches an empty text; then `matched` is the whole text. */
export function firstMatch(patterns: Patterns, text: string): Match | undefined {
	for (const [rule, pattern] of Object.entries(patterns)) {
		const [matched] = pattern.exec(text) ?? [];
		if (matched !== undefined) return { rule, matched: matched || text };
	}
	return undefined;
}
