#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page that "gputrace report -o x.html" writes, as a file and in a browser.

  html_page.py GPUTRACE CAPTURES [unittest's words]

GPUTRACE_TEST_BROWSER names a Chromium; without one its tests are skipped. GPUTRACE_TEST_SHOTS names a folder for pictures of
what it showed.
"""
import base64
import hashlib
import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser  # noqa: E402

GPUTRACE = os.path.abspath(sys.argv[1])
CAPTURES = pathlib.Path(sys.argv[2]).resolve()
BROWSER = os.environ.get("GPUTRACE_TEST_BROWSER")
SHOTS = os.environ.get("GPUTRACE_TEST_SHOTS")
HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)<'


class Page(html.parser.HTMLParser):
    """Elements of a page, and the raw text of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.inside = dict(attrs).get("type", "")
            self.scripts.append((self.inside, ""))

    def handle_endtag(self, tag):
        if tag == "script":
            self.inside = None

    def handle_data(self, data):
        if self.inside is not None:
            self.scripts[-1] = (self.inside, self.scripts[-1][1] + data)

    def data(self):
        return json.loads(next(text for kind, text in self.scripts if kind == "application/json"))


def report(folder, recording, *words):
    """Writes a page; its path."""
    path = pathlib.Path(folder) / "page.html"
    subprocess.run([GPUTRACE, "report", str(recording), *words, "-o", str(path), "--force"], check=True,
                   stderr=subprocess.DEVNULL)
    return path


def pieces(lane):
    """The pieces of a lane, as readLane of report.js reads it: (start, length, count, sum of times), one after the other."""
    at, place = 0, 0
    while place < len(lane):
        at += lane[place]
        if lane[place + 1] < 0:
            yield at, -1 - lane[place + 1], lane[place + 3], lane[place + 4]
            place += 6
        else:
            yield at, lane[place + 1], 1, lane[place + 1]
            place += 3


def hostile_recording(folder):
    """One whose name and command line are markup."""
    recording = pathlib.Path(folder) / (HOSTILE.replace("/", "") + ".gputrace")
    shutil.copytree(CAPTURES / "h200-steps.gputrace", recording)
    manifest = json.loads((recording / "manifest.json").read_text())
    manifest["command"] = ["./app", "</script><script>alert(3)</script>", HOSTILE]
    (recording / "manifest.json").write_text(json.dumps(manifest))
    return recording


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def page(self, name, *words):
        return Page(report(self.folder.name, CAPTURES / f"{name}.gputrace", *words).read_text())


class TheFile(Case):
    def test_needs_no_other_file(self):
        page = self.page("h200-pytorch-modules")
        for tag, attributes in page.tags:
            self.assertNotIn(tag, ("link", "img", "iframe", "object", "embed", "base", "form"))
            self.assertNotIn("src", attributes)
            self.assertTrue(attributes.get("href", "#").startswith("#"), attributes)
            self.assertFalse([name for name in attributes if name.startswith("on")], attributes)

    def test_lets_no_script_run_but_its_own(self):
        page = self.page("h200-steps")
        policy = next(attributes["content"] for tag, attributes in page.tags
                      if attributes.get("http-equiv") == "Content-Security-Policy")
        script = next(text for kind, text in page.scripts if kind == "")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        self.assertIn("default-src 'none'", policy)
        self.assertIn(f"script-src 'sha256-{digest}'", policy)
        self.assertEqual([kind for kind, _ in page.scripts], ["application/json", ""])

    def test_takes_no_text_for_markup(self):
        page = Page(report(self.folder.name, hostile_recording(self.folder.name)).read_text())
        self.assertEqual([kind for kind, _ in page.scripts], ["application/json", ""])
        self.assertNotIn("img", [tag for tag, _ in page.tags])

    def test_busy_time_is_that_of_the_summary(self):
        for name in ("h200-steps", "h200-pytorch-modules", "h100-workers", "h100-graphs-whole", "h200-streams"):
            with self.subTest(name):
                told = json.loads(subprocess.run([GPUTRACE, "report", str(CAPTURES / f"{name}.gputrace"), "gaps", "--json"],
                                                 check=True, capture_output=True).stdout)
                tracks = [track for track in self.page(name).data()["tracks"] if track["kind"] == "busy"]
                drawn = [sum(piece[3] for lane in track["lanes"] for piece in pieces(lane)) for track in tracks]
                self.assertEqual(drawn, [row["busy_ns"] for row in told["devices"] if row["busy_ns"]])

    def test_streams_have_all_their_work(self):
        for name in ("h200-steps", "h200-pytorch-modules", "h200-streams"):
            with self.subTest(name):
                told = json.loads(subprocess.run([GPUTRACE, "report", str(CAPTURES / f"{name}.gputrace"), "streams", "--json"],
                                                 check=True, capture_output=True).stdout)
                data = self.page(name).data()
                drawn = sum(piece[2] for track in data["tracks"] if track["kind"] == "stream"
                            for lane in track["lanes"] for piece in pieces(lane))
                self.assertEqual(drawn, sum(row["kernels"] + row["copies"] + row["fills"] for row in told["streams"]))

    def test_follows_a_filter(self):
        whole = self.page("h200-steps").data()
        part = self.page("h200-steps", "--from", "240ms", "--to", "250ms").data()
        self.assertEqual((part["start"], part["length"]), (240000000, 10000000))
        count = [sum(piece[2] for track in data["tracks"] if track["kind"] == "stream" for lane in track["lanes"]
                     for piece in pieces(lane)) for data in (whole, part)]
        self.assertLess(count[1], count[0])

    def test_replaces_no_file_unasked(self):
        path = pathlib.Path(self.folder.name) / "page.html"
        path.write_text("mine")
        words = [GPUTRACE, "report", str(CAPTURES / "h200-steps.gputrace"), "-o", str(path)]
        self.assertNotEqual(subprocess.run(words, stderr=subprocess.DEVNULL).returncode, 0)
        self.assertEqual(path.read_text(), "mine")
        self.assertEqual([each.name for each in path.parent.iterdir()], ["page.html"])

    def test_has_the_reports_that_are_named(self):
        page = self.page("h200-steps", "kernels", "gaps", "--limit", "1")
        self.assertEqual([attributes["id"] for tag, attributes in page.tags if tag == "section"], ["timeline", "kernels", "gaps"])
        self.assertIn("more rows: --limit", report(self.folder.name, CAPTURES / "h200-steps.gputrace", "kernels",
                                                   "--limit", "1").read_text())


@unittest.skipUnless(BROWSER, "GPUTRACE_TEST_BROWSER names no browser")
class InABrowser(Case):
    def setUp(self):
        super().setUp()
        self.browser = browser.Browser(BROWSER, os.path.join(self.folder.name, "profile"))
        self.addCleanup(self.browser.close)

    def open(self, recording, *words):
        path = report(self.folder.name, recording, *words)
        self.browser.open(path.as_uri())
        return path

    def shot(self, name):
        if SHOTS:
            os.makedirs(SHOTS, exist_ok=True)
            self.browser.shoot(os.path.join(SHOTS, f"{name}.png"))

    def seen(self):
        return [int(self.browser.ask(f"document.querySelector('#timeline canvas').dataset.{name}")) for name in ("from", "to")]

    def box(self, selector):
        """Left, top, width and height on the screen, scrolled to."""
        return self.browser.ask("(() => { const found = document.querySelector(%s); found.scrollIntoView({block: 'center'});"
                                " const box = found.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })()"
                                % json.dumps(selector))

    def middle(self, selector):
        left, top, width, height = self.box(selector)
        return left + width / 2, top + height / 2

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertTrue(all(address.startswith("file:") for address in self.browser.asked_for()))

    def test_shows_every_recording(self):
        for recording in sorted(CAPTURES.glob("*.gputrace")):
            with self.subTest(recording.name):
                self.open(recording)
                self.assertEqual(self.browser.complaints(), [])
                self.assertTrue(self.browser.ask("!!document.querySelector('#timeline canvas') && "
                                                 "document.documentElement.scrollWidth <= innerWidth"))

    def test_sorts_by_a_heading(self):
        self.open(CAPTURES / "h200-pytorch-modules.gputrace", "kernels")
        heading = "#kernels table.rows th.n button"
        column = ("[...document.querySelector('#kernels table.rows').tBodies[0].rows].map(row => "
                  "Number(row.cells[1].dataset.v))")
        state = "document.querySelector('#kernels table.rows th.n').getAttribute('aria-sort')"
        before = self.browser.ask(column)
        self.browser.click(*self.middle(heading))
        self.assertEqual(self.browser.ask(column), sorted(before, reverse=True))
        self.assertEqual(self.browser.ask(state), "descending")
        self.browser.ask(f"document.querySelector({json.dumps(heading)}).focus()")
        self.browser.key("Enter")
        self.assertEqual(self.browser.ask(column), sorted(before))
        self.assertEqual(self.browser.ask(state), "ascending")

    def test_filters_rows(self):
        self.open(CAPTURES / "h200-pytorch-modules.gputrace", "kernels")
        left = self.browser.ask("""(() => { const box = document.querySelector('#kernels .filter'); box.value = 'CUTLASS';
            box.dispatchEvent(new Event('input', {bubbles: true}));
            return [...box.nextElementSibling.querySelectorAll('tbody tr')].filter(row => row.offsetHeight)
                .map(row => row.textContent); })()""")
        self.assertTrue(left)
        self.assertTrue(all("cutlass" in row for row in left), left)

    def test_zooms(self):
        self.open(CAPTURES / "h200-steps.gputrace")
        whole = self.seen()
        left, top, width, height = self.box("#timeline canvas")
        at, line = left + 190 + (width - 190) / 2, top + 40
        self.browser.drag((at, line), (at + 200, line))
        dragged = self.seen()
        self.assertAlmostEqual(dragged[0] / whole[1], 0.5, delta=0.01)
        self.assertAlmostEqual((dragged[1] - dragged[0]) / whole[1], 200 / (width - 190), delta=0.01)
        self.browser.key("w")
        self.assertLess(self.seen()[1] - self.seen()[0], dragged[1] - dragged[0])
        before = self.seen()
        self.browser.key("d")
        self.assertGreater(self.seen()[0], before[0])
        before = self.seen()
        self.browser.mouse("mouseWheel", at, line, deltaX=0, deltaY=-120)
        self.browser.settle()
        self.assertLess(self.seen()[1] - self.seen()[0], before[1] - before[0])
        self.browser.key("0")
        self.assertEqual(self.seen(), whole)

    def test_says_what_is_under_the_mouse(self):
        self.open(CAPTURES / "h200-steps.gputrace")
        data = self.browser.ask("JSON.parse(document.getElementById('timeline-data').textContent)")
        lane = next(track for track in data["tracks"] if track["kind"] == "busy")["lanes"][0]
        start, length, count, _ = max(pieces(lane), key=lambda piece: piece[1])
        left, top, width, _ = self.box("#timeline canvas")
        x = left + 190 + (width - 190) * (start + length / 2) / data["length"]
        self.browser.mouse("mouseMoved", x, top + 35)
        self.browser.settle()
        said = self.browser.ask("document.querySelector('#timeline .tip').innerText")
        self.assertIn("GPU 0 busy", said)
        self.assertFalse(self.browser.ask("document.querySelector('#timeline .tip').hidden"))
        if count > 1:
            self.assertIn(f"{count:,} kernels", said)

    def test_runs_no_script_of_a_recording(self):
        self.open(hostile_recording(self.folder.name))
        self.assertIn(HOSTILE.replace("/", ""), self.browser.ask("document.querySelector('h1').textContent"))
        self.assertEqual(self.browser.ask("document.scripts.length"), 2)
        self.assertEqual(self.browser.ask("document.images.length"), 0)

    def test_looks(self):
        """Pictures for people."""
        for name in ("h200-pytorch-modules", "h200-steps", "h100-workers"):
            self.open(CAPTURES / f"{name}.gputrace")
            for theme in ("light", "dark"):
                self.browser.theme(theme)
                self.browser.settle()
                for place in (None, *self.browser.ask("[...document.querySelectorAll('section')].map(each => each.id)")):
                    self.browser.ask(f"location.hash = '{place or ''}'; scrollTo(0, {0 if not place else 'scrollY'})")
                    self.browser.settle()
                    self.shot(f"{name}-{theme}-{place or 'top'}")
        self.assertEqual(self.browser.complaints(), [])


if __name__ == "__main__":
    if BROWSER is None:
        print("GPUTRACE_TEST_BROWSER names no browser: the page is looked at as a file alone")
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
