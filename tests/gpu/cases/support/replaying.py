# SPDX-License-Identifier: Apache-2.0
"""Shared by tests of gputrace replay: they capture launches and sequences, and run them again."""
import json
import shutil

from cases.support.bench import expect
from cases.support.readings import facts_of

REPLAY_RUNS, REPLAY_TIME = 10, "500ms"
# The first launch of a kernel is captured: the later ones find in their outputs what they write there.
REPLAY_LAUNCHES = 40


def replayed_command(bench, name, *more):
    return [bench.find("replay_kernels"), name, str(REPLAY_LAUNCHES), *more]


def library(bench, name):
    """The one that PyTorch brings along; an empty text: the linker finds one, or none."""
    code = ("import pathlib, sys; print(next((str(path) for place in sys.path if place"
            f" for path in pathlib.Path(place).glob('nvidia/*/lib/{name}.so.*')), ''))")
    return bench.run([bench.python, "-c", code]).stdout.strip()


def bundles_in(recording):
    folder = recording / "launches"
    return sorted(path for path in folder.iterdir() if (path / "bundle.json").exists()) if folder.exists() else []


def capture_launch(bench, name, command, kernel, *options, first=1):
    """The bundle of the first launch of many, or of another."""
    recording = bench.recording(f"replay-{name}")
    traced = bench.run([bench.gputrace, "run", "-q", "--no-export", "--capture-kernels", kernel, "--launches", f"{first}:1",
                        *options, "-o", str(recording), "--", *command])
    facts = facts_of(traced, f"{name} while it is captured")
    expect(facts["wrong"] == "0", f"{name} gives wrong results while it is captured")
    bundles = bundles_in(recording)
    rows = bench.report(recording, "replayable")["captured"]
    expect(len(bundles) == 1, f"{len(bundles)} bundles of {name}: {[row['reason'] for row in rows]}")
    return bundles[0]


def replay(bench, bundle, *options, **environment):
    """Exit status and what gputrace replay says, as JSON."""
    done = bench.run([bench.gputrace, "replay", "--json", "--time", REPLAY_TIME, *options, str(bundle)], **environment)
    expect(done.status in (0, 3), f"gputrace replay {' '.join(options)} exits with {done.status}: {done.tail()}")
    return done.status, json.loads(done.stdout)


def expect_as_recorded(status, said, what, verdict="outputs as recorded"):
    """verdict: what it has to begin with; of a node of a graph, which runs alone, outputs are as in the sequence."""
    row = said["times"][0]
    expect(any(buffer["elements"] for buffer in said["buffers"]), f"{what}: no output was compared")
    expect(status == 0 and row["verdict"].startswith(verdict),
           f"{what}: exit status {status}, {row['verdict']}: {said['buffers']}")
    return row


def forget_bundles(bench, name):
    """They are large, and compared."""
    shutil.rmtree(bench.folder / f"replay-{name}.gputrace" / "launches", ignore_errors=True)


def capture_sequence(bench, name, command, *options):
    """The bundle of the first occurrence of the command's range step, or of what the options choose, and what it printed."""
    recording = bench.recording(f"replay-{name}")
    chosen = options or ("--capture-sequence", "step")
    traced = bench.run([bench.gputrace, "run", "-q", "--no-export", *chosen, "-o", str(recording), "--", *command])
    facts = facts_of(traced, f"{name} while a step of it is captured")
    bundles = bundles_in(recording)
    rows = bench.report(recording, "replayable")["captured"]
    expect(len(bundles) == 1, f"{len(bundles)} bundles of {name}: {[row['reason'] for row in rows]}")
    return bundles[0], facts
