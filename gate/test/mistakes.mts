/** The mistakes of `mistakes.txt`, each of which a test of `sql/` has to notice: gate/test/mutations.mts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutation } from '../../test/support/mutation.mts';

interface GateMutation extends Mutation {
	/** The name of the test file that has to fail. */
	noticedBy: string;
}

const text = readFileSync(join(import.meta.dirname, 'mistakes.txt'), 'utf8');
const [, ...sections] = text.split(/^=== /m);

export const mutations: GateMutation[] = sections.flatMap((section) => {
	const [file = '', ...mistakes] = section.trimEnd().split('\n\n');
	return mistakes.map((mistake) => {
		const [title = '', ...lines] = mistake.split('\n');
		const after = (sign: string) =>
			lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join('\n');
		const [, noticedBy = '', breaks = ''] = /^(\w+): (.+)$/.exec(title) ?? [];
		return { file, noticedBy, breaks, finds: after('-'), puts: after('+') };
	});
});
