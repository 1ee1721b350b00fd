/**
 * Shows which rule judges a response of the endpoint that pays, and the text that it matches:
 * `npx node scripts/judge-response.mts 422 '{"message":"Not allowed"}'`. The response is to a payment of 10 ETB to
 * `etbw_a`. The rules are in `nodes/shared/service/`, under the names that are shown. Of a refusal, it shows for
 * each value the rule by which it gives a reason. *none*: the status alone decided, or `problem` says why.
 */
import { createRequire } from 'node:module';
import type * as judging from '../nodes/shared/service/judge.ts';
import type * as reading from '../nodes/shared/service/responseBody.ts';
import type * as attempting from '../nodes/shared/service/attempt.ts';
import type * as responseRules from '../nodes/shared/service/responseRules.ts';
import type { RequestTraits } from '../nodes/shared/service/request.ts';
import { requireFreshBuild } from '../test/support/fresh-build.mts';

requireFreshBuild();
const load = createRequire(import.meta.url);
const compiled = (module: string): unknown => load(`../dist/nodes/shared/service/${module}.js`);
const { judge } = compiled('judge') as typeof judging;
const { fieldsIn } = compiled('responseBody') as typeof reading;
const { makeAttempt } = compiled('attempt') as typeof attempting;
const { refusalRuleFor: reasonOfRefusal } = compiled('responseRules') as typeof responseRules;

const payment: RequestTraits = {
	method: 'POST',
	responseField: 'txHash',
	movesMoney: true,
	body: { toUserId: 'etbw_a', amountEtb: 10 },
};

const [status = '', body = ''] = process.argv.slice(2);
if (!/^\d{3}$/.test(status)) throw new Error('Give the status of the response, then its body');

const raw = { status: Number(status), headers: {}, body };
const attempt = await makeAttempt(() => Promise.resolve(raw), 10_000);
const found = judge(payment, attempt);
console.log(`verdict: ${found.verdict}`);
if (found.verdict !== 'done') {
	console.log(`code: ${found.code}`);
	if (found.evidence !== undefined)
		console.log(`evidence: The service answered ${status} ${found.evidence}`);
	const values = attempt.kind === 'response' ? fieldsIn(attempt.body ?? attempt.text).values() : [];
	const reasons = [...values].flatMap((each) => [...each].map(reasonOfRefusal));
	const matches = (found.code === 'refused' ? reasons : [found]).filter((each) => each?.rule);
	for (const match of matches) console.log(`rule: ${match?.rule}\nmatched: ${match?.matched}`);
	if (matches.length === 0) console.log('rule: none');
}
