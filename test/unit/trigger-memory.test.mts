/** What a trigger keeps in memory, also its secret, goes when it ends, or when nobody uses it any more. */
import { PerTrigger, triggerKey } from '../../nodes/EtbWalletTrigger/perTrigger.ts';

interface Part {
	isBusy: boolean;
}

type Context = Parameters<typeof triggerKey>[0];
const contextOf = (id: string): Context =>
	({ getWorkflow: () => ({ id }), getNode: () => ({ id: 'n' }) }) as Context;

let memory: PerTrigger<Part>;
let now: jest.SpyInstance<number>;
beforeEach(() => {
	memory = new PerTrigger<Part>(() => ({ isBusy: false }));
	now = jest.spyOn(Date, 'now');
});
afterEach(() => now.mockRestore());

test('a trigger that has ended is forgotten', () => {
	const context = contextOf('w');
	const part = memory.of(context);
	expect(memory.of(context)).toBe(part);
	memory.drop(triggerKey(context));
	expect(memory.of(context)).not.toBe(part);
});

test('what is being handled is kept until it is done', () => {
	const context = contextOf('w');
	const part = memory.of(context);
	part.isBusy = true;
	memory.drop(triggerKey(context));
	expect(memory.of(context)).toBe(part);
});

test('a trigger that nobody uses is forgotten when another one is used', () => {
	const [idle, busy] = [contextOf('idle'), contextOf('busy')];
	const part = memory.of(idle);
	now.mockReturnValue(Date.now() + 14 * 60_000);
	memory.of(busy);
	now.mockReturnValue(Date.now() + 2 * 60_000);
	memory.of(busy);
	expect(memory.of(idle)).not.toBe(part);
});
