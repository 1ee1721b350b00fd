/** Packs the project as it would be published, and installs it into n8n. */
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import {
	lstat,
	mkdir,
	mkdtemp,
	readFile,
	realpath,
	rm,
	symlink,
	writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { n8nFolder, projectFolder } from './folders.mts';
import { runNpm } from './npm.mts';

const run = promisify(execFile);

const Manifest = z.object({ name: z.string(), version: z.string() }).passthrough();
const DependencyFile = z.object({ dependencies: z.record(z.string()) }).passthrough();
const PackResult = z.array(z.object({ filename: z.string() })).nonempty();

async function readJson(path: string): Promise<unknown> {
	return JSON.parse(await readFile(path, 'utf8'));
}

/** Packs the project as `npm publish` would and hands the tarball's path to `use`. */
async function withTarball<T>(use: (tarball: string) => Promise<T>): Promise<T> {
	const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-pack-'));
	try {
		const packed = await runNpm(['pack', '--json', '--pack-destination', folder], projectFolder);
		const [{ filename }] = PackResult.parse(JSON.parse(packed));
		return await use(join(folder, filename));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** Keeps n8n from loading a second n8n-workflow: Node would find the checkout's above a data folder inside it. */
async function useN8nsOwnWorkflowLibrary(nodesFolder: string, packageFolder: string) {
	const own = dirname(
		createRequire(join(n8nFolder, 'package.json')).resolve('n8n-workflow/package.json'),
	);
	let found: string | undefined;
	try {
		found = createRequire(join(packageFolder, 'package.json')).resolve('n8n-workflow/package.json');
	} catch {
		return; // n8n adds its own libraries to the search path, as on any other machine
	}
	if ((await realpath(dirname(found))) === (await realpath(own))) return;
	const link = join(nodesFolder, 'node_modules', 'n8n-workflow');
	if (await lstat(link).catch(() => undefined)) await rm(link);
	await symlink(own, link, 'junction');
}

/**
 * Installs the packed project into `<userFolder>/.n8n/nodes` the way n8n's "Install a community node"
 * does, so that what runs is what would be published. Does nothing when the tarball is the installed one.
 * Resolves to the package's name and version and whether it was installed anew.
 */
export async function installPackage(
	userFolder: string,
): Promise<{ name: string; version: string; changed: boolean }> {
	const nodesFolder = join(userFolder, '.n8n', 'nodes');
	const { name, version } = Manifest.parse(await readJson(join(projectFolder, 'package.json')));
	const packageFolder = join(nodesFolder, 'node_modules', name);
	const hashFile = join(nodesFolder, `${name}.sha256`);

	return await withTarball(async (tarball) => {
		const hash = createHash('sha256')
			.update(await readFile(tarball))
			.digest('hex');
		if ((await readFile(hashFile, 'utf8').catch(() => '')) === hash) {
			return { name, version, changed: false };
		}
		await rm(hashFile, { force: true });
		await rm(packageFolder, { recursive: true, force: true });
		await mkdir(packageFolder, { recursive: true });
		await run('tar', ['-xzf', tarball, '-C', packageFolder, '--strip-components=1']);

		// As n8n does: it drops these three and installs the rest without scripts.
		const manifestFile = join(packageFolder, 'package.json');
		const manifest = Manifest.parse(await readJson(manifestFile));
		for (const kind of ['devDependencies', 'peerDependencies', 'optionalDependencies']) {
			delete manifest[kind];
		}
		await writeFile(manifestFile, JSON.stringify(manifest, null, 2));
		await runNpm(
			[
				'install',
				'--audit=false',
				'--fund=false',
				'--bin-links=false',
				'--install-strategy=shallow',
				'--ignore-scripts=true',
				'--package-lock=false',
			],
			packageFolder,
		);

		const installedFile = join(nodesFolder, 'package.json');
		const installed = DependencyFile.safeParse(await readJson(installedFile).catch(() => undefined))
			.data ?? {
			name: 'installed-nodes',
			private: true,
			dependencies: {},
		};
		installed.dependencies[name] = version;
		await writeFile(installedFile, JSON.stringify(installed, null, 2));
		await useN8nsOwnWorkflowLibrary(nodesFolder, packageFolder);
		await writeFile(hashFile, hash);
		return { name, version, changed: true };
	});
}
