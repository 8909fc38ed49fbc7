# SPDX-License-Identifier: Apache-2.0
"""Bundles that cannot be run get one clear sentence each."""
import re
import shutil

from cases.support import replay_bundles
from cases.support.bench import expect
from cases.support.replaying import capture_launch, expect_as_recorded, forget_bundles, replay, replayed_command


def one_sentence(bench, bundle, *before):
    """The sentence of gputrace replay on a bundle that it cannot run."""
    done = bench.run([*before, bench.gputrace, "replay", "--runs", "1", str(bundle)])
    lines = done.stderr.strip().splitlines()
    expect(done.status == 1, f"{bundle.name}: exit status {done.status}: {done.tail()}")
    expect(len(lines) == 1 and len(lines[0]) > 20, f"{bundle.name}: not one sentence: {lines}")
    return lines[0]


def test_replay_bundles(bench):
    """Bundles that are cut, changed, of a newer version or too large: a clear sentence each, and no more."""
    bundle = capture_launch(bench, "damaged", replayed_command(bench, "pointer_table"), "^pointer_table$")
    figures = {}
    for what, (damage, words) in replay_bundles.DAMAGES.items():
        copy = replay_bundles.damaged(bundle, bench.folder / f"damaged-{len(figures)}", damage)
        figures[what] = one_sentence(bench, copy)
        expect(re.search(words, figures[what]), f"{what}: {figures[what]}")
        shutil.rmtree(copy)
    status, said = replay(bench, bundle)
    expect_as_recorded(status, said, "the bundle that all of them are copies of")
    forget_bundles(bench, "damaged")
    return figures


def test_replay_addresses(bench):
    """Addresses that something else has: another process has others; where they are taken in every one, memory lies
    elsewhere if every pointer is known, as with --relocate, and else there is a sentence."""
    bundle = capture_launch(bench, "addresses", replayed_command(bench, "saxpy"), "^saxpy$")
    status, said = replay(bench, bundle, "--relocate")
    row = expect_as_recorded(status, said, "--relocate")
    setarch = shutil.which("setarch")
    expect(setarch, "setarch, which switches random addresses off, is not here")
    # Where the C library lies then, in every process.
    copy = replay_bundles.damaged(bundle, bench.folder / "taken",
                                  lambda path: replay_bundles.move_memory(path, 0x7ffff7c00000))
    sentence = one_sentence(bench, copy, setarch, "-R")
    expect(re.search("address|taken", sentence), f"addresses that are taken: {sentence}")
    forget_bundles(bench, "addresses")
    return {"relocated_ns": row["median_ns"], "taken": sentence}
