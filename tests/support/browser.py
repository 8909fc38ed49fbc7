# SPDX-License-Identifier: Apache-2.0
"""A Chromium without a window, told what to do over a pipe (the DevTools protocol). It reaches no machine but this one."""
import base64
import json
import os
import select
import subprocess
import time

PATIENCE = 60  # seconds for an answer


class Browser:
    """One tab. folder: for its profile, which must be empty."""

    def __init__(self, program, folder, size=(1440, 800)):
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        words = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                 "--disable-sync", "--hide-scrollbars", "--disable-webgl",
                 "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank"]
        # The browser reads commands from descriptor 3 and answers on 4.
        self.process = subprocess.Popen(["sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program, *words],
                                        pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.unread, self.number, self.session, self.events = b"", 0, None, []
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.tell(f"{domain}.enable")
        self.tell("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def close(self):
        try:
            self.session = None
            self.tell("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)

    def message(self, deadline):
        while b"\0" not in self.unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.back, 1 << 16)
            if not piece:
                raise EOFError("the browser ended")
            self.unread += piece
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def tell(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def ask(self, expression):
        """The value of an expression; a promise is waited for."""
        answer = self.tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def prepare(self, script):
        """Runs it in each page that is opened from now on, before the page's own scripts."""
        self.tell("Page.addScriptToEvaluateOnNewDocument", source=script)

    def open(self, address):
        self.events.clear()
        self.tell("Page.navigate", url=address)
        deadline = time.monotonic() + PATIENCE
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message(deadline))
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def theme(self, name):
        self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def mouse(self, kind, x, y, **more):
        self.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start, end):
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, button="left", clickCount=1)
        self.mouse("mouseMoved", *end, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)
        self.settle()

    def click(self, x, y):
        self.drag((x, y), (x, y))

    def key(self, key):
        named = {"key": key, "code": f"Key{key.upper()}" if len(key) == 1 else key,
                 "windowsVirtualKeyCode": 13 if key == "Enter" else ord(key[0].upper())}
        text = {"text": "\r" if key == "Enter" else key}
        self.tell("Input.dispatchKeyEvent", type="keyDown", **named, **text)
        self.tell("Input.dispatchKeyEvent", type="keyUp", **named)
        self.settle()

    def shoot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.tell("Page.captureScreenshot", format="png")["data"]))

    def complaints(self):
        """Errors that the page logged or threw."""
        found = []
        for event in self.events:
            about = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(about["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert", "warning"):
                found.append(str(about["args"]))
            elif event["method"] == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                found.append(about["entry"]["text"])
        return found

    def asked_for(self):
        """The addresses that the page asked for, itself among them."""
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
