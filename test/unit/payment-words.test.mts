/** The words that judge a response: each alternative of their patterns decides about a response of the tests. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import ts from 'typescript';
import * as judging from '../../nodes/shared/service/judge.ts';
import type { ServiceRequest } from '../../nodes/shared/service/request.ts';
import { requireFreshBuild } from '../support/fresh-build.mts';
import { failedSettings, judgedPayments } from '../support/judged-responses.mts';
import { pay, responseWith } from '../support/judging.mts';
import { paymentResponses } from '../support/payment-responses.mts';

type Judge = (typeof judging)['judge'];

/** The verdict, and whether the request may be repeated. */
function verdictOf(judge: Judge, ...[request, response]: Parameters<Judge>): string {
	const judgement = judge(request, response);
	const isRepeated = judgement.verdict !== 'done' && judgement.mayBeRepeated;
	return `${judgement.verdict}${isRepeated ? ', again' : ''}`;
}

test.each(judgedPayments)('a payment that is answered %i %s is %s', (status, text, verdict) => {
	expect(judging.judge(pay, responseWith(text, status)).verdict).toBe(verdict);
});

const setting: ServiceRequest = { method: 'PUT', path: '/x', body: {}, defaultOutput: {} };
const requests: [ServiceRequest, status: number, text: string][] = [
	...judgedPayments.map(([status, text]): (typeof requests)[number] => [pay, status, text]),
	...paymentResponses.map(({ status, body }): (typeof requests)[number] => [pay, status, body]),
	...failedSettings.map((text): (typeof requests)[number] => [setting, 200, text]),
];
const responses = requests.map(([request, status, text]) => ({
	request,
	response: responseWith(text, status),
	verdict: verdictOf(judging.judge, request, responseWith(text, status)),
}));

const folder = resolve('dist/nodes/shared/service');
const codeOf = (module: string): string => readFileSync(join(folder, `${module}.js`), 'utf8');
const outside = createRequire(join(folder, 'judge.js'));
const modules = ['judge', 'responseRules', 'paymentWords', 'matching'];

/** The `judge` of the build, with `code` in one of the modules that have the words. */
function judgeWith(changed: string, code: string): Judge {
	const loaded = new Map<string, object>();
	const load = (name: string): object => {
		const known = loaded.get(name);
		if (known !== undefined) return known;
		const exports = {};
		loaded.set(name, exports);
		const need = (wanted: string): unknown => {
			const own = wanted.replace('./', '');
			return modules.includes(own) ? load(own) : outside(wanted);
		};
		const run = compileFunction(name === changed ? code : codeOf(name), ['exports', 'require']);
		Reflect.apply(run, undefined, [exports, need]);
		return exports;
	};
	return (load('judge') as typeof judging).judge;
}

/** The parts of a pattern between two bars, each with one of the bars: from and to which character. */
function alternativesOf(pattern: string): [from: number, to: number][] {
	const found: [number, number][] = [];
	const groups = [{ start: 0, bars: [] as number[] }];
	const end = (at: number): void => {
		const { start, bars } = groups.pop() ?? { start: 0, bars: [] };
		const [first, ...others] = bars;
		if (first === undefined) return;
		found.push([start, first + 1]);
		for (const [index, bar] of [first, ...others].entries()) found.push([bar, others[index] ?? at]);
	};
	for (const { 0: token, index } of pattern.matchAll(
		/\\.|\[(?:\\.|[^\]])*\]|\((?:\?<?[:=!])?|[)|]/gs,
	))
		if (token.startsWith('(')) groups.push({ start: index + token.length, bars: [] });
		else if (token === ')') end(index);
		else if (token === '|') groups.at(-1)?.bars.push(index);
	end(pattern.length);
	return found;
}

/** The alternatives in the texts and patterns of a module, as parts of its code. */
function alternativesIn(code: string): { from: number; to: number }[] {
	const found: { from: number; to: number }[] = [];
	const visit = (node: ts.Node): void => {
		if (
			ts.isStringLiteral(node) ||
			ts.isTemplateLiteralToken(node) ||
			ts.isRegularExpressionLiteral(node)
		) {
			const start = node.getStart(file) + 1;
			const pattern = node
				.getText(file)
				.slice(1)
				.replace(/(?:['"`]|\$\{|\/[a-z]*)$/, '');
			for (const [from, to] of alternativesOf(pattern))
				found.push({ from: start + from, to: start + to });
		}
		ts.forEachChild(node, visit);
	};
	const file = ts.createSourceFile('module.js', code, ts.ScriptTarget.Latest, true);
	visit(file);
	return found;
}

function changesVerdict(changed: string, code: string): boolean {
	try {
		const judge = judgeWith(changed, code);
		return responses.some(
			({ request, response, verdict }) => verdictOf(judge, request, response) !== verdict,
		);
	} catch {
		// Half of a pattern in a template is no pattern.
		return true;
	}
}

test.each(['paymentWords', 'responseRules'])(
	'each alternative of %s decides about a response',
	(module) => {
		requireFreshBuild();
		const code = codeOf(module);
		expect(changesVerdict(module, code)).toBe(false);
		const alternatives = alternativesIn(code);
		expect(alternatives.length).toBeGreaterThan(200);
		const without = alternatives.filter(
			({ from, to }) => !changesVerdict(module, code.slice(0, from) + code.slice(to)),
		);
		expect(without.map(({ from, to }) => code.slice(from - 20, to + 20))).toEqual([]);
	},
);
