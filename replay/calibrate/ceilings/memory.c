/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/error.h"
#include "replay/calibrate/bench.h"

/*
 * Device memory, the L2 cache and shared memory. Buffers in device memory are far larger than the
 * L2 cache; each way of reading, writing or copying is tried, and the fastest one counts.
 */

#define MOST_BYTES   ((size_t)2 << 30)                   /* of a buffer */
#define STEP_BYTES   ((size_t)GT_BENCH_THREADS * 8 * 16) /* of a block at a time */
#define SHARED_BYTES (16.0 * 16) /* that a thread of gt_shared reads in a round */

struct buffers {
	CUdeviceptr from;
	CUdeviceptr to;
	size_t bytes;
};

/* Blocks on a multiprocessor that are tried; 0: as many as fit. */
static const unsigned shapes[] = {2, 4, 0, 32};

/* A quarter of what is free each, so that others on the GPU are not in need. */
static int make_buffers(struct gt_bench *bench, struct buffers *buffers, struct gt_error *err)
{
	const struct gt_cuda *cuda = bench->gpu.cuda;
	size_t free_bytes = 0;
	size_t total = 0;
	int result = gt_cuda_check(cuda, cuda->memory_info(&free_bytes, &total), err,
	                           "the GPU's memory cannot be asked");

	buffers->bytes = free_bytes / 4 < MOST_BYTES ? free_bytes / 4 : MOST_BYTES;
	buffers->bytes -= buffers->bytes % STEP_BYTES;
	if (result == 0)
		result = gt_gpu_alloc(&bench->gpu, buffers->bytes, &buffers->from, err);
	if (result == 0)
		result = gt_gpu_alloc(&bench->gpu, buffers->bytes, &buffers->to, err);
	return result;
}

/* With numbers that have no pattern. */
static int fill(struct gt_bench *bench, const struct buffers *buffers, struct gt_error *err)
{
	const struct gt_bench_kernel kernel = {
		.to = buffers->from,
		.count = buffers->bytes / 16,
		.threads = GT_BENCH_THREADS,
	};
	CUfunction function;
	int result = gt_bench_function(bench, GT_KERNELS_plain, "gt_fill", &function, err);

	if (result == 0)
		result = gt_bench_launch(bench, function, &kernel, 8 * (unsigned)bench->sm_count, 1,
		                         err);
	return result < 0 ? result : gt_gpu_wait(&bench->gpu, err);
}

static int try_shapes(struct gt_bench *bench, enum gt_ceiling_name name,
                      struct gt_bench_kernel kernel, const char *what, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < GT_COUNT_OF(shapes); i++) {
		struct gt_calibrated row = {.name = name};

		kernel.blocks = shapes[i];
		result = gt_bench_rate(bench, &kernel, &row, err);
		if (shapes[i])
			snprintf(row.how, sizeof(row.how), "kernel that %s, %u blocks per SM", what,
			         shapes[i]);
		else
			snprintf(row.how, sizeof(row.how), "kernel that %s, all blocks that fit",
			         what);
		if (result == 0)
			gt_bench_add(bench, &row);
	}
	return result;
}

/* Work that the driver does itself. */
struct driver_work {
	struct gt_bench *bench;
	const struct buffers *buffers;
	bool copies; /* else it sets memory */
};

enum { DRIVER_TIMES = 8 }; /* in one measurement, for its length */

static int measure_driver(void *context, double *value, struct gt_error *err)
{
	const struct driver_work *work = context;
	const struct gt_gpu *gpu = &work->bench->gpu;
	const struct buffers *buffers = work->buffers;
	double ns = 0;
	int result = gt_gpu_start_timer(gpu, err);

	for (int i = 0; result == 0 && i < DRIVER_TIMES; i++) {
		const CUresult code =
			work->copies ? gpu->cuda->copy(buffers->to, buffers->from, buffers->bytes,
		                                       gpu->stream)
				     : gpu->cuda->set_words(buffers->to, 0x5ced5ced,
		                                            buffers->bytes / 4, gpu->stream);
		result = gt_cuda_check(gpu->cuda, code, err, "memory cannot be copied or set");
	}
	if (result == 0)
		result = gt_gpu_stop_timer(gpu, &ns, err);
	*value = DRIVER_TIMES * (double)buffers->bytes * (work->copies ? 2 : 1) / ns * 1e9;
	return result;
}

static int try_driver(struct gt_bench *bench, enum gt_ceiling_name name,
                      const struct buffers *buffers, struct gt_error *err)
{
	struct driver_work work = {bench, buffers, name == GT_CEILING_dram_copy};
	struct gt_calibrated row = {.name = name};
	const int result = gt_bench_steady(bench, measure_driver, &work, false, &row, err);

	snprintf(row.how, sizeof(row.how), "%s",
	         work.copies ? "cuMemcpyAsync" : "cuMemsetD32Async");
	if (result == 0)
		gt_bench_add(bench, &row);
	return result;
}

static int measure_dram(struct gt_bench *bench, const struct buffers *buffers, struct gt_error *err)
{
	struct gt_bench_kernel kernel = {
		.file = GT_KERNELS_plain,
		.from = buffers->from,
		.to = buffers->to,
		.count = buffers->bytes / 16,
		.threads = GT_BENCH_THREADS,
		.fixed = (double)buffers->bytes,
	};
	int result = 0;

	kernel.symbol = "gt_read";
	if (gt_bench_wants(bench, GT_CEILING_dram_read))
		result = try_shapes(bench, GT_CEILING_dram_read, kernel, "reads", err);
	kernel.symbol = "gt_write";
	if (result == 0 && gt_bench_wants(bench, GT_CEILING_dram_write))
		result = try_shapes(bench, GT_CEILING_dram_write, kernel, "writes", err);
	if (result == 0 && gt_bench_wants(bench, GT_CEILING_dram_write))
		result = try_driver(bench, GT_CEILING_dram_write, buffers, err);
	kernel.symbol = "gt_copy";
	kernel.fixed *= 2;
	if (result == 0 && gt_bench_wants(bench, GT_CEILING_dram_copy))
		result = try_shapes(bench, GT_CEILING_dram_copy, kernel, "copies", err);
	if (result == 0 && gt_bench_wants(bench, GT_CEILING_dram_copy))
		result = try_driver(bench, GT_CEILING_dram_copy, buffers, err);
	return result;
}

/* A quarter of the cache: what is in all of it is not kept in full. */
static int measure_l2(struct gt_bench *bench, const struct buffers *buffers, struct gt_error *err)
{
	const int l2 = gt_gpu_attribute(&bench->gpu, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
	size_t bytes = l2 > 0 ? (size_t)l2 / 4 : 0;
	struct gt_bench_kernel kernel = {
		.file = GT_KERNELS_plain,
		.symbol = "gt_read",
		.from = buffers->from,
		.to = buffers->to,
		.threads = GT_BENCH_THREADS,
	};

	bytes = bytes < buffers->bytes ? bytes - bytes % STEP_BYTES : buffers->bytes;
	if (!gt_bench_wants(bench, GT_CEILING_l2_read))
		return 0;
	if (bytes == 0) {
		gt_bench_leave_out(bench, GT_CEILING_l2_read,
		                   "the driver does not say how large it is");
		return 0;
	}
	kernel.count = bytes / 16;
	kernel.fixed = (double)bytes;
	return try_shapes(bench, GT_CEILING_l2_read, kernel, "reads past the L1 cache", err);
}

static int measure_shared(struct gt_bench *bench, const struct buffers *buffers,
                          struct gt_error *err)
{
	const struct gt_bench_kernel kernel = {
		.file = GT_KERNELS_plain,
		.symbol = "gt_shared",
		.to = buffers->to,
		.threads = GT_BENCH_THREADS,
		.per_thread = SHARED_BYTES,
	};
	struct gt_calibrated row = {.name = GT_CEILING_shared_read,
	                            .how = "kernel that reads 16 bytes per thread, no conflicts"};
	int result = 0;

	if (gt_bench_wants(bench, GT_CEILING_shared_read))
		result = gt_bench_rate(bench, &kernel, &row, err);
	if (result == 0 && gt_bench_wants(bench, GT_CEILING_shared_read))
		gt_bench_add(bench, &row);
	return result;
}

static bool wants_any(const struct gt_bench *bench)
{
	return gt_bench_wants(bench, GT_CEILING_dram_read) ||
	       gt_bench_wants(bench, GT_CEILING_dram_write) ||
	       gt_bench_wants(bench, GT_CEILING_dram_copy) ||
	       gt_bench_wants(bench, GT_CEILING_l2_read) ||
	       gt_bench_wants(bench, GT_CEILING_shared_read);
}

int gt_measure_memory(struct gt_bench *bench, struct gt_error *err)
{
	struct buffers buffers = {0};
	int result;

	if (!wants_any(bench))
		return 0;
	result = make_buffers(bench, &buffers, err);
	if (result == 0)
		result = fill(bench, &buffers, err);
	if (result == 0)
		result = measure_dram(bench, &buffers, err);
	if (result == 0)
		result = measure_l2(bench, &buffers, err);
	if (result == 0)
		result = measure_shared(bench, &buffers, err);
	return result;
}
