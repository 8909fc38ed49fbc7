# SPDX-License-Identifier: Apache-2.0
"""Launches whose work depends on what memory holds take as long as in the program."""
from cases.support import replay_bundles
from cases.support.bench import Failed, PROGRAMS, expect
from cases.support.replaying import capture_launch, expect_as_recorded, forget_bundles, replay

# Programs with a kernel each whose work depends on what memory holds, and the kernel's name; they take another word for
# cold caches.
COUNTERS = {"takes_tiles": "^takes_tiles$", "takes_tiles_behind": "^takes_tiles$", "resets_tiles": "^resets_tiles$",
            "looks_back": "^looks_back$", "accumulates": "^accumulates$"}
TORCH_STATES = {"attention": "cudnn|sdpa|flash|fmha", "scan": "DeviceScanKernel", "split_k": "gemm|nvjet|cutlass|xmma",
                "persistent": "^persistent_kernel$"}


def replay_state(bench, name, bundle, state):
    """The same as in the program with the caches that fit, or a reason why it is not; with other caches at least the
    same work: no kernel is twice as fast with them."""
    status, said = replay(bench, bundle, "--l2", state)
    row = expect_as_recorded(status, said, f"{name}, {state}")
    figures = {state: row["median_ns"], "job": row["job_ns"], "fits": row["fits"], "other_mode": row["other_mode"]}
    expect(row["job_ns"] and row["fits"], f"{name}: the job's time is not known: {row}")
    if row["fits"] != state:
        _, said = replay(bench, bundle, "--no-verify", "--l2", row["fits"])
        row = said["times"][0]
        figures[row["fits"]] = row["median_ns"]
    off = replay_bundles.percent_off(row["median_ns"], row["job_ns"])
    reasons = [text for text in said["remarks"] if "in the program; " in text or "did the same work" in text]
    expect(off <= replay_bundles.STATE_PERCENT or reasons, f"{name}, {state}: {off:.1f} % off, without a reason: {figures}, "
                                                           f"{said['remarks']}")
    return {**figures, "off": off, "remarks": [text for text in said["remarks"] if "of what changes" in text or text in reasons]}


def replay_states(bench, name, kernel, command, *options):
    """Figures of a program with warm caches, and of one with cold ones."""
    figures = {}
    for state, words in ("warm", []), ("cold", ["cold"]):
        bundle = capture_launch(bench, f"{name}-{state}", [*command, *words], kernel, *options)
        figures[state] = replay_state(bench, name, bundle, state)
        if state == "warm":
            status, said = replay(bench, bundle, "--l2", "as-is")
            figures["as-is"] = expect_as_recorded(status, said, f"{name}, as-is")["median_ns"]
            expect(figures["as-is"] >= figures[state]["warm"] / 2, f"{name}: {figures['as-is']} ns as-is: {figures}")
        forget_bundles(bench, f"{name}-{state}")
    return figures


def all_states(bench, kernels, command, *options):
    """Each of them, be another one wrong: a GPU's minute is dear."""
    figures, wrong = {}, []
    for name, kernel in kernels.items():
        try:
            figures[name] = replay_states(bench, name, kernel, [*command, name, "40"], *options)
        except Failed as failure:
            wrong.append(f"{name}: {failure}")
    expect(not wrong, " | ".join([*wrong, str(figures)]))
    return figures


def test_replay_counters(bench):
    """Counters of tiles that are left where they end, and that are reset; a scan that looks back; sums: with warm and cold
    caches each takes as long as in the program."""
    return all_states(bench, COUNTERS, [str(bench.find("replay_counters"))])


def test_replay_torch_state(bench):
    """The same of cuDNN's attention, cub's scan, a product with split sums and one of Triton's with a counter of tiles."""
    return all_states(bench, TORCH_STATES, [bench.python, str(PROGRAMS / "replay_torch_state.py")], "--range", "measured")
