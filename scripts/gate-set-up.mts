/** Writes gate/schema.sql, whole, into the workflow that sets a database up. Run it after each change of the SQL. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gateFolder, readGateWorkflow, RECORD_NODE } from '../n8n/gate.mts';

const file = 'gate-set-up.json';
const workflow = await readGateWorkflow(file);
const record = workflow.nodes.find(({ name }) => name === RECORD_NODE);
if (record === undefined) throw new Error(`${file} has no node "${RECORD_NODE}"`);
const query = await readFile(join(gateFolder, 'schema.sql'), 'utf8');
record.parameters = { operation: 'executeQuery', query, options: {} };
await writeFile(join(gateFolder, file), `${JSON.stringify(workflow, null, '\t')}\n`);
