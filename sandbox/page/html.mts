/** HTML that needs no more escaping. */
export class Html {
	readonly text: string;

	constructor(text: string) {
		this.text = text;
	}
}

type Part = Html | string | number | undefined | readonly Html[];

const ENTITIES: Record<string, string> = {
	'&': '&amp;',
	'<': '&lt;',
	'>': '&gt;',
	'"': '&quot;',
	"'": '&#39;',
};

function textOf(part: Part): string {
	if (part instanceof Html) return part.text;
	if (typeof part === 'object') return part.map((item) => item.text).join('');
	return String(part ?? '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Builds HTML. Each value that is filled in is escaped, unless it is `Html` itself. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
	return new Html(String.raw({ raw: strings }, ...parts.map(textOf)));
}
