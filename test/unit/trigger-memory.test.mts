/** What a trigger keeps in memory, also its secret, goes when it ends, or when nobody uses it any more. */
import { Code } from '../model/loaded-code.mts';

interface Memory {
	done: Set<string>;
	running: Map<string, Promise<boolean>>;
	secrets?: object;
}

interface StateCode {
	memoryOf(context: object): Memory;
	dropEnded(trigger: string): void;
	triggerKey(context: object): string;
}

const code = new Code();
const contextOf = (id: string) => ({ getWorkflow: () => ({ id }), getNode: () => ({ id: 'n' }) });

let state: StateCode;
let now: jest.SpyInstance<number>;
beforeEach(() => {
	state = code.start({})('nodes/EtbWalletTrigger/state.ts') as StateCode;
	now = jest.spyOn(Date, 'now');
});
afterEach(() => now.mockRestore());

const secrets = { credentialId: '1', at: 0, loaded: Promise.resolve(['secret']) };

test('a trigger that has ended is forgotten', () => {
	const context = contextOf('w');
	const memory = state.memoryOf(context);
	memory.done.add('key');
	state.dropEnded(state.triggerKey(context));
	expect(state.memoryOf(context)).not.toBe(memory);
});

test('what is being handled is kept until it is done, without the secret', () => {
	const context = contextOf('w');
	const memory = state.memoryOf(context);
	memory.running.set('key', Promise.resolve(true));
	memory.secrets = secrets;
	state.dropEnded(state.triggerKey(context));
	expect(state.memoryOf(context)).toBe(memory);
	expect(memory.secrets).toBeUndefined();
});

test('a trigger that nobody uses is forgotten when another one is used', () => {
	const [idle, busy] = [contextOf('idle'), contextOf('busy')];
	const memory = state.memoryOf(idle);
	memory.secrets = secrets;
	now.mockReturnValue(Date.now() + 14 * 60_000);
	state.memoryOf(busy);
	expect(memory.secrets).toBe(secrets);
	now.mockReturnValue(Date.now() + 2 * 60_000);
	state.memoryOf(busy);
	expect(memory.secrets).toBeUndefined();
	expect(state.memoryOf(idle)).not.toBe(memory);
});
