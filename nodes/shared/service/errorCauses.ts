/** The causes of attempts without a response, by error code, with a remedy if the usual one does not fit. */
import { certificateCodes, endedBy } from './attempt';

type Cause = [cause: string, remedy?: string];

const outOfDate: Cause = [
	'its certificate is out of date',
	'Ask the partner service for a new certificate, and check the clock of n8n’s machine.',
];
/** The cause for all other codes of certificates. */
const untrusted: Cause = [
	'its certificate is self-signed, or an authority made it that n8n does not know',
	'Ask the partner service to send its whole chain of certificates. If this service is the right one, put the certificate that signed its own into a file, name that file in the environment variable NODE_EXTRA_CA_CERTS of n8n, and start n8n again.',
];

export const causesByErrorCode = new Map<unknown, Cause>([
	['ECONNREFUSED', ['nothing answers at that address']],
	['ENOTFOUND', ['the host name is not known']],
	['EAI_AGAIN', ['the host name could not be looked up']],
	['EPROTO', ['it does not speak https, or not a version that n8n speaks']],
	...[...certificateCodes].map((code): [unknown, Cause] => [code, untrusted]),
	['CERT_HAS_EXPIRED', outOfDate],
	['CERT_NOT_YET_VALID', outOfDate],
	[
		'ERR_TLS_CERT_ALTNAME_INVALID',
		[
			'its certificate is for another name',
			'Check the Base URL in the ETB Wallet API credential: it needs the name that is in the certificate, not an IP address or another name of the same machine.',
		],
	],
	['EHOSTUNREACH', ['no network connection leads there']],
	['ENETUNREACH', ['no network connection leads there']],
	['ECONNABORTED', ['the service took too long to answer']],
	[endedBy.timeout, ['the service took too long to answer']],
	['ECONNRESET', ['the connection was closed before the response was complete']],
	['ERR_BAD_RESPONSE', ['the connection was closed before the response was complete']],
	[endedBy.stop, ['the execution was stopped']],
	[endedBy.size, ['its response is larger than 1 MB']],
]);
