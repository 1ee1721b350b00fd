/** At least 100,000 forged deliveries: none is accepted, and every genuine one is. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { isSigned } from '../../nodes/EtbWalletTrigger/signedDelivery.ts';

interface Genuine {
	body: Buffer;
	header: string;
	secret: string;
}

/** JSON texts that other programs write: numbers, white space and escapes that JSON.stringify would change. */
const oddNumber = fc.constantFrom('1.0', '1e3', '0.10', '-0', '100000000000000000001', '1E-7');
const space = fc.constantFrom('', ' ', '\n', '\t ', '  \r\n');
const name = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => JSON.stringify(text));
const oddJson = fc
	.tuple(space, name, oddNumber, space, fc.constantFrom('"አበበ"', '"\\u12a0"', '"\\/"', '"😀"'))
	.map(
		([gap, id, amount, end, text]) =>
			`${gap}{${gap}"event":${gap}"transfer.completed",${gap}"data" :{"id":${id},"amountEtb":${amount},"name":${text}}${end}}${end}`,
	);
const plainJson = fc.json().map((text) => `{"event":"disburse.completed","data":${text}}`);

const genuine: fc.Arbitrary<Genuine> = fc
	.record({
		text: fc.oneof(oddJson, plainJson),
		secret: fc.string({ minLength: 8, maxLength: 48 }).filter((secret) => secret.trim() !== ''),
	})
	.map(({ text, secret }) => {
		const body = Buffer.from(text);
		const hex = createHmac('sha256', secret).update(body).digest('hex');
		return { body, header: `sha256=${hex}`, secret };
	});

interface Choice {
	/** Where in the body or the signature something changes. */
	position: number;
	bit: number;
	otherSecret: string;
}

const choice: fc.Arbitrary<Choice> = fc.record({
	position: fc.nat(),
	bit: fc.integer({ min: 0, max: 7 }),
	otherSecret: fc.string({ minLength: 8, maxLength: 48 }),
});

/** Whether it is accepted, also while the secret is being replaced. */
const isAccepted = (body: Buffer, header: unknown, secret: string): boolean =>
	isSigned({ headers: { 'x-webhook-signature': header }, body }, [secret, `previous ${secret}`]);

type Forgery = (delivery: Genuine, choice: Choice) => { body: Buffer; header: unknown } | undefined;

function flipped(bytes: Buffer, { position, bit }: Choice): Buffer {
	const copy = Buffer.from(bytes);
	copy.writeUInt8(copy.readUInt8(position % copy.length) ^ (1 << bit), position % copy.length);
	return copy;
}

const hexOf = ({ header }: Genuine): string => header.slice('sha256='.length);

/** Every way to forge a delivery; undefined when the change would change nothing. */
const forgeries: Record<string, Forgery> = {
	'bit flip in the body': ({ body, header }, choice) => ({ body: flipped(body, choice), header }),
	'bit flip in the signature': (delivery, choice) => ({
		body: delivery.body,
		header: `sha256=${flipped(Buffer.from(hexOf(delivery), 'hex'), choice).toString('hex')}`,
	}),
	'byte left out': ({ body, header }, { position }) => ({
		body: Buffer.concat([
			body.subarray(0, position % body.length),
			body.subarray((position % body.length) + 1),
		]),
		header,
	}),
	'byte added': ({ body, header }, { position }) => ({
		body: Buffer.concat([body, Buffer.from([position % 256])]),
		header,
	}),
	're-serialised JSON': ({ body, header }) => {
		const again = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
		return again.equals(body) ? undefined : { body: again, header };
	},
	'wrong prefix': (delivery) => ({ body: delivery.body, header: `sha1=${hexOf(delivery)}` }),
	'no prefix': (delivery) => ({ body: delivery.body, header: hexOf(delivery) }),
	'too short': ({ body, header }, { position }) => ({
		body,
		header: header.slice(0, header.length - 1 - (position % 60)),
	}),
	'too long': ({ body, header }) => ({ body, header: `${header}00` }),
	'not hex': ({ body, header }) => ({ body, header: `${header.slice(0, -1)}g` }),
	'two headers': ({ body, header }) => ({ body, header: `${header}, ${header}` }),
	'a list of headers': ({ body, header }) => ({ body, header: [header, header] }),
	'no header': ({ body }) => ({ body, header: undefined }),
	'empty body': ({ header }) => ({ body: Buffer.alloc(0), header }),
	'another secret': ({ body, secret }, { otherSecret }) =>
		otherSecret === secret
			? undefined
			: {
					body,
					header: `sha256=${createHmac('sha256', otherSecret).update(body).digest('hex')}`,
				},
	'signed without a secret': ({ body }) => ({
		body,
		header: `sha256=${createHmac('sha256', '').update(body).digest('hex')}`,
	}),
};

test('none of 100,000 forged deliveries is accepted, and every genuine one is', () => {
	let forged = 0;
	const accepted: string[] = [];
	fc.assert(
		fc.property(genuine, choice, (delivery, chosen) => {
			expect(isAccepted(delivery.body, delivery.header, delivery.secret)).toBe(true);
			for (const [kind, forge] of Object.entries(forgeries)) {
				const forgery = forge(delivery, chosen);
				if (forgery === undefined) continue;
				forged += 1;
				if (isAccepted(forgery.body, forgery.header, delivery.secret)) accepted.push(kind);
			}
			return accepted.length === 0;
		}),
		{ numRuns: 7_500 },
	);
	expect(accepted).toEqual([]);
	expect(forged).toBeGreaterThan(100_000);
});
