/** Reads the body of an answer up to a limit: n8n itself has none. */
import { property } from '../unknown';

/** In bytes, unpacked. */
const longestBody = 1_048_576;

interface Stream extends AsyncIterable<unknown> {
	destroy(): void;
}

const isStream = (body: unknown): body is Stream =>
	typeof property(body, Symbol.asyncIterator) === 'function' &&
	typeof property(body, 'destroy') === 'function';

/**
 * The text of a body, undefined when it is longer than 1 MB. If it comes as a stream, that is closed at the end, or when
 * `signal` is aborted. @throws {Error} when the connection ends before the body does
 */
export async function textOf(body: unknown, signal: AbortSignal): Promise<string | undefined> {
	if (!isStream(body)) return typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
	const close = (): void => body.destroy();
	signal.addEventListener('abort', close, { once: true });
	try {
		const chunks: Buffer[] = [];
		let length = 0;
		for await (const chunk of body) {
			if (!Buffer.isBuffer(chunk)) continue;
			length += chunk.length;
			if (length > longestBody) return undefined;
			chunks.push(chunk);
		}
		return new TextDecoder().decode(Buffer.concat(chunks));
	} finally {
		signal.removeEventListener('abort', close);
		close();
	}
}
