/** Whether a workflow connects its own nodes only, each of a name of its own, and reads only from them. */
import type { WorkflowFile } from '../../demo/n8n-api.mts';

export function expectConnected({ nodes, connections }: WorkflowFile): void {
	const names = nodes.map(({ name }) => name);
	expect(new Set(names).size).toBe(names.length);
	const targets = [...JSON.stringify(connections).matchAll(/"node":"([^"]*)"/g)];
	const used = [...Object.keys(connections), ...targets.map(([, name]) => name)];
	expect(names).toEqual(expect.arrayContaining(used));
	const mentioned = [...JSON.stringify(nodes).matchAll(/\$\('([^']*)'\)/g)];
	expect(names).toEqual(expect.arrayContaining(mentioned.map(([, name]) => name)));
}
