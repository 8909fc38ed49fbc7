// SPDX-License-Identifier: Apache-2.0
// node damage.mjs ENGINE TRACE: takes single packets out of an uncompressed trace, for which
// TRACE.json says what it holds, and makes sure that check_trace.mjs notices every one of them.
import fs from 'node:fs';
import path from 'node:path';
import {spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';

const [engine, trace] = process.argv.slice(2);
if (!trace) {
  console.error('usage: damage.mjs ENGINE TRACE');
  process.exit(2);
}
const bytes = fs.readFileSync(`${trace}.plain`);

function varint(at) {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at++];
    value += (byte & 127) * scale;
    if (byte < 128) return [value, at];
  }
}
// [number, start of the content, end] of each field.
function* fields(at, end) {
  while (at < end) {
    let tag, size;
    [tag, at] = varint(at);
    if ((tag & 7) === 0) {
      let start = at;
      [, at] = varint(at);
      yield [Math.floor(tag / 8), start, at];
    } else {
      [size, at] = (tag & 7) === 1 ? [8, at] : varint(at);
      yield [Math.floor(tag / 8), at, at + size];
      at += size;
    }
  }
}
function holds(start, end, [number, ...rest]) {
  for (const [found, from, to] of fields(start, end))
    if (found === number && (!rest.length || holds(from, to, rest))) return true;
  return false;
}

const interned = 12;
const damages = {
  'the contexts': [interned, 23],
  'the stages or queues': [interned, 24],
  'the names of slices': [interned, 2],
  'the names of arguments': [interned, 1001],
  'a kernel\'s launch': [interned, 1000],
  'a GPU slice': [53],
  'a slice\'s begin': [11, 10],
  'the description of a process': [60, 3],
  'the description of a thread': [60, 4],
  'the GPUs': [128],
  'the attributes': [126],
  'the counters\' descriptions': [interned, 47],
  'a counter\'s value': [52],
};
let failures = 0;
const check = path.join(path.dirname(fileURLToPath(import.meta.url)), 'check_trace.mjs');
for (const [what, numbers] of Object.entries(damages)) {
  let at = 0;
  let packet;
  for (const [, start, end] of fields(0, bytes.length)) {
    if (!packet && holds(start, end, numbers)) packet = [at, end];
    at = end;
  }
  const damaged = `${trace}.damaged`;
  if (packet)
    fs.writeFileSync(damaged,
      Buffer.concat([bytes.subarray(0, packet[0]), bytes.subarray(packet[1])]));
  const run = packet && spawnSync(process.execPath,
    [check, '--engine', engine, '--expect', `${trace}.json`, damaged], {encoding: 'utf8'});
  const noticed = run?.status === 1 && run.stdout.includes('FAILED');
  console.log(noticed ? 'noticed' : 'NOT NOTICED', 'without', what);
  if (!noticed) failures++;
}
process.exit(failures ? 1 : 0);
