/** The age of an event, whose timestamp is in UTC (service document §6), on a machine in another zone. */
import { execFileSync } from 'node:child_process';

const now = '2026-11-21T10:15:00.000Z';

/** In minutes, in Addis Ababa. */
function age(timestamp: string): unknown {
	const code = `require('./dist/nodes/EtbWalletTrigger/event.js').ageMsOf({ timestamp: '${timestamp}' }, Date.parse('${now}')) / 60000`;
	const env = { ...process.env, TZ: 'Africa/Addis_Ababa' };
	return Number(execFileSync(process.execPath, ['-p', code], { env, encoding: 'utf8' }));
}

test.each([
	['2026-11-21T10:00:00Z', 15],
	['2026-11-21T13:00:00+03:00', 15],
	['2026-11-21T10:00:00', 15],
	['2026-11-21T10:00:00.123456', 14.99795],
	['2026-11-21 10:00', 15],
	['2026-11-21', 615],
	['Sat, 21 Nov 2026 10:00:00 GMT', 15],
])('that of %s is %p minutes', (timestamp, minutes) => {
	expect(age(timestamp)).toBeCloseTo(minutes, 5);
});
