/** Installs other versions of n8n, each into a folder of its own outside the project. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { pinnedN8nFolder, projectFolder } from '../../demo/folders.mts';
import { installN8n, isInstalled } from '../../demo/n8n-install.mts';
import { runNpm } from '../../demo/npm.mts';
import { compareVersions } from '../support/n8n/version.mts';

const Manifest = z
	.object({
		dependencies: z.object({ n8n: z.string() }).passthrough(),
		overrides: z.record(z.string()),
	})
	.passthrough();

/** The manifest of the pinned n8n; the manifests of other versions are made from it. */
const pinnedManifest = Manifest.parse(
	JSON.parse(await readFile(join(pinnedN8nFolder, 'package.json'), 'utf8')),
);

/** The version that `npm start` and the other tests run. */
const pinnedVersion = pinnedManifest.dependencies.n8n;

/** `latest` as a number; any other version as it is. */
export async function exactVersion(wanted: string): Promise<string> {
	if (/^\d+\.\d+\.\d+$/.test(wanted)) return wanted;
	return (await runNpm(['view', `n8n@${wanted}`, 'version'], projectFolder)).trim();
}

/**
 * Packages whose version must be as old as the n8n, because it accepts any newer one, or does not name the package and
 * does not start without it. The first entry that is not older than the version applies; newer n8n use the versions of
 * the pinned one. Before 2.39 n8n installs xlsx from an address outside the registry.
 */
const ofTheirTime: Array<{
	version: string;
	dependencies?: Record<string, string>;
	overrides: Record<string, string | Record<string, string>>;
}> = [
	{
		version: '2.8.4',
		dependencies: { '@opentelemetry/core': '2.2.0' },
		overrides: { '@langchain/langgraph-checkpoint': '1.0.4' },
	},
	{
		version: '2.20.12',
		dependencies: { '@opentelemetry/core': '2.6.0' },
		overrides: {
			'@langchain/langgraph-checkpoint': '1.0.4',
			langchain: { '@langchain/langgraph': '1.2.0' },
		},
	},
	{ version: '2.30.8', overrides: {} },
	{ version: '2.37.5', overrides: pinnedManifest.overrides },
];

function manifestFor(version: string): object {
	const ofItsTime = ofTheirTime.find((entry) => compareVersions(version, entry.version) <= 0);
	return {
		...pinnedManifest,
		description: 'An n8n for npm run test:versions',
		dependencies: { ...pinnedManifest.dependencies, ...ofItsTime?.dependencies, n8n: version },
		overrides: { ...(ofItsTime?.overrides ?? pinnedManifest.overrides), xlsx: '0.18.5' },
	};
}

/**
 * Makes sure that this n8n is installed; instant when it is already.
 * @returns its folder: that of the project for the pinned version, else one in the user's cache
 * @throws with npm's last lines when it cannot be installed
 */
export async function installedN8n(
	version: string,
	print: (line: string) => void,
): Promise<string> {
	if (version === pinnedVersion) {
		if (!(await isInstalled(pinnedN8nFolder))) await installN8n(pinnedN8nFolder, 'ci', print);
		return pinnedN8nFolder;
	}
	const folder = join(homedir(), '.cache', 'n8n-nodes-etb-wallet', `n8n-${version}`);
	const manifestFile = join(folder, 'package.json');
	const manifest = JSON.stringify(manifestFor(version), null, '\t') + '\n';
	const before = await readFile(manifestFile, 'utf8').catch(() => '');
	if (before === manifest && (await isInstalled(folder))) return folder;

	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	await writeFile(manifestFile, manifest);
	await writeFile(join(folder, '.npmrc'), await readFile(join(pinnedN8nFolder, '.npmrc'), 'utf8'));
	await installN8n(folder, 'install', print);
	return folder;
}
