/** What the editor says about Map Automatically. */
import { withMapping } from '../../nodes/EtbWallet/actions/mapping.ts';

test.each([
	[
		['toUserId', 'amountEtb'],
		['reference'],
		'Takes "toUserId", "amountEtb" and, if there is one, "reference" from',
	],
	[['externalId'], [], 'Takes "externalId" from'],
])('the notice for %j and %j is a whole sentence', (required, optional, start) => {
	const notice = withMapping([], { required, optional }).find(({ type }) => type === 'notice');
	expect(notice?.displayName).toBe(`${start} each item. Its other fields are not sent.`);
});
