# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, spoken to through a pipe (--remote-debugging-pipe): JSON, each message ended by a zero."""
import json
import os
import select
import shutil
import subprocess
import time

PATIENCE_S = 30
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, program, folder, *words):
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        words = ["--headless", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--ignore-certificate-errors", *words, "about:blank"]
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program, *words],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.read = b""
        self.number = 0

    def close(self):
        try:
            self.command("Browser.close")
            self.process.wait(PATIENCE_S)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            os.close(self.to)
            os.close(self.back)

    def next_message(self, deadline):
        while b"\0" not in self.read:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise AssertionError("the browser does not answer")
            piece = os.read(self.back, 1 << 16)
            if not piece:
                raise AssertionError(f"the browser ended with status {self.process.wait()}")
            self.read += piece
        message, self.read = self.read.split(b"\0", 1)
        return json.loads(message)

    def command(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.next_message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def pages(self):
        return [page for page in self.command("Target.getTargets")["targetInfos"] if page["type"] == "page"]

    def attach(self, target):
        return Page(self, target)

    def open(self, address):
        return Page(self, self.command("Target.createTarget", url=address)["targetId"])

    def wait_for_page(self, beginning):
        """A page that another one opened."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for page in self.pages():
                if page["url"].startswith(beginning):
                    return Page(self, page["targetId"])
            time.sleep(0.05)
        raise AssertionError(f"no page {beginning} among {self.pages()}")


class Page:
    def __init__(self, browser, target):
        self.browser = browser
        self.target = target
        self.session = browser.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def ask(self, expression, gesture=False):
        """The value of an expression; with a gesture as if the user had clicked."""
        answer = self.browser.command("Runtime.evaluate", self.session, expression=expression, returnByValue=True,
                                      awaitPromise=True, userGesture=gesture)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, expression):
        """Until it has a value that is true; a page may be replaced by another meanwhile."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                value = self.ask(expression)
            except AssertionError as error:
                if "context" not in str(error):
                    raise
                value = None
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"{expression} has no value on {self.ask('location.href + document.body.innerText')}")

    def close(self):
        self.browser.command("Target.closeTarget", targetId=self.target)
