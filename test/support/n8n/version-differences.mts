/** Differences of older n8n, found by running them: for the tests, and for the list in docs/compatibility.md. */
import { compareVersions, n8nVersion } from './version.mts';

interface Difference {
	/** The first n8n without the difference, of those that were tried. */
	since: string;
	/** A sentence for users that follows "Before 2.40.0: ". */
	what: string;
}

const differences = {
	expressionSettings: {
		since: '2.40.0',
		what: 'the two [settings for events](operating.md#settings) have no effect',
	},
	publishing: {
		since: '2.40.0',
		what: 'n8n makes one attempt to publish a trigger, and not 5',
	},
	projects: {
		since: '2.38.0',
		what: 'who publishes a second trigger for an account is not told which workflow has the first',
	},
	addressProtection: {
		since: '2.12.0',
		what: 'n8n cannot be told to keep away from private addresses (`N8N_SSRF_PROTECTION_ENABLED`)',
	},
	inventedResponses: {
		since: '2.37.5',
		what: 'n8n cannot run a workflow with responses that its AI invents',
	},
	formLogin: {
		since: '2.27.0',
		what: 'forms have no login, so the [examples](examples.md) that need one cannot be published',
	},
	firstMode: {
		since: '2.12.0',
		what: 'a workflow that another one calls pays in an evaluation, and settles when *Retry execution* repeats the caller (*Was Not Paid* still counts once)',
	},
} satisfies Record<string, Difference>;

/** Whether an n8n is older than the first without the difference. @param version default: of the n8n in `n8nFolder` */
export const lacks = (difference: keyof typeof differences, version = n8nVersion()): boolean =>
	compareVersions(version, differences[difference].since) < 0;

/**
 * The reason why a second published trigger for an account is refused. @param name of the workflow with the first
 * one
 */
export const refusedBy = (name: string): RegExp =>
	lacks('projects')
		? /Unpublish the other workflow first: /
		: new RegExp(`Unpublish the workflow "${name}" first: `);

/** The differences, newest first, as lines of a list. */
export const listedDifferences = (): string[] =>
	Object.values<Difference>(differences)
		.toSorted((one, other) => compareVersions(other.since, one.since))
		.map(({ since, what }) => `- Before ${since}: ${what}.`);
