# SPDX-License-Identifier: Apache-2.0
"""A program like those of bench/programs without a GPU and without time: an iteration takes a millisecond,
FAKE_SHARE more, on a clock of its own, on a machine that slows down with every block that anybody measures.

FAKE_FOLDER holds what all such processes share. One that measures while another does fails; they get warm, which
is the first block of each, whenever they like. FAKE_DIES_AFTER is the
number of blocks after which it ends; FAKE_STARTS=0 keeps it from starting."""
import os
import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "programs"))
import measure

ITERATION_NS = 1_000_000
# Share of the first block, for each block that follows: more in a turn than the costs that the test looks for.
DRIFT = 0.01


class Machine:
    """The clock of this process and the machine that it shares."""

    def __init__(self):
        self.folder = pathlib.Path(os.environ["FAKE_FOLDER"])
        self.share = float(os.environ.get("FAKE_SHARE", "0"))
        self.blocks_left = int(os.environ.get("FAKE_DIES_AFTER", "1000000"))
        self.now_ns, self.slowness, self.busy, self.works, self.warm = 0, 1.0, None, False, False

    def begin_block(self):
        """Fails when anybody else measures."""
        self.works = True
        if not self.warm:
            return
        self.busy = os.open(self.folder / "busy", os.O_CREAT | os.O_EXCL)
        blocks = self.folder / "blocks"
        count = int(blocks.read_text()) if blocks.exists() else 0
        blocks.write_text(str(count + 1))
        self.slowness = 1 + DRIFT * count

    def step(self):
        if not self.works:
            self.begin_block()
        self.now_ns += round(ITERATION_NS * self.slowness * (1 + self.share))

    def wait(self):
        if self.warm:
            os.close(self.busy)
            os.unlink(self.folder / "busy")
        self.works, self.warm = False, True
        self.blocks_left -= 1
        if self.blocks_left == 0:
            print("out of blocks", file=sys.stderr, flush=True)
            os._exit(3)


def build():
    assert os.environ.get("FAKE_STARTS") != "0", "no GPU"
    machine = Machine()
    measure.time = types.SimpleNamespace(perf_counter_ns=lambda: machine.now_ns)
    return measure.Program(machine.step, machine.wait, 3, {})


measure.run_as_script(__name__, build)
