/** The lines between the nodes of a workflow, as n8n draws them, and those that cross. */
import { z } from 'zod';
import type { WorkflowFile } from '../../demo/n8n-api.mts';

type Point = [number, number];

const Node = z.object({ name: z.string(), position: z.tuple([z.number(), z.number()]) });
const Connections = z.record(
	z.object({ main: z.array(z.array(z.object({ node: z.string() })).nullable()) }),
);

/** px. A node with many outputs is higher. */
const SIZE = 96;
const PER_OUTPUT = 32;
/** px. A line to the left leaves its node by this, goes down, and comes back under the nodes. */
const [ASIDE, DOWN] = [40, 130];
const STEPS = 32;

/** A line to the right is a Bézier curve that begins and ends horizontally; one to the left goes around. */
function pointsOf([x, y]: Point, [toX, toY]: Point): Point[] {
	if (toX < x) {
		const low = y + DOWN;
		const [right, left] = [x + ASIDE, toX - ASIDE];
		return [
			[x, y],
			[right, y],
			[right, low],
			[left, low],
			[left, toY],
			[toX, toY],
		];
	}
	return Array.from({ length: STEPS + 1 }, (_, step) => {
		const part = step / STEPS;
		const along = 1.5 * part * (1 - part) + part ** 3;
		return [x + along * (toX - x), y + (3 * part ** 2 - 2 * part ** 3) * (toY - y)];
	});
}

const side = ([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): number =>
	Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax));

const cross = (a: Point, b: Point, c: Point, d: Point): boolean =>
	side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;

/** Each two lines that cross, without those that share a node, as "from → to, from → to". */
export function crossingLines({ nodes, connections }: WorkflowFile): string[] {
	const places = new Map(
		z
			.array(Node)
			.parse(nodes)
			.map(({ name, position }) => [name, position]),
	);
	const outputsOf = (name: string) => (Connections.parse(connections)[name]?.main ?? []).length;
	const heightOf = (name: string) =>
		Math.max(SIZE, outputsOf(name) > 2 ? PER_OUTPUT * (outputsOf(name) + 1) : SIZE);
	const lines = Object.entries(Connections.parse(connections)).flatMap(([from, { main }]) =>
		main.flatMap((targets, output) =>
			(targets ?? []).map(({ node: to }) => {
				const [x, y] = places.get(from) ?? [0, 0];
				const [toX, toY] = places.get(to) ?? [0, 0];
				const height = y + (heightOf(from) * (output + 1)) / (main.length + 1);
				return { from, to, points: pointsOf([x + SIZE, height], [toX, toY + heightOf(to) / 2]) };
			}),
		),
	);
	const pairs = ({ points }: { points: Point[] }) =>
		points.slice(1).map((point, index): [Point, Point] => [points[index] ?? point, point]);
	return lines.flatMap((one, index) =>
		lines
			.slice(index + 1)
			.filter((other) => one.from !== other.from && one.to !== other.to)
			.filter((other) =>
				pairs(one).some(([a, b]) => pairs(other).some(([c, d]) => cross(a, b, c, d))),
			)
			.map((other) => `${one.from} → ${one.to}, ${other.from} → ${other.to}`),
	);
}
