#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gputrace run on a terminal of its own: Ctrl-C reaches the program once, Ctrl-Z stops both,
and what is sent to gputrace alone is passed on. Usage: job_control.py GPUTRACE"""
import os
import pty
import select
import signal
import sys
import tempfile
import time

GPUTRACE = os.path.realpath(sys.argv[1])

# Says what it gets. Not a shell: one that is stopped while it starts a command may not stop. The
# signals are blocked before it says that it is ready, so that none can come before it waits.
PROGRAM = r"""
import os, signal
heard = {signal.SIGINT, signal.SIGUSR1, signal.SIGTERM}
before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
os.write(1, b"blocked-before " if before else b"ready ")
while True:
    number = signal.sigwait(heard)
    os.write(1, b"got-%d " % number)
    if number == signal.SIGTERM:
        os._exit(9)
"""
INT, USR1 = (f"got-{int(number)} " for number in (signal.SIGINT, signal.SIGUSR1))


def lead(folder, report):
    """A shell in small: one job in the foreground, every change of its state reported. Without
    a parent in the same session the kernel would not stop the job from the keyboard."""
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.chdir(folder)
        os.environ["GPUTRACE_INJECTION"] = os.path.join(folder, "injection.so")
        os.execv(GPUTRACE, ["gputrace", "run", "--quiet", sys.executable, "-c", PROGRAM])
    os.write(report, f"job {job}\n".encode())
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.write(report, b"stopped\n")
        else:
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            os.write(report, f"ended {code}\n".encode())
            os._exit(0)


class Session:
    def __init__(self, folder):
        self.text = ""
        reports, report = os.pipe()
        leader, self.fd = pty.fork()
        if leader == 0:
            lead(folder, report)
        os.close(report)
        self.reports = os.fdopen(reports)
        self.pid = int(self.next_report().split()[1])

    def next_report(self):
        if not select.select([self.reports], [], [], 20)[0]:
            raise AssertionError(f"nothing happened after {self.text!r}")
        return self.reports.readline().strip()

    def wait_for(self, what, count=1):
        deadline = time.monotonic() + 20
        while self.text.count(what) < count:
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"no {what!r} in {self.text!r}")
            if select.select([self.fd], [], [], left)[0]:
                self.text += os.read(self.fd, 4096).decode()

    def key(self, byte):
        os.write(self.fd, byte)


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def wait_for_state(pid, wanted):
    deadline = time.monotonic() + 20
    while state_of(pid) not in wanted:
        if time.monotonic() > deadline:
            raise AssertionError(f"process {pid} is {state_of(pid)}, not {wanted}")
        time.sleep(0.01)


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def check(folder):
    session = Session(folder)
    session.wait_for("ready ")
    program = child_of(session.pid)

    session.key(b"\x03")
    session.wait_for(INT)
    os.kill(session.pid, signal.SIGUSR1)
    session.wait_for(USR1)
    # A second INT from our own wrapper would have been seen before USR1.
    assert session.text.count(INT) == 1, session.text

    session.key(b"\x1a")
    assert session.next_report() == "stopped"
    wait_for_state(program, "T")
    os.killpg(os.getpgid(session.pid), signal.SIGCONT)
    wait_for_state(program, "SR")
    os.kill(session.pid, signal.SIGUSR1)
    session.wait_for(USR1, 2)

    # Stopped by someone else, the program is theirs to continue: gputrace goes on waiting.
    os.kill(program, signal.SIGSTOP)
    wait_for_state(program, "T")
    time.sleep(0.1)
    wait_for_state(session.pid, "S")
    os.kill(program, signal.SIGCONT)

    os.kill(session.pid, signal.SIGTERM)
    ended = session.next_report()
    assert ended == "ended 9", ended


with tempfile.TemporaryDirectory() as top:
    open(os.path.join(top, "injection.so"), "w", encoding="ascii").close()
    check(top)
