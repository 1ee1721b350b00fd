/** The content of a pay gate's tables after years of paying. */
import type pg from 'pg';

/** Payments of the last years, with what they left in the other tables. PostgreSQL does not know yet how many there are: `vacuum analyze`. */
export async function fillGate(client: pg.Client, payments: number): Promise<void> {
	const numbers = `generate_series(1, ${payments}) i`;
	await client.query(`insert into etb_wallet.payment
		(budget, key, attempt, reference, to_user_id, amount_etb, state, requested_by, claim, execution, claimed_at, lease_until, spent_on, answer, ended_at, tx_hash)
		select 'main', md5(i::text), 1, md5(i::text), 'svc_' || i % 50000, 1 + i % 1000, 'paid', 'payroll', gen_random_uuid(), i::text, t, t, t::date, 'paid', t,
			'0x' || md5(i::text)
		from ${numbers}, lateral (select timestamptz '2024-01-01' + i % 700 * interval '1 day') d (t)`);
	await client.query(`insert into etb_wallet.spent (budget, scope, who, period, starts_on, amount_etb)
		select 'main', 'recipient', 'svc_' || i, p, date '2024-01-01' + i, 1 from ${numbers}, (values ('day'), ('month')) x (p)`);
	await client.query(`insert into etb_wallet.history (at, budget, event, reference, attempt, to_user_id, amount_etb)
		select now(), 'main', e, md5(i::text), 1, 'svc_' || i, 1 from ${numbers}, (values ('send'), ('paid')) x (e)`);
}
