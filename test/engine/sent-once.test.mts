/** What may have been carried out is never sent again: by the sandbox's own count. */
import type { Fault, PresetName } from '../../sandbox/faults.mts';
import { calls, withShortTimeoutsFor } from '../support/engine/calls.mts';
import type { RunOptions, RunResult } from '../support/engine/engine.mts';
import { credentialFor, runNode } from '../support/engine/engine.mts';
import { payInEachTest, sandbox, user } from '../support/engine/paying.mts';

payInEachTest();
let userId: string;
beforeEach(() => {
	userId = user('abebe');
});

const status = (code: number): Fault => ({
	process: 'before-answer',
	answer: { status: code, body: '{"message":"Try again"}' },
});

/** Each leaves it open whether the service did it; `done` is what it did. */
const faults: [name: string, fault: Fault | PresetName, done: number][] = [
	['a timeout, done', 'timeoutAfterPaying', 1],
	['a timeout, not done', 'timeoutBeforePaying', 0],
	['a reset, done', 'resetAfterPaying', 1],
	['a reset, not done', 'resetBeforePaying', 0],
	['a cut body', 'cutBody', 1],
	['an empty body', 'emptyBody', 1],
	['500, done', 'error500AfterPaying', 1],
	['500, not done', 'error500BeforePaying', 0],
	...[503, 302].map((code): (typeof faults)[number] => [`${code}, done`, status(code), 1]),
];

const posts = [
	['POST /users', calls.createUser],
	['POST /disburse', calls.disburse],
] as const;

const modes: [name: string, options: Partial<RunOptions>][] = [
	['stops on an error', { retryOnFail: true }],
	['continues on the error output', { retryOnFail: true, onError: 'continueErrorOutput' }],
	['continues on the regular output', { onError: 'continueRegularOutput' }],
];

const run = async (
	parameters: RunOptions['parameters'],
	options: Partial<RunOptions> = {},
): Promise<RunResult> =>
	await runNode({
		credential: credentialFor(sandbox),
		parameters,
		items: [{ userId }],
		...options,
	});

const doneBy = (route: string): number =>
	route === 'POST /users' ? sandbox.books.users().length - 1 : sandbox.books.disbursements().length;

const remedy = expect.stringMatching(/^It may have been (done|paid)\. /) as unknown;

function expectUnknown(route: string, result: RunResult, { onError }: Partial<RunOptions>): void {
	if (onError === undefined) {
		expect(result.error).toMatchObject({ description: remedy });
		return;
	}
	const isPayment = route === 'POST /disburse';
	const told = { outcome: 'unknown', remedy };
	const isRow = isPayment && onError === 'continueRegularOutput';
	const items = onError === 'continueErrorOutput' ? result.errorOutput : result.output;
	expect(items).toMatchObject([{ json: isRow ? told : { error: told } }]);
}

describe.each(posts)('%s', (route, { parameters }) => {
	describe.each(modes)('when the node %s', (_mode, options) => {
		test.each(faults)(
			'is sent once and reported as unknown after %s',
			async (_name, fault, done) => {
				withShortTimeoutsFor(fault);
				sandbox.faults.next(route, fault, 10);
				const result = await run(parameters, options);
				expect(sandbox.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
					route.replace('/', '/api/v1/partners/'),
				]);
				expect(doneBy(route)).toBe(done);
				expectUnknown(route, result, options);
			},
		);
	});
});
