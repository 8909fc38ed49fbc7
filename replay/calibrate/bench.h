/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_CALIBRATE_BENCH_H
#define GT_REPLAY_CALIBRATE_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "model/gpu/calibration.h"
#include "replay/calibrate/kernels.h"
#include "replay/gpu/gpu.h"
#include "replay/measure/steady.h"

struct gt_error;

/* Kernels write this of themselves: struct spent of replay/calibrate/kernels/kernel.cuh. */
struct gt_spent {
	uint64_t cycles;
	uint64_t ns;
};

/* A GPU being measured. */
struct gt_bench {
	struct gt_gpu gpu;
	CUmodule modules[GT_KERNELS_COUNT]; /* those that are loaded */
	volatile struct gt_spent *spent;    /* pinned */
	int sm_count;
	unsigned capability; /* 10 x major + minor */
	const bool *wanted;  /* by ceiling */
	struct gt_calibration *out;
};

enum { GT_BENCH_THREADS = 256 }; /* of a block, where a kernel does not want another number */

/* A launch that is repeated. */
struct gt_bench_kernel {
	enum gt_kernels file;
	const char *symbol;
	CUdeviceptr from;
	CUdeviceptr to;
	uint64_t count;    /* of elements of 16 bytes */
	unsigned threads;  /* of a block */
	unsigned blocks;   /* on each multiprocessor; 0: as many as fit */
	double fixed;      /* work of a round; 0: */
	double per_thread; /* of each thread in a round */
};

/* Whether the kernels of a file run on this GPU: NULL when they do, or why they do not. */
const char *gt_bench_refuses(const struct gt_bench *bench, enum gt_kernels file, char *text,
                             size_t size);

/* The kernel of that name; the file is loaded when it is first asked for. */
int gt_bench_function(struct gt_bench *bench, enum gt_kernels file, const char *symbol,
                      CUfunction *function, struct gt_error *err);

/* One launch in the bench's stream. grid: blocks. */
int gt_bench_launch(struct gt_bench *bench, CUfunction function,
                    const struct gt_bench_kernel *kernel, unsigned grid, unsigned rounds,
                    struct gt_error *err);

/* Work in a second, from launches that take some milliseconds each; sets value, spread, sm_mhz. */
int gt_bench_rate(struct gt_bench *bench, const struct gt_bench_kernel *kernel,
                  struct gt_calibrated *row, struct gt_error *err);

/*
 * The same of anything that is done once and takes *ns: measure of plan gives the rate, in what
 * row->value is in. least: the smallest counts, as of times.
 */
int gt_bench_steady(struct gt_bench *bench,
                    int (*measure)(void *context, double *value, struct gt_error *err),
                    void *context, bool least, struct gt_calibrated *row, struct gt_error *err);

bool gt_bench_wants(const struct gt_bench *bench, enum gt_ceiling_name name);

/* Adds a row: what it took the value from, the better of it and what there is of that name. */
void gt_bench_add(struct gt_bench *bench, const struct gt_calibrated *row);

/* Adds that it was not measured, and why, where there is no row of that name yet. */
__attribute__((format(printf, 3, 4))) void
gt_bench_leave_out(struct gt_bench *bench, enum gt_ceiling_name name, const char *fmt, ...);

/* Each adds rows; what one GPU cannot is left out, other failures end it. */
int gt_measure_memory(struct gt_bench *bench, struct gt_error *err);
int gt_measure_links(struct gt_bench *bench, struct gt_error *err);
int gt_measure_arithmetic(struct gt_bench *bench, struct gt_error *err);
int gt_measure_launches(struct gt_bench *bench, struct gt_error *err);

#endif
