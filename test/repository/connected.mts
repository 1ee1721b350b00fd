/** A check of a workflow: names are unique, and connections and expressions refer to its own nodes only. */
import type { WorkflowFile } from '../../demo/n8n-api.mts';

export function expectConnected({ nodes, connections }: WorkflowFile): void {
	const names = nodes.map(({ name }) => name);
	expect(new Set(names).size).toBe(names.length);
	const targets = [...JSON.stringify(connections).matchAll(/"node":"([^"]*)"/g)];
	const used = [...Object.keys(connections), ...targets.map(([, name]) => name)];
	expect(names).toEqual(expect.arrayContaining(used));
	// Code that several workflows share reads a node by a function if a workflow may lack it.
	const mentioned = [...JSON.stringify(nodes).matchAll(/(?<!\(\) => )\$\('([^']*)'\)/g)];
	expect(names).toEqual(expect.arrayContaining(mentioned.map(([, name]) => name)));
}
