// Plays many worlds of the account's URL. `--worlds=N`, `--from=N` the first seed.
import { parseArgs } from 'node:util';
import { Code } from '../../lab/loaded-code.mts';
import { firstBroken, seedsFrom } from './url-search.mts';

const { values } = parseArgs({
	options: {
		worlds: { type: 'string', default: '100000' },
		from: { type: 'string', default: '1' },
	},
});
const seeds = seedsFrom(Number(values.from), Number(values.worlds));
const code = new Code();
/** How often it is told how far it is. */
const told = 10_000;
const began = performance.now();
for (let played = 0; played < seeds.length; played += told) {
	const found = await firstBroken(seeds.slice(played, played + told), code);
	if (found !== undefined) {
		console.log(found);
		process.exit(1);
	}
	const seconds = Math.round((performance.now() - began) / 1000);
	const end = Math.min(played + told, seeds.length);
	console.log(`${end} worlds from seed ${values.from} in ${seconds} s: no rule is broken.`);
}
