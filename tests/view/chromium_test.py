#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gputrace view in a real browser: chromium_test.py GPUTRACE [TEST...]

A headless Chromium comes to the address that view prints. ui.perfetto.dev is a stand-in on this machine, under the
real one's name and scheme, with the real one's content policy (stand_in/ui.js); no other host can be reached.
"""
import contextlib
import functools
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

import browser
from viewing import HERE, UI_PORT, Folder, View, view_on_ui_port

GPUTRACE = os.path.realpath(sys.argv.pop(1)) if len(sys.argv) > 1 else "gputrace"
UI = "https://ui.perfetto.dev"
OTHER = "https://other.example"
STAND_IN = HERE / "stand_in"
ASSETS = HERE.parents[1] / "viewer-assets"
SKIPPED = 77


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve_stand_in(folder):
    """Under a certificate that nobody vouches for, which the browser is told to take."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                    "/CN=ui.perfetto.dev", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=STAND_IN))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def setUpModule():
    global SERVER, CHROMIUM, TOP
    TOP = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    SERVER = serve_stand_in(pathlib.Path(TOP.name))
    port = SERVER.server_address[1]
    rules = ", ".join([f"MAP {name}:443 127.0.0.1:{port}" for name in ("ui.perfetto.dev", "other.example")] +
                      ["MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1"])
    # The real UI comes from the network: Chromium asks the user before it lets such a page reach this machine.
    CHROMIUM = browser.Browser(browser.find(), pathlib.Path(TOP.name) / "profile", f"--host-resolver-rules={rules}",
                               f"--ip-address-space-overrides=127.0.0.1:{port}=public")


def tearDownModule():
    CHROMIUM.close()
    SERVER.shutdown()
    SERVER.server_close()
    TOP.cleanup()


def allow(origin):
    """As if the user had said yes. False when this Chromium is one that does not ask."""
    for names in (["loopbackNetwork", "localNetworkAccess"], ["localNetworkAccess"]):
        with contextlib.suppress(AssertionError):
            CHROMIUM.command("Browser.grantPermissions", origin=origin, permissions=names)
            return True
    return False


class Viewed(Folder):
    def setUp(self):
        super().setUp()
        self.bytes = b"\n" + os.urandom(5_000_000)
        self.trace.write_bytes(self.bytes)
        self.addCleanup(self.close_pages, {page["targetId"] for page in CHROMIUM.pages()})
        self.asks = allow(UI)
        self.addCleanup(CHROMIUM.command, "Browser.resetPermissions")

    def close_pages(self, before):
        for page in CHROMIUM.pages():
            if page["targetId"] not in before:
                with contextlib.suppress(AssertionError):  # it is closing already
                    CHROMIUM.command("Target.closeTarget", targetId=page["targetId"])

    def open(self, address):
        return CHROMIUM.open(address)

    def open_page(self, view):
        """The page of a view that does not lead to the UI, ready to be clicked; first there is an empty one."""
        page = self.open(view.address)
        page.wait_for("document.getElementById('open') && document.readyState === 'complete'")
        return page

    def check_got(self, page, via, title):
        """The page has the trace, and was told the plugins and commands."""
        got = page.wait_for("window.got ?? (window.failed && {failed: window.failed})")
        self.assertEqual(got.get("failed"), None)
        self.assertEqual((got["via"], got["title"]), (via, title))
        self.assertEqual((got["bytes"], got["sha256"]), (len(self.bytes), hashlib.sha256(self.bytes).hexdigest()))
        self.assertEqual(json.loads(got["arguments"]["startupCommands"]),
                         json.loads((ASSETS / "startup-commands.json").read_text()))
        self.assertEqual(got["arguments"]["enablePlugins"], "com.meta.GpuCompute,dev.perfetto.GpuByProcess")
        return got

    def test_the_ui_fetches_the_trace_from_its_port(self):
        with view_on_ui_port(GPUTRACE, self.trace) as view:
            got = self.check_got(self.open(view.address), "url", "some%20trace.perfetto")
            self.assertEqual(got["origin"], UI)
            self.assertEqual(view.end(), 0)
            self.assertIn("the browser has", view.said)

    def test_a_user_who_says_no_has_not_taken_it(self):
        if not self.asks:
            self.skipTest("this Chromium does not ask")
        CHROMIUM.command("Browser.resetPermissions")
        with view_on_ui_port(GPUTRACE, self.trace) as view:
            self.assertIn("Failed to fetch", self.open(view.address).wait_for("window.failed"))
            self.assertTrue(view.is_there())
            allow(UI)
            self.check_got(self.open(view.address), "url", "some%20trace.perfetto")
            self.assertEqual(view.end(), 0)

    def test_from_another_port_a_click_hands_the_trace_to_the_ui(self):
        CHROMIUM.command("Browser.resetPermissions")  # it takes none
        with View(GPUTRACE, "--port", 0, self.trace) as view:
            page = self.open_page(view)
            # A window that nobody asked for is not let through.
            self.assertNotIn(UI, [other["url"][:len(UI)] for other in CHROMIUM.pages()])
            self.assertTrue(view.is_there())
            page.ask("document.getElementById('open').click()", gesture=True)
            self.check_got(CHROMIUM.wait_for_page(UI), "message", "some trace.perfetto")
            self.assertIn("Perfetto has the trace", page.wait_for("document.getElementById('state').textContent"))
            self.assertEqual(view.end(), 0)

    def test_an_address_that_lost_its_last_slash_works(self):
        with View(GPUTRACE, "--port", 0, self.trace) as view:
            view.address = view.address.removesuffix("/")
            self.open_page(view).ask("document.getElementById('open').click()", gesture=True)
            self.check_got(CHROMIUM.wait_for_page(UI), "message", "some trace.perfetto")

    def test_the_page_can_hand_over_again_what_was_taken_once(self):
        with View(GPUTRACE, "--port", 0, self.trace) as view:
            page = self.open_page(view)
            for _ in range(2):
                page.ask("document.getElementById('open').click()", gesture=True)
                ui = CHROMIUM.wait_for_page(UI)
                self.check_got(ui, "message", "some trace.perfetto")
                ui.close()
                self.assertEqual(view.end() if view.process.poll() is None else 0, 0)

    def test_a_window_that_is_closed_too_early_is_said(self):
        with View(GPUTRACE, "--port", 0, "--ui", "https://ui.perfetto.dev/missing", self.trace) as view:
            page = self.open_page(view)
            page.ask("document.getElementById('open').click()", gesture=True)
            CHROMIUM.wait_for_page(UI).close()
            page.wait_for("document.getElementById('state').textContent.includes('its window was closed')")

    def test_a_ui_in_a_folder_takes_it_from_any_port(self):
        with View(GPUTRACE, "--port", 0, "--ui", STAND_IN, self.trace) as view:
            got = self.check_got(self.open(view.address), "url", "some%20trace.perfetto")
            self.assertEqual(got["origin"], f"http://127.0.0.1:{view.port}")
            self.assertTrue(view.is_there())

    def test_names_that_look_like_markup_are_only_names(self):
        name = "<img src=x onerror=alert(1)> & \"b'.perfetto"
        self.trace = self.trace.rename(self.folder / name)
        with View(GPUTRACE, "--port", 0, self.trace) as view:
            page = self.open_page(view)
            self.assertEqual(page.ask("document.querySelector('h1').textContent"), name)
            self.assertEqual(page.ask("document.images.length"), 0)
            page.ask("document.getElementById('open').click()", gesture=True)
            self.check_got(CHROMIUM.wait_for_page(UI), "message", name)

    def test_another_site_gets_nothing(self):
        allow(OTHER)
        with view_on_ui_port(GPUTRACE, self.trace) as view:
            page = self.open(f"{OTHER}/#!/?url={view.address}some%2520trace.perfetto")
            self.assertIn("Failed to fetch", page.wait_for("window.failed"))
            self.assertTrue(view.is_there())

    def test_the_stand_in_keeps_to_the_policy_of_the_ui(self):
        """Else the page would not be needed, and this test would show nothing."""
        with View(GPUTRACE, "--port", 0, "--ui", STAND_IN, self.trace) as view:
            self.assertNotEqual(view.port, UI_PORT)
            page = self.open(f"{UI}/#!/?url={view.address}some%2520trace.perfetto")
            self.assertIn("Failed to fetch", page.wait_for("window.failed"))


if __name__ == "__main__":
    for needed in (browser.find() or "chromium", "openssl"):
        if not shutil.which(needed):
            print(f"SKIP: there is no {needed} here; scripts/install-packages test installs it")
            sys.exit(SKIPPED)
    unittest.main()
