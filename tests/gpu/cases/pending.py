# SPDX-License-Identifier: Apache-2.0
"""gputrace pending names, from another process, what programs wait for that hang on a real GPU."""
import json
import time

from cases.support.bench import Failed, expect
from cases.support.told import Told

LIMIT_S = 10
RUNS, BEHIND, WAITS, MAYBE, HIDDEN = ("runs or is stuck", "behind other work", "its stream waits", "its stream may wait",
                                      "may have ended")
# hangs.cu: (operation, state) of the work without an end, in the order of streams and in them. "ends" has ended: CUPTI does not tell.
HANGS = {
    "kernel": [("spins", RUNS), ("behind", BEHIND), ("ends", HIDDEN)],
    "event": [("spins", RUNS), ("behind", WAITS)],
    "value": [("behind", MAYBE), ("ends", HIDDEN)],
    "collective": [("ncclDevKernel_AllReduce_Sum_f32_RING_LL", RUNS), ("behind", BEHIND), ("ends", HIDDEN)],
}


def work_of(said):
    return [(row["operation"].partition("(")[0], row["state"]) for row in said["work"]]


def ask_until(bench, recording, expected):
    """The answer once it is the expected one, and how many seconds the program hung by then."""
    begin, said = time.monotonic(), {"work": []}
    while time.monotonic() < begin + LIMIT_S:
        done = bench.run([bench.gputrace, "pending", "--json", str(recording)])
        if done.status == 0:
            said = json.loads(done.stdout)
            if work_of(said) == expected and said["threads"]:
                return said, max(row["age_ns"] for row in said["work"]) / 1e9, done.seconds
        time.sleep(0.05)
    raise Failed(f"{work_of(said)} instead of {expected}: {json.dumps(said)[:1500]}")


def test_pending(bench):
    """Kernels that spin, an event and a value that never come: each is named within a second."""
    figures = {}
    for what, expected in HANGS.items():
        with Told(bench, f"pending-{what}", [bench.find("hangs"), what]) as told:
            said, hung_s, took_s = ask_until(bench, told.recording, expected)
            expect(said["threads"][0]["call"] == "cudaDeviceSynchronize", f"{what}: {said['threads']}")
            expect({row["range"] for row in said["work"]} == {"step"}, f"{what}: {said['work']}")
            expect(said["work"][0]["collective"] == (what == "collective"), f"{what}: {said['work'][0]}")
            if what in ("event", "value"):
                wait, = said["stream_waits"]
                held_by = (wait["held_by"] or "").partition("(")[0]
                expect(held_by == ("spins" if what == "event" else ""), f"{what}: {wait}")
            told.end()
        expect(hung_s < 1.5, f"{what}: named after {hung_s:.2f} s")
        figures[what] = {"named_after_s": round(hung_s, 2), "answer_ms": round(1e3 * took_s)}
    return figures
