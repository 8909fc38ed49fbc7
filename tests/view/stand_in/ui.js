// SPDX-License-Identifier: Apache-2.0
// What the UI of Perfetto (v55.3 to v58.2) does between its start and the moment it has a trace, no more:
// its content policy, the arguments behind the '#', the search for a trace processor on port 9001, ?url=
// and messages from other windows. The result stands in window.got or window.failed.
'use strict';

const POLICY = `default-src 'self'; script-src 'self' 'unsafe-eval'; object-src 'none'; style-src 'self'
  'unsafe-inline'; connect-src 'self' ws://127.0.0.1:8037 http://localhost:8080 https: blob: data:
  http://127.0.0.1:9001 ws://127.0.0.1:9001 ws://127.0.0.1:9167`;

// The UI puts its policy into the page itself, before anything else.
function setPolicy() {
  const meta = document.createElement('meta');
  meta.httpEquiv = 'Content-Security-Policy';
  meta.content = POLICY.replace(/\s+/g, ' ');
  document.head.appendChild(meta);
}

// '#!/page?a=b&c=d'. A value ends at the next '='; '+' is a blank.
function readArguments() {
  const query = new URL('https://example.com' + location.hash.replace(/^#!/, '')).search;
  const found = {};
  for (const part of query.substring(1).split('&').filter(Boolean)) {
    const [name, value] = part.replaceAll('+', ' ').split('=');
    found[decodeURIComponent(name)] = decodeURIComponent(value ?? '');
  }
  return found;
}

async function take(via, title, buffer) {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', buffer));
  const sha256 = [...sum].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  window.got = {via, title, bytes: buffer.byteLength, sha256, arguments: readArguments(), origin: location.origin};
}

async function findTraceProcessor() {
  try {
    return (await fetch('http://127.0.0.1:9001/status', {method: 'post', cache: 'no-cache'})).status === 200;
  } catch {
    return false;
  }
}

async function fetchTrace(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const blob = await answer.blob();
  await take('url', url.split('/').pop(), await blob.arrayBuffer());
}

function isTrusted(origin) {
  return origin === location.origin || ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname);
}

function hear(event) {
  if (event.source !== window.opener && event.source !== window.parent) return;
  if (event.data === 'PING') {
    event.source.postMessage('PONG', '*');
  } else if (event.data.perfetto?.buffer instanceof ArrayBuffer && event.data.perfetto.title) {
    removeEventListener('message', hear);
    if (isTrusted(event.origin)) take('message', event.data.perfetto.title, event.data.perfetto.buffer);
    else window.failed = `${event.origin} would have to be confirmed by the user`;
  }
}

async function start() {
  if (await findTraceProcessor()) {
    window.failed = 'there is a trace processor, which the user would be asked about';
    return;
  }
  addEventListener('message', hear, {passive: true});
  const {url} = readArguments();
  if (url) await fetchTrace(url).catch((error) => window.failed = `${error}`);
}

setPolicy();
addEventListener('load', start);
