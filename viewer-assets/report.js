// SPDX-License-Identifier: Apache-2.0
// The script of a report's page: tables that can be sorted and filtered, and the timeline. It asks nothing of any
// network. Texts of the recording are only ever set as text.
'use strict';

// ---- tables ----

function valueOf(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.v === undefined) return cell.textContent;
  return cell.dataset.v === '' ? null : Number(cell.dataset.v);
}

// What is not known stands last, whichever way rows are sorted.
function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === 'number') return sign * (a - b);
  return sign * a.localeCompare(b, undefined, {numeric: true});
}

// Figures are sorted with the largest first, texts from A on; a second click turns that round.
function sortBy(heading) {
  const table = heading.closest('table');
  const column = heading.cellIndex;
  const before = heading.getAttribute('aria-sort');
  const falls = before ? before === 'ascending' : heading.classList.contains('n');
  const rows = [...table.tBodies[0].rows];
  for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
  heading.setAttribute('aria-sort', falls ? 'descending' : 'ascending');
  rows.sort((a, b) => compare(valueOf(a, column), valueOf(b, column), falls ? -1 : 1));
  table.tBodies[0].append(...rows);
}

function filterRows(input) {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of input.nextElementSibling.querySelector('tbody').rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
}

function startTables() {
  document.addEventListener('click', (event) => {
    const heading = event.target.closest('table.rows thead th');
    const name = event.target.closest('td.name');
    if (heading) sortBy(heading);
    else if (name && String(getSelection()) === '') name.classList.toggle('open');
  });
  document.addEventListener('input', (event) => {
    if (event.target.classList.contains('filter')) filterRows(event.target);
  });
  // A name that is cut is shown in full where the mouse rests.
  document.addEventListener('mouseover', (event) => {
    const name = event.target.closest('td.name');
    if (name) name.title = name.scrollWidth > name.clientWidth ? name.textContent : '';
  });
}

// ---- figures ----

function digits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, units, step) {
  let unit = 0;
  while (value >= step * 0.9995 && unit < units.length - 1) {
    value /= step;
    unit++;
  }
  return `${unit === 0 ? Math.round(value) : digits(value)} ${units[unit]}`;
}

const showTime = (ns) => scaled(ns, ['ns', 'us', 'ms', 's'], 1000);
const showBytes = (bytes) => scaled(bytes, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
const showCount = (count) => count.toLocaleString('en-US');

// A moment of the recording, with the digits that tell moments apart that lie so far from each other.
function showMoment(ns, apart) {
  const needed = Math.ceil(-Math.log10(Math.max(apart, 1) / 1e9) - 1e-6);
  return `${(ns / 1e9).toFixed(Math.min(Math.max(needed, 0), 9))} s`;
}

// ---- the timeline's data ----

// Pieces of a lane, in arrays that are quick to search: see json_of_lane in cli/render/html_timeline.c.
function readLane(numbers) {
  const lane = {start: [], end: [], name: [], more: new Map()};
  let at = 0;
  for (let i = 0; i < numbers.length;) {
    const several = numbers[i + 1] < 0;
    at += numbers[i];
    if (several)
      lane.more.set(lane.start.length, {count: numbers[i + 3], total: numbers[i + 4], longest: numbers[i + 5]});
    lane.start.push(at);
    lane.end.push(at + (several ? -1 - numbers[i + 1] : numbers[i + 1]));
    lane.name.push(numbers[i + 2]);
    i += several ? 6 : 3;
  }
  return lane;
}

function readCurve(numbers) {
  const curve = {time: [], value: []};
  let at = 0;
  for (let i = 0; i < numbers.length; i += 2) {
    at += numbers[i];
    curve.time.push(at);
    curve.value.push(numbers[i + 1]);
  }
  return curve;
}

// The first place whose value is above the limit, of values that do not fall.
function firstAbove(values, limit) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

const HEIGHTS = {busy: 24, idle: 18, stream: 19, ranges: 18, curve: 54};
const ORDER = ['busy', 'idle', 'curve', 'stream', 'ranges'];

// Rows from the top: those of each GPU together, then those of threads.
function rowsOf(data) {
  const rows = data.tracks.map((track) => ({...track, lanes: track.lanes.map(readLane)}));
  for (const curve of data.curves)
    if (curve.peak > 0) rows.push({...curve, kind: 'curve', lanes: [], points: readCurve(curve.points)});
  rows.sort((a, b) => (a.gpu ?? Infinity) - (b.gpu ?? Infinity) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  for (const row of rows) row.height = HEIGHTS[row.kind] * Math.max(row.lanes.length, 1);
  return rows;
}

// ---- drawing ----

const COLOURS = ['#3b6fd4', '#c2571a', '#23855a', '#a53e8d', '#8f6f0c', '#247f92', '#7d5f4d', '#6a4cc0', '#bb3a4b', '#5d6b78',
  '#4b7d22', '#b0562f'];
const GUTTER = 190;
const AXIS = 26;
const GAP = 5;

function colourOf(text) {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return COLOURS[hash % COLOURS.length];
}

function theme() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of ['card', 'text', 'quiet', 'line', 'busy', 'memory', 'memory-back', 'select', 'accent', 'hover'])
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  return colours;
}

// A canvas that is as wide as its box and sharp on every screen.
function fitCanvas(canvas, height) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.parentElement.clientWidth;
  canvas.style.height = `${height}px`;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '12px system-ui, -apple-system, "Segoe UI", sans-serif';
  context.textBaseline = 'middle';
  return {context, width, height};
}

function drawText(context, text, x, y, room) {
  if (room < 14) return;
  let cut = text;
  if (context.measureText(cut).width > room) {
    let low = 0;
    let high = cut.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(text.slice(0, middle) + '…').width <= room) low = middle;
      else high = middle - 1;
    }
    if (low < 2) return;
    cut = text.slice(0, low) + '…';
  }
  context.fillText(cut, x, y);
}

// A stretch of the page onto which a stretch of time is drawn.
class Scale {
  constructor(left, right, from, to) {
    Object.assign(this, {left, right, from, to});
    this.perNs = (right - left) / Math.max(to - from, 1);
  }
  x(time) { return this.left + (time - this.from) * this.perNs; }
  time(x) { return this.from + (x - this.left) / this.perNs; }
}

function drawAxis(context, scale, start, height, colours) {
  const rough = (scale.to - scale.from) / Math.max((scale.right - scale.left) / 110, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = power * (rough > 5 * power ? 10 : rough > 2 * power ? 5 : rough > power ? 2 : 1);
  context.strokeStyle = colours.line;
  context.fillStyle = colours.quiet;
  context.textAlign = 'center';
  context.beginPath();
  for (let time = Math.ceil((start + scale.from) / step) * step; time <= start + scale.to; time += step) {
    const x = scale.x(time - start);
    context.moveTo(x, AXIS - 6);
    context.lineTo(x, height);
    if (x > scale.left + 24 && x < scale.right - 24) context.fillText(showMoment(time, step), x, AXIS / 2 - 2);
  }
  context.stroke();
  context.textAlign = 'left';
}

function drawLane(context, scale, lane, top, height, look) {
  let painted = -1;
  for (let i = firstAbove(lane.end, scale.from); i < lane.start.length && lane.start[i] < scale.to; i++) {
    const left = Math.max(scale.x(lane.start[i]), scale.left);
    const right = Math.max(Math.min(scale.x(lane.end[i]), scale.right), left + 1);
    if (right <= painted) continue;
    painted = Math.max(Math.ceil(left), left + 1);
    const more = lane.more.get(i);
    const share = more ? more.total / Math.max(lane.end[i] - lane.start[i], 1) : 1;
    context.globalAlpha = look.alpha * (0.35 + 0.65 * Math.min(share, 1));
    context.fillStyle = look.colour(lane.name[i]);
    context.fillRect(left, top, right - left > 3 ? right - left - 0.6 : right - left, height);
    context.globalAlpha = 1;
    if (right - left > 26) {
      context.fillStyle = look.ink;
      drawText(context, look.text(lane.name[i], more), left + 5, top + height / 2 + 0.5, right - left - 9);
    }
  }
}

// The share of each column of pixels that the pieces cover, as its height: many short kernels are no solid bar.
function drawShare(context, scale, lane, top, height, look) {
  const columns = new Float64Array(Math.ceil(scale.right) + 1);
  for (let i = firstAbove(lane.end, scale.from); i < lane.start.length && lane.start[i] < scale.to; i++) {
    const left = Math.max(scale.x(lane.start[i]), scale.left);
    const right = Math.min(scale.x(lane.end[i]), scale.right);
    const more = lane.more.get(i);
    const share = more ? Math.min(more.total / Math.max(lane.end[i] - lane.start[i], 1), 1) : 1;
    for (let x = Math.floor(left); x < right; x++)
      columns[x] += share * (Math.min(x + 1, right) - Math.max(x, left));
  }
  for (let x = Math.floor(scale.left); x < columns.length; x++) {
    const tall = columns[x] > 0 ? Math.max(Math.min(columns[x], 1) * height, 1) : 0;
    context.fillStyle = look.colour(lane.name[0]);
    context.fillRect(x, top + height - tall, 1, tall);
  }
}

// A value holds up to the next one.
function drawCurve(context, scale, curve, peak, top, height, colours) {
  const y = (value) => top + height - (value / Math.max(peak, 1)) * (height - 2);
  let i = Math.max(firstAbove(curve.time, scale.from) - 1, 0);
  context.beginPath();
  context.moveTo(scale.left, top + height);
  for (; i < curve.time.length && curve.time[i] < scale.to; i++) {
    const left = Math.max(scale.x(curve.time[i]), scale.left);
    const right = i + 1 < curve.time.length ? Math.min(scale.x(curve.time[i + 1]), scale.right) : scale.right;
    context.lineTo(left, y(curve.value[i]));
    context.lineTo(right, y(curve.value[i]));
  }
  context.lineTo(scale.right, top + height);
  context.fillStyle = colours['memory-back'];
  context.fill();
  context.strokeStyle = colours.memory;
  context.stroke();
}

class Timeline {
  constructor(data, box) {
    this.data = data;
    this.rows = rowsOf(data);
    this.from = 0;
    this.to = Math.max(data.length, 1);
    this.least = Math.min(100, this.to); // ns that can be seen at least
    this.pointer = null;
    this.dragged = null;
    this.build(box);
    this.listen();
    this.draw();
  }

  build(box) {
    const add = (parent, tag, set) => parent.appendChild(Object.assign(document.createElement(tag), set));
    const tools = add(box, 'div', {className: 'tools'});
    const button = (text, title, act) => add(tools, 'button', {type: 'button', textContent: text, title, onclick: act});
    button('+', 'Zoom in (W)', () => this.zoom(0.5));
    button('\u2212', 'Zoom out (S)', () => this.zoom(2));
    button('Reset', 'Show all of it (0, or a double click)', () => this.show(0, this.data.length));
    add(tools, 'span', {textContent: 'Drag over a stretch to zoom in. W S A D, Ctrl and the wheel, or the wheel after a click.'});
    this.state = add(tools, 'output', {});
    const picture = add(box, 'div', {className: 'picture-box'});
    this.canvas = add(picture, 'canvas', {tabIndex: 0});
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `Timeline with ${this.rows.length} tracks; keys W, S, A, D and 0 move it`);
    this.tip = add(picture, 'div', {className: 'tip', hidden: true});
    const notes = add(box, 'ul', {className: 'remarks'});
    for (const note of this.data.notes) add(notes, 'li', {textContent: note});
  }

  listen() {
    const canvas = this.canvas;
    const keys = {w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), a: () => this.move(-0.15), d: () => this.move(0.15),
      '0': () => this.show(0, this.data.length), ArrowLeft: () => this.move(-0.15), ArrowRight: () => this.move(0.15)};
    canvas.addEventListener('keydown', (event) => {
      const act = keys[event.key] ?? keys[event.key.toLowerCase()];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      act();
      event.preventDefault();
    });
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      if (event.shiftKey) this.move(Math.sign(event.deltaY + event.deltaX) * 0.1);
      else if (event.deltaY === 0) this.move(Math.sign(event.deltaX) * 0.05);
      else this.zoom(event.deltaY > 0 ? 1.25 : 0.8);
      event.preventDefault();
    }, {passive: false});
    canvas.addEventListener('pointermove', (event) => {
      this.pointer = {x: event.offsetX, y: event.offsetY};
      this.later();
    });
    canvas.addEventListener('pointerleave', () => {
      this.pointer = null;
      this.later();
    });
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.offsetX < GUTTER) return;
      this.dragged = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointerup', (event) => this.drop(event.offsetX));
    canvas.addEventListener('pointercancel', () => { this.dragged = null; });
    canvas.addEventListener('dblclick', () => this.show(0, this.data.length));
    addEventListener('resize', () => this.later());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.later());
  }

  drop(x) {
    const from = this.dragged;
    this.dragged = null;
    if (from === null) return;
    if (Math.abs(x - from) < 4) this.later();
    else this.show(this.scale.time(Math.min(x, from)), this.scale.time(Math.max(x, from)));
  }

  // Shows that stretch, or as much of it as there is.
  show(from, to) {
    const length = Math.min(Math.max(to - from, this.least), Math.max(this.data.length, 1));
    this.from = Math.min(Math.max(from, 0), Math.max(this.data.length, 1) - length);
    this.to = this.from + length;
    this.later();
  }

  // About where the mouse is, else about the middle.
  zoom(factor) {
    const inside = this.pointer && this.pointer.x >= GUTTER;
    const at = inside ? this.scale.time(this.pointer.x) : (this.from + this.to) / 2;
    const length = Math.max((this.to - this.from) * factor, this.least);
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - length * share, at + length * (1 - share));
  }

  move(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  later() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.draw();
    });
  }

  look(row, colours) {
    const names = this.data.names;
    const text = (name, more) => (more ? `${showCount(more.count)}: ${names[name]}` : names[name]);
    if (row.kind === 'busy') return {colour: () => colours.busy, text: () => '', ink: '#fff', alpha: 1};
    if (row.kind === 'idle') return {colour: (name) => colourOf(names[name]), text, ink: colours.text, alpha: 0.45};
    return {colour: (name) => colourOf(names[name]), text, ink: '#fff', alpha: 1};
  }

  draw() {
    const colours = theme();
    const height = AXIS + this.rows.reduce((sum, row) => sum + row.height + GAP, 0);
    const {context, width} = fitCanvas(this.canvas, height);
    let top = AXIS;
    this.scale = new Scale(GUTTER, width, this.from, this.to);
    drawAxis(context, this.scale, this.data.start, height, colours);
    for (const row of this.rows) {
      row.top = top;
      this.drawRow(context, row, colours);
      top += row.height + GAP;
    }
    this.drawPointer(context, height, colours);
    this.state.textContent = `${showMoment(this.data.start + this.from, (this.to - this.from) / 1000)} + ${showTime(this.to - this.from)}`;
    Object.assign(this.canvas.dataset, {from: Math.round(this.from), to: Math.round(this.to)});
  }

  drawRow(context, row, colours) {
    const look = this.look(row, colours);
    const each = HEIGHTS[row.kind];
    context.fillStyle = colours.quiet;
    drawText(context, row.label, 2, row.top + Math.min(row.height, 30) / 2, GUTTER - 10);
    context.strokeStyle = colours.line;
    context.beginPath();
    context.moveTo(0, row.top + row.height + GAP / 2);
    context.lineTo(this.scale.right, row.top + row.height + GAP / 2);
    context.stroke();
    if (row.kind === 'curve') drawCurve(context, this.scale, row.points, row.peak, row.top, row.height, colours);
    const draw = row.kind === 'busy' ? drawShare : drawLane;
    row.lanes.forEach((lane, i) => draw(context, this.scale, lane, row.top + i * each, each - 1, look));
  }

  drawPointer(context, height, colours) {
    const at = this.pointer;
    const row = at && this.rows.find((each) => at.y >= each.top && at.y < each.top + each.height);
    this.tip.hidden = true;
    if (row && at.x < GUTTER) this.showTip({title: row.label, lines: []}, at);
    if (!at || at.x < GUTTER) return;
    if (this.dragged !== null) {
      context.fillStyle = colours.select;
      context.fillRect(Math.min(at.x, this.dragged), 0, Math.abs(at.x - this.dragged), height);
    }
    context.strokeStyle = colours.accent;
    context.globalAlpha = 0.6;
    context.beginPath();
    context.moveTo(at.x, AXIS - 6);
    context.lineTo(at.x, height);
    context.stroke();
    context.globalAlpha = 1;
    const said = row && (row.kind === 'curve' ? this.sayValue(row) : this.sayPiece(row));
    if (said) this.showTip(said, at);
  }

  // The piece under the mouse, or a short one within two pixels of it.
  pieceAt(lane) {
    const time = this.scale.time(this.pointer.x);
    const reach = 2 / this.scale.perNs;
    const i = firstAbove(lane.start, time) - 1;
    if (i >= 0 && time - lane.end[i] <= reach) return i;
    return i + 1 < lane.start.length && lane.start[i + 1] - time <= reach ? i + 1 : -1;
  }

  sayPiece(row) {
    const lane = row.lanes[Math.floor((this.pointer.y - row.top) / HEIGHTS[row.kind])];
    const i = lane ? this.pieceAt(lane) : -1;
    if (i < 0) return null;
    const length = lane.end[i] - lane.start[i];
    const more = lane.more.get(i);
    const name = this.data.names[lane.name[i]];
    const lines = [`at ${showMoment(this.data.start + lane.start[i], 1)}, for ${showTime(length)}`];
    if (more && row.kind === 'busy') lines.push(`${showCount(more.count)} kernels or graphs, busy ${showTime(more.total)}`);
    else if (more) lines.push(`${showCount(more.count)} pieces, ${showTime(more.total)} together`, `longest: ${showTime(more.longest)}`);
    return {title: row.kind === 'busy' ? row.label : name, lines};
  }

  sayValue(row) {
    const i = firstAbove(row.points.time, this.scale.time(this.pointer.x)) - 1;
    if (i < 0) return null;
    return {title: row.label, lines: [`${showBytes(row.points.value[i])} in use`, `peak: ${showBytes(row.peak)}`]};
  }

  showTip(said, at) {
    const title = document.createElement('b');
    title.textContent = said.title;
    this.tip.replaceChildren(title, said.lines.join('\n'));
    this.tip.hidden = false;
    const right = at.x + 16 + this.tip.offsetWidth > this.canvas.clientWidth;
    this.tip.style.left = `${right ? Math.max(at.x - 16 - this.tip.offsetWidth, 0) : at.x + 16}px`;
    this.tip.style.top = `${at.y + 14}px`;
  }
}

// ---- memory, once more beside its report ----

function drawMemory(data, box) {
  for (const curve of data.curves) {
    const holder = box.appendChild(document.createElement('div'));
    const canvas = holder.appendChild(document.createElement('canvas'));
    const points = readCurve(curve.points);
    const draw = () => {
      const colours = theme();
      const {context, width, height} = fitCanvas(canvas, 150);
      const scale = new Scale(GUTTER, width, 0, Math.max(data.length, 1));
      drawAxis(context, scale, data.start, height, colours);
      drawCurve(context, scale, points, curve.peak, AXIS, height - AXIS - 1, colours);
      context.fillStyle = colours.quiet;
      drawText(context, curve.label, 2, AXIS + 12, GUTTER - 10);
      context.fillStyle = colours.text;
      drawText(context, `peak ${showBytes(curve.peak)}`, 2, AXIS + 30, GUTTER - 10);
    };
    holder.className = 'picture-box';
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', `${curve.label}, at most ${showBytes(curve.peak)}`);
    draw();
    addEventListener('resize', draw);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  }
}

startTables();
const data = JSON.parse(document.getElementById('timeline-data').textContent);
if (data) {
  new Timeline(data, document.getElementById('timeline'));
  const memory = document.getElementById('memory-curves');
  if (memory) drawMemory(data, memory);
}
