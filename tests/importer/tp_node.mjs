// SPDX-License-Identifier: Apache-2.0
// Perfetto's trace processor, as WebAssembly, in plain Node: no browser, no network, no dependency.
//   const tp = await TraceProcessor.open({engine: 'engine_bundle.node.js', wasm: 'trace_processor.wasm'});
//   tp.loadFile('app.perfetto');
//   tp.query('select count(*) as n from slice').rows[0].n
// The engine's bundle believes that it is a web worker: every global it probes is a parameter here.
import fs from 'node:fs';
import v8 from 'node:v8';

// Compiling 13 MB once more, to run faster, takes longer than most traces do.
v8.setFlagsFromString('--liftoff-only');

// ---- minimal protobuf reader / writer -------------------------------------------------------
const encoder = new TextEncoder(), decoder = new TextDecoder();
const varint = (n) => { n = BigInt.asUintN(64, BigInt(n)); const o = []; do { let b = Number(n & 127n); n >>= 7n; o.push(n ? b | 128 : b); } while (n); return Uint8Array.from(o); };
const cat = (...a) => { const r = new Uint8Array(a.reduce((s, x) => s + x.length, 0)); let p = 0; for (const x of a) { r.set(x, p); p += x.length; } return r; };
const fV = (f, n) => cat(varint(f << 3), varint(n));
const fL = (f, b) => { if (typeof b === 'string') b = encoder.encode(b); return cat(varint(f << 3 | 2), varint(b.length), b); };
function rdVarint(b, p) { let n = 0n, s = 0n, x; do { x = b[p++]; n |= BigInt(x & 127) << s; s += 7n; } while (x & 128); return [n, p]; }
function* fields(b) {
  let p = 0, t;
  while (p < b.length) {
    [t, p] = rdVarint(b, p); const f = Number(t >> 3n), w = Number(t & 7n); let v;
    if (w === 0) { [v, p] = rdVarint(b, p); }
    else if (w === 2) { let n; [n, p] = rdVarint(b, p); v = b.subarray(p, p += Number(n)); }
    else if (w === 1) { v = b.subarray(p, p += 8); } else if (w === 5) { v = b.subarray(p, p += 4); }
    else throw new Error('bad wire type ' + w);
    yield [f, w, v];
  }
}
const num = (n) => { n = BigInt.asIntN(64, n); return n >= -9007199254740991n && n <= 9007199254740991n ? Number(n) : n; };

// ---- engine ---------------------------------------------------------------------------------
const TPM = {APPEND: 1, EOF: 2, QUERY: 3, STATUS: 10};
export class TraceProcessor {
  static async open({engine, wasm, log = () => {}}) {
    const tp = new TraceProcessor();
    const wasmBytes = fs.readFileSync(wasm);
    // Emscripten asks for the .wasm by a synchronous XHR; hand it the bytes.
    class XHR { open() {} send() { this.status = 200; this.response = new Uint8Array(wasmBytes).buffer; } }
    // Only the 32-bit .wasm is there, so the 23-byte probe for memory64 must fail.
    const WA = new Proxy(WebAssembly, {get: (t, k) => k !== 'Module' ? t[k] : new Proxy(t.Module, {
      construct: (M, [b]) => { if (b.byteLength < 64 && b[8] === 5 && b[11] & 4) throw new Error('memory64 off'); return new M(b); }})});
    const self = {location: {href: 'http://127.0.0.1/engine_bundle.js'}};
    const con = {...console, log, info: log, warn: log, error: log};
    const src = fs.readFileSync(engine, 'utf8').replace(/^\/\/# sourceMappingURL.*$/m, '');
    new Function('self', 'WorkerGlobalScope', 'importScripts', 'location', 'XMLHttpRequest', 'WebAssembly', 'console',
      'process', 'require', 'module', 'exports', 'window', 'document', src)
      (self, function () {}, () => {}, self.location, XHR, WA, con);
    // A fake MessagePort: requests in through .onmessage, replies out through .postMessage, all synchronous.
    const port = {postMessage: (bytes) => tp._onReply(bytes), onmessage: null};
    for (let i = 0; i < 200 && !self.onmessage; i++) await new Promise((r) => setTimeout(r, 5));
    self.onmessage({data: port});
    await new Promise((r) => setTimeout(r, 20));  // onRuntimeInitialized -> trace_processor_rpc_init
    tp._port = port; tp._seq = 0; tp._rx = new Uint8Array(0);
    return tp;
  }
  _onReply(b) { this._rx = this._rx.length ? cat(this._rx, b) : b; }
  pump(bytes) { this._rx = new Uint8Array(0); this._port.onmessage({data: bytes}); const r = this._rx; this._rx = new Uint8Array(0); return r; }
  _rpc(method, args = new Uint8Array(0)) {
    const rx = this.pump(fL(1, cat(fV(1, this._seq++), fV(2, method), args)));
    const out = [];
    for (const [, , m] of fields(rx)) {
      const o = {};
      for (const [f, , v] of fields(m)) { if (f === 5) throw new Error('fatal: ' + decoder.decode(v)); if (f === 4) throw new Error('method not known'); o[f] = v; }
      out.push(o);
    }
    return out;
  }
  status() { const o = {}; for (const [f, , v] of fields(this._rpc(TPM.STATUS)[0][210])) o[f] = v instanceof Uint8Array ? decoder.decode(v) : Number(v); return {loaded: o[1], version: o[2], api: o[3], code: o[4]}; }
  load(bytes) {
    for (let p = 0; p < bytes.length; p += 32 << 20) {
      const r = this._rpc(TPM.APPEND, fL(101, bytes.subarray(p, p + (32 << 20))))[0];
      for (const [f, , v] of fields(r[201] ?? [])) if (f === 2 && v.length) throw new Error('parse: ' + decoder.decode(v));
    }
    const r = this._rpc(TPM.EOF)[0];              // v5x reports import errors here (212.1)
    for (const [f, , v] of fields(r?.[212] ?? [])) if (f === 1 && v.length) throw new Error('finalize: ' + decoder.decode(v));
  }
  loadFile(f) { this.load(new Uint8Array(fs.readFileSync(f))); }
  query(sql) {
    const columns = [], cells = []; let error;
    for (const m of this._rpc(TPM.QUERY, fL(103, fL(1, sql)))) for (const [f, , v] of fields(m[203] ?? [])) {
      if (f === 1) columns.push(decoder.decode(v));
      else if (f === 2) error = decoder.decode(v);
      else if (f === 3) {
        const b = {types: [], v: [], d: [], blob: [], s: []};
        for (const [g, w, x] of fields(v)) {
          if (g === 1) b.types = w === 2 ? [...x] : [...b.types, Number(x)];
          else if (g === 2) { if (w === 0) b.v.push(x); else for (let p = 0, n; p < x.length;) { [n, p] = rdVarint(x, p); b.v.push(n); } }
          else if (g === 3) { const dv = new DataView(x.buffer, x.byteOffset, x.length); for (let p = 0; p < x.length; p += 8) b.d.push(dv.getFloat64(p, true)); }
          else if (g === 4) b.blob.push(x.slice());
          else if (g === 5) b.s = decoder.decode(x).split('\0');
        }
        let i = 0, j = 0, k = 0, l = 0;
        for (const t of b.types) cells.push(t === 1 ? null : t === 2 ? num(b.v[i++]) : t === 3 ? b.d[j++] : t === 4 ? b.s[k++] : b.blob[l++]);
      }
    }
    if (error) throw new Error(error);
    const rows = [];
    for (let p = 0; p < cells.length; p += columns.length) rows.push(Object.fromEntries(columns.map((c, i) => [c, cells[p + i]])));
    return {columns, rows};
  }
}
