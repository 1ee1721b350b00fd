'use strict';
// Keeps the page in step with the sandbox and sends its forms. The server renders and escapes.

const POLL_MS = 1000;
const live = document.getElementById('live');
const message = document.getElementById('message');
const connection = document.getElementById('connection');
let shown = '';

function waitText(ms) {
	if (ms <= 0) return 'now';
	const seconds = Math.ceil(ms / 1000);
	return seconds < 60 ? `in ${seconds} s` : `in ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function refreshTimes() {
	for (const element of live.querySelectorAll('time')) {
		const date = new Date(element.dateTime);
		element.textContent = date.toLocaleTimeString(undefined, { hour12: false });
		element.title = date.toLocaleString();
	}
	for (const element of live.querySelectorAll('[data-until]')) {
		element.textContent = waitText(Number(element.dataset.until) - Date.now());
	}
}

function replaceLive(markup) {
	const open = new Set(
		[...live.querySelectorAll('details[open]')].map(({ dataset }) => dataset.id),
	);
	const scrolled = new Map(
		[...live.querySelectorAll('[data-scroll]')].map((box) => [box.dataset.scroll, box.scrollTop]),
	);
	live.innerHTML = markup;
	for (const details of live.querySelectorAll('details'))
		details.open = open.has(details.dataset.id);
	for (const box of live.querySelectorAll('[data-scroll]')) {
		box.scrollTop = scrolled.get(box.dataset.scroll) ?? 0;
	}
}

async function refresh() {
	try {
		const response = await fetch('/sandbox/live');
		const markup = await response.text();
		if (!response.ok) throw new Error(markup);
		if (markup !== shown) replaceLive(markup);
		shown = markup;
		connection.textContent = 'Live';
		connection.className = '';
	} catch {
		connection.textContent = 'The sandbox does not answer';
		connection.className = 'lost';
	}
	refreshTimes();
}

async function send(method, path, body, done) {
	try {
		const response = await fetch(path, {
			method,
			headers: body ? { 'content-type': 'application/json' } : {},
			body: body && JSON.stringify(body),
		});
		const parsed = await response.json();
		const problem = response.ok ? parsed.problem : parsed.error.message;
		message.textContent = problem ?? done;
		message.className = problem === undefined ? 'good' : 'bad';
	} catch {
		message.textContent = 'The sandbox does not answer. Is it still running?';
		message.className = 'bad';
	}
	await refresh();
}

/** The values of all fields and of the button that was clicked. */
function valuesOf(form, button) {
	const fields = [...form.elements].filter(
		(field) => field.name && (field.type !== 'submit' || field === button),
	);
	return Object.fromEntries(
		fields.map((field) => [
			field.name,
			field.type === 'number' ? field.valueAsNumber : field.value,
		]),
	);
}

for (const form of document.querySelectorAll('form[data-post]')) {
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		void send('POST', form.dataset.post, valuesOf(form, event.submitter), form.dataset.done);
	});
}
for (const button of document.querySelectorAll('button[data-delete]')) {
	button.addEventListener('click', () => {
		void send('DELETE', button.dataset.delete, undefined, button.dataset.done);
	});
}

async function poll() {
	if (!document.hidden) await refresh();
	setTimeout(poll, POLL_MS);
}

void poll();
