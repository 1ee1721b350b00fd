import { exampleFiles, readExample, startsWithEvent } from '../../n8n/examples.mts';

test('every example is a workflow whose connections lead from and to its own nodes', async () => {
	const files = await exampleFiles();
	expect(files).toEqual(expect.arrayContaining(['pay-a-user.json', 'receive-events.json']));
	for (const file of files) {
		const workflow = await readExample(file);
		const names = workflow.nodes.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		const targets = [...JSON.stringify(workflow.connections).matchAll(/"node":"([^"]*)"/g)];
		const used = [...Object.keys(workflow.connections), ...targets.map(([, name]) => name)];
		expect(names).toEqual(expect.arrayContaining(used));
		expect(names.filter((name) => name.startsWith('About')).length).toBeGreaterThan(0);
		expect(JSON.stringify(workflow)).not.toContain('"credentials"');
	}
});

test('only the example that waits for events has to be active', async () => {
	expect(startsWithEvent(await readExample('receive-events.json'))).toBe(true);
	expect(startsWithEvent(await readExample('pay-a-user.json'))).toBe(false);
});
