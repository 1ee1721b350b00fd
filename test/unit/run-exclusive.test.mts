/** Turns of one process. */
import { runExclusive } from '../../nodes/shared/runExclusive.ts';

test('turns of one key come one after the other, also after one that failed', async () => {
	const steps: string[] = [];
	const turn = (name: string, fails = false) =>
		runExclusive('key', async () => {
			steps.push(`${name} begins`);
			await new Promise(setImmediate);
			steps.push(`${name} ends`);
			if (fails) throw new Error(name);
		});
	await Promise.allSettled([turn('first', true), turn('second'), turn('third')]);
	expect(steps).toEqual(
		['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]),
	);
});

test('a turn that comes when an earlier one has ended waits for the one that runs', async () => {
	const steps: string[] = [];
	const gate = Promise.withResolvers<undefined>();
	const turn = (name: string, until: Promise<unknown>) =>
		runExclusive('other key', async () => {
			steps.push(name);
			await until;
		});
	const first = turn('first', Promise.resolve());
	const second = turn('second', gate.promise);
	await first;
	const third = turn('third', Promise.resolve());
	await new Promise(setImmediate);
	expect(steps).toEqual(['first', 'second']);
	gate.resolve(undefined);
	await Promise.all([second, third]);
	expect(steps).toEqual(['first', 'second', 'third']);
});
