/** User → Create: a wallet for a person. */
import { readText } from '../../../shared/fields';
import { fieldError, isAbsent } from '../../../shared/invalidValue';
import type { Remedies } from '../../../shared/service/request';
import { callForEachItem, type Operation } from '../../operation';

const remedies: Remedies = {
	409: 'This user may have a wallet already: use the ID that you got when it was created. Another External ID makes another wallet, which counts as another person. While testing, pin the output after a run that worked, so that this node does not run again.',
};

/**
 * Endpoint 6 of the service document §4. The email may be left out, because the document does not show
 * whether it is needed.
 */
export const createUserOperation: Operation = {
	menuEntry: {
		name: 'Create',
		value: 'create',
		action: 'Create a user wallet',
		description: 'Give a user a wallet',
	},
	fields: [
		{
			displayName: 'External ID',
			name: 'externalId',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. employee-1042',
			description:
				'Your own ID for the user. Create each one once: a second time can fail. The service answers with the ID to pay to.',
			hint: 'Your own ID for the user, a new one for each wallet',
		},
		{
			displayName: 'Email',
			name: 'email',
			type: 'string',
			default: '',
			placeholder: 'e.g. abebe@example.com',
			description: 'Email address of the user. You can leave it empty.',
		},
	],
	execute: callForEachItem((read, itemIndex) => {
		const email = readEmail(read('email', itemIndex));
		return {
			// A POST is not repeated: a second call could make a second wallet, or fail because of the first.
			method: 'POST',
			path: '/users',
			responseField: 'id',
			body: {
				externalId: readText(
					'External ID',
					read('externalId', itemIndex),
					'Enter your own ID for the user, for example employee-1042.',
				),
				...(email !== undefined && { email }),
			},
			remedies,
		};
	}),
};

/** The pattern takes linear time, also for a very long text. */
const emailPattern = /^[^\s@"<>()[\],;:\\]+@[^\s@.]+(?:\.[^\s@.]+)+$/;

/**
 * Reads an email address; undefined for an empty field.
 * @throws {InvalidValueError}
 */
export function readEmail(value: unknown): string | undefined {
	const email = typeof value === 'string' ? value.trim() : value;
	if (isAbsent(email)) return undefined;
	if (typeof email === 'string' && emailPattern.test(email)) return email;
	const remedy = 'Enter an address such as abebe@example.com, or leave Email empty.';
	throw fieldError('Email', value, 'is not an email address', remedy);
}
