/** A mail server on this machine that keeps what it gets. */
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface Mail {
	to: string[];
	subject: string;
	text: string;
}

export interface MailServer {
	port: number;
	/** In the order of arrival. */
	mails: Mail[];
	/** From now on each message is refused; `false` takes them again. */
	refuse(refuses: boolean): void;
	close(): Promise<void>;
}

/** Bytes of a part in the encoding that its head names. */
function decoded(head: string, body: string): string {
	if (/content-transfer-encoding: *base64/i.test(head))
		return Buffer.from(body, 'base64').toString();
	if (/content-transfer-encoding: *quoted-printable/i.test(head)) {
		const bytes = body
			.replace(/=\r\n/g, '')
			.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
		return Buffer.from(bytes, 'latin1').toString();
	}
	return body;
}

/** A line of the head with words such as =?UTF-8?B?…?= in it. */
const words = (line: string): string =>
	line
		.replace(/\?=\s+=\?/g, '?==?')
		.replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
			kind.toLowerCase() === 'b'
				? Buffer.from(text, 'base64').toString()
				: decoded('content-transfer-encoding: quoted-printable', text.replaceAll('_', ' ')),
		);

function readMail(to: string[], data: string): Mail {
	const [head = '', ...rest] = data.split('\r\n\r\n');
	const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
	const subject =
		lines
			.find((line) => /^subject:/i.test(line))
			?.slice('subject:'.length)
			.trim() ?? '';
	const body = rest.join('\r\n\r\n').replace(/^\.\./gm, '.');
	return { to, subject: words(subject), text: decoded(head, body).replaceAll('\r\n', '\n').trim() };
}

/** Listens on a free port, without encryption or login. */
export async function startMailServer(): Promise<MailServer> {
	const mails: Mail[] = [];
	const sockets = new Set<Socket>();
	let refuses = false;
	const server = createServer((socket) => {
		sockets.add(socket);
		let input = '';
		let data: string | undefined;
		let to: string[] = [];
		const say = (line: string) => socket.write(`${line}\r\n`);
		const hear = (line: string) => {
			if (data !== undefined) {
				if (line !== '.') {
					data += `${line}\r\n`;
					return;
				}
				mails.push(readMail(to, data));
				data = undefined;
				to = [];
				say('250 taken');
			} else if (/^(EHLO|HELO)/i.test(line)) say('250 localhost');
			else if (/^MAIL/i.test(line)) say('250 ok');
			else if (/^RCPT/i.test(line)) {
				to.push(/<([^>]*)>/.exec(line)?.[1] ?? '');
				say(refuses ? '451 try again later' : '250 ok');
			} else if (/^DATA/i.test(line)) {
				data = '';
				say('354 go on');
			} else if (/^QUIT/i.test(line)) {
				say('221 bye');
				socket.end();
			} else say('250 ok');
		};
		socket.on('data', (bytes) => {
			input += bytes.toString('latin1');
			for (let end = input.indexOf('\r\n'); end !== -1; end = input.indexOf('\r\n')) {
				const line = input.slice(0, end);
				input = input.slice(end + 2);
				hear(line);
			}
		});
		socket.on('error', () => undefined);
		socket.on('close', () => sockets.delete(socket));
		say('220 localhost');
	});
	await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
	return {
		port: (server.address() as AddressInfo).port,
		mails,
		refuse: (value) => {
			refuses = value;
		},
		close: async () => {
			for (const socket of sockets) socket.destroy();
			await new Promise((closed) => server.close(closed));
		},
	};
}
