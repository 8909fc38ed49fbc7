#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces and pages as people see them: in Perfetto's own UI and in a browser, with a picture of each view.

  ui_test.py GPUTRACE [unittest's words]

GPUTRACE_TEST_BROWSER names a Chromium, GPUTRACE_TEST_UI the folder of a built UI of Perfetto (tried with v55.3): without them
nothing is looked at. The pictures go to the folder that GPUTRACE_TEST_SHOTS names, else to a new one, which is printed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser  # noqa: E402
from viewing import GOLDEN, View  # noqa: E402

GPUTRACE = os.path.realpath(sys.argv.pop(1))
BROWSER = os.environ.get("GPUTRACE_TEST_BROWSER")
UI = os.environ.get("GPUTRACE_TEST_UI")
PATIENCE_S = 90

# After a click a browser without a window has no idle time until a frame comes, which may be never.
IDLE = """const native = window.requestIdleCallback.bind(window);
window.requestIdleCallback = (call, options) => native(call, {timeout: 50, ...options});"""

# Rows of tracks that are seen: name, whether it is kept in view, how many of its columns have colour, whether it failed.
ROWS = """(() => {
  const found = [];
  for (const tree of document.querySelectorAll('.pf-virtual-overlay-canvas.pf-track-tree')) {
    const canvas = [...tree.querySelectorAll('canvas')].sort((a, b) => b.width - a.width)[0]; // the other is for WebGL
    const picture = canvas.getContext('2d');
    const frame = canvas.getBoundingClientRect();
    const pinned = !!tree.closest('.pf-timeline-page__pinned-track-tree');
    const seen = (pinned ? tree.closest('.pf-timeline-page__pinned-track-tree') : tree).getBoundingClientRect();
    for (const row of tree.querySelectorAll('.pf-track')) {
      const box = row.querySelector(':scope > .pf-track__header .pf-track__canvas')?.getBoundingClientRect();
      if (!box || box.height < 5 || box.top > seen.bottom - 10 || box.top < seen.top - 1) continue;
      const scale = canvas.width / frame.width;
      const width = Math.floor(box.width * scale);
      const points = picture.getImageData((box.left - frame.left) * scale, (box.top - frame.top) * scale, width,
                                          Math.floor(box.height * scale)).data;
      const columns = new Set();
      for (let i = 0; i < points.length; i += 4) {
        const [r, g, b] = points.slice(i, i + 3);
        if (points[i + 3] > 0 && Math.max(r, g, b) - Math.min(r, g, b) > 24) columns.add((i / 4) % width);
      }
      found.push({name: row.querySelector(':scope > .pf-track__header .pf-track__title').textContent, pinned,
                  drawn: columns.size,
                  failed: !!row.querySelector(':scope > .pf-track__header .pf-track__canvas--error')});
    }
  }
  return found;
})()"""

READY = """(() => {
  const dialog = document.querySelector('.pf-modal-dialog');
  if (dialog) return 'a dialog: ' + dialog.innerText;
  return window.app && app.trace && !app.isLoadingTrace ? 'ready' : '';
})()"""

QUERY = """(async query => {
  const result = await app.trace.engine.query(query);
  const names = result.columns(), rows = [];
  for (const it = result.iter({}); it.valid(); it.next())
    rows.push(Object.fromEntries(names.map(name => [name, typeof it.get(name) === 'bigint' ? Number(it.get(name)) : it.get(name)])));
  return rows;
})(%s)"""


def make_shots():
    named = os.environ.get("GPUTRACE_TEST_SHOTS")
    if named:
        os.makedirs(named, exist_ok=True)
    return named or tempfile.mkdtemp(prefix="gputrace-shots-")


class Shown(unittest.TestCase):
    """A browser of its own for each test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.browser = browser.Browser(BROWSER, self.folder / "profile", size=(1600, 1000))
        self.addCleanup(self.browser.close)

    def shoot(self, name):
        self.browser.shoot(os.path.join(SHOTS, name + ".png"))


class InPerfetto(Shown):
    def setUp(self):
        super().setUp()
        self.browser.prepare(IDLE)

    def open(self, name):
        """Opens a recording the way gputrace view does, with what the UI has for tests."""
        view = View(GPUTRACE, GOLDEN / f"{name}.gputrace", "--ui", UI, "--no-browser", "--port", "0")
        self.addCleanup(view.__exit__)
        answer, _ = view.get("")
        self.assertEqual(answer.status, 302)
        self.browser.open(answer.getheader("Location").replace("#", "?testing=1#", 1))
        deadline = time.monotonic() + PATIENCE_S
        while (state := self.browser.ask(READY)) != "ready":
            self.assertNotIn("dialog", state)
            self.assertLess(time.monotonic(), deadline, "the UI does not get the trace")
            time.sleep(0.1)
        self.idle()

    def idle(self):
        self.browser.ask("window.waitForPerfettoIdle(500)")
        self.browser.settle()

    def query(self, text):
        return self.browser.ask(QUERY % json.dumps(text))

    def rows(self):
        """Tracks that are seen, checked for what is wrong with any."""
        rows = self.browser.ask(ROWS)
        self.assertEqual([row["name"] for row in rows if row["failed"]], [])
        self.assertEqual(self.browser.ask("document.querySelectorAll('.pf-modal-dialog').length"), 0)
        return rows

    def window(self):
        return self.browser.ask("""(() => { const shown = app.trace.timeline.visibleWindow;
            return [Number(shown.start.integral), Number(shown.start.integral) + Number(shown.duration)]; })()""")

    def select(self, number):
        """As a click on it does; a plugin may then show a tab of its own."""
        self.browser.ask(f"app.trace.selection.selectSqlEvent('slice', {number}, {{scrollToSelection: true}})")
        self.idle()
        self.browser.click(*self.browser.ask("""(() => {
            const box = [...document.querySelectorAll('.pf-drawer-panel__tab')]
                .find(tab => tab.innerText.includes('Current Selection')).getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; })()"""))
        self.idle()

    def details(self):
        return self.browser.ask("document.querySelector('.pf-drawer-panel__drawer').innerText")

    def check_first_view(self, *pinned):
        rows = self.rows()
        kept = [row["name"] for row in rows if row["pinned"]]
        for name in pinned:
            self.assertIn(name, kept)
        for row in rows:
            if row["pinned"] and row["name"].startswith(("Stream", "Advice", "GPU busy")):
                self.assertGreater(row["drawn"], 5, f"{row['name']} is blank")
        below = [row["name"] for row in rows if not row["pinned"]]
        self.assertIn("Hardware Queues", below)
        self.assertTrue(any(name.startswith("Stream") for name in below), below)
        start, end = self.window()
        self.assertGreater(self.query("select count(*) as n from gpu_slice where render_stage_category = 2 and"
                                      f" ts >= {start:.0f} and ts + dur <= {end:.0f}")[0]["n"], 10)
        return below

    def test_first_view_of_a_training(self):
        self.open("h200-pytorch")
        self.shoot("first-view")
        self.check_first_view("GPU busy", "Stream 7", "Advice", "Critical path")
        self.assertIn("gemm", self.details())

    def test_a_step_fills_the_first_view(self):
        self.open("h200-pytorch")
        start, end = self.window()
        whole = self.query(f"select name, dur from slice where category = 'step' and ts >= {start:.0f} and"
                           f" ts + dur <= {end:.0f}")
        self.assertEqual(len(whole), 1)
        self.assertGreater(whole[0]["dur"], 0.6 * (end - start))
        self.shoot("step")
        self.assertIn("Steps", [row["name"] for row in self.rows() if row["pinned"] and row["drawn"] > 100])

    def test_ranges_are_right_below_their_stream(self):
        self.open("h100-step-ops")
        self.shoot("ranges")
        below = self.check_first_view("GPU busy", "Stream 7", "Advice", "Critical path")
        self.assertEqual(below[below.index("Stream 7") + 1], "Stream 7 ranges")

    def test_first_view_of_graphs(self):
        self.open("h200-graphs")
        self.shoot("graphs")
        self.check_first_view("GPU busy", "Stream 13", "Stream 19", "Advice")

    def test_a_kernel_says_what_it_was_launched_with(self):
        self.open("h200-traffic-counters")
        kernel, = self.query("select id, name from gpu_slice where render_stage_category = 2 and name like '%copy_rounds'")
        self.select(kernel["id"])
        self.browser.ask("""[...document.querySelectorAll('.pf-drawer-panel__drawer *')]
            .findLast(each => each.textContent.startsWith('gb_per_s'))?.scrollIntoView({block: 'center'})""")
        self.idle()
        self.shoot("kernel")
        said = self.details()
        for words in (kernel["name"], "family", "occupancy_limited_by", "registers_per_thread", "gb_per_s", "kernel counters"):
            self.assertIn(words, said)

    def test_advice_says_what_it_goes_by(self):
        self.open("h200-pytorch")
        advice, = self.query("select id from slice where category = 'advice' and name like 'GPU 0 waited%'")
        self.select(advice["id"])
        self.shoot("advice")
        for words in ("finding", "CUDA graphs, help.", "worth", "at most", "gaps/devices/span_ns"):
            self.assertIn(words, self.details())

    def test_memory_is_below_its_process(self):
        self.open("h200-pytorch-memory")
        peak = self.query("select id, name from slice where category = 'memory' and name glob 'peak: *'"
                          " order by extract_arg(arg_set_id, 'debug.bytes') desc")[0]
        self.select(peak["id"])
        self.shoot("memory")
        self.assertTrue([row for row in self.rows() if not row["pinned"] and row["name"].startswith("GPU 0 memory")])
        self.assertIn(peak["name"], self.details())


class AsAPage(Shown):
    def test_shows_the_timeline_and_the_findings(self):
        page = self.folder / "page.html"
        subprocess.run([GPUTRACE, "report", GOLDEN / "h200-pytorch.gputrace", "-o", page], check=True, stderr=subprocess.DEVNULL)
        self.browser.open(page.as_uri())
        self.shoot("page")
        self.assertEqual(self.browser.complaints(), [])
        self.assertTrue(self.browser.ask("""(() => { const box = document.querySelector('#timeline canvas').getBoundingClientRect();
            return box.height > 50 && box.width > 400; })()"""))
        self.assertIn("GPU 0 waited for launches", self.browser.ask("document.body.innerText"))


if __name__ == "__main__":
    if not BROWSER or not UI:
        print("GPUTRACE_TEST_BROWSER and GPUTRACE_TEST_UI name no browser and no built UI: no trace is looked at")
        sys.exit(77)
    SHOTS = make_shots()
    print(f"pictures: {SHOTS}", flush=True)
    unittest.main()
