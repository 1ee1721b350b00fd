/** The text form in which n8n stores what an execution did. */
import { decodeFlatted } from '../../demo/flatted.mts';

describe('decodeFlatted', () => {
	test('puts values, strings that look like numbers and repeated objects back in place', () => {
		const text =
			'[{"a":"1","b":"2","list":"3","n":7,"none":null},"1",{"txHash":"4"},["2","1",true],"0xabc"]';
		expect(decodeFlatted(text)).toEqual({
			a: '1',
			b: { txHash: '0xabc' },
			list: [{ txHash: '0xabc' }, '1', true],
			n: 7,
			none: null,
		});
	});

	test('decodes an object that leads back to itself', () => {
		const decoded = decodeFlatted('[{"self":"0","name":"1"},"loop"]');
		expect(decoded).toMatchObject({ name: 'loop' });
		expect(Reflect.get(Object(decoded), 'self')).toBe(decoded);
	});

	test('decodes a lone string', () => {
		expect(decodeFlatted('["42"]')).toBe('42');
	});

	test('refuses text that is not flatted', () => {
		expect(() => decodeFlatted('{"data":1}')).toThrow(SyntaxError);
	});
});
