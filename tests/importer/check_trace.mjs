// SPDX-License-Identifier: Apache-2.0
// node check_trace.mjs [--engine FOLDER] [--expect FACTS.json] [--counts COUNTS.json] TRACE [SQL...]
// Loads a trace into Perfetto's own importer. Exits with 1 when it lost or refused anything, when a
// rule that every trace of gputrace keeps is broken, or when it holds something else than FACTS.json
// says; with 2 for wrong usage. COUNTS.json is what "gputrace export --json" said, for traces whose
// facts are not known otherwise. Any SQL is run afterwards and printed.
import fs from 'node:fs';
import path from 'node:path';
import {TraceProcessor} from './tp_node.mjs';

function usage() {
  console.error('usage: check_trace.mjs [--engine FOLDER] [--expect FACTS.json] '
                + '[--counts COUNTS.json] TRACE [SQL...]');
  process.exit(2);
}

const options = {engine: process.env.GPUTRACE_TRACE_PROCESSOR, expect: undefined,
  counts: undefined};
const operands = [];
for (let args = process.argv.slice(2); args.length;) {
  const arg = args.shift();
  if (['--engine', '--expect', '--counts'].includes(arg))
    options[arg.slice(2)] = args.shift() ?? usage();
  else operands.push(arg);
}
const [trace, ...statements] = operands;
if (!trace || !options.engine) usage();

const tp = await TraceProcessor.open({
  engine: path.join(options.engine, 'engine_bundle.node.js'),
  wasm: path.join(options.engine, 'trace_processor.wasm'),
});
let failures = 0;
function fail(...words) {
  console.log('FAILED', ...words);
  failures++;
}

try {
  tp.loadFile(trace);
} catch (error) {
  fail('to load:', error.message);
  process.exit(1);
}
const rows = (sql) => tp.query(sql).rows;
const value = (sql) => Object.values(rows(sql)[0])[0];

// Losses have all severities: some that matter are only "info", so the names count as well.
// clock_sync_cache_miss is normal.
for (const stat of rows(`
    select name, idx, severity, value from stats
    where value > 0 and name != 'clock_sync_cache_miss' and
      (severity in ('error', 'data_loss', 'notice')
       or name in ('interned_data_tokenizer_errors', 'track_event_parser_errors',
                   'track_event_tokenizer_errors', 'tokenizer_skipped_packets',
                   'flow_step_without_start', 'flow_end_without_start')
       or name glob '*skipped*' or name glob '*error*' or name glob '*invalid*'
       or name glob '*dropped*' or name glob '*lost*' or name glob '*missing*')`))
  fail('stat', stat.severity, stat.name, stat.idx ?? '', stat.value);

function none(what, sql) {
  const n = value(`select count(*) as n from (${sql})`);
  if (n !== 0) fail(what + ':', n, 'rows, such as', JSON.stringify(rows(`${sql} limit 1`)[0]));
}
function equal(what, actual, expected) {
  if (actual !== expected) fail(`${what}: ${actual} in the importer, ${expected} written`);
}
const arg = (name) => `extract_arg(s.arg_set_id, '${name}')`;
const kernel = `${arg('kernel_name')} is not null`;
const range = `ifnull(${arg('kind')}, '') = 'range' and ${arg('path')} is not null`;
// Numbers that the GPU Compute plugin computes with, and texts that it shows.
const launchNumbers = ['workgroup_size', 'grid_size', 'thread_count', 'registers_per_thread',
  'shared_mem_static', 'shared_mem_dynamic', 'process_id', 'device', 'stream',
  'launch.grid_size.x', 'launch.grid_size.y', 'launch.grid_size.z',
  'launch.workgroup_size.x', 'launch.workgroup_size.y', 'launch.workgroup_size.z'];
const launchTexts = ['kernel_demangled_name', 'func_cache_config', 'process_name'];

none('GPU slices of no process', `
  select s.id from gpu_slice s left join process p on p.upid = ${arg('upid')}
  where p.pid is null or p.pid = 0`);
none('slices without a name', `select s.id from slice s where s.name is null or s.name = ''`);
none('compute slices without kernel_name', `
  select s.id from gpu_slice s where ${arg('render_stage_category')} = 2 and not (${kernel})`);
none('kernels that are not of the stage COMPUTE', `
  select s.id from gpu_slice s where ${kernel} and ${arg('render_stage_category')} != 2`);
for (const name of launchNumbers)
  none(`kernels whose ${name} is not a number`, `
    select s.id from gpu_slice s where ${kernel} and
      ifnull(typeof(${arg(name)}), '') not in ('integer', 'real')`);
for (const name of launchTexts)
  none(`kernels without ${name}`, `
    select s.id from gpu_slice s where ${kernel} and ifnull(${arg(name)}, '') = ''`);
none('copies, fills and graphs without bytes, device or stream', `
  select s.id from gpu_slice s where not (${kernel}) and not (${range}) and
    (${arg('bytes')} is null and ${arg('kind')} <> 'graph' or ${arg('device')} is null or ${arg('stream')} is null)`);
none('GPU slices with an argument that fails in the viewer', `
  select s.id from gpu_slice s where typeof(${arg('correlation_id')}) not in ('text', 'null')`);
none('GPU slices of no length', 'select s.id from gpu_slice s where s.dur < 1');
none('process ids with several processes', `
  select pid from process where pid != 0 group by pid having count(*) > 1`);
none('thread ids with several threads', `
  select tid, upid from thread where tid != 0 group by tid, upid having count(*) > 1`);
none('arrows that go back in time', `
  select f.id from flow f join slice a on a.id = f.slice_out join gpu_slice b on b.id = f.slice_in
  where b.ts < a.ts`);
none('calls that waited for work of after them', `
  select f.id from flow f join gpu_slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
  where b.id not in (select id from gpu_slice) and b.dur >= 0 and b.ts + b.dur < a.ts`);
none('arrows between processes', `
  select f.id from flow f
  join slice a on a.id = f.slice_out join thread_track tt on tt.id = a.track_id
  join thread t using (utid) join slice s on s.id = f.slice_in
  where ${arg('upid')} != t.upid`);
// Times alone: this importer puts a value where the one before it stands.
none('counters of single kernels where no profiled kernel begins or ends', `
  select c.id, c.ts from counter c join gpu_counter_group g on g.track_id = c.track_id
  where g.group_id = 6 and not exists (
    select 1 from gpu_slice s where ${arg('profiled')} is not null and c.ts in (s.ts, s.ts + s.dur))`);
none('groups of single kernels without a value', `
  select track_id from gpu_counter_group where group_id = 6 and track_id not in (select track_id from counter)`);
none('kernels whose occupancy is known without what limits it', `
  select s.id from gpu_slice s where ${arg('occupancy_limit_warps')} is not null and
    ifnull(${arg('occupancy_limited_by')}, '') not in
      ('warps', 'registers', 'shared memory', 'blocks', 'barriers')`);
none('slices of the host that reach out of the one around them', `
  select s.id from slice s join slice p on p.id = s.parent_id
  where s.dur >= 0 and p.dur >= 0 and s.ts + s.dur > p.ts + p.dur`);

// The viewer colours a slice by its title without digits: a hue, and how light it is. Which one that
// is is chance; copies to and from arrays are too rare to look for other words.
function colourOf(title) {
  const seed = title.replace(/( )?\d+/g, '');
  const hash = (text, limit) => {
    let state = 0x811c9dc5 & 0xfffffff;
    for (let i = 0; i < text.length; i++)
      state = ((state ^ text.charCodeAt(i)) * 16777619) & 0xffffffff;
    return Math.abs(state) % limit;
  };
  return `${hash(seed, 360)}/${hash(seed + 'x', 40)}`;
}
const directions = new Map();
for (const {name} of rows(`select distinct s.name as name from gpu_slice s
    where not (${kernel}) and not (${range}) and s.name not glob '*toA *' and s.name not glob 'Ato*'`)) {
  const direction = name.split(' ')[0];
  const other = directions.get(colourOf(name)) ?? direction;
  if (other !== direction) fail('one colour for', other, 'and', name);
  directions.set(colourOf(name), direction);
}

// Counts of the exporter itself while it writes.
function compareCounts(facts) {
  equal('GPU slices', value(`select count(*) as n from gpu_slice s where not (${range})`),
    facts.gpu_slices);
  equal('API calls', value(`select count(*) as n from slice where category = 'api'`),
    facts.api_slices);
  equal('ranges', value(
    `select count(*) as n from slice s where s.category = 'nvtx' or (${range})`),
    facts.range_slices ?? 0);
  equal('marks of memory', value(`select count(*) as n from slice where category = 'memory'`),
    facts.memory_marks ?? 0);
  equal('values of memory', value(`select count(*) as n from counter c
    join track t on t.id = c.track_id join track p on p.id = t.parent_id
    where p.name glob '* memory*'`), facts.memory_values ?? 0);
  equal('events of kernels', value(
    `select count(*) as n from slice where category = 'device_event'`), facts.device_slices ?? 0);
  equal('arrows', value('select count(*) as n from flow'),
    facts.arrows + (facts.host_arrows ?? 0));
}

if (options.counts) compareCounts(JSON.parse(fs.readFileSync(options.counts, 'utf8')));

if (options.expect) {
  // Only where the device's limits are known, as they are in traces made for tests.
  for (const name of ['waves_per_multiprocessor', 'sm__maximum_warps_per_active_cycle_pct',
    'sm__maximum_warps_avg_per_active_cycle', 'occupancy_limit_blocks',
    'occupancy_limit_registers', 'occupancy_limit_shared_mem', 'occupancy_limit_warps',
    'shared_mem_config_size'])
    none(`kernels whose ${name} is not known`, `
      select s.id from gpu_slice s where ${kernel} and ${arg(name)} is null`);

  const facts = JSON.parse(fs.readFileSync(options.expect, 'utf8'));

  compareCounts(facts);
  equal('kernels', value(`select count(*) as n from gpu_slice s where ${kernel}`), facts.kernels);
  equal('contexts', value('select count(*) as n from __intrinsic_gpu_context'), facts.contexts);
  equal('processes', value('select count(*) as n from process where pid != 0'), facts.processes);
  equal('threads', value('select count(*) as n from thread where tid != 0 and name = \'worker\''),
    facts.threads);
  equal('GPUs', value('select count(*) as n from gpu'), facts.gpus);
  equal('open slices', value('select count(*) as n from slice where dur < 0'), facts.open_slices);
  equal('waits', value(
    `select count(*) as n from slice where category in ('sync', 'overhead')`), facts.waits);
  equal('samples of counters', value(`
    select count(*) as n from counter c join gpu_counter_track t on t.id = c.track_id
    where t.name not in ('GPU busy', 'launches in flight')`),
    facts.samples);
  equal('calls that say what failed', value(`select count(*) as n from slice s
    where category = 'api' and ${arg('debug.code')} is not null`), facts.error_calls);
  if (facts.gpu_slices + facts.api_slices > 0) {
    const of_work = "from slice where ifnull(category, '') <> 'advice'"; // that may be about the whole recording
    equal('first slice', value(`select min(ts) as n ${of_work}`), facts.first_ns);
    equal('last end', value(`select max(ts + max(dur, 0)) as n ${of_work}`), facts.last_ns);
  }
  for (const [sql, answer] of Object.entries(facts.answers)) equal(sql, value(sql), answer);
  equal('ledger', value(`select count(*) as n from metadata
    where name = 'trace_attribute.ledger.kernels' and int_value = 21 * ${facts.processes}`),
    facts.processes > 0 ? 1 : 0);
}

for (const sql of statements) {
  console.log('>', sql);
  console.table(rows(sql));
}
if (failures === 0) console.log('clean:', value('select count(*) as n from slice'), 'slices');
process.exit(failures ? 1 : 0);
