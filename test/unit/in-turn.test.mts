/** Turns of one process. */
import { inTurn } from '../../nodes/shared/inTurn.ts';

test('turns of one key come one after the other, also after one that failed', async () => {
	const steps: string[] = [];
	const turn = (name: string, fails = false) =>
		inTurn('key', async () => {
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
