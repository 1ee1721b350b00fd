/** The account's URL in random worlds: publications, tests, failures, lost answers, replaced keys, restarts and new leaders. */
import { Code } from '../../lab/loaded-code.mts';
import { mistakes } from './url-mistakes.mts';
import { firstBroken, seedsFrom } from './url-search.mts';

/** `npm run test:model:url` plays more of them. */
const seeds = seedsFrom(0, 10_000);

/** Of all of them, on a busy machine. */
const timeoutMs = 600_000;

test(
	`in ${seeds.length} random worlds the service ends with the right URL, and no test takes an event`,
	async () => {
		expect(await firstBroken(seeds, new Code())).toBeUndefined();
	},
	timeoutMs,
);

test.each(mistakes)(
	'a mistake is found: $breaks',
	async ({ seed, ...mutation }) => {
		const worlds = seed === undefined ? seeds : [seed, ...seeds];
		expect(await firstBroken(worlds, new Code([mutation]))).toMatch(/^seed \d+/);
	},
	timeoutMs,
);
