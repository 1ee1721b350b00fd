// Type-checked rules for everything; the n8n rules of the other configuration apply to nodes and credentials only.
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(globalIgnores(['**/node_modules', 'dist', '.data']), {
	files: ['**/*.mts', 'nodes/**/*.ts', 'credentials/**/*.ts'],
	extends: [tseslint.configs.recommendedTypeChecked],
	languageOptions: {
		parserOptions: { project: './tsconfig.tools.json', tsconfigRootDir: import.meta.dirname },
	},
	rules: {
		'@typescript-eslint/consistent-type-imports': 'error',
		'@typescript-eslint/switch-exhaustiveness-check': 'error',
		'@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
		eqeqeq: 'error',
		'no-restricted-syntax': [
			'error',
			{
				selector: "CallExpression[callee.object.property.name='logger'][arguments.length!=1]",
				message: 'n8n shows only the message of a line in its log: put everything into it.',
			},
		],
		// The runner awaits what node:test registers.
		'@typescript-eslint/no-floating-promises': [
			'error',
			{
				allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: 'node:test' }],
			},
		],
	},
});
