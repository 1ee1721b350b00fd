/** Records the installed package as the editor would, so that n8n lists it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { NodeType } from './n8n-api.mts';
import { projectFolder } from './folders.mts';

const Manifest = z.object({
	name: z.string(),
	version: z.string(),
	author: z.object({ name: z.string(), email: z.string() }),
});

/** n8n makes `<node>Tool` of every node that an AI agent may use; it is not a node of the package. */
const isPackageNode = (type: string, types: Set<string>) =>
	!(type.endsWith('Tool') && types.has(type.slice(0, -'Tool'.length)));

/**
 * Lists the package under Settings > Community nodes, as an install in the editor would have.
 * n8n installs only from a registry, so a tarball's rows are written here, into the SQLite database of
 * a running n8n; n8n reads them anew each time.
 */
export async function recordCommunityPackage(
	userFolder: string,
	nodeTypes: NodeType[],
): Promise<void> {
	const { name, version, author } = Manifest.parse(
		JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8')),
	);
	const ours = nodeTypes.filter((type) => type.name.startsWith(`${name}.`));
	const names = new Set(ours.map((type) => type.name));

	const database = new DatabaseSync(join(userFolder, '.n8n', 'database.sqlite'), {
		timeout: 10_000,
	});
	try {
		database.exec('BEGIN IMMEDIATE');
		database.prepare('DELETE FROM installed_nodes WHERE package = ?').run(name);
		database.prepare('DELETE FROM installed_packages WHERE packageName = ?').run(name);
		database
			.prepare(
				`INSERT INTO installed_packages
				(packageName, installedVersion, authorName, authorEmail, createdAt, updatedAt)
				VALUES (?, ?, ?, ?, datetime('now'), datetime('now'))`,
			)
			.run(name, version, author.name, author.email);
		const addNode = database.prepare(
			'INSERT INTO installed_nodes (name, type, latestVersion, package) VALUES (?, ?, ?, ?)',
		);
		for (const type of ours.filter((candidate) => isPackageNode(candidate.name, names))) {
			const latestVersion = Math.max(...[type.version].flat());
			addNode.run(type.displayName, type.name, latestVersion, name);
		}
		database.exec('COMMIT');
	} finally {
		database.close();
	}
}
