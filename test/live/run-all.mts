/**
 * `npm run test:live`: all tests that drive a real n8n. Exits 1 when one fails. Two files at a time,
 * because they mostly wait. From the last name to the first: so those that take minutes, of queue mode and of n8n,
 * begin early, and no core is left idle at the end.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { projectFolder } from '../../demo/folders.mts';

const files = globSync('test/live/{editor,n8n,queue}/*.live.mts', {
	cwd: projectFolder,
})
	.toSorted()
	.toReversed()
	.map((file) => join(projectFolder, file));

run({ files, concurrency: 2 })
	.on('test:fail', () => (process.exitCode = 1))
	.compose(spec)
	.pipe(process.stdout);
