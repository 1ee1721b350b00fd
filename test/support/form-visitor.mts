/** A person at n8n's form pages: sends the HTTP requests of their browser. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Login } from '../../demo/n8n-api.mts';
import { eventually } from './lab.mts';

const Approved = z.object({ data: z.object({ redirectUrl: z.string() }) });
const FormResponse = z.object({ formWaitingUrl: z.string() });

/** ms. n8n never answers a request for a form whose execution runs. */
const RESPONDS_WITHIN = 20_000;
const REDIRECTS = 10;

/** A file to upload. */
export interface Upload {
	name: string;
	content: string | Uint8Array;
}

export class FormVisitor {
	private readonly cookies = new Map<string, string>();
	private readonly url: string;

	private constructor(url: string) {
		this.url = url;
	}

	/** A visitor without a login, such as a program that opens links. */
	static stranger(url: string): FormVisitor {
		return new FormVisitor(url);
	}

	static async logIn(url: string, { email, password }: Login): Promise<FormVisitor> {
		const visitor = new FormVisitor(url);
		await visitor.json('/rest/login', { emailOrLdapLoginId: email, password });
		return visitor;
	}

	/** The page at this address, after the redirects; for a form with a login, after allowing it to know who this is. */
	async open(address: string): Promise<string> {
		return await eventually(`a response of ${address}`, async () => {
			if (address.includes('/form-waiting/')) await this.nextPage(address);
			const signal = AbortSignal.timeout(RESPONDS_WITHIN);
			try {
				return await this.follow(address, signal);
			} catch (error) {
				if (!signal.aborted) throw error;
				// The execution went on meanwhile. A person loads the page again.
				return undefined;
			}
		});
	}

	private async follow(address: string, signal: AbortSignal): Promise<string> {
		let next = address;
		for (let hop = 0; hop < REDIRECTS; hop++) {
			const response = await this.request(next, { signal });
			const location = response.headers.get('location');
			if (location === null) {
				const page = await response.text();
				if (!new URL(next).pathname.startsWith('/oauth/consent')) return page;
				const allowed = await this.json('/rest/consent/approve', { approved: true });
				next = Approved.parse(allowed).data.redirectUrl;
			} else {
				next = new URL(location, next).href;
			}
		}
		throw new Error(`too many redirects from ${address}`);
	}

	/** Fills in a form, field by field; resolves to the address of the page that follows, once it is there. */
	async fillIn(
		path: string,
		fields: Array<string | Upload>,
		kind: 'form' | 'form-test' = 'form',
	): Promise<string> {
		const address = `${this.url}/${kind}/${path}`;
		const body = new FormData();
		for (const [index, field] of fields.entries())
			body.set(`field-${index}`, typeof field === 'string' ? field : fileOf(field));
		const response = await this.request(address, {
			method: 'POST',
			body,
			headers: tokenOf(await this.open(address)),
		});
		const { formWaitingUrl } = FormResponse.parse(await response.json());
		await this.nextPage(formWaitingUrl);
		return formWaitingUrl;
	}

	/**
	 * Sends the form of a page that waits, as the page's script does: each question whose label holds a key of
	 * `choices` gets the option that begins with its value, or that value if there is none. The others get their first one,
	 * or none if they are not required.
	 * @param page one that was opened before
	 */
	async answer(
		address: string,
		choices: Readonly<Record<string, string>>,
		page?: string,
	): Promise<number | 'no response'> {
		const shown = page ?? (await this.open(address));
		const body = new FormData();
		const questions = questionsOn(shown);
		for (const key of Object.keys(choices))
			assert.ok(
				questions.some(({ label }) => label.includes(key)),
				`no question has ${key}`,
			);
		for (const { index, label, options, isRequired } of questions) {
			const said = Object.entries(choices).find(([key]) => label.includes(key))?.[1];
			const chosen = options.find((option) => option.startsWith(said ?? '')) ?? said;
			const isAnswered = said !== undefined || isRequired;
			body.set(`field-${index}`, JSON.stringify(isAnswered ? [chosen] : []));
		}
		const signal = AbortSignal.timeout(RESPONDS_WITHIN);
		try {
			const response = await this.request(address, {
				method: 'POST',
				body,
				headers: tokenOf(shown),
				signal,
			});
			await response.arrayBuffer();
			return response.status;
		} catch (error) {
			if (!signal.aborted) throw error;
			return 'no response';
		}
	}

	/** Answers the one question of a page with the option that begins so. */
	async choose(address: string, choice: string, page?: string): Promise<number | 'no response'> {
		return await this.answer(address, { '': choice }, page);
	}

	/**
	 * Does the same as the page's script after sending: waits for the next page, opens it, and ends the
	 * execution with it.
	 */
	async read(address: string): Promise<string> {
		const page = await this.open(address);
		// The last page is sent by its script.
		if (!page.includes("id='n8n-form'"))
			await this.request(address, { method: 'POST', headers: tokenOf(page) });
		return page;
	}

	private async nextPage(address: string): Promise<void> {
		const status = new URL(address);
		status.pathname += '/n8n-execution-status';
		await eventually(
			'the next page',
			async () => {
				const text = await (await this.request(status.href)).text();
				assert.ok(
					!['error', 'crashed', 'canceled', 'null'].includes(text),
					`the execution is "${text}"`,
				);
				return ['form-waiting', 'success'].includes(text) ? true : undefined;
			},
			600_000,
		);
	}

	/** Sends a request with the visitor's cookies, without following redirects. */
	async request(address: string, init: RequestInit = {}): Promise<Response> {
		const cookie = [...this.cookies]
			.filter(([name]) => !isOfAnotherPage(name, address))
			.map(([name, value]) => `${name}=${value}`)
			.join('; ');
		const headers = {
			...Object.fromEntries(new Headers(init.headers)),
			cookie,
			connection: 'close',
		};
		const response = await fetch(address, { ...init, headers, redirect: 'manual' });
		for (const line of response.headers.getSetCookie()) {
			const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
			if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(line))
				this.cookies.delete(name);
			else this.cookies.set(name, value);
		}
		return response;
	}

	private async json(path: string, body: object): Promise<unknown> {
		const headers = { 'content-type': 'application/json' };
		const response = await this.request(this.url + path, {
			method: 'POST',
			headers,
			body: JSON.stringify(body),
		});
		const text = await response.text();
		assert.ok(response.ok, `${path} answered ${response.status}: ${text}`);
		return JSON.parse(text);
	}
}

/**
 * Whether a cookie is for the pages of another execution. n8n gives out one of 560 bytes for each, for an hour, and
 * refuses (431) requests with more than 16 KB of them. A test opens more pages in an hour than a person.
 */
const isOfAnotherPage = (cookie: string, address: string): boolean => {
	const [, id] = /^n8n-form-auth-ex-(.*)$/.exec(cookie) ?? [];
	return id !== undefined && !new URL(address).pathname.includes(`/form-waiting/${id}`);
};

/** The media type that a browser sends for a file, by the extension of its name. */
const mediaTypes: Record<string, string> = {
	csv: 'text/csv',
	ods: 'application/vnd.oasis.opendocument.spreadsheet',
	xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

const fileOf = ({ name, content }: Upload): File =>
	new File([typeof content === 'string' ? content : new Uint8Array(content)], name, {
		type: mediaTypes[name.split('.').at(-1) ?? ''],
	});

const unescaped = (html: string): string =>
	html
		.replace(/&(?:#x([0-9a-f]+)|#(\d+));/gi, (_, hex: string | undefined, code: string) =>
			String.fromCharCode(hex === undefined ? Number(code) : parseInt(hex, 16)),
		)
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&quot;', '"')
		.replaceAll('&amp;', '&');

interface Question {
	/** The place in the form. */
	index: number;
	label: string;
	options: string[];
	isRequired: boolean;
}

function questionsOn(page: string): Question[] {
	const found = /<label class='form-label([^>]*)>([^<]*)<\/label>[\s\S]*?id='field-(\d+)'/g;
	const labels = [...page.matchAll(found)];
	return labels.map(([, classes = '', label = '', index = '']) => {
		const options = [
			...page.matchAll(new RegExp(`id='option\\d+_field-${index}' value='([^']*)'`, 'g')),
		];
		return {
			index: Number(index),
			label: unescaped(label).trim(),
			isRequired: classes.includes('required'),
			options: options.map(([, value = '']) => unescaped(value)),
		};
	});
}

const tokenOf = (page: string): Record<string, string> => {
	const [, token = ''] = /const authToken = '([^']*)'/.exec(page) ?? [];
	return token === '' ? {} : { 'x-auth-token': token };
};
