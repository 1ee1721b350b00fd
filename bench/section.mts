/** What is to be reached, what was measured, and whether that is enough. */
export interface Target {
	wanted: string;
	measured: string;
	met: boolean;
}

/** One part of the results. */
export interface Section {
	title: string;
	/** Markdown */
	text: string;
	targets: Target[];
}

/** How much is measured. */
export interface Sizes {
	/** `slowRounds` are those with a service that takes its time. */
	pay: Array<{ items: number; rounds: number; slowRounds: number }>;
	growth: {
		items: number[];
		rounds: number;
		/** References that the node keeps already. */
		ledger: number;
		/** What it keeps when that cost is measured, and how many are then paid. */
		ledgers: { sizes: number[]; payments: number };
	};
	gate: {
		/** Payments in the gate's tables. */
		records: number[];
		/** References that the node's own record holds, beside it. */
		references: number[];
		items: number;
		rounds: number;
	};
	events: {
		/** Events that the trigger has received before: its record in n8n's database is full. */
		before: number;
		rounds: number;
		loads: Array<{ concurrency: number; deliveries: number }>;
	};
	flood: {
		rounds: number;
		floods: number;
		seconds: number;
		handWiredSeconds: number;
		/** Deliveries of each kind whose CPU is measured. */
		refused: number;
		starting: number;
	};
}

export const fullSizes: Sizes = {
	pay: [
		{ items: 100, rounds: 5, slowRounds: 5 },
		{ items: 1_000, rounds: 5, slowRounds: 5 },
		{ items: 5_000, rounds: 5, slowRounds: 3 },
	],
	growth: {
		items: [100, 1_000, 10_000],
		rounds: 3,
		ledger: 10_000,
		ledgers: { sizes: [0, 10_000, 30_000, 100_000], payments: 200 },
	},
	gate: {
		records: [0, 100_000, 1_000_000],
		references: [0, 100_000, 300_000],
		items: 200,
		rounds: 7,
	},
	events: {
		before: 2_000,
		rounds: 5,
		loads: [
			{ concurrency: 1, deliveries: 20 },
			{ concurrency: 10, deliveries: 40 },
			{ concurrency: 50, deliveries: 60 },
		],
	},
	flood: { rounds: 5, floods: 3, seconds: 10, handWiredSeconds: 0.5, refused: 200, starting: 24 },
};

export const quickSizes: Sizes = {
	pay: [
		{ items: 50, rounds: 2, slowRounds: 1 },
		{ items: 200, rounds: 2, slowRounds: 1 },
	],
	growth: {
		items: [50, 200],
		rounds: 1,
		ledger: 200,
		ledgers: { sizes: [0, 1_000], payments: 50 },
	},
	gate: { records: [0, 2_000], references: [0, 1_000], items: 100, rounds: 2 },
	events: {
		before: 20,
		rounds: 1,
		loads: [
			{ concurrency: 1, deliveries: 10 },
			{ concurrency: 10, deliveries: 20 },
		],
	},
	flood: { rounds: 1, floods: 1, seconds: 1, handWiredSeconds: 0.5, refused: 20, starting: 4 },
};
