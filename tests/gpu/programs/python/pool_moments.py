# SPDX-License-Identifier: Apache-2.0
"""Moments at which a program asks its framework how full its memory is, and has gputrace ask the same.

A program under `gputrace run --allocators` takes moments and prints them at its end as JSON; the figures have
the names that the report memory gives them. Later compare() finds them in that report, of the recording up to
each moment.
"""
import json
import sys
import time

APART_S = 0.05  # nothing happens around a moment, so that windows can end in between


def sample_now():
    """Samples with the module that gputrace brought into this program, if it did."""
    brought = sys.modules.get("gputrace_allocators")
    if brought:
        brought.sample()


class Moments:
    def __init__(self):
        self.taken = []

    def take(self, what, ask):
        """ask returns pools, each a dict; what it says must be the same before and after the sample."""
        time.sleep(APART_S)
        before = ask()
        from_ns = time.time_ns()
        sample_now()
        to_ns = time.time_ns()
        pools = ask()
        if before != pools:
            raise RuntimeError(f"{what}: the memory is not at rest: {before}, then {pools}")
        self.taken.append({"what": what, "from_ns": from_ns, "to_ns": to_ns, "pools": pools})
        time.sleep(APART_S)

    def say(self, **more):
        print(json.dumps({"moments": self.taken, **more}))


def read(stdout):
    """Output of say(), which is the last line."""
    return json.loads(stdout.strip().splitlines()[-1])


def differences(said, rows):
    """Sentences: where rows of the report's table pools, one for each moment's pool and in their order, differ."""
    wrong = []
    if len(said) != len(rows):
        return [f"{len(said)} pools in the program, {len(rows)} in the recording"]
    for pool, row in zip(said, rows):
        for name, value in pool.items():
            if row[name] is None or round(row[name]) != value:
                wrong.append(f"{name}: {value} in the program, {row[name]} in the recording")
    return wrong


def compare(moments, zero_ns, pools_until):
    """How many figures agree; sentences where one does not.

    zero_ns: the wall clock at the recording's zero. pools_until(time_ns): rows of the table pools, of the
    recording up to then.
    """
    agree, wrong = 0, []
    for moment in moments:
        until_ns = moment["to_ns"] - zero_ns + int(APART_S * 1e9 / 2)
        apart = differences(moment["pools"], pools_until(until_ns))
        wrong += [f"{moment['what']}: {sentence}" for sentence in apart]
        agree += sum(len(pool) for pool in moment["pools"]) - len(apart)
    return agree, wrong
