/** What older n8n do differently, found by running them: for the table in docs/compatibility.md. */
import { compareVersions } from './compatibility.mts';

const differences = [
	{
		before: '2.40.0',
		what: 'The two [settings for events](performance.md#events) have no effect',
	},
	{
		before: '2.40.0',
		what: 'Publishing a trigger that cannot register answers with its reason at once, instead of after 5 attempts',
	},
];

/** What the table says of a version, beside the tests that failed there. */
export const differencesOf = (version: string): string[] =>
	differences.filter(({ before }) => compareVersions(version, before) < 0).map(({ what }) => what);
