// The built code, loaded anew for each simulated process: its module state is per process, as in n8n.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { requireFreshBuild } from '../support/fresh-build.mts';
import { mutated, type Mutation } from '../support/mutation.mts';

const dist = resolve(import.meta.dirname, '../../dist');

/** The replacements of Node's own modules. */
interface Surroundings {
	globals: Readonly<Record<string, unknown>>;
	/** Modules that are not files of the build. */
	packages: Readonly<Record<string, unknown>>;
}

type ModuleCode = (...values: unknown[]) => unknown;

/** Sources of the built node by path below dist. */
export function readBuild(): Map<string, string> {
	requireFreshBuild();
	return new Map(
		readdirSync(dist, { recursive: true, encoding: 'utf8' })
			.filter((path) => path.endsWith('.js'))
			.map((path) => [path, readFileSync(join(dist, path), 'utf8')]),
	);
}

/**
 * The build with a mistake in one file of the code. @throws {Error} when the file does not have exactly one place
 * for it
 */
export function brokenBuild(
	sources: ReadonlyMap<string, string>,
	mutation: Mutation,
): Map<string, string> {
	const code = mutated(readFileSync(mutation.file, 'utf8'), mutation);
	const { outputText } = transpileModule(code, { compilerOptions });
	return new Map(sources).set(mutation.file.replace(/\.ts$/, '.js'), outputText);
}

/** As `npm run build` compiles a file. */
const compilerOptions = { target: ScriptTarget.ES2022, module: ModuleKind.CommonJS };

export class Build {
	private readonly compiled = new Map<string, ModuleCode>();
	private readonly sources: ReadonlyMap<string, string>;
	private readonly globalNames: readonly string[];

	constructor(sources: ReadonlyMap<string, string>, globalNames: readonly string[]) {
		this.sources = sources;
		this.globalNames = globalNames;
	}

	/** Gives the exports of modules of the build, and of all they need, in a state of their own. */
	opened({ globals, packages }: Surroundings): (entry: string) => unknown {
		const loaded = new Map<string, { exports: unknown }>();
		const values = this.globalNames.map((name) => globals[name]);
		const load = (path: string): unknown => {
			const known = loaded.get(path);
			if (known !== undefined) return known.exports;
			const module = { exports: {} as unknown };
			loaded.set(path, module);
			const need = (name: string): unknown => {
				if (name in packages) return packages[name];
				if (!name.startsWith('.')) throw new Error(`The model does not know ${name} (${path})`);
				return load(this.fileOf(path, name));
			};
			this.code(path)(module.exports, need, module, ...values);
			return module.exports;
		};
		return load;
	}

	private readonly paths = new Map<string, string>();

	/** The file of the build that the module `from` requires by a name. */
	private fileOf(from: string, name: string): string {
		const key = `${from} ${name}`;
		const known = this.paths.get(key);
		if (known !== undefined) return known;
		const path = this.pathOf(join(dirname(from), name));
		this.paths.set(key, path);
		return path;
	}

	private pathOf(path: string): string {
		const found = [path, `${path}.js`, `${path}/index.js`].find((each) => this.sources.has(each));
		if (found === undefined) throw new Error(`The build has no ${path}: run npm run build`);
		return found;
	}

	private code(path: string): ModuleCode {
		const known = this.compiled.get(path);
		if (known !== undefined) return known;
		const source = this.sources.get(path);
		if (source === undefined) throw new Error(`The build has no ${path}: run npm run build`);
		const compiled = compileFunction(
			source,
			['exports', 'require', 'module', ...this.globalNames],
			{ filename: join(dist, path) },
		);
		const code: ModuleCode = (...given) => Reflect.apply(compiled, undefined, given);
		this.compiled.set(path, code);
		return code;
	}
}
