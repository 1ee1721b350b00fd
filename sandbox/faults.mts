/** Faults: the ways in which a request to the partner API can be made to fail. */
import type { ReceivedRequest, RouteName } from './partner-api.mts';
import { errorBody } from './refusal.mts';

/** A response that replaces the service's own. */
export interface CannedResponse {
	status: number;
	headers?: Record<string, string>;
	body?: string;
}

/** The fault of one request. */
export interface Fault {
	/** Whether the service does the work (pays, provisions, ...) before it answers. */
	process: 'before-response' | 'never';
	/**
	 * `normal`: the service's own response; `none`: no response, the connection stays open;
	 * `reset`: TCP reset; `cut`: half of the body under the full Content-Length, then closed;
	 * `drip`: a body without an end, a byte at a time; `switch`: 101 Switching Protocols, the connection stays open.
	 * With `process: 'never'` the service has no response of its own: `normal` and `cut` then use a 503.
	 */
	response: 'normal' | 'none' | 'reset' | 'cut' | 'drip' | 'switch' | CannedResponse;
	/** The pause before the response, in ms. */
	delayMs?: number;
	/** The pause between two bytes of `drip`, in ms; 300 by default. */
	dripEveryMs?: number;
}

const jsonError = (code: string, message: string) => JSON.stringify(errorBody(code, message));
const error500: CannedResponse = {
	status: 500,
	body: jsonError('internal_error', 'Something went wrong. Please try again later.'),
};

/** The response of a service that is down for a moment. */
export const unavailable: CannedResponse = {
	status: 503,
	body: jsonError('unavailable', 'The service is temporarily unavailable.'),
};

/** Faults by name. */
export const presets = {
	refused: {
		process: 'never',
		response: {
			status: 422,
			body: jsonError('refused', 'The wallet cannot be used at the moment.'),
		},
	},
	timeoutAfterPaying: { process: 'before-response', response: 'none' },
	timeoutBeforePaying: { process: 'never', response: 'none' },
	error500AfterPaying: { process: 'before-response', response: error500 },
	error500BeforePaying: { process: 'never', response: error500 },
	resetAfterPaying: { process: 'before-response', response: 'reset' },
	resetBeforePaying: { process: 'never', response: 'reset' },
	tooManyRequests: {
		process: 'never',
		response: {
			status: 429,
			headers: { 'retry-after': '1' },
			body: jsonError('too_many_requests', 'Too many requests. Slow down.'),
		},
	},
	serviceUnavailable: { process: 'never', response: unavailable },
	slow: { process: 'before-response', response: 'normal', delayMs: 1500 },
	cutBody: { process: 'before-response', response: 'cut' },
	drippingBody: { process: 'before-response', response: 'drip' },
	switchingProtocols: { process: 'before-response', response: 'switch' },
	emptyBody: { process: 'before-response', response: { status: 200, body: '' } },
	invalidJson: { process: 'before-response', response: { status: 200, body: '{"success": tru' } },
	htmlError: {
		process: 'never',
		response: {
			status: 500,
			headers: { 'content-type': 'text/html; charset=utf-8' },
			body: '<!doctype html><html><head><title>500 Internal Server Error</title></head><body><h1>Internal Server Error</h1></body></html>',
		},
	},
} satisfies Record<string, Fault>;

export type PresetName = keyof typeof presets;
export type FaultRoute = RouteName | '*';
type FaultPlan = (request: ReceivedRequest) => Fault | PresetName | undefined;

const isPresetName = (name: string): name is PresetName => Object.hasOwn(presets, name);

/** The names of the presets. */
export const presetNames: readonly PresetName[] = Object.keys(presets).filter(isPresetName);

interface QueuedFault {
	route: FaultRoute;
	fault: Fault | PresetName;
	times: number;
}

/** Decides which fault, if any, hits a request to the partner API. */
export class Faults {
	private queue: QueuedFault[] = [];
	private readonly plans = new Map<FaultRoute, FaultPlan>();
	/** The queued fault that hit a request last. `at` in ms. */
	lastHit: { route: RouteName; fault: Fault | PresetName; at: number } | undefined;

	/** Queues a fault for the next `times` requests to a route (`*`: to any route). */
	next(route: FaultRoute, fault: Fault | PresetName, times = 1): void {
		this.queue.push({ route, fault, times });
	}

	/** Asks `plan` at each request to a route that no queued fault hits. A route has one plan. */
	plan(route: FaultRoute, plan: FaultPlan): void {
		this.plans.set(route, plan);
	}

	/** Forgets queued faults, plans and the last hit. */
	clear(): void {
		this.queue = [];
		this.lastHit = undefined;
		this.plans.clear();
	}

	/** The queued faults in the order in which they hit, with the number of requests that each will still hit. */
	queued(): readonly QueuedFault[] {
		return this.queue;
	}

	/** The fault for this request. A queued fault leaves the queue after the last request that it shall hit. */
	take(route: RouteName, request: ReceivedRequest): Fault | undefined {
		const queued = this.queue.find((entry) => entry.route === route || entry.route === '*');
		if (queued) {
			queued.times -= 1;
			this.lastHit = { route, fault: queued.fault, at: request.receivedAt };
			if (queued.times <= 0) this.queue = this.queue.filter((entry) => entry !== queued);
		}
		const chosen =
			queued?.fault ?? this.plans.get(route)?.(request) ?? this.plans.get('*')?.(request);
		return typeof chosen === 'string' ? presets[chosen] : chosen;
	}
}
