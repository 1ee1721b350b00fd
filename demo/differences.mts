/** What older n8n lack or do differently, found by running them: for the tests, and for the table in docs/compatibility.md. */
import { compareVersions, n8nVersion } from './version.mts';

interface Difference {
	/** The first n8n that is as the newest, of those that were tried. */
	since: string;
	/** For the table, in a person's words. */
	what: string;
}

const differences = {
	expressionSettings: {
		since: '2.40.0',
		what: 'The two [settings for events](operating.md#settings) have no effect',
	},
	publishing: {
		since: '2.40.0',
		what: 'Publishing a trigger that cannot register answers with its reason at once, instead of after 5 attempts',
	},
	projects: {
		since: '2.38.0',
		what: 'A second published trigger for an account is refused without the name of the workflow that has it',
	},
	addressProtection: {
		since: '2.12.0',
		what: 'n8n cannot be told to keep away from private addresses (`N8N_SSRF_PROTECTION_ENABLED`)',
	},
	inventedAnswers: {
		since: '2.37.5',
		what: 'n8n cannot run a workflow with answers that its AI invents',
	},
	formLogin: {
		since: '2.27.0',
		what: 'Forms have no login, so the [examples](examples.md) that need one cannot be published',
	},
	firstMode: {
		since: '2.12.0',
		what: 'A workflow that settles, and is called, settles also when *Retry execution* repeats its caller (*was not paid* counts once all the same), and pays in an evaluation',
	},
	emptyFields: {
		since: '2.30.8',
		what: 'The editor does not begin an execution while a node has an empty required field, and does not say which',
	},
} satisfies Record<string, Difference>;

/** Whether an n8n is older than the first with it. @param version unless told, of the n8n that everything runs */
export const lacks = (difference: keyof typeof differences, version = n8nVersion()): boolean =>
	compareVersions(version, differences[difference].since) < 0;

/** Why a second published trigger for an account is refused. @param name of the workflow that has it */
export const refusedBy = (name: string): RegExp =>
	lacks('projects')
		? /Unpublish the other workflow first: /
		: new RegExp(`Unpublish the workflow "${name}" first: `);

/** What the table says of a version, beside the tests that failed there. */
export const differencesOf = (version: string): string[] =>
	Object.values(differences)
		.filter(({ since }) => compareVersions(version, since) < 0)
		.map(({ what }) => what);
