# SPDX-License-Identifier: Apache-2.0
"""Rounds in which all variants live at once and measure in turns.

A machine's own speed drifts between two processes that run one after the other by more than tools differ. So
every variant is started, all at once, and then sleeps in a read; in each turn every variant, in random
order, works for one block while all others sleep. Differences are taken inside a turn, which takes a second.
"""
import contextlib
import json
import os
import select
import signal
import socket
import statistics
import sys
import tempfile
import time

import rounds as paired
from processes import START_LIMIT_S
from rounds import Failed

BLOCK_LIMIT_S = 60
# How often a process that has not called yet is asked whether it still lives.
LOOK_EVERY_S = 0.2


class Settings:
    """turns: of a round; block_s: measured of a turn; lead_in_s: worked before that, unmeasured; core: the one
    for every measuring thread, or None; peers_every: other tools take part in every so manieth turn alone."""

    def __init__(self, turns, block_s, lead_in_s, core=None, peers_every=1):
        self.turns, self.block_s, self.lead_in_s, self.core = turns, block_s, lead_in_s, core
        self.peers_every = peers_every

    def arguments(self, path):
        """Arguments of a program that measures in turns."""
        return ["--turns", path] + (["--pin", str(self.core)] if self.core is not None else [])


class Player:
    """A variant's process in one round. turns_us has one entry a turn: the time of an iteration, None where
    it did not take part."""

    def __init__(self, variant, folder, settings):
        self.variant, self.folder, self.settings = variant, folder, settings
        self.turns_us, self.failure = [], None
        self.process = self.listener = self.line = self.stream = self.pid = None

    def start(self):
        path = os.path.join(self.folder, "turns")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.process = self.variant.start(self.folder, self.settings.arguments(path))

    def meet(self):
        """Returns when the process is warm and waits for its first turn."""
        self.line = self.accept(self.listener)
        self.stream = self.line.makefile("rw")
        self.pid = self.read(START_LIMIT_S)["pid"]
        self.variant.settle(self.folder)

    def accept(self, listener):
        limit = time.monotonic() + START_LIMIT_S
        while not select.select([listener], [], [], LOOK_EVERY_S)[0]:
            if self.process.ended() is not None:
                self.explain_end()
            if time.monotonic() > limit:
                raise Failed(f"was not ready within {START_LIMIT_S} s")
        return listener.accept()[0]

    def explain_end(self):
        """Fails with what the process said when it ended too early."""
        self.process.row(paired.RUN_LIMIT_S)
        raise Failed("ended before its last turn")

    def read(self, limit_s):
        self.line.settimeout(limit_s)
        try:
            text = self.stream.readline()
        except TimeoutError:
            raise Failed(f"gave no answer within {limit_s} s") from None
        except OSError:
            text = ""
        if not text:
            self.explain_end()
        return json.loads(text)

    def takes_part(self, turn):
        return turn % self.settings.peers_every == 0 or not self.variant.is_peer

    def take_turn(self):
        request = {"lead_in_s": self.settings.lead_in_s, "block_s": self.settings.block_s}
        try:
            print(json.dumps(request), file=self.stream, flush=True)
        except OSError:
            self.explain_end()
        answer = self.read(BLOCK_LIMIT_S + 10 * (self.settings.lead_in_s + self.settings.block_s))
        self.turns_us.append(answer["time_ns"] / answer["iterations"] / 1e3)

    def end(self):
        """Tells the process that there are no more turns."""
        try:
            self.line.shutdown(socket.SHUT_WR)
        except OSError:
            self.explain_end()

    def finish(self):
        """The run, proven, once the process has ended."""
        row = self.variant.finish(self.process, self.folder)
        row["turns_us"] = self.turns_us
        row["iteration_us"] = statistics.median(filter(None, self.turns_us))
        return row

    def attempt(self, work):
        """work(), unless something failed before; the reason when it fails."""
        if self.failure:
            return None
        try:
            return work()
        except Failed as failure:
            self.failure = str(failure)
            self.close()
            return None

    def close(self):
        """Ends the process if it has not ended. Under nsys the one that measures is a child of it."""
        with contextlib.suppress(Failed, ProcessLookupError):
            if self.process and self.process.ended() is None:
                if self.pid:
                    os.kill(self.pid, signal.SIGKILL)
                self.process.kill()
        for thing in (self.stream, self.line, self.listener):
            if thing:
                with contextlib.suppress(OSError):
                    thing.close()


def start_players(variants, settings, order, allowed_failures, stack):
    """The variants, which wait for their turns. They are started in random order and get warm at once, each on
    whatever cores are free: a round takes as long as the slowest of them, and there can be many rounds."""
    players = []
    for variant in order.sample(variants, len(variants)):
        if len(variant.failures) > allowed_failures:
            continue
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gputrace-bench.", ignore_cleanup_errors=True))
        player = Player(variant, folder, settings)
        stack.callback(player.close)
        player.attempt(player.start)
        players.append(player)
    for player in players:
        player.attempt(player.meet)
    return players


def take_turns(players, turns, order, deadline):
    """Turns until there are enough or the deadline has come, one at least. The players that failed stand by."""
    for turn in range(turns):
        if turn and time.monotonic() > deadline:
            print(f"  no time for more than {turn} turns", file=sys.stderr)
            break
        for player in order.sample(players, len(players)):
            if player.takes_part(turn):
                player.attempt(player.take_turn)
            else:
                player.turns_us.append(None)


def run_round(variants, settings, order, allowed_failures, deadline):
    """One round; ends about as long after the deadline's last turn as its start took, if it takes that long."""
    with contextlib.ExitStack() as stack:
        begin = time.monotonic()
        players = start_players(variants, settings, order, allowed_failures, stack)
        to_start = time.monotonic() - begin
        take_turns(players, settings.turns, order, deadline - to_start)
        for player in players:
            player.attempt(player.end)
        runs = {player.variant: player.attempt(player.finish) for player in players}
        for player in players:
            if player.failure:
                player.variant.failures.append(player.failure)
        for variant in variants:
            variant.rounds.append(runs.get(variant))
