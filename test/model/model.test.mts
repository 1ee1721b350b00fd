// Plays the stories and the first worlds of the model, each run of the tests the same ones. `npm run test:model`
// plays many more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { optionsOfCreate } from '../support/engine/options-of-create.mts';
import { calmRun } from './plan.mts';
import { parametersOf } from './runs.mts';

/** The number of worlds. They or the stories notice most mutations of `payment-mutations.mts`; two need up to 1,600. */
const worlds = 600;

// In a process of its own, because jest's modules would see other built-in objects than Node's.
test(`no rule of payments is broken in the stories and ${worlds} worlds`, async () => {
	const program = [join(__dirname, 'run-worlds.mts'), `--worlds=${worlds}`];
	const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
	const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
	expect(printed).toContain('No rule is broken.');
	expect(printed).toContain(`${worlds} worlds in`);
	expect(child.exitCode).toBe(0);
}, 300_000);

test('the model plays each option', () => {
	const plan = { ...calmRun, items: [], maxAmountEtb: 1, maxTotalEtb: 1 };
	const { options } = parametersOf(plan, [], []);
	expect(Object.keys(Object(options) as object).sort()).toEqual(
		optionsOfCreate.map(({ name }) => name).sort(),
	);
});
