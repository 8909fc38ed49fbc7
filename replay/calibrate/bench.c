/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/calibrate/bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define LEAST_NS    5e6  /* of a launch that is timed: events are good for about 1 us */
#define WITHIN      0.01 /* measurements that differ by less are stable */
#define MOST_NS     INT64_C(700000000)
#define MOST_ROUNDS (1u << 30)

static int64_t now_ns(void *context)
{
	(void)context;
	return gt_gpu_now_ns();
}

bool gt_bench_wants(const struct gt_bench *bench, enum gt_ceiling_name name)
{
	return bench->wanted[name];
}

static struct gt_calibrated *find_row(struct gt_bench *bench, enum gt_ceiling_name name,
                                      const char *peer)
{
	gt_array_each(struct gt_calibrated, row, &bench->out->list)
		if (row->name == name && strcmp(row->peer, peer) == 0)
			return row;
	return NULL;
}

void gt_bench_add(struct gt_bench *bench, const struct gt_calibrated *row)
{
	struct gt_calibrated *held = find_row(bench, row->name, row->peer);

	if (!held)
		*gt_array_push(&bench->out->list) = *row;
	else if (!isfinite(held->value) || row->value > held->value)
		*held = *row;
}

void gt_bench_leave_out(struct gt_bench *bench, enum gt_ceiling_name name, const char *fmt, ...)
{
	struct gt_calibrated row = {.name = name, .value = NAN, .spread = NAN, .sm_mhz = NAN};
	va_list args;

	if (find_row(bench, name, ""))
		return;
	va_start(args, fmt);
	vsnprintf(row.how, sizeof(row.how), fmt, args);
	va_end(args);
	*gt_array_push(&bench->out->list) = row;
}

const char *gt_bench_refuses(const struct gt_bench *bench, enum gt_kernels file, char *text,
                             size_t size)
{
	const struct gt_kernels_file *kernels = &gt_kernels_files[file];

	if (kernels->only ? bench->capability == kernels->capability
	                  : bench->capability >= kernels->capability)
		return NULL;
	snprintf(text, size, "it needs compute capability %u.%u", kernels->capability / 10,
	         kernels->capability % 10);
	return text;
}

int gt_bench_function(struct gt_bench *bench, enum gt_kernels file, const char *symbol,
                      CUfunction *function, struct gt_error *err)
{
	const struct gt_cuda *cuda = bench->gpu.cuda;
	int result = 0;

	if (!bench->modules[file])
		result = gt_gpu_load(&bench->gpu, gt_kernels_files[file].ptx,
		                     "the driver does not take gputrace's kernels, which the CUDA "
		                     "compiler of its build made",
		                     &bench->modules[file], err);
	if (result < 0)
		return result;
	return gt_cuda_check(cuda, cuda->module_function(function, bench->modules[file], symbol),
	                     err, symbol);
}

int gt_bench_launch(struct gt_bench *bench, CUfunction function,
                    const struct gt_bench_kernel *kernel, unsigned grid, unsigned rounds,
                    struct gt_error *err)
{
	const struct gt_cuda *cuda = bench->gpu.cuda;
	CUdeviceptr from = kernel->from;
	CUdeviceptr to = kernel->to;
	unsigned long long count = kernel->count;
	CUdeviceptr spent = (CUdeviceptr)(uintptr_t)bench->spent;
	void *parameters[] = {&from, &to, &count, &rounds, &spent};

	return gt_cuda_check(cuda,
	                     cuda->launch(function, grid, 1, 1, kernel->threads, 1, 1, 0,
	                                  bench->gpu.stream, parameters, NULL),
	                     err, "a kernel cannot be launched");
}

/* A kernel with the size of its launch. */
struct repeated {
	struct gt_bench *bench;
	const struct gt_bench_kernel *kernel;
	CUfunction function;
	unsigned grid;
	unsigned rounds;
	double work;  /* of a round */
	size_t count; /* of all measurements; of the last ones: */
	double rates[GT_STEADY_LAST];
	double mhz[GT_STEADY_LAST];
};

static int time_one(const struct repeated *repeated, double *ns, struct gt_error *err)
{
	int result = gt_gpu_start_timer(&repeated->bench->gpu, err);

	if (result == 0)
		result = gt_bench_launch(repeated->bench, repeated->function, repeated->kernel,
		                         repeated->grid, repeated->rounds, err);
	return result < 0 ? result : gt_gpu_stop_timer(&repeated->bench->gpu, ns, err);
}

static int measure_rate(void *context, double *value, struct gt_error *err)
{
	struct repeated *repeated = context;
	const volatile struct gt_spent *spent = repeated->bench->spent;
	const size_t place = repeated->count++ % GT_STEADY_LAST;
	double ns = 0;
	const int result = time_one(repeated, &ns, err);

	if (result < 0)
		return result;
	if (ns <= 0)
		return gt_fail(err, EIO, "the GPU's timer stands still");
	*value = repeated->work * repeated->rounds / ns * 1e9;
	repeated->rates[place] = *value;
	/* The GPU's clock in nanoseconds moves in steps of up to 1 us. */
	repeated->mhz[place] =
		spent->ns < 1000000 ? NAN : (double)spent->cycles / (double)spent->ns * 1e3;
	return 0;
}

/* The clock of the fastest of the last measurements. */
static double fastest_mhz(const struct repeated *repeated)
{
	size_t fastest = 0;

	for (size_t i = 1; i < GT_STEADY_LAST; i++)
		if (repeated->rates[i] > repeated->rates[fastest])
			fastest = i;
	return repeated->mhz[fastest];
}

/* As many rounds as take LEAST_NS. */
static int choose_rounds(struct repeated *repeated, struct gt_error *err)
{
	double ns = 0;
	int result = 0;

	for (repeated->rounds = 1;
	     result == 0 && ns < LEAST_NS && repeated->rounds < MOST_ROUNDS;) {
		result = time_one(repeated, &ns, err);
		if (result == 0 && ns < LEAST_NS)
			repeated->rounds *= 2;
	}
	return result;
}

static int choose_grid(struct repeated *repeated, struct gt_error *err)
{
	struct gt_bench *bench = repeated->bench;
	const struct gt_cuda *cuda = bench->gpu.cuda;
	const struct gt_bench_kernel *kernel = repeated->kernel;
	int blocks = (int)kernel->blocks;
	int result = 0;

	if (blocks == 0)
		result = gt_cuda_check(cuda,
		                       cuda->blocks_per_sm(&blocks, repeated->function,
		                                           (int)kernel->threads, 0),
		                       err, "the GPU's occupancy is not known");
	repeated->grid = (unsigned)(blocks * bench->sm_count);
	repeated->work = kernel->fixed > 0 ? kernel->fixed
	                                   : kernel->per_thread * kernel->threads * repeated->grid;
	return result;
}

int gt_bench_steady(struct gt_bench *bench,
                    int (*measure)(void *context, double *value, struct gt_error *err),
                    void *context, bool least, struct gt_calibrated *row, struct gt_error *err)
{
	const struct gt_steady_plan plan = {
		.within = WITHIN,
		.most_ns = MOST_NS,
		.measure = measure,
		.now_ns = now_ns,
		.context = context,
	};
	struct gt_steady steady;
	const int result = gt_steady_measure(&plan, &steady, err);

	(void)bench;
	if (result < 0)
		return result;
	row->value = least ? steady.least : steady.most;
	row->spread = (steady.most - steady.least) / row->value;
	row->sm_mhz = NAN;
	return 0;
}

int gt_bench_rate(struct gt_bench *bench, const struct gt_bench_kernel *kernel,
                  struct gt_calibrated *row, struct gt_error *err)
{
	struct repeated repeated = {.bench = bench, .kernel = kernel};
	int result =
		gt_bench_function(bench, kernel->file, kernel->symbol, &repeated.function, err);

	if (result == 0)
		result = choose_grid(&repeated, err);
	if (result == 0)
		result = choose_rounds(&repeated, err);
	if (result == 0)
		result = gt_bench_steady(bench, measure_rate, &repeated, false, row, err);
	if (result == 0)
		row->sm_mhz = fastest_mhz(&repeated);
	return result;
}
