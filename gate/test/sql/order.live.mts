/** The order of texts changes under the indexes, as with another image of PostgreSQL on the same data: what was paid stays paid. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import { claim, record, setRules, startGateServer, schemaText, value } from '../support/server.mts';
import { paid } from '../support/work.mts';

const server = await startGateServer();
after(async () => await server.stop());
const admin = await server.database('postgres').connect('superuser');

/** PostgreSQL 13 and 14 have no databases in ICU's order. */
const hasIcu = (await value(admin, z.coerce.number(), 'show server_version_num')) >= 150000;

/** In the order of a language é stands before z, and a before B; by their bytes both stand behind. */
const payments = Array.from({ length: 300 }, (_, index) => index).flatMap((index) =>
	['zone', 'Bonus', 'été', 'eau', 'ärger'].map((name) => ({
		...{ reference: `${name} ${index}`, toUserId: `${name}_${index}`, amountEtb: 60 },
	})),
);

test(
	'with another order of texts under the same data nobody is paid again',
	{ skip: !hasIcu },
	async () => {
		await admin.query(
			"create database ordered template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US' locale 'C'",
		);
		const database = server.database('ordered');
		const before = await database.connect('superuser');
		await before.query(await schemaText());
		await setRules(before, 'main', { most_per_recipient_per_day: 100 });
		const sent = async (client: typeof before, run: string) => {
			const window = await claim(client, 'main', payments, run);
			await record(client, 'main', window, paid(window));
			return window.send.length;
		};
		assert.equal(await sent(before, '1'), payments.length);
		// The order in which the planted control finds its rows is that of the language.
		await before.query('create table public.control (reference text primary key)');
		await before.query('insert into public.control select reference from etb_wallet.payment');
		await before.end();
		await admin.query("update pg_database set datlocprovider = 'c' where datname = 'ordered'");

		const changed = await database.connect('superuser');
		await changed.query(
			'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off',
		);
		const lost = `select count(*)::int from unnest($1::text[]) r where not exists (select from public.control c where c.reference = r)`;
		const references = payments.map(({ reference }) => reference);
		assert.ok((await value(changed, z.number(), lost, [references])) > 0, 'the trap works');
		assert.equal(await sent(changed, '2'), 0);
		const spent =
			"select count(*)::int from etb_wallet.spent where scope = 'recipient' and amount_etb <> 60";
		assert.equal(await value(changed, z.number(), spent), 0);
	},
);
