/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVML_NVML_H
#define GT_INJECTION_NVML_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "format/nvml_types.h"

/*
 * NVML: what the driver's management library tells of a GPU. Toolkits do not always bring its
 * header, so the documented calls, layouts and numbers that are used are declared here, and
 * known nowhere else. The library is opened at run time. Any call may be missing or not be
 * supported by a GPU, and what it would have told is then not measured, which is not 0.
 *
 * No function takes memory or touches CUDA. The calls go to the driver and may take its locks:
 * they belong on threads of our own.
 */

#define GT_NVML_NOT_MEASURED INT64_MIN

struct gt_nvml_utilization { /* nvmlUtilization_t */
	uint32_t gpu_percent;
	uint32_t memory_percent;
};

struct gt_nvml_memory {   /* nvmlMemory_v2_t */
	uint32_t version; /* to be set before the call */
	uint64_t total_bytes;
	uint64_t reserved_bytes;
	uint64_t free_bytes;
	uint64_t used_bytes;
};

struct gt_nvml_process_sample { /* nvmlProcessUtilizationSample_t */
	uint32_t pid;
	uint64_t time_us;
	uint32_t sm_percent;
	uint32_t memory_percent;
	uint32_t encoder_percent;
	uint32_t decoder_percent;
};

struct gt_nvml {
	uint32_t pid; /* the process itself */
	/*
	 * Some drivers tell every process's id in the host's numbers, which mean nothing inside a
	 * container. Others can be told from the process itself only once it has been in a list.
	 */
	bool listed;    /* among the processes that hold memory, of any GPU */
	bool sampled;   /* among the processes that ran something, of any GPU */
	bool may_block; /* for the caller to set: also make calls that wait for some 40 ms */
#define CALL(name, parameters) gt_nvml_result(*name) parameters; /* NULL: missing */
#include "injection/nvml/calls.def"
};

enum gt_nvml_counter {
#define COUNTER(name, unit, kind, help) GT_NVML_##name,
#include "injection/nvml/counters.def"
	GT_NVML_COUNTER_COUNT
};

#define GT_NVML_READINGS 11

/* One GPU. Zeroed but for the handle before the first sample. */
struct gt_nvml_device {
	gt_nvml_handle handle;
	struct {
		int64_t due_ns;  /* CLOCK_MONOTONIC; not made again before */
		int64_t cost_ns; /* what it took the last time */
	} readings[GT_NVML_READINGS];
	struct {
		double link_bytes_per_ns; /* the most that the link can carry each way; 0: not known
		                           */
		bool small;               /* the counters have 32 bits */
		bool passed;              /* one may have begun again unseen since the sample */
		int64_t sample_ns;        /* CLOCK_MONOTONIC of the last sample; 0: none yet */
		int64_t time_ns;          /* of the last reading of the counters */
		uint64_t counters[2];     /* what they were then */
		uint64_t moved[2];        /* bytes since the sample */
	} pcie;
	uint64_t processes_seen_us; /* the latest sample of a process's utilization, driver's clock */
};

/* The place of a GPU in its machine; 0: not known. */
struct gt_nvml_place {
	uint32_t index_plus_one; /* as nvidia-smi counts */
	uint32_t pcie_generation;
	uint32_t pcie_width;
};

/*
 * Loads libnvidia-ml.so.1, where it is there, so that gt_nvml_open need not: on the thread in which
 * the program starts CUDA, which loads libraries anyway. On one of ours the program could fork
 * meanwhile, and its child would have what a loader holds while it loads.
 */
void gt_nvml_load(void);

/*
 * Opens libnvidia-ml.so.1 and starts it. Returns 0, -ENOENT without the library, or -ENOTSUP when
 * it cannot start; all calls are then missing.
 */
int gt_nvml_open(struct gt_nvml *nvml);

/* Ends what gt_nvml_open() began; may be called twice. The library stays mapped. */
void gt_nvml_close(struct gt_nvml *nvml);

/* Finds a GPU by its uuid as nvidia-smi prints it ("GPU-..."). Returns 0 or -ENODEV. */
int gt_nvml_find(const struct gt_nvml *nvml, const char *uuid, struct gt_nvml_device *device);

struct gt_nvml_place gt_nvml_place_of(const struct gt_nvml *nvml,
                                      const struct gt_nvml_device *device);

/*
 * Reads the counters, GT_NVML_NOT_MEASURED where there is nothing new to tell. Not every counter
 * is read every time: what costs more than a thousandth of the time since it was last read
 * waits, and errors, replays and other processes are asked for once a second at most.
 * Calls for one gt_nvml come from one thread at a time.
 */
void gt_nvml_sample(struct gt_nvml *nvml, struct gt_nvml_device *device,
                    int64_t values[GT_NVML_COUNTER_COUNT]);

/*
 * Counters of bytes over PCIe have 32 bits on some drivers: a fast link passes 4 GiB in less than
 * the interval of samples, and its rate is then not measured, unless gt_nvml_watch() is called in
 * between, at least this often. INT64_MAX: no need to, or too costly. May change with any sample.
 */
int64_t gt_nvml_watch_interval_ns(const struct gt_nvml_device *device);
void gt_nvml_watch(const struct gt_nvml *nvml, struct gt_nvml_device *device);

#endif
