/**
 * The rules by which n8n scans community packages before it verifies them, on the source and on the packed
 * tarball: the recommended rules of both ESLint plugins, with no regard for disabling comments or for the
 * project's own settings. Run `npm run build` first. Exits 1 on any finding, warnings included.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { ESLint } from 'eslint';
import type { Linter } from 'eslint';
import { defineConfig } from 'eslint/config';
import { parser } from 'typescript-eslint';
import { z } from 'zod';

const ruleSet = z.object({ rules: z.record(z.enum(['off', 'warn', 'error'])) });
// Published without types.
const basePlugin = z
	.object({
		rules: z.record(z.custom<NonNullable<ESLint.Plugin['rules']>[string]>()),
		configs: z.object({ community: ruleSet, credentials: ruleSet, nodes: ruleSet }),
	})
	.parse(createRequire(import.meta.url)('eslint-plugin-n8n-nodes-base'));

// Typed for another version of ESLint's types.
const typeScriptParser = z
	.custom<Linter.Parser>((value) => typeof value === 'object' && 'parseForESLint' in Object(value))
	.parse(parser);

const { community, credentials, nodes } = basePlugin.configs;

/** Rules for n8n's own nodes that do not hold for community nodes are off. */
const rules = defineConfig(
	n8nCommunityNodesPlugin.configs.recommended,
	{ plugins: { 'n8n-nodes-base': { rules: basePlugin.rules } }, rules: { 'no-console': 'error' } },
	{ files: ['package.json'], rules: community.rules },
	{
		files: ['**/credentials/**/*.ts'],
		rules: {
			...credentials.rules,
			'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
			'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
		},
	},
	{
		files: ['**/nodes/**/*.ts'],
		rules: {
			...nodes.rules,
			'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
			'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
			'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
		},
	},
	{ files: ['**/*.{json,ts}'], languageOptions: { parser: typeScriptParser } },
);

/** Scans the files below `folder` that match, and prints what it finds. Resolves to the number of findings. */
async function scan(what: string, folder: string, patterns: string[]): Promise<number> {
	const files = globSync(patterns, { cwd: folder }).filter(
		(file) => !file.startsWith('node_modules'),
	);
	if (files.length === 0) throw new Error(`There is no file to scan in the ${what}`);
	const eslint = new ESLint({
		cwd: folder,
		allowInlineConfig: false,
		overrideConfigFile: true,
		overrideConfig: rules,
	});
	const results = await eslint.lintFiles(files);
	const findings = results.reduce((sum, { messages }) => sum + messages.length, 0);
	const formatter = await eslint.loadFormatter('stylish');
	console.log(await formatter.format(results));
	console.log(`Scan of the ${what}: ${files.length} files, ${findings} findings`);
	return findings;
}

const packResult = z.array(z.object({ filename: z.string() })).nonempty();

/** Packs the project as it would be published and hands the unpacked folder to `use`. */
async function withUnpackedTarball<T>(use: (folder: string) => Promise<T>): Promise<T> {
	const folder = mkdtempSync(join(tmpdir(), 'etb-wallet-scan-'));
	try {
		const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		const [{ filename }] = packResult.parse(JSON.parse(packed));
		execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder]);
		return await use(join(folder, 'package'));
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

const inSource = await scan('source', process.cwd(), [
	'package.json',
	'{nodes,credentials}/**/*.{js,ts,json}',
]);
const inTarball = await withUnpackedTarball(
	async (folder) => await scan('tarball', folder, ['**/*.{js,ts,json}']),
);
process.exitCode = inSource + inTarball === 0 ? 0 : 1;
