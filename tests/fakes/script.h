/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_SCRIPT_H
#define GT_TESTS_FAKES_SCRIPT_H

#include <stdint.h>

/*
 * Requests of a test to the fakes: the environment variable FAKE_CUPTI, words joined by
 * commas. An unknown word or a bad number ends the process: a script that is not
 * understood would test nothing.
 */
/* clang-format off */
#define SCRIPT_NUMBERS                                                                                      \
	NUMBER(late,         0,       "records get their times only so many flushes after they ended")      \
	NUMBER(shuffle,      0,       "not 0: the records of a buffer come in another order; the seed")     \
	NUMBER(open,         0,       "the last so many kernels never get times")                           \
	NUMBER(drop,         0,       "every so many-th kernel, copy or fill record is dropped and counted") \
	NUMBER(flush_hang,   0,       "the so many-th cuptiActivityFlushAll, and all later ones, hang")     \
	NUMBER(init_fail,    0,       "1: cuptiSubscribe fails with CUPTI_ERROR_NOT_INITIALIZED")           \
	NUMBER(version,      0,       "what cuptiGetVersion says, and whose records are written; 0: the library's own") \
	NUMBER(driver,       13000,   "what cuDriverGetVersion says")                                       \
	NUMBER(devices,      1,       "how many GPUs there are, 0 to 8")                                    \
	NUMBER(launch_ns,    5000,    "time from a launch to the kernel's start on an idle stream")         \
	NUMBER(kernel_ns,    10000,   "how long a kernel runs")                                             \
	NUMBER(jitter_ns,    0,       "how much longer one runs than that at most, each otherwise")          \
	NUMBER(load_ns,      0,       "how long loading a module takes")                                    \
	NUMBER(jit_ns,       0,       "how long compiling PTX takes")                                       \
	NUMBER(lazy,         0,       "1: a module is loaded at the first launch of one of its functions")  \
	NUMBER(clock_offset, 0,       "CUPTI's clock is so many nanoseconds ahead of CLOCK_REALTIME")       \
	NUMBER(fork_works,   0,       "1: CUDA can be used in the child of a process that used it")         \
	NUMBER(hw_trace,     0,       "1: cuptiActivityEnableHWTrace works; 2: it fails as it should not")    \
	NUMBER(strict,       1,       "0: misuse that makes the real CUPTI hang or crash is let pass")      \
	NUMBER(throttle,     0,       "bits that NVML gives as reasons of low clocks, beside GPU idle")     \
	NUMBER(throttle_start_ms, 0,  "when these reasons begin, from nvmlInit on")                         \
	NUMBER(throttle_ms,  0,       "how long they last; 0: for ever")                                    \
	NUMBER(others_bytes, 0,       "memory of another process on GPU 0")                                 \
	NUMBER(others_percent, 0,     "how busy another process keeps GPU 0")                               \
	NUMBER(host_pids,    0,       "1: NVML tells processes by other numbers, as inside a container")    \
	NUMBER(pcie_bits,    64,      "size of NVML's counters of bytes over PCIe, 32 or 64")              \
	NUMBER(nvml_hang,    0,       "NVML's so many-th reading of a GPU, and all later ones, hang")      \
	NUMBER(numa_nodes,   1,       "NUMA nodes that NVML places the GPUs near, the first ones near the first") \
	NUMBER(nvlinks,      0,       "NVLinks of each GPU that are up; one more is down")                  \
	NUMBER(nvlink_ends,  0,       "where they lead: 0 to switches, 1 to the other GPU of its pair, 2 NVML does not say") \
	NUMBER(c2c_links,    0,       "NVLink-C2C of each GPU to the host")                                 \
	NUMBER(pm_error,     0,       "what cuptiPmSamplingEnable answers, a CUptiResult")                  \
	NUMBER(pm_unsupported, 0,     "GPUs have no PM sampling: 1 architecture, 2 vGPU, 3 vGPU not allowed, 4 WSL") \
	NUMBER(pm_chip,      0,       "1: GPUs are of a chip that CUPTI does not know")                     \
	NUMBER(pm_by_clock,  0,       "1: GPUs sample after so many cycles, not after so much time")        \
	NUMBER(pm_room,      16,      "so many metrics fit into one pass")                                  \
	NUMBER(pm_overflow,  0,       "at the so many-th decoding the hardware's buffer was full")          \
	NUMBER(pm_decode_fail, 0,     "the so many-th decoding, and all later ones, fail")                  \
	NUMBER(pm_hang,      0,       "the so many-th decoding, and all later ones, hang")                  \
	NUMBER(pm_ready_ms,  0,       "how long it takes until a GPU can be sampled")                       \
	NUMBER(range_fail,   0,       "the so many-th cuptiRangeProfilerStart, and all later ones, fail") \
	NUMBER(l2_bytes,     62914560, "level-2 cache of a GPU")                                            \
	NUMBER(same_context, 0,       "1: a context has the handle of the one that was destroyed last")        \
	NUMBER(local_bytes,  0,       "local memory of a thread of kernels with an even name; of others a quarter")  \
	NUMBER(most_bytes,   0,       "memory of a GPU comes in pieces of so many bytes at most; 0: in any")   \
	NUMBER(gpu_clock,    109355,  "%globaltimer is so many nanoseconds ahead of CUPTI's clock")           \
	NUMBER(copy_hang,    0,       "cuStreamQuery says that a stream that is not blocking has work, from the so many-th time on")

/* Calls of the driver's that answer CUDA_ERROR_UNKNOWN: cuda_fail=copy_out+set_bytes. */
#define SCRIPT_CUDA_FAILURES                                                                                \
	FAILURE(memory_alloc)                                                                               \
	FAILURE(host_alloc)                                                                                 \
	FAILURE(host_address)                                                                               \
	FAILURE(stream_create)                                                                              \
	FAILURE(set_bytes)                                                                                  \
	FAILURE(copy_in)                                                                                    \
	FAILURE(copy_out)                                                                                   \
	FAILURE(function_module)                                                                            \
	FAILURE(module_global)                                                                              \
	FAILURE(time_module)                                                                                \
	FAILURE(time_launch)                                                                                \
	FAILURE(context_push)                                                                               \
	FAILURE(exchange_capture)

/* What NVML answers NVML_ERROR_NOT_SUPPORTED to: nvml_fail=power+ecc. */
#define SCRIPT_NVML_FAILURES                                                                                \
	FAILURE(power)                                                                                      \
	FAILURE(power_instant)                                                                              \
	FAILURE(energy)                                                                                     \
	FAILURE(clocks)                                                                                     \
	FAILURE(temperature)                                                                                \
	FAILURE(utilization)                                                                                \
	FAILURE(memory)                                                                                     \
	FAILURE(throttle)                                                                                   \
	FAILURE(ecc)                                                                                        \
	FAILURE(replays)                                                                                    \
	FAILURE(pcie_bytes)                                                                                 \
	FAILURE(pcie_rate)                                                                                  \
	FAILURE(init)                                                                                       \
	FAILURE(nvlink)                                                                                     \
	FAILURE(p2p)                                                                                        \
	FAILURE(ancestor)                                                                                   \
	FAILURE(affinity)                                                                                   \
	FAILURE(processes)                                                                                  \
	FAILURE(process_utilization)
/* clang-format on */

enum fake_nvml_failure {
#define FAILURE(name) FAKE_NVML_##name,
	SCRIPT_NVML_FAILURES
#undef FAILURE
};

enum fake_cuda_failure {
#define FAILURE(name) FAKE_CUDA_##name,
	SCRIPT_CUDA_FAILURES
#undef FAILURE
};

struct fake_script {
#define NUMBER(name, value, help) uint64_t name;
	SCRIPT_NUMBERS
#undef NUMBER
	int subscriber_busy;  /* subscriber=busy: another tool has subscribed already */
	uint64_t enable_fail; /* enable_fail=memset+memcpy: bits 1 << CUpti_ActivityKind */
	uint64_t nvml_fail;   /* bits 1 << enum fake_nvml_failure */
	uint64_t cuda_fail;   /* bits 1 << enum fake_cuda_failure */
};

void fake_script_read(struct fake_script *script);

#endif
