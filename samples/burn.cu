/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiplies and adds as fast as the GPU can, for some seconds, with a rest before and after:
 * power, clocks and temperature move. Measures its energy with NVML's own counter, to compare with
 * what gputrace says. Usage: burn [SECONDS [MILLISECONDS_OF_REST]]
 */
#include <dlfcn.h>
#include <time.h>

#include "samples/check.h"

/* Work of about so long is one launch. */
static const double launch_ms = 10;

/* Eight sums that do not wait for each other, so that a multiprocessor always has something to do. */
__global__ void burn(float *result, unsigned rounds)
{
	float sums[8];
	const float factor = 0.999f + 1e-7f * (float)threadIdx.x;

	for (int i = 0; i < 8; i++)
		sums[i] = (float)i;
	for (unsigned round = 0; round < rounds; round++)
#pragma unroll
		for (int i = 0; i < 8; i++)
			sums[i] = fmaf(sums[i], factor, 0.5f);
	for (int i = 1; i < 8; i++)
		sums[0] += sums[i];
	result[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sums[0];
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void rest(double seconds)
{
	struct timespec time;

	time.tv_sec = (time_t)seconds;
	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	nanosleep(&time, NULL);
}

/* The needed parts of NVML; the toolkit does not always bring its header. */
struct energy_meter {
	void *device;
	int (*read)(void *device, unsigned long long *millijoules); /* NULL: there is none */
};

static struct energy_meter open_meter(void)
{
	struct energy_meter meter = {NULL, NULL};
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	int (*init)(void) = NULL;
	int (*find)(const char *pci, void **device) = NULL;
	unsigned long long millijoules;
	char pci[32];

	CHECK(cudaDeviceGetPCIBusId(pci, sizeof(pci), 0));
	if (library) {
		*(void **)&init = dlsym(library, "nvmlInit_v2");
		*(void **)&find = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
		*(void **)&meter.read = dlsym(library, "nvmlDeviceGetTotalEnergyConsumption");
	}
	if (!init || !find || !meter.read || init() || find(pci, &meter.device) ||
	    meter.read(meter.device, &millijoules))
		meter.read = NULL;
	return meter;
}

struct reading {
	double time_s;
	unsigned long long millijoules;
};

/* The counter moves in steps, some 10 to 100 ms apart: waits for one, which is exact. */
static struct reading read_at_step(const struct energy_meter *meter)
{
	struct reading reading = {now_s(), 0};
	unsigned long long before;
	const double end_s = reading.time_s + 1;

	if (!meter->read || meter->read(meter->device, &before))
		return reading;
	do {
		rest(0.001);
		meter->read(meter->device, &reading.millijoules);
		reading.time_s = now_s();
	} while (reading.millijoules == before && reading.time_s < end_s);
	return reading;
}

struct grid {
	unsigned blocks;
	unsigned threads;
	float *result;
};

static double run_ms(const struct grid *grid, unsigned rounds)
{
	const double start_s = now_s();

	burn<<<grid->blocks, grid->threads>>>(grid->result, rounds);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	return (now_s() - start_s) * 1e3;
}

/* Rounds for a launch of launch_ms; the first launch wakes the clocks up. */
static unsigned calibrate(const struct grid *grid)
{
	const unsigned rounds = 200000;

	run_ms(grid, rounds);
	return (unsigned)(rounds * launch_ms / run_ms(grid, rounds)) + 1;
}

static struct grid fill_gpu(void)
{
	struct grid grid = {0, 256, NULL};
	cudaDeviceProp properties;

	CHECK(cudaGetDeviceProperties(&properties, 0));
	grid.blocks = (unsigned)(properties.multiProcessorCount *
	                         properties.maxThreadsPerMultiProcessor) /
	              grid.threads;
	CHECK(cudaMalloc((void **)&grid.result,
	                 (size_t)grid.blocks * grid.threads * sizeof(*grid.result)));
	return grid;
}

int main(int argc, char **argv)
{
	const size_t seconds = argument(argc, argv, 1, 5);
	const double rest_s = (double)argument(argc, argv, 2, 1000) / 1e3;
	const size_t launches = (size_t)((double)seconds * 1e3 / launch_ms);
	const struct grid grid = fill_gpu();
	const struct energy_meter meter = open_meter();
	const unsigned rounds = calibrate(&grid);

	rest(rest_s);

	const struct reading first = read_at_step(&meter);
	const double start_s = now_s();

	for (size_t i = 0; i < launches; i++) {
		burn<<<grid.blocks, grid.threads>>>(grid.result, rounds);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());

	const double burned_s = now_s() - start_s;
	const struct reading last = read_at_step(&meter);

	rest(rest_s);
	CHECK(cudaFree(grid.result));
	printf("seconds=%zu\nlaunches=%zu\ncalibrations=2\nburned_s=%.3f\n", seconds, launches,
	       burned_s);
	if (meter.read) {
		const double joules = (double)(last.millijoules - first.millijoules) / 1e3;

		printf("energy_j=%.3f\nenergy_s=%.3f\nmean_w=%.3f\n", joules,
		       last.time_s - first.time_s, joules / (last.time_s - first.time_s));
	}
	return 0;
}
