/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: 'node',
	roots: ['<rootDir>/test'],
	testMatch: ['**/*.test.mts'],
	moduleFileExtensions: ['mts', 'ts', 'js', 'mjs', 'cjs', 'json', 'node'],
	// A busy machine is no failure; what must end in time is measured by the tests that say so.
	testTimeout: 60_000,
	setupFilesAfterEnv: ['<rootDir>/test/support/engine/setup.mts'],
	transform: {
		'\\.m?ts$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
				module: { type: 'commonjs' },
				sourceMaps: 'inline',
			},
		],
	},
};
