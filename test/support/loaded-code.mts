/** Loads the nodes' own code as a process of n8n would, any number of times, and with deliberate mistakes in it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import ts from 'typescript';
import { mutated, type Mutation } from './mutation.mts';

/** Requires what is installed, as n8n does: Node.js cannot import all of it. */
export const requireInstalled: (name: string) => unknown = createRequire(resolve('package.json'));

type Compiled = (
	exports: object,
	require: (name: string) => unknown,
	clock: DateConstructor,
	signals: Pick<typeof AbortSignal, 'timeout' | 'any'>,
) => void;

const isCompiled = (value: unknown): value is Compiled => typeof value === 'function';

/** What to load modules from; each `start` has a memory of its own. */
export class Code {
	readonly #mutations: Mutation[];
	readonly #compiled = new Map<string, Compiled>();

	constructor(mutations: Mutation[] = []) {
		this.#mutations = mutations;
	}

	/**
	 * The modules of a new process.
	 * @param packages what installed packages export, where it is not the real thing
	 * @param signals what makes signals, where their time is not the real one
	 */
	start(
		packages: Record<string, object>,
		signals: Pick<typeof AbortSignal, 'timeout' | 'any'> = AbortSignal,
	): (file: string) => unknown {
		const loaded = new Map<string, object>();
		const load = (file: string): unknown => {
			const known = loaded.get(file);
			if (known !== undefined) return known;
			const exports = {};
			loaded.set(file, exports);
			this.#compile(file)(
				exports,
				(name) => {
					if (name.startsWith('.')) return load(`${join(dirname(file), name)}.ts`);
					return packages[name] ?? requireInstalled(name);
				},
				Date,
				signals,
			);
			return exports;
		};
		return load;
	}

	#compile(file: string): Compiled {
		const known = this.#compiled.get(file);
		if (known !== undefined) return known;
		let source = readFileSync(file, 'utf8');
		for (const mutation of this.#mutations.filter((each) => each.file === file))
			source = mutated(source, mutation);
		const { outputText } = ts.transpileModule(source, {
			compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
		});
		const compiled: unknown = compileFunction(
			outputText,
			['exports', 'require', 'Date', 'AbortSignal'],
			{
				filename: file,
			},
		);
		if (!isCompiled(compiled)) throw new Error(`${file} was not compiled`);
		this.#compiled.set(file, compiled);
		return compiled;
	}
}
