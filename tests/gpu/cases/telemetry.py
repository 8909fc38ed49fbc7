# SPDX-License-Identifier: Apache-2.0
"""Power, clocks and energy move with the work and agree with what programs measure."""
from cases.support.bench import PROGRAMS, expect
from cases.support.checks import close
from cases.support.readings import facts_of


def burn_window(bench, recording, burned_s):
    """Options for the time of the burn: after the rest before it, which is the longest gap."""
    gap, *_ = bench.report(recording, "gaps", "--set", "largest=1")["largest_gaps"]
    begin = gap["start_time_ns"] + gap["duration_ns"]
    return ("--from", f"{begin}ns", "--to", f"{begin + int(burned_s * 1e9)}ns")


def test_telemetry(bench):
    """Five seconds of burn: power moves, and three ways to know the energy agree."""
    recording, traced = bench.record("burn-telemetry", [bench.find("burn"), "5"])
    facts = facts_of(traced, "burn")
    expect("energy_j" in facts, "NVML tells burn no energy")
    report = bench.report(recording, "telemetry")
    counters = {row["counter"]: row for row in report["counters"]}
    power, clock = counters["power_mw"], counters["sm_clock_mhz"]
    window = burn_window(bench, recording, float(facts["burned_s"]))
    burning = bench.report(recording, "telemetry", *window)
    samples = sum(row["samples"] for row in burning["counters"] if row["counter"] == "power_mw")
    energies = report["energy"] + burning["energy"]
    expect(len(energies) == 2, f"{len(report['energy'])} GPUs have energy, {len(energies)} with the burn alone")
    energy, burn = energies
    figures = {"power_min_w": power["min"] / 1e3, "power_max_w": power["max"] / 1e3, "sm_clock_min_mhz": clock["min"],
               "sm_clock_max_mhz": clock["max"], "interval_ms": 1e3 * float(facts["burned_s"]) / max(samples, 1),
               "energy_j": energy["energy_j"], "integrated_off_percent": energy["difference_percent"],
               "burn_w": burn["mean_w"], "burn_by_program_w": float(facts["mean_w"]),
               "throttles": {row["reason"]: round(row["total_ns"] / 1e9, 2) for row in report["throttles"]},
               "not_measured": {name: 0 for name, row in counters.items() if not row["samples"]}}
    expect(power["max"] > 1.3 * power["min"], f"power does not move: {power}")
    expect(90 <= figures["interval_ms"] <= 115, f"a sample every {figures['interval_ms']:.1f} ms, not 100")
    close(energy["integrated_j"], energy["energy_j"], 3, "joules, integrated and counted")
    # The program's time has some 0.1 s of rest at its end, as the counter moves in steps.
    rest_s = float(facts["energy_s"]) - float(facts["burned_s"])
    burned_j = burn["mean_w"] * float(facts["burned_s"]) + power["min"] / 1e3 * rest_s
    close(burned_j, float(facts["energy_j"]), 4, "joules of the burn, by the recording and by the program")
    return figures


def test_clocks(bench):
    """Five seconds at the limit of power: clocks move with it, and what lowered them is named."""
    recording, traced = bench.record("matmul", [bench.python, str(PROGRAMS / "matmul.py"), "5"])
    expect(traced.status == 0, f"the program itself fails: {traced.tail()}")
    report = bench.report(recording, "telemetry")
    counters = {row["counter"]: row for row in report["counters"]}
    power, clock = counters["power_mw"], counters["sm_clock_mhz"]
    energy = report["energy"][0]
    kernels = bench.report(recording, "kernels")["kernels"]
    figures = {"power_min_w": power["min"] / 1e3, "power_max_w": power["max"] / 1e3, "sm_clock_min_mhz": clock["min"],
               "sm_clock_max_mhz": clock["max"], "integrated_off_percent": energy["difference_percent"],
               "throttles": {row["reason"]: round(row["total_ns"] / 1e9, 2) for row in report["throttles"]},
               "throttled_calls": sum(row["throttled_calls"] or 0 for row in kernels)}
    expect(power["max"] > 1.3 * power["min"], f"power does not move: {power}")
    expect(clock["max"] > 1.02 * clock["min"], f"the clock does not move: {clock}")
    close(energy["integrated_j"], energy["energy_j"], 3, "joules, integrated and counted")
    return figures
