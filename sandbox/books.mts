/** The service's books, in a database: balance, fee, users, payments and deliveries. */
import { randomBytes } from 'node:crypto';
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import type { Clock } from './clock.mts';
import { decimalOf, parseEtb } from './money.mts';

/** The marker at the beginning of every user id (service document §2, User). */
export const USER_ID_PREFIX = 'etbw_';
/** The fee in percent until one is set (service document §2). */
const DEFAULT_FEE_PERCENT = 0.25;

export interface Balance {
	/** ETB */
	treasuryBalance: number;
	/** In the chain's native coin. */
	ethBalance: number;
	treasuryAddress: string;
}

export interface User {
	id: string;
	externalId: string;
	email: string | undefined;
	walletAddress: string;
}

export interface Disbursement {
	id: string;
	toUserId: string;
	/** ETB */
	amountEtb: number;
	/** The amount's decimal text as it was sent. */
	amountText: string;
	txHash: string;
	/** ms since the Unix epoch */
	createdAt: number;
}

type DeliveryState = 'pending' | 'delivered' | 'failed';

/** One HTTP request of a delivery. */
export interface Attempt {
	/** ms since the Unix epoch */
	at: number;
	/** The HTTP status, if the receiver answered. */
	status?: number;
	/** The reason why there was no response. */
	error?: string;
}

/** The sending of one event, in one or more attempts; in none if no URL is registered. */
export interface Delivery {
	id: string;
	event: string;
	/**
	 * The URL of the latest attempt. Before the first attempt: the URL registered at the event, or an empty
	 * text.
	 */
	url: string;
	/** The exact text of the body. */
	body: string;
	/** The value of `X-Webhook-Signature`. */
	signature: string;
	attempts: Attempt[];
	state: DeliveryState;
	/** The due time in ms since the Unix epoch; only while pending. */
	nextAttemptAt?: number;
}

/** A payment or a user that the books refuse. */
export class BooksError extends Error {
	readonly reason: 'unknown_user' | 'duplicate_external_id' | 'insufficient_treasury';

	constructor(reason: BooksError['reason'], message: string) {
		super(message);
		this.reason = reason;
	}
}

const SCHEMA = `
	CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
	CREATE TABLE IF NOT EXISTS webhook_urls (id INTEGER PRIMARY KEY, url TEXT NOT NULL) STRICT;
	CREATE TABLE IF NOT EXISTS users (
		id TEXT PRIMARY KEY, externalId TEXT NOT NULL UNIQUE, email TEXT, walletAddress TEXT NOT NULL
	) STRICT;
	CREATE TABLE IF NOT EXISTS disbursements (
		id TEXT PRIMARY KEY, toUserId TEXT NOT NULL REFERENCES users, amountText TEXT NOT NULL,
		txHash TEXT NOT NULL, createdAt INTEGER NOT NULL
	) STRICT;
	CREATE TABLE IF NOT EXISTS deliveries (
		id INTEGER PRIMARY KEY, event TEXT NOT NULL, url TEXT NOT NULL, body TEXT NOT NULL,
		signature TEXT NOT NULL, state TEXT NOT NULL, nextAttemptAt INTEGER
	) STRICT;
	CREATE INDEX IF NOT EXISTS pending_deliveries ON deliveries (nextAttemptAt) WHERE state = 'pending';
	CREATE TABLE IF NOT EXISTS attempts (
		id INTEGER PRIMARY KEY, deliveryId INTEGER NOT NULL REFERENCES deliveries,
		at INTEGER NOT NULL, status INTEGER, error TEXT
	) STRICT;
	CREATE INDEX IF NOT EXISTS attempts_of_delivery ON attempts (deliveryId);
`;

type Row = Record<string, SQLOutputValue>;

const optionalText = (row: Row, column: string): string | undefined => {
	const value = row[column];
	if (value === null) return undefined;
	if (typeof value !== 'string') throw new TypeError(`Column ${column} holds no text`);
	return value;
};
const text = (row: Row, column: string): string => optionalText(row, column) ?? '';
const optionalNumber = (row: Row, column: string): number | undefined => {
	const value = row[column];
	if (value === null) return undefined;
	if (typeof value !== 'number') throw new TypeError(`Column ${column} holds no number`);
	return value;
};
const number = (row: Row, column: string): number => optionalNumber(row, column) ?? 0;

const toUser = (row: Row): User => ({
	id: text(row, 'id'),
	externalId: text(row, 'externalId'),
	email: optionalText(row, 'email'),
	walletAddress: text(row, 'walletAddress'),
});

const toDisbursement = (row: Row): Disbursement => ({
	id: text(row, 'id'),
	toUserId: text(row, 'toUserId'),
	amountEtb: Number(text(row, 'amountText')),
	amountText: text(row, 'amountText'),
	txHash: text(row, 'txHash'),
	createdAt: number(row, 'createdAt'),
});

const toAttempt = (row: Row): Attempt => {
	const status = optionalNumber(row, 'status');
	const error = optionalText(row, 'error');
	return {
		at: number(row, 'at'),
		...(status !== undefined && { status }),
		...(error !== undefined && { error }),
	};
};

const toState = (state: string): DeliveryState => {
	if (state === 'pending' || state === 'delivered' || state === 'failed') return state;
	throw new TypeError(`Unknown delivery state ${state}`);
};

const toDelivery = (row: Row, attempts: Attempt[]): Delivery => {
	const nextAttemptAt = optionalNumber(row, 'nextAttemptAt');
	return {
		id: String(number(row, 'id')),
		event: text(row, 'event'),
		url: text(row, 'url'),
		body: text(row, 'body'),
		signature: text(row, 'signature'),
		attempts,
		state: toState(text(row, 'state')),
		...(nextAttemptAt !== undefined && { nextAttemptAt }),
	};
};

/** Makes an address (20 bytes), a transaction hash (32 bytes) or an id: `prefix`, and random bytes in hex. */
export const randomHex = (prefix: string, bytes: number): string =>
	prefix + randomBytes(bytes).toString('hex');

const EVERYTHING = -1;

/** The service's records, kept in SQLite. Every method is synchronous. */
export class Books {
	private readonly database: DatabaseSync;
	private readonly clock: Clock;
	private readonly statements = new Map<string, StatementSync>();

	/**
	 * @param databaseFile path of the database, or `:memory:`
	 * @param treasuryBalance ETB in the treasury when the database is new
	 */
	constructor(databaseFile: string, clock: Clock, treasuryBalance: number) {
		this.database = new DatabaseSync(databaseFile);
		this.clock = clock;
		this.database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
		this.database.exec(SCHEMA);
		if (this.setting('treasuryAddress') === undefined) {
			this.setSetting('treasuryAddress', randomHex('0x', 20));
			this.setTreasuryBalance(treasuryBalance);
		}
	}

	close(): void {
		this.database.close();
	}

	/** Runs `work` as one transaction: all of its changes are kept, or none when it throws. */
	atomically<Result>(work: () => Result): Result {
		this.run('BEGIN IMMEDIATE');
		try {
			const result = work();
			this.run('COMMIT');
			return result;
		} catch (error) {
			this.run('ROLLBACK');
			throw error;
		}
	}

	balance(): Balance {
		return {
			treasuryBalance: Number(decimalOf(this.treasuryUnits())),
			ethBalance: 1.5,
			treasuryAddress: this.setting('treasuryAddress') ?? '',
		};
	}

	/** The treasury balance in ETB as exact decimal text. */
	treasuryBalanceText(): string {
		return decimalOf(this.treasuryUnits());
	}

	/** @param etb ETB */
	setTreasuryBalance(etb: number): void {
		this.setTreasuryUnits(parseEtb(String(etb)));
	}

	/** @param etb the amount to add, in ETB */
	creditTreasury(etb: number): void {
		this.setTreasuryUnits(this.treasuryUnits() + parseEtb(String(etb)));
	}

	/** The fee in percent. */
	fee(): number {
		return Number(this.setting('feePercent') ?? DEFAULT_FEE_PERCENT);
	}

	setFee(feePercent: number): void {
		this.setSetting('feePercent', String(feePercent));
	}

	/** The URL registered now. */
	webhookUrl(): string | undefined {
		const row = this.one('SELECT url FROM webhook_urls ORDER BY id DESC LIMIT 1');
		return row && text(row, 'url');
	}

	/** Every URL ever registered, in order. */
	webhookUrlHistory(): string[] {
		return this.all('SELECT url FROM webhook_urls ORDER BY id').map((row) => text(row, 'url'));
	}

	setWebhookUrl(url: string): void {
		this.run('INSERT INTO webhook_urls (url) VALUES (?)', url);
	}

	payoutDestination(): object | undefined {
		const stored: unknown = JSON.parse(this.setting('payoutDestination') ?? 'null');
		return typeof stored === 'object' && stored !== null ? stored : undefined;
	}

	setPayoutDestination(destination: object): void {
		this.setSetting('payoutDestination', JSON.stringify(destination));
	}

	/** Users, newest first when `newest` limits their number, else in order of creation. */
	users(newest = EVERYTHING): User[] {
		return this.list('users', newest).map(toUser);
	}

	/** @throws {BooksError} `duplicate_external_id` when the external id is taken */
	addUser({ externalId, email }: { externalId: string; email?: string | undefined }): User {
		if (this.one('SELECT 1 FROM users WHERE externalId = ?', externalId)) {
			throw new BooksError(
				'duplicate_external_id',
				`A user with externalId ${externalId} exists already.`,
			);
		}
		const user: User = {
			id: USER_ID_PREFIX + externalId,
			externalId,
			email,
			walletAddress: randomHex('0x', 20),
		};
		this.run(
			'INSERT INTO users (id, externalId, email, walletAddress) VALUES (?, ?, ?, ?)',
			user.id,
			externalId,
			email ?? null,
			user.walletAddress,
		);
		return user;
	}

	/** Disbursements, newest first when `newest` limits their number, else in order of creation. */
	disbursements(newest = EVERYTHING): Disbursement[] {
		return this.list('disbursements', newest).map(toDisbursement);
	}

	/**
	 * Debits the treasury and records the payment. It is not idempotent: each call pays.
	 * @param amountText decimal text of the amount in ETB, above zero
	 * @throws {BooksError} `unknown_user` or `insufficient_treasury`; then nothing is changed
	 */
	disburse(toUserId: string, amountText: string): Disbursement {
		if (!this.one('SELECT 1 FROM users WHERE id = ?', toUserId)) {
			throw new BooksError('unknown_user', `There is no user with the id ${toUserId}.`);
		}
		const left = this.treasuryUnits() - parseEtb(amountText);
		if (left < 0n) {
			throw new BooksError(
				'insufficient_treasury',
				`The treasury holds ${this.treasuryBalanceText()} ETB, less than ${amountText} ETB.`,
			);
		}
		const disbursement: Disbursement = {
			id: randomHex('disb_', 12),
			toUserId,
			amountEtb: Number(amountText),
			amountText,
			txHash: randomHex('0x', 32),
			createdAt: this.clock.now(),
		};
		this.setTreasuryUnits(left);
		this.run(
			'INSERT INTO disbursements (id, toUserId, amountText, txHash, createdAt) VALUES (?, ?, ?, ?, ?)',
			disbursement.id,
			toUserId,
			amountText,
			disbursement.txHash,
			disbursement.createdAt,
		);
		return disbursement;
	}

	/** Deliveries, newest first when `newest` limits their number, else in order of their events. */
	deliveries(newest = EVERYTHING): Delivery[] {
		const rows = this.list('deliveries', newest);
		const oldest = Math.min(
			...[rows.at(0), rows.at(-1)].map((row) => (row ? number(row, 'id') : 0)),
		);
		const attempts = new Map<number, Attempt[]>(rows.map((row) => [number(row, 'id'), []]));
		for (const row of this.all(
			'SELECT * FROM attempts WHERE deliveryId >= ? ORDER BY id',
			oldest,
		)) {
			attempts.get(number(row, 'deliveryId'))?.push(toAttempt(row));
		}
		return rows.map((row) => toDelivery(row, attempts.get(number(row, 'id')) ?? []));
	}

	delivery(id: string): Delivery | undefined {
		const row = this.one('SELECT * FROM deliveries WHERE id = ?', Number(id));
		const attempts = 'SELECT * FROM attempts WHERE deliveryId = ? ORDER BY id';
		return row && toDelivery(row, this.all(attempts, Number(id)).map(toAttempt));
	}

	/** Records the delivery of an event, and returns its id. */
	addDelivery(delivery: Pick<Delivery, 'event' | 'url' | 'body' | 'signature' | 'state'>): string {
		const { event, url, body, signature, state } = delivery;
		const result = this.run(
			'INSERT INTO deliveries (event, url, body, signature, state, nextAttemptAt) VALUES (?, ?, ?, ?, ?, ?)',
			event,
			url,
			body,
			signature,
			state,
			state === 'pending' ? this.clock.now() : null,
		);
		return String(result.lastInsertRowid);
	}

	/** Records one attempt, and the delivery's new state and due time. */
	addAttempt(
		id: string,
		attempt: Attempt,
		after: Pick<Delivery, 'url' | 'state' | 'nextAttemptAt'>,
	): void {
		this.atomically(() => {
			this.run(
				'INSERT INTO attempts (deliveryId, at, status, error) VALUES (?, ?, ?, ?)',
				Number(id),
				attempt.at,
				attempt.status ?? null,
				attempt.error ?? null,
			);
			this.run(
				'UPDATE deliveries SET url = ?, state = ?, nextAttemptAt = ? WHERE id = ?',
				after.url,
				after.state,
				after.nextAttemptAt ?? null,
				Number(id),
			);
		});
	}

	/** The ids and due times (ms since the Unix epoch) of the deliveries that are still to be attempted. */
	pendingDeliveries(): { id: string; nextAttemptAt: number }[] {
		return this.all(
			`SELECT id, nextAttemptAt FROM deliveries WHERE state = 'pending' ORDER BY nextAttemptAt, id`,
		).map((row) => ({
			id: String(number(row, 'id')),
			nextAttemptAt: number(row, 'nextAttemptAt'),
		}));
	}

	/** The number of rows in each table. */
	totals(): { users: number; disbursements: number; deliveries: number } {
		const row = this.one(
			`SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM disbursements)
			AS disbursements, (SELECT count(*) FROM deliveries) AS deliveries`,
		);
		if (!row) throw new TypeError('No totals');
		return {
			users: number(row, 'users'),
			disbursements: number(row, 'disbursements'),
			deliveries: number(row, 'deliveries'),
		};
	}

	private treasuryUnits(): bigint {
		return BigInt(this.setting('treasuryUnits') ?? 0);
	}

	private setTreasuryUnits(units: bigint): void {
		this.setSetting('treasuryUnits', units.toString());
	}

	private setting(name: string): string | undefined {
		const row = this.one('SELECT value FROM settings WHERE name = ?', name);
		return row && text(row, 'value');
	}

	private setSetting(name: string, value: string): void {
		this.run('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)', name, value);
	}

	private list(table: 'users' | 'disbursements' | 'deliveries', newest: number): Row[] {
		const order = newest === EVERYTHING ? 'ASC' : 'DESC';
		return this.all(`SELECT * FROM ${table} ORDER BY rowid ${order} LIMIT ?`, newest);
	}

	private prepared(sql: string): StatementSync {
		const known = this.statements.get(sql);
		if (known) return known;
		const statement = this.database.prepare(sql);
		this.statements.set(sql, statement);
		return statement;
	}

	private one(sql: string, ...values: (string | number | null)[]): Row | undefined {
		return this.prepared(sql).get(...values);
	}

	private all(sql: string, ...values: (string | number | null)[]): Row[] {
		return this.prepared(sql).all(...values);
	}

	private run(sql: string, ...values: (string | number | null)[]) {
		return this.prepared(sql).run(...values);
	}
}
