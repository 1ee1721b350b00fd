// claim and record of 50: this schema and that of before, alternating
import { readFile } from 'node:fs/promises';
import { startGateServer } from '../lab/gate/server.mts';
const server = await startGateServer();
const paths = { old: '/tmp/gate/old-schema.sql', now: 'gate/schema.sql' };
const clients: Record<string, any> = {};
for (const [k, p] of Object.entries(paths)) {
	const db = await server.emptyDatabase();
	const c = await db.connect('superuser');
	await c.query(await readFile(p, 'utf8'));
	await c.query(`select etb_wallet.set_rules('main', '{"most_per_day":1e12,"most_per_month":1e12,"most_per_payment":1e9,"most_per_recipient_per_day":1e12,"most_per_recipient_per_month":1e12}', 'me')`);
	clients[k] = c;
}
let n = 0;

import { readFileSync } from 'node:fs';
const cpu = (pid: number) => { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' '); return (Number(f[11]) + Number(f[12])) * 10; };
const pids: Record<string, number> = {};
for (const k in clients) pids[k] = (await clients[k].query('select pg_backend_pid() p')).rows[0].p;
const spent: Record<string, Record<string, number>> = { old: { claim: 0, record: 0 }, now: { claim: 0, record: 0 } };
const BATCH = 40;
for (let round = 0; round < 8; round++) for (const k of round % 2 ? ['old', 'now'] : ['now', 'old']) {
  const c = clients[k]; const lists = Array.from({ length: BATCH }, () => Array.from({ length: 50 }, (_, i) => ({ reference: `payroll-2026-11-E-${++n}`, toUserId: `svc_${i}`, amountEtb: 1200.5, requestedBy: 'payroll' })));
  const ws: any[] = []; let t = cpu(pids[k]!);
  for (const items of lists) ws.push((await c.query('select * from etb_wallet.claim($1,$2,$3)', ['main', JSON.stringify(items), '1'])).rows[0]);
  if (round > 0) spent[k]!.claim! += cpu(pids[k]!) - t; t = cpu(pids[k]!);
  for (const w of ws) await c.query('select * from etb_wallet.record($1,$2,$3,$4,$5)', ['main', w.claim, JSON.stringify(w.items), JSON.stringify(w.send.map((s: any) => ({ toUserId: s.toUserId, outcome: 'paid', amountEtb: 1200.5, success: true, txHash: '0x' + s.reference }))), '1']);
  if (round > 0) spent[k]!.record! += cpu(pids[k]!) - t;
}
for (const k in spent) console.log(k, 'CPU ms: claim of 50', (spent[k]!.claim! / BATCH / 7).toFixed(2), 'record of 50', (spent[k]!.record! / BATCH / 7).toFixed(2));
await server.stop();
