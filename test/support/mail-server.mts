/** A mail server on loopback that keeps the messages it gets. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

interface Mail {
	to: string[];
	subject: string;
	text: string;
}

export interface MailServer {
	port: number;
	/** In the order of arrival. */
	mails: Mail[];
	/** From now on each recipient is refused for a time (451); `false` accepts them again. */
	refuse(refuses: boolean): void;
	close(): Promise<void>;
}

/** Listens on a free port, without encryption or login. */
export async function startMailServer(): Promise<MailServer> {
	const mails: Mail[] = [];
	let refuses = false;
	const smtp = new SMTPServer({
		disabledCommands: ['STARTTLS', 'AUTH'],
		closeTimeout: 0,
		onRcptTo(_address, _session, done) {
			done(refuses ? Object.assign(new Error('Try again later'), { responseCode: 451 }) : null);
		},
		onData(stream, { envelope }, done) {
			void text(stream)
				.then(async (message) => {
					const { subject = '', text: body = '' } = await PostalMime.parse(message);
					const to = envelope.rcptTo.map(({ address }) => address);
					mails.push({ to, subject, text: body.trim() });
				})
				.then(() => done(), done);
		},
	});
	smtp.listen(0, '127.0.0.1');
	await once(smtp.server, 'listening');
	return {
		port: (smtp.server.address() as AddressInfo).port,
		mails,
		refuse: (value) => {
			refuses = value;
		},
		close: async () => await new Promise((closed) => smtp.close(closed)),
	};
}
