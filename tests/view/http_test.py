#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gputrace view as a browser sees it, byte by byte: http_test.py GPUTRACE [TEST...]"""
import http.client
import json
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from viewing import GOLDEN, PATIENCE_S, UI_PORT, Folder, View, environment, view_on_ui_port

GPUTRACE = os.path.realpath(sys.argv.pop(1)) if len(sys.argv) > 1 else "gputrace"
NAME = "some%20trace.perfetto"
UI = "https://ui.perfetto.dev"


class Page(Folder):
    """From any port: a page of gputrace's own hands the trace over."""

    def view(self, *words, **variables):
        return View(GPUTRACE, "--port", 0, *words, self.trace, **variables)

    def test_the_start_is_a_page_that_opens_the_ui_with_its_commands(self):
        with self.view() as view:
            answer, body = view.get("")
            self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/html; charset=utf-8"))
            text = body.decode()
            self.assertIn('data-name="some trace.perfetto"', text)
            self.assertIn(f'data-trace="/{view.token}/{NAME}"', text)
            self.assertIn(f'data-origin="{UI}"', text)
            self.assertRegex(text, 'data-ui="https://ui.perfetto.dev/#!/[?]startupCommands=[^"]+')
            self.assertEqual(view.get(f"/{view.token}")[1], body)
            self.assertTrue(view.is_there())

    def test_the_trace_is_what_was_given_and_taking_it_ends_the_view(self):
        with self.view() as view:
            answer, body = view.get(NAME)
            self.assertEqual((answer.status, body), (200, self.bytes))
            self.assertEqual(answer.headers["Content-Length"], str(len(self.bytes)))
            self.assertEqual(answer.headers["Cache-Control"], "no-store")
            self.assertEqual(view.end(), 0)
            self.assertIn("the browser has some trace.perfetto now", view.said)
            self.assertFalse(view.is_there())
            with self.assertRaises(ConnectionRefusedError):
                view.get(NAME)

    def test_nothing_is_there_without_the_token(self):
        with self.view() as view:
            wrong = view.token[:-1] + ("A" if view.token[-1] != "A" else "B")
            for path in ("/", f"/{NAME}", f"/{wrong}/", f"/{wrong}/{NAME}", f"/{view.token}x/{NAME}",
                         f"/{view.token[:-1]}/{NAME}", f"//{view.token}/{NAME}", "/status", "/favicon.ico"):
                self.assertEqual(view.get(path)[0].status, 404, path)
            self.assertTrue(view.is_there())

    def test_only_one_file_is_there(self):
        (self.folder / "other.perfetto").write_bytes(b"\nother")
        with self.view() as view:
            for path in ("other.perfetto", "../other.perfetto", "%2e%2e/other.perfetto", "ui/", "ui/index.html",
                         f"/{view.token}/{self.folder}/other.perfetto", NAME + "/", NAME + "x"):
                self.assertEqual(view.get(path)[0].status, 404, path)

    def test_the_token_is_another_each_time(self):
        tokens = set()
        for _ in range(3):
            with self.view() as view:
                tokens.add(view.token)
        self.assertEqual(len(tokens), 3)
        self.assertTrue(all(re.fullmatch(r"[\w-]{16}", token) for token in tokens), tokens)

    def test_no_other_origin_gets_anything(self):
        with self.view() as view:
            for origin in (UI, "https://evil.example", "null", "http://127.0.0.1:1"):
                for method in ("GET", "HEAD", "OPTIONS"):
                    answer, body = view.ask(method, NAME, Origin=origin)
                    self.assertEqual(answer.status, 403, (method, origin))
                    self.assertNotIn(self.bytes[:100], body)
                    self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])
            self.assertTrue(view.is_there())

    def test_the_head_of_the_trace_takes_nothing(self):
        with self.view() as view:
            answer, body = view.ask("HEAD", NAME)
            self.assertEqual((answer.status, body), (200, b""))
            self.assertEqual(answer.headers["Content-Length"], str(len(self.bytes)))
            self.assertEqual(answer.headers["Accept-Ranges"], "bytes")
            self.assertTrue(view.is_there())

    def test_what_is_no_reading_is_refused(self):
        with self.view() as view:
            for method in ("POST", "PUT", "DELETE"):
                self.assertEqual(view.ask(method, NAME)[0].status, 405, method)
            self.assertTrue(view.is_there())

    def test_ranges(self):
        size = len(self.bytes)
        with self.view() as view:
            for asked, begin, end in (("10-19", 10, 20), ("-5", size - 5, size), (f"{size - 1}-", size - 1, size),
                                      ("50-9999999", 50, size)):
                answer, body = view.get(NAME, Range=f"bytes={asked}")
                self.assertEqual((answer.status, body), (206, self.bytes[begin:end]), asked)
                self.assertEqual(answer.headers["Content-Range"], f"bytes {begin}-{end - 1}/{size}")
            answer, body = view.get(NAME, Range=f"bytes={size}-")
            self.assertEqual((answer.status, body), (416, b""))
            self.assertEqual(answer.headers["Content-Range"], f"bytes */{size}")
            self.assertTrue(view.is_there())

    def test_parts_end_the_view_when_they_are_all(self):
        size = len(self.bytes)
        with self.view() as view:
            view.get(NAME, Range=f"bytes={size // 2}-")
            view.get(NAME, Range=f"bytes=0-{size // 4}")
            self.assertTrue(view.is_there())
            view.get(NAME, Range=f"bytes={size // 4}-")
            self.assertEqual(view.end(), 0)


    def test_who_says_nothing_holds_nobody_up(self):
        with self.view() as view:
            halves = (b"", b"GET /", f"GET /{view.token}/{NAME} HTTP/1.1\r\nHost: 127".encode())
            for i in range(150):
                silent = socket.create_connection(("127.0.0.1", view.port), timeout=PATIENCE_S)
                self.addCleanup(silent.close)
                silent.sendall(halves[i % len(halves)])
            self.assertEqual(view.get(NAME)[1], self.bytes)
            self.assertEqual(view.end(), 0)


class Large(Folder):
    """A trace that is longer than what sockets hold."""

    def setUp(self):
        super().setUp()
        self.bytes = b"\n" + os.urandom(20_000_000)
        self.trace.write_bytes(self.bytes)

    def view(self):
        return View(GPUTRACE, "--port", 0, self.trace)

    def begin(self, view):
        connection = http.client.HTTPConnection("127.0.0.1", view.port, timeout=PATIENCE_S)
        self.addCleanup(connection.close)
        connection.request("GET", f"/{view.token}/{NAME}")
        return connection, connection.getresponse()

    def test_a_browser_that_gives_up_has_not_taken_it(self):
        with self.view() as view:
            connection, answer = self.begin(view)
            answer.read(1000)
            answer.close()
            connection.close()
            self.assertEqual(view.get(NAME)[1], self.bytes)
            self.assertEqual(view.end(), 0)

    def test_who_comes_while_another_takes_it_gets_it_too(self):
        with self.view() as view:
            _, first = self.begin(view)
            start = first.read(1000)
            _, second = self.begin(view)
            start_of_second = second.read(1000)
            self.assertEqual(start + first.read(), self.bytes)
            self.assertEqual(start_of_second + second.read(), self.bytes)
            self.assertEqual(view.end(), 0)


class UiPort(Folder):
    """From port 9001 the UI fetches the trace by itself."""

    def view(self, *words, **variables):
        return view_on_ui_port(GPUTRACE, *words, self.trace, **variables)

    def test_the_start_leads_to_the_ui_which_is_told_where_the_trace_is(self):
        with self.view() as view:
            answer, _ = view.get("")
            self.assertEqual(answer.status, 302)
            location = answer.headers["Location"]
            self.assertTrue(location.startswith(UI + "/#!/?url="), location)
            arguments = urllib.parse.parse_qs(location.split("#!/?")[1])
            self.assertEqual(arguments["url"], [f"{view.address}{NAME}"])
            self.assertEqual(set(arguments), {"url", "startupCommands", "enablePlugins"})
            self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")

    def test_the_ui_and_no_other_origin_may_fetch(self):
        with self.view() as view:
            answer, _ = view.ask("HEAD", NAME, Origin=UI)
            self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (200, UI))
            self.assertEqual(answer.headers["Vary"], "Origin")
            for origin in ("https://evil.example", "null", UI + ".evil.example", "http://ui.perfetto.dev",
                           UI + ":444"):
                self.assertEqual(view.get(NAME, Origin=origin)[0].status, 403, origin)
            self.assertTrue(view.is_there())
            answer, body = view.get(NAME, Origin=UI)
            self.assertEqual((answer.status, body), (200, self.bytes))
            self.assertEqual(view.end(), 0)

    def test_a_browser_may_ask_before_it_fetches(self):
        with self.view() as view:
            answer, body = view.ask("OPTIONS", NAME, Origin=UI, Access_Control_Request_Method="GET",
                                    Access_Control_Request_Private_Network="true")
            self.assertEqual((answer.status, body), (204, b""))
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], UI)
            self.assertIn("GET", answer.headers["Access-Control-Allow-Methods"])
            self.assertEqual(answer.headers["Access-Control-Allow-Private-Network"], "true")
            self.assertTrue(view.is_there())

    def test_the_ui_finds_no_trace_processor_there(self):
        with self.view() as view:
            self.assertEqual(view.ask("POST", "/status", Origin=UI)[0].status, 404)
            self.assertTrue(view.is_there())

    def test_another_ui_is_led_to_and_allowed(self):
        with self.view("--ui", "http://perfetto.example:10000/ui") as view:
            location = view.get("")[0].headers["Location"]
            self.assertTrue(location.startswith("http://perfetto.example:10000/ui/#!/?url="), location)
            answer, _ = view.ask("HEAD", NAME, Origin="http://perfetto.example:10000")
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], "http://perfetto.example:10000")
            self.assertEqual(view.ask("HEAD", NAME, Origin=UI)[0].status, 403)

    def test_the_port_can_be_had_again_at_once(self):
        for _ in range(2):
            with self.view("--port", UI_PORT) as view:
                view.get(NAME)
                self.assertEqual(view.end(), 0)


class Folders(Folder):
    """A UI of one's own in a folder."""

    def setUp(self):
        super().setUp()
        self.ui = self.folder / "ui"
        (self.ui / "v1").mkdir(parents=True)
        (self.ui / "index.html").write_text("<!DOCTYPE html>the UI")
        (self.ui / "v1" / "engine.wasm").write_bytes(b"\0asm")
        (self.ui / "v1" / "bundle.js").write_text("go()")
        (self.ui / ".secret").write_text("secret")
        (self.folder / "outside").write_text("secret")

    def view(self):
        return View(GPUTRACE, "--port", 0, "--ui", self.ui, self.trace)

    def test_is_shown_below_the_token(self):
        with self.view() as view:
            location = view.get("")[0].headers["Location"]
            self.assertTrue(location.startswith(f"{view.address}ui/#!/?url={view.address}"), location)
            for path, kind, body in (("ui/", "text/html; charset=utf-8", b"<!DOCTYPE html>the UI"),
                                     ("ui/index.html", "text/html; charset=utf-8", b"<!DOCTYPE html>the UI"),
                                     ("ui/v1/engine.wasm", "application/wasm", b"\0asm"),
                                     ("ui/v1/bundle.js", "text/javascript", b"go()")):
                answer, found = view.get(path)
                self.assertEqual((answer.status, answer.headers["Content-Type"], found), (200, kind, body))

    def test_gives_its_own_pages_what_they_ask_for_with_their_origin(self):
        """As browsers do for fonts. A name that leads here is no such page."""
        with self.view() as view:
            own = f"127.0.0.1:{view.port}"
            self.assertEqual(view.get("ui/v1/bundle.js", Origin=f"http://{own}")[0].status, 200)
            for origin, host in ((f"https://{own}", own), ("http://127.0.0.1:1", own), ("null", own),
                                 (f"http://evil.example:{view.port}", f"evil.example:{view.port}")):
                self.assertEqual(view.get("ui/v1/bundle.js", Origin=origin, Host=host)[0].status, 403, origin)

    def test_shows_nothing_else(self):
        with self.view() as view:
            for path in ("ui/.secret", "ui/../outside", "ui/%2e%2e/outside", "ui/v1/../../outside",
                         "ui/v1/..%2f..%2foutside", f"ui/{self.folder}/outside", "ui//etc/passwd", "ui/v1",
                         "ui/v1/", "ui/missing.js", "/ui/index.html", "/index.html"):
                answer, body = view.get(path)
                self.assertEqual(answer.status, 404, path)
                self.assertNotIn(b"secret", body)

    def test_follows_no_links(self):
        (self.ui / "link.js").symlink_to(self.folder / "outside")
        (self.ui / "linked").symlink_to(self.folder)
        (self.ui / "inside").symlink_to(self.ui / "v1")
        with self.view() as view:
            for path in ("ui/link.js", "ui/linked/outside", "ui/linked/ui/index.html", "ui/inside/bundle.js"):
                answer, body = view.get(path)
                self.assertEqual(answer.status, 404, path)
                self.assertNotIn(b"secret", body)
            self.assertEqual(view.get("ui/v1/bundle.js")[1], b"go()")

    def test_stays_when_the_trace_was_taken_until_ctrl_c(self):
        with self.view() as view:
            self.assertEqual(view.get(NAME)[1], self.bytes)
            self.assertEqual(view.get("ui/v1/bundle.js")[1], b"go()")
            self.assertEqual(view.get(NAME, Origin="https://ui.perfetto.dev")[0].status, 403)
            self.assertEqual(view.interrupt(), -signal.SIGINT)


class Opening(Folder):
    """How the UI opens a trace: where its work is, with the streams that have most of it in view."""

    def location(self, file):
        with view_on_ui_port(GPUTRACE, file) as view:
            return urllib.parse.parse_qs(view.get("")[0].headers["Location"].split("#!/?")[1])

    def test_a_recording_and_its_trace_open_alike(self):
        recording, trace = GOLDEN / "h200-steps.gputrace", self.folder / "steps.perfetto"
        subprocess.run([GPUTRACE, "export", "--quiet", "-o", trace, recording], check=True)
        by_recording, by_trace = self.location(recording), self.location(trace)
        self.assertEqual(set(by_trace), {"url", "visStart", "visEnd", "startupCommands", "enablePlugins"})
        self.assertEqual(by_trace["enablePlugins"], ["com.meta.GpuCompute"])
        for name in set(by_trace) - {"url"}:
            self.assertEqual(by_recording[name], by_trace[name], name)
        steps = json.loads(subprocess.run([GPUTRACE, "report", recording, "steps", "--json"], check=True, capture_output=True,
                                          text=True).stdout)["each_step"]
        lasts = int(by_trace["visEnd"][0]) - int(by_trace["visStart"][0])
        self.assertTrue(any(step["wall_ns"] * 1.24 < lasts < step["wall_ns"] * 1.26 for step in steps), lasts)

    def test_processes_that_share_a_gpu_have_tracks_of_their_own(self):
        shown = self.location(GOLDEN / "h100-workers.gputrace")
        self.assertEqual(shown["enablePlugins"], ["com.meta.GpuCompute,dev.perfetto.GpuByProcess"])
        self.assertNotIn("Stream", shown["startupCommands"][0].split("ExpandTracks")[0])


class Ends(Folder):
    """Recordings become temporary files, of which nothing stays."""

    recording = GOLDEN / "h200-saxpy.gputrace"

    def view(self, *words):
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        return View(GPUTRACE, "--port", 0, *words, self.recording, TMPDIR=str(self.temporary))

    def exported(self, *words):
        trace = self.folder / "exported.perfetto"
        subprocess.run([GPUTRACE, "export", "--force", "--quiet", "-o", trace, *words, self.recording], check=True)
        return trace.read_bytes()

    def test_a_recording_is_shown_as_it_is_exported(self):
        with self.view() as view:
            self.assertEqual(view.get("h200-saxpy.perfetto")[1], self.exported())
            self.assertEqual(view.end(), 0)
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_part_of_a_recording(self):
        with self.view("--kernel", "saxpy", "--to", "-1ms") as view:
            body = view.get("h200-saxpy.perfetto")[1]
        part = self.exported("--kernel", "saxpy", "--to", "-1ms")
        # The command line stands in the trace.
        self.assertLess(abs(len(body) - len(part)), 100)
        self.assertLess(len(body), len(self.exported()))

    def test_names_of_kernels_are_chosen(self):
        with self.view("--names", "mangled") as view:
            self.assertEqual(view.get("h200-saxpy.perfetto")[1], self.exported("--names", "mangled"))
        self.assertNotEqual(self.exported("--names", "mangled"), self.exported())

    def test_signals_end_it_and_leave_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number), self.view() as view:
                self.assertTrue(view.is_there())
                self.assertEqual(view.interrupt(number), -number)
                self.assertFalse(view.is_there())
            self.assertEqual(list(self.temporary.iterdir()), [])
            self.temporary.rmdir()

    def test_a_full_disk_is_said_in_one_sentence(self):
        done = subprocess.run(["sh", "-c", 'ulimit -f 1; trap "" XFSZ; exec "$@"', "sh", GPUTRACE, "view", "--port", "0",
                               GOLDEN / "h200-pytorch.gputrace"], env=environment(), capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Agputrace: cannot write the trace into a temporary file \(TMPDIR names its folder\): .*\n\Z")


class Ports(Folder):
    def test_only_this_machine_reaches_it(self):
        with View(GPUTRACE, "--port", 0, self.trace) as view:
            at = [line.split()[1] for name in ("tcp", "tcp6")
                  for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]
                  if line.split()[1].endswith(f":{view.port:04X}") and line.split()[3] == "0A"]
        self.assertEqual(at, [f"0100007F:{view.port:04X}"])

    def test_one_that_is_taken_is_refused(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            done = subprocess.run([GPUTRACE, "view", "--port", str(port), self.trace], env=environment(),
                                  capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, f"gputrace: port {port} of 127.0.0.1 is taken by another program\n")

    def test_where_that_of_the_ui_is_taken_a_page_comes_from_another(self):
        with view_on_ui_port(GPUTRACE, self.trace), View(GPUTRACE, self.trace) as second:
            self.assertNotEqual(second.port, UI_PORT)
            self.assertEqual(second.get("")[0].status, 200)
            self.assertEqual(second.get(NAME)[1], self.bytes)
            self.assertEqual(second.end(), 0)


class Browsers(Folder):
    """Which browser is opened, and what is said."""

    def setUp(self):
        super().setUp()
        self.opened = self.folder / "opened"
        self.browser = self.folder / "browser"
        self.browser.write_text(f'#!/bin/sh\necho "$@" >"{self.opened}.new"\nmv "{self.opened}.new" "{self.opened}"\n')
        self.browser.chmod(0o755)

    def view(self, *words, **variables):
        return View(GPUTRACE, "--port", 0, *words, self.trace, **variables)

    def was_opened(self):
        deadline = time.monotonic() + PATIENCE_S
        while not self.opened.exists():
            self.assertLess(time.monotonic(), deadline, "no browser was opened")
            time.sleep(0.01)
        return self.opened.read_text().split()

    def said_in_all(self, view):
        """A browser that could not be opened is complained about before the first answer."""
        view.get("")
        view.interrupt()
        return view.said

    def test_is_the_one_that_BROWSER_names(self):
        with self.view(BROWSER=str(self.browser)) as view:
            self.assertEqual(self.was_opened(), [view.address])

    def test_is_the_first_of_them_that_there_is(self):
        with self.view(BROWSER=f"no-such-browser:{self.browser} --new %s --last") as view:
            self.assertEqual(self.was_opened(), ["--new", view.address, "--last"])

    def test_is_xdg_open_on_a_display(self):
        (self.folder / "xdg-open").symlink_to(self.browser)
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.opened.unlink(missing_ok=True)
            with self.view(PATH=f"{self.folder}:/usr/bin:/bin", **{name: ":0"}) as view:
                self.assertEqual(self.was_opened(), [view.address])
                self.assertNotIn("ssh", self.said_in_all(view))

    def test_is_none_without_a_display(self):
        (self.folder / "xdg-open").symlink_to(self.browser)
        with self.view(PATH=f"{self.folder}:/usr/bin:/bin") as view:
            said = self.said_in_all(view)
        self.assertRegex(said, rf"first run there: ssh -N -L {view.port}:127\.0\.0\.1:{view.port} \S+\n")
        self.assertFalse(self.opened.exists())

    def test_is_none_that_was_not_wanted(self):
        with self.view("--no-browser", BROWSER=str(self.browser), DISPLAY=":0") as view:
            self.said_in_all(view)
        self.assertFalse(self.opened.exists())

    def test_the_long_address_of_a_file_is_told_without_one(self):
        recording = GOLDEN / "h200-saxpy.gputrace"
        for what, words, told in ((self.trace, ["--no-browser"], 1), (self.trace, [], 0), (recording, ["--no-browser"], 0)):
            with View(GPUTRACE, "--port", 0, *words, what) as view:
                said = self.said_in_all(view)
            self.assertEqual(said.count("drop it into https://ui.perfetto.dev/#!/?startupCommands="), told, words)

    def test_that_is_not_there_is_said(self):
        with self.view(BROWSER="no-such-browser") as view:
            said = self.said_in_all(view)
        self.assertIn("cannot run what BROWSER names, no-such-browser: No such file or directory; open the address "
                      "yourself", said)

    def test_over_ssh_is_told_how_to_get_here(self):
        with self.view("--no-browser", DISPLAY="localhost:10.0",
                       SSH_CONNECTION="10.0.0.1 40000 10.0.0.2 2222") as view:
            self.assertRegex(self.said_in_all(view), rf"ssh -N -p 2222 -L {view.port}:127\.0\.0\.1:{view.port} \S+\n")


class Links(unittest.TestCase):
    """Words of export on where to look, on terminals."""

    def said_on_terminal(self, **variables):
        leader, follower = pty.openpty()
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([GPUTRACE, "export", "-o", f"{folder}/a.perfetto", GOLDEN / "h200-saxpy.gputrace"],
                                       stderr=follower, env=environment(TERM="xterm-256color", **variables))
            os.close(follower)
            said = b""
            try:
                while piece := os.read(leader, 4096):
                    said += piece
            except OSError:
                pass  # the other end was closed
            os.close(leader)
            self.assertEqual(process.wait(PATIENCE_S), 0)
        return said.decode()

    def test_is_a_link_where_links_are_known(self):
        said = self.said_on_terminal(VTE_VERSION="6800")
        self.assertRegex(said, "\033]8;;https://ui.perfetto.dev/#!/[?]startupCommands=[^\033]+\033\\\\"
                               "https://ui.perfetto.dev\033]8;;\033\\\\\r\n")

    def test_is_a_short_address_elsewhere(self):
        for variables in ({}, {"VTE_VERSION": "6800", "NO_COLOR": "1"}):
            said = self.said_on_terminal(**variables)
            self.assertNotIn("\033", said)
            self.assertIn("drop it into https://ui.perfetto.dev\r\n", said)
            self.assertNotIn("startupCommands", said)


if __name__ == "__main__":
    unittest.main()
