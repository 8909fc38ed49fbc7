# SPDX-License-Identifier: Apache-2.0
"""The tests of scripts/run-gpu-tests, in the order they run."""
from cases import (
    allocators, captures, compare, counters, critical_path, damaged_bundles, device_events, ends, graphs, jax_programs, kills,
    memory, modules, occupancy, own_clocks, planted_faults, processes, pytorch, replay_launches, replay_sequences, replay_states,
    replay_textures, replay_variants, samples, telemetry,
)


def list_tests(bench):
    """(name, seconds it may take, function) in the order they run."""
    tests = [(f"sample {name}", 30, lambda bench, name=name: samples.test_sample(bench, name)) for name in bench.samples()]
    tests += [
        ("critical_path", 90, critical_path.test_critical_path),
        ("critical_path_ranges", 30, critical_path.test_critical_path_ranges),
        ("environment", 30, samples.test_environment),
        ("waits_costs", 40, planted_faults.test_waits_costs),
        ("hazards", 40, planted_faults.test_hazards),
        ("node_hazards", 40, planted_faults.test_node_hazards),
        ("ipc_events", 30, critical_path.test_ipc_events),
        ("advice", 120, planted_faults.test_advice),
        ("bandwidth", 20, samples.test_bandwidth),
        ("phases", 60, samples.test_phases),
        ("telemetry", 30, telemetry.test_telemetry),
        ("counters", 60, counters.test_counters),
        ("occupancy", 40, occupancy.test_occupancy),
        ("occupancy_achieved", 60, occupancy.test_occupancy_achieved),
        ("counters_step", 120, counters.test_counters_step),
        ("counters_ncu", 120, counters.test_counters_ncu),
        ("counters_many", 120 + sum(launches for launches, _ in counters.COUNTED_MANY) // 4, counters.test_counters_many),
        ("clocks", 40, telemetry.test_clocks),
        ("memory_managed", 30, memory.test_memory_managed),
        ("memory_pools", 30, memory.test_memory_pools),
        ("memory_oom", 30, memory.test_memory_oom),
        ("memory_storm", 90, memory.test_memory_storm),
        ("memory_libraries", 60, memory.test_memory_libraries),
        ("pytorch", 100, pytorch.test_pytorch),
        ("pytorch_ops", 100, pytorch.test_pytorch_ops),
        ("pytorch_modules", 100, pytorch.test_pytorch_modules),
        ("pytorch_both", 100, pytorch.test_pytorch_both),
        ("range_ops", 120, pytorch.test_range_ops),
        ("gpu_ops", 150, pytorch.test_gpu_ops),
        ("host_ops", 150, pytorch.test_host_ops),
        ("compare_same", 120, compare.test_compare_same),
        ("compare_planted", 180, compare.test_compare_planted),
        ("workers", 120, processes.test_workers),
        ("contexts", 40, processes.test_contexts),
        ("torch_ranges", 100, pytorch.test_torch_ranges),
        ("graph", 60, graphs.test_graph),
        ("modules-loading", 60, modules.test_modules),
        ("triton", 60, modules.test_triton),
        ("device_programs", 90, device_events.test_device_programs),
        ("device_lanes", 60, device_events.test_device_lanes),
        ("device_full", 120, device_events.test_device_full),
        ("modes of graphs", 90, graphs.test_graph_modes),
        ("jax", 90, jax_programs.test_jax),
        ("jax_hlo", 90, jax_programs.test_jax_hlo),
        ("torch_memory", 90, allocators.test_torch_memory),
        ("torch_private", 60, allocators.test_torch_private),
        ("torch_blocks", 60, allocators.test_torch_blocks),
        ("jax_memory", 60, allocators.test_jax_memory),
        ("kill", 90, kills.test_kill),
        ("kill sample", 40, kills.test_kill_sample),
        ("ends", 30, ends.test_ends),
        ("processes", 30, processes.test_processes),
        ("forked_workers", 120, processes.test_forked_workers),
        ("exits", 20 + 3 * bench.exits, ends.test_exits),
        ("deaths", 20 + 3 * bench.deaths, ends.test_deaths),
        ("order", 40, samples.test_order),
    ]
    tests += [(f"own_{what} {framework}", limit_s, lambda bench, test=test, framework=framework: test(bench, framework))
              for framework in ("torch", "jax")
              for what, limit_s, test in (("clocks", 90, own_clocks.test_own_clocks), ("energy", 90, own_clocks.test_own_energy))]
    tests += [(f"replay_{name}", 60, lambda bench, name=name: replay_launches.test_replay(bench, name)) for name in replay_launches.REPLAYED]
    tests += [(f"replay_python_{name}", 80, lambda bench, name=name: replay_launches.test_replay_python(bench, name))
              for name in replay_launches.REPLAYED_PYTHON]
    tests += [
        ("replay_cold", 60, replay_launches.test_replay_cold),
        ("replay_counters", 180, replay_states.test_replay_counters),
        ("replay_torch_state", 300, replay_states.test_replay_torch_state),
        ("replay_faults", 40, replay_variants.test_replay_faults),
        ("replay_lock", 60, replay_variants.test_replay_lock),
        ("capture_memory", 40, captures.test_capture_memory),
        ("capture_expandable", 60, captures.test_capture_expandable),
        ("capture_workspace", 60, captures.test_capture_workspace),
        ("capture_choice", 60, captures.test_capture_choice),
        ("capture_refused", 60, captures.test_capture_refused),
        ("capture_beside", 60, captures.test_capture_beside),
        ("replay_variants", 60, replay_variants.test_replay_variants),
        ("replay_breaking", 120, replay_variants.test_replay_breaking),
        ("replay_again", 120, replay_variants.test_replay_again),
        ("replay_bundles", 60, damaged_bundles.test_replay_bundles),
        ("replay_addresses", 60, damaged_bundles.test_replay_addresses),
        ("array_facts", 30, replay_textures.test_array_facts),
        ("replay_textures", 150, replay_textures.test_replay_textures),
        ("replay_range", 90, replay_sequences.test_replay_range),
        ("replay_sequence", 60, replay_sequences.test_replay_sequence),
        ("replay_priorities", 60, replay_sequences.test_replay_priorities),
        ("replay_steps", 180, replay_sequences.test_replay_steps),
        ("replay_graphs", 90, replay_sequences.test_replay_graphs),
        ("replay_torch_graph", 60, replay_sequences.test_replay_torch_graph),
    ]
    return tests
