/** The names in the code of a Code node, by ESLint. */
import { Linter } from 'eslint';

const names = ['$', '$input', '$execution', '$runIndex', '$workflow', 'DateTime'];
const globals = Object.fromEntries(names.map((name) => [name, 'readonly' as const]));

/** @returns the messages about names that nothing defines, and about those that nothing uses */
export function messagesAboutNames(code: string): { undefined: string[]; unused: string[] } {
	const messages = new Linter().verify(code, {
		languageOptions: { sourceType: 'commonjs', globals },
		rules: { 'no-undef': 'error', 'no-unused-vars': ['error', { ignoreRestSiblings: true }] },
	});
	const isUnused = (ruleId: string | null): boolean => ruleId === 'no-unused-vars';
	return {
		undefined: messages.filter(({ ruleId }) => !isUnused(ruleId)).map(({ message }) => message),
		unused: messages.filter(({ ruleId }) => isUnused(ruleId)).map(({ message }) => message),
	};
}
