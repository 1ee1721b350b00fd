import type { Remedies } from '../../../shared/serviceError';
import { optionalEmail, requiredText } from '../../../shared/validation';
import type { Operation } from '../operation';

const remedies: Remedies = {
	409: 'This user may have a wallet already: use the ID that you got when it was created, or enter another External ID. While testing, pin the output after a run that worked, so that this node does not run again.',
};

/** Endpoint 6 of the service document §4. Whether it needs an email is not shown, so it may be left out. */
export const createUser: Operation = {
	option: {
		name: 'Create',
		value: 'create',
		action: 'Create a user wallet',
		description: 'Give a user a wallet',
	},
	mappable: ['externalId', 'email'],
	fields: [
		{
			displayName:
				'Takes "externalId" and, if there is one, "email" from each item. Its other fields are not sent.',
			name: 'mappingNotice',
			type: 'notice',
			default: '',
			displayOptions: { show: { mappingMode: ['autoMapInputData'] } },
		},
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
	request: (read, itemIndex) => {
		const email = optionalEmail(read('email', itemIndex));
		return {
			method: 'POST',
			path: '/users',
			body: {
				externalId: requiredText(
					'External ID',
					read('externalId', itemIndex),
					'Enter your own ID for the user, for example employee-1042.',
				),
				...(email !== undefined && { email }),
			},
			remedies,
		};
	},
};
