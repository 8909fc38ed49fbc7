// SPDX-License-Identifier: Apache-2.0
// node query.mjs ENGINE TRACE FILE.sql...: prints what each query answers over a trace, as one JSON
// object: {"FILE.sql": [rows]}.
import fs from 'node:fs';
import path from 'node:path';
import {TraceProcessor} from './tp_node.mjs';

const [engine, trace, ...files] = process.argv.slice(2);
if (!files.length) {
  console.error('usage: query.mjs ENGINE TRACE FILE.sql...');
  process.exit(2);
}
const tp = await TraceProcessor.open({
  engine: path.join(engine, 'engine_bundle.node.js'),
  wasm: path.join(engine, 'trace_processor.wasm'),
});
tp.loadFile(trace);
const answers = {};
for (const file of files) answers[path.basename(file)] = tp.query(fs.readFileSync(file, 'utf8')).rows;
console.log(JSON.stringify(answers));
