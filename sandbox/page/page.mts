/** The sandbox's page: its state, and forms that change it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Attempt, Delivery } from '../books.mts';
import type { SandboxState } from '../control-api.mts';
import type { ExampleEvent } from '../deliveries.mts';
import type { PresetName } from '../faults.mts';
import { labelOfRoute, routeNames } from '../partner-api.mts';
import { parseJson } from '../refusal.mts';
import type { Sandbox } from '../sandbox.mts';
import { html, type Html } from './html.mts';

const FOLDER = import.meta.dirname;
const POLICY =
	"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** The routes in the order of the page. Payments stand first, because most faults are tried with them. */
const ROUTE_LABELS: Record<string, string> = Object.fromEntries([
	...routeNames.toReversed().map((route): [string, string] => [route, labelOfRoute(route)]),
	['*', 'Any request'],
]);

const PRESET_LABELS: Record<PresetName, string> = {
	refused: 'It refuses (422)',
	timeoutAfterPaying: 'Done, but no response ever comes',
	timeoutBeforePaying: 'Not done, and no response ever comes',
	error500AfterPaying: 'Done, but it says that it failed (500)',
	error500BeforePaying: 'Not done, it says that it failed (500)',
	resetAfterPaying: 'Done, but the connection breaks',
	resetBeforePaying: 'Not done, the connection breaks',
	tooManyRequests: 'It asks to wait for a second (429)',
	serviceUnavailable: 'Not done, it is down for a moment (503)',
	slow: 'It takes 1.5 seconds',
	cutBody: 'Done, but the response is cut off',
	drippingBody: 'Done, but the response never ends',
	switchingProtocols: 'Done, but the response is a strange one (101)',
	emptyBody: 'Done, but the response is empty',
	invalidJson: 'Done, but the response cannot be read',
	htmlError: 'Not done, a web page comes instead (500)',
};

/** The meaning of each fault for a payment. */
const PRESET_GROUPS: Record<string, PresetName[]> = {
	'A payment is not paid': ['refused'],
	'It is unknown whether it was paid': [
		'error500AfterPaying',
		'error500BeforePaying',
		'timeoutAfterPaying',
		'timeoutBeforePaying',
		'resetAfterPaying',
		'resetBeforePaying',
		'serviceUnavailable',
		'cutBody',
		'drippingBody',
		'switchingProtocols',
		'emptyBody',
		'invalidJson',
		'htmlError',
	],
	'It is paid, later': ['slow', 'tooManyRequests'],
};

/** The fields of an event that the page shows; an event may have any other shape. */
const EventBody = z
	.object({ data: z.object({ amountEtb: z.number(), toUserId: z.string() }).partial() })
	.catch({ data: {} });

const labelOf = (labels: Record<string, string>, name: string): string => labels[name] ?? name;

const EVENT_LABELS: Record<ExampleEvent, string> = {
	'disburse.completed': 'Payment completed',
	'transfer.completed': 'Transfer completed',
	'deposit.mint_queued': 'Deposit queued',
};

const thousands = (amount: number | string): string => {
	const [whole = '', fraction] = String(amount).split('.');
	return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction ? `.${fraction}` : '');
};

// page.js then shows the time in the reader's own time zone.
const time = (ms: number): Html => {
	const iso = new Date(ms).toISOString();
	return html`<time datetime="${iso}">${iso.slice(11, 19)} UTC</time>`;
};

const short = (value: string): Html => html`<code class="short">${value}</code>`;

const empty = (text: string): Html => html`<p class="empty">${text}</p>`;

const card = (title: string, value: Html, note: Html): Html =>
	html`<div class="card">
		<h2>${title}</h2>
		<p class="value">${value}</p>
		<p class="note">${note}</p>
	</div>`;

const payoutText = (destination: object): string =>
	Object.entries(destination)
		.map(([name, value]) => (name === 'type' ? String(value) : `${name} ${String(value)}`))
		.join(', ');

const cards = (state: SandboxState): Html =>
	html`<section class="cards" aria-label="Overview">
		${card(
			'Treasury balance',
			html`${thousands(state.balance.treasuryBalance)} <small>ETB</small>`,
			html`${state.balance.ethBalance} coin for fees · ${short(state.balance.treasuryAddress)}`,
		)}
		${card('Platform fee', html`${state.fee} <small>%</small>`, html`0.25 % until one is set`)}
		${card(
			'Webhook URL',
			state.webhookUrl === undefined
				? html`<span class="none">Not set</span>`
				: html`<span class="url">${state.webhookUrl}</span>`,
			html`Events are sent to this address`,
		)}
		${card(
			'Payout destination',
			state.payoutDestination === undefined
				? html`<span class="none">Not set</span>`
				: html`<span class="url">${payoutText(state.payoutDestination)}</span>`,
			html`Where the treasury is paid out to`,
		)}
	</section>`;

const faultText = ({ route, fault }: { route: string; fault: string }): string =>
	`${labelOf(ROUTE_LABELS, route)} → ${labelOf(PRESET_LABELS, fault)}`;

const notices = (state: SandboxState): Html => {
	const lines = [
		...(state.settings.refuseApiKey ? ['Every API key is refused at the moment.'] : []),
		...(state.settings.latencyMs > 0
			? [`Every response is delayed by ${state.settings.latencyMs} ms.`]
			: []),
		...state.faults.map(
			(fault) =>
				`Waiting to go wrong, ${fault.times === 1 ? 'once' : `${fault.times} times`}: ` +
				faultText(fault),
		),
	].map((line) => html`${line}`);
	if (state.lastFault !== undefined) {
		lines.push(html`Went wrong at ${time(state.lastFault.at)}: ${faultText(state.lastFault)}`);
	}
	return html`${lines.map((line) => html`<p class="notice">${line}</p>`)}`;
};

const attemptText = ({ status, error }: Attempt): string =>
	status === undefined ? (error ?? 'no response') : `response ${status}`;

const attemptItem = (attempt: Attempt, index: number): Html => {
	const good = attempt.status !== undefined && attempt.status >= 200 && attempt.status < 300;
	return html`<li class="${good ? 'good' : 'bad'}">
		<b>Try ${index + 1}</b> ${time(attempt.at)} <span>${attemptText(attempt)}</span>
	</li>`;
};

const deliveryState = (delivery: Delivery): Html => {
	if (delivery.state === 'delivered') return html`<span class="chip good">Delivered</span>`;
	if (delivery.state === 'failed') {
		return html`<span class="chip bad">${delivery.url === '' ? 'Not sent' : 'Gave up'}</span>`;
	}
	if (delivery.attempts.length === 0) return html`<span class="chip wait">Sending</span>`;
	return html`<span class="chip wait"
		>Next try <span data-until="${delivery.nextAttemptAt ?? 0}">soon</span></span
	>`;
};

/** The amount of an event, and its recipient. */
const about = ({ body }: Delivery): string => {
	const { data } = EventBody.parse(parseJson(body));
	const amount = data.amountEtb === undefined ? '' : `: ${thousands(data.amountEtb)} ETB`;
	return data.toUserId === undefined ? amount : `${amount} to ${data.toUserId}`;
};

const deliveryRow = (delivery: Delivery): Html =>
	html`<tr>
		<td class="event">
			<b>${labelOf(EVENT_LABELS, delivery.event)}</b>${about(delivery)}<br /><code
				>${delivery.event}</code
			>
		</td>
		<td>${deliveryState(delivery)}</td>
		<td class="tries">
			${delivery.url === ''
				? html`<span class="none">No webhook URL was set</span>`
				: html`<ol class="attempts">
						${delivery.attempts.map(attemptItem)}
					</ol>`}
			<details data-id="${delivery.id}">
				<summary>What was sent</summary>
				<dl>
					<dt>To</dt>
					<dd><code>${delivery.url || 'nowhere'}</code></dd>
					<dt>Signature</dt>
					<dd><code>${delivery.signature}</code></dd>
					<dt>Body</dt>
					<dd><code>${delivery.body}</code></dd>
				</dl>
			</details>
		</td>
	</tr>`;

const table = (title: string, total: number, rows: Html[], head: Html, none: string): Html =>
	html`<section class="panel">
		<h2>${title} <span class="count">${thousands(total)}</span></h2>
		${rows.length === 0
			? empty(none)
			: html`<div class="scroll" data-scroll="${title}" tabindex="0">
					<table>
						<thead>
							<tr>
								${head}
							</tr>
						</thead>
						<tbody>
							${rows}
						</tbody>
					</table>
				</div>`}
		${total > rows.length && rows.length > 0
			? html`<p class="note">The newest ${rows.length} are shown.</p>`
			: ''}
	</section>`;

/** An id, with the name of the person above it if that is known. */
const named = (name: string | undefined, id: Html): Html =>
	name === undefined ? id : html`<b>${name}</b><br />${id}`;

/** The part of the page that is updated when the sandbox changes. */
export const renderLive = (state: SandboxState): Html =>
	html`${notices(state)} ${cards(state)}
		<div class="columns">
			${table(
				'Payments',
				state.totals.disbursements,
				state.disbursements.map(
					(payment) =>
						html`<tr>
							<td>${time(payment.createdAt)}</td>
							<td class="break">${named(payment.name, html`${payment.toUserId}`)}</td>
							<td class="number">${thousands(payment.amountText)}</td>
							<td>${short(payment.txHash)}</td>
						</tr>`,
				),
				html`<th>When</th>
					<th>To user</th>
					<th class="number">ETB</th>
					<th>Transaction</th>`,
				'No payment yet. Run the ETB Wallet node in n8n with “Pay a user” (Disbursement → Create).',
			)}
			${table(
				'Users',
				state.totals.users,
				state.users.map(
					(user) =>
						html`<tr>
							<td class="break">
								${named(user.name ?? user.externalId, html`<code>${user.id}</code>`)}
							</td>
							<td class="break email">${user.email ?? html`<span class="none">none</span>`}</td>
							<td>${short(user.walletAddress)}</td>
						</tr>`,
				),
				html`<th>User</th>
					<th>Email</th>
					<th>Wallet</th>`,
				'No user yet. Run the ETB Wallet node in n8n with “Create a user wallet” (User → Create).',
			)}
		</div>
		${table(
			'Events sent to your webhook',
			state.totals.deliveries,
			state.deliveries.map(deliveryRow),
			html`<th>Event</th>
				<th>State</th>
				<th>Tries</th>`,
			'No event yet. Every payment sends one; or simulate a deposit above.',
		)}
		<p class="note">Requests received since the start: ${thousands(state.totals.requests)}</p>`;

const options = (labels: Record<string, string>): Html[] =>
	Object.entries(labels).map(([name, label]) => html`<option value="${name}">${label}</option>`);

const amountField = html`<label
	>Amount in ETB
	<input name="amountEtb" type="number" min="0.01" step="any" value="100" required />
</label>`;

const controls = (sandbox: Sandbox): Html =>
	html`<section class="controls" aria-label="Try things">
		<form data-post="/sandbox/deposit" data-done="Deposit simulated.">
			<h2>Simulate a deposit</h2>
			<p class="note">
				Money comes in, here at once. n8n hears of it as <code>deposit.mint_queued</code>.
			</p>
			${amountField}
			<button>Deposit</button>
		</form>
		<form data-post="/sandbox/transfer" data-done="Transfer simulated.">
			<h2>Simulate a transfer</h2>
			<p class="note">Users pay each other. n8n hears of it as <code>transfer.completed</code>.</p>
			${amountField}
			<button>Transfer</button>
		</form>
		<form data-post="/sandbox/examples" data-done="Sent. Below is what it was answered.">
			<h2>Send an event</h2>
			<p class="note">
				About nothing that happened. To build a workflow with it, copy the <i>Test URL</i> (in
				<i>Webhook URLs</i>) of the trigger to here, choose <i>Execute step</i> there, and send. A
				test takes one event.
			</p>
			<label>To <input name="url" type="url" placeholder="The webhook URL" /></label>
			<div class="buttons">
				${Object.entries(EVENT_LABELS).map(
					([event, label]) => html`<button name="event" value="${event}">${label}</button>`,
				)}
				<button class="quiet" name="event" value="*">One of each</button>
			</div>
		</form>
		<form data-post="/sandbox/faults" data-done="">
			<h2>Make something go wrong</h2>
			<p class="note">
				See how a workflow copes when the service or the network fails. Without a response, a
				payment waits 60 seconds before it goes on; reading is tried again, for up to 4 minutes.
			</p>
			<label
				>When n8n asks to
				<select name="route">
					${options(ROUTE_LABELS)}
				</select></label
			>
			<label
				>this happens
				<select name="preset">
					${Object.entries(PRESET_GROUPS).map(
						([meaning, names]) =>
							html`<optgroup label="${meaning}">
								${options(Object.fromEntries(names.map((name) => [name, PRESET_LABELS[name]])))}
							</optgroup>`,
					)}
				</select></label
			>
			<label
				>Times <input name="times" type="number" min="1" max="1000" value="1" required
			/></label>
			<div class="buttons">
				<button>Break it</button>
				<button type="button" class="quiet" data-delete="/sandbox/faults" data-done="All is well.">
					Undo all
				</button>
			</div>
		</form>
		<div class="form">
			<h2>Connect n8n</h2>
			<p class="note">
				<code>npm start</code> has done this. In another n8n, put these in the “ETB Wallet API”
				credential.
			</p>
			<dl>
				<dt>Base URL</dt>
				<dd><code>${sandbox.url}</code></dd>
				<dt>API key</dt>
				<dd><code>${sandbox.apiKey}</code></dd>
				<dt>Webhook secret</dt>
				<dd><code>${sandbox.webhookSecret}</code></dd>
			</dl>
		</div>
	</section>`;

/** The whole page. */
export const renderPage = (sandbox: Sandbox, state: SandboxState): Html =>
	html`<!doctype html>
		<html lang="en">
			<head>
				<meta charset="utf-8" />
				<meta name="viewport" content="width=device-width, initial-scale=1" />
				<meta name="color-scheme" content="light dark" />
				<title>ETB Wallet Sandbox</title>
				<link rel="icon" href="data:," />
				<link rel="stylesheet" href="/sandbox/page.css" />
				<script src="/sandbox/page.js" defer></script>
			</head>
			<body>
				<header>
					<h1>ETB Wallet Sandbox</h1>
					<p>A pretend partner service on your own computer. No real money moves.</p>
					<p id="connection" role="status">Live</p>
				</header>
				<main>
					${controls(sandbox)}
					<p id="message" role="status"></p>
					<div id="live">${renderLive(state)}</div>
				</main>
			</body>
		</html>`;

/** Serves the page at `/`, its live part and its two files. */
export function addPage(app: FastifyInstance, sandbox: Sandbox, state: () => SandboxState): void {
	app.get('/', (_request, reply) =>
		reply
			.headers({ 'content-security-policy': POLICY, 'cache-control': 'no-store' })
			.type('text/html; charset=utf-8')
			.send(renderPage(sandbox, state()).text),
	);
	app.get('/sandbox/live', (_request, reply) =>
		reply.type('text/html; charset=utf-8').send(renderLive(state()).text),
	);
	for (const [name, type] of [
		['page.css', 'text/css; charset=utf-8'],
		['page.js', 'text/javascript; charset=utf-8'],
	] as const) {
		const content = readFileSync(join(FOLDER, name));
		app.get(`/sandbox/${name}`, (_request, reply) => reply.type(type).send(content));
	}
}
