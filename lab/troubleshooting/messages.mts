/** The texts that the code of the nodes shows to users, read from the code itself. */
import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** Stands for what the code fills in. */
export const open = '…';

/** Calls that show a text: the argument it is. */
const calls = new Map([
	['InvalidValueError', 0],
	['NodeOperationError', 1],
	['operationError', 1],
	['Error', 0],
	['context.logger.warn', 0],
	['context.logger.error', 0],
	['addHint', 1],
]);

/** Properties of failures, refusals and hints that hold a text. */
const properties = new Set(['message', 'problem']);

function programOf(files: string[]): ts.Program {
	const { config } = ts.parseConfigFileTextToJson(
		'tsconfig.json',
		readFileSync('tsconfig.json', 'utf8'),
	) as { config: { compilerOptions: object } };
	const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.');
	return ts.createProgram(files, options);
}

/** All variants of a text: each branch of a condition, and each value of a type that lists them. */
function variants(expression: ts.Expression, checker: ts.TypeChecker): string[] {
	if (ts.isConditionalExpression(expression)) {
		return [expression.whenTrue, expression.whenFalse].flatMap((branch) =>
			variants(branch, checker),
		);
	}
	if (ts.isTemplateExpression(expression)) {
		return expression.templateSpans.reduce(
			(starts, span) =>
				starts.flatMap((start) =>
					variants(span.expression, checker).map((value) => start + value + span.literal.text),
				),
			[expression.head.text],
		);
	}
	const type = checker.getTypeAtLocation(expression);
	const types = type.isUnion() ? type.types : [type];
	return types.every((member) => member.isStringLiteral())
		? types.map((member) => member.value)
		: [open];
}

/** As the documentation has it: without the item, which every error of an item ends with. */
const documented = (text: string): string => text.replace(` [item ${open}]`, '');

/** Names that only the code sees, such as a state or an error code, are no texts. */
const isName = (text: string): boolean => /^(?:[a-z]\w*|[A-Z_]+)$/.test(text);
const hasWords = (text: string): boolean => /\p{L}/u.test(text) && !isName(text);

interface Found {
	/** Every text, with `…` for what the code fills in. */
	messages: Set<string>;
	/** Where an error for users is made without a description. */
	withoutDescription: string[];
}

/** Every text that the nodes show as an error, a refusal, a hint or in n8n's log. */
export function messagesInCode(): Found {
	const program = programOf(globSync('nodes/**/*.ts'));
	const checker = program.getTypeChecker();
	const found: Found = { messages: new Set(), withoutDescription: [] };
	const add = (expression?: ts.Expression, before = ''): void => {
		if (expression === undefined) return;
		const texts = variants(expression, checker).map((text) => documented(before + text));
		for (const text of texts.filter(hasWords)) found.messages.add(text);
	};
	const addAssigned = ({ operatorToken: { kind }, right }: ts.BinaryExpression): void => {
		if (kind === ts.SyntaxKind.EqualsToken) add(right);
		if (kind === ts.SyntaxKind.PlusEqualsToken) add(right, open);
	};
	const visit = (node: ts.Node): void => {
		// Its texts are those of its calls.
		if (ts.isVariableDeclaration(node) && node.name.getText() === 'invalid') return;
		if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
			const name = node.expression.getText();
			const position = calls.get(name);
			if (position !== undefined) add(node.arguments?.[position]);
			const [field, , why] = name === 'invalid' ? (node.arguments ?? []) : [];
			if (field !== undefined)
				for (const text of variants(field, checker)) add(why, `${text} is ${open}, which `);
			if (/^Node\w+Error$/.test(name) && !describes(node.arguments?.at(-1)))
				found.withoutDescription.push(node.getText());
		}
		if (ts.isPropertyAssignment(node) && properties.has(node.name.getText())) add(node.initializer);
		if (ts.isShorthandPropertyAssignment(node) && properties.has(node.name.text)) {
			// What it was made from; a parameter, or a part of something, was seen where that was made.
			const declared = checker.getShorthandAssignmentValueSymbol(node)?.valueDeclaration;
			if (declared !== undefined && ts.isVariableDeclaration(declared)) add(declared.initializer);
		}
		if (ts.isBinaryExpression(node) && node.left.getText() === 'message') addAssigned(node);
		ts.forEachChild(node, visit);
	};
	for (const source of program.getSourceFiles()) {
		if (!source.fileName.includes('node_modules')) visit(source);
	}
	return found;
}

function describes(options?: ts.Expression): boolean {
	return (
		options !== undefined &&
		ts.isObjectLiteralExpression(options) &&
		options.properties.some((property) => property.name?.getText() === 'description')
	);
}
