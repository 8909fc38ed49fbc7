/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of each call of NVML that telemetry makes, and of a whole sample, on this machine.
 * To be run beside something that keeps the GPU busy, such as samples/burn.
 * Usage: nvml_calls [GPU] [REPEATS]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "injection/nvml/nvml.h"

#define MOST_REPEATS 10000

static struct gt_nvml nvml;
static struct gt_nvml_device device;
static int64_t costs_ns[MOST_REPEATS];
static size_t repeats = 200;

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int ascending(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *)left;
	const int64_t b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static void print(const char *name, int result, uint64_t value)
{
	const size_t half = repeats / 2;
	const size_t nine_tenths = repeats * 9 / 10;

	qsort(costs_ns, repeats, sizeof(costs_ns[0]), ascending);
	printf("%-44s %10.1f %10.1f %10.1f %7d %20llu\n", name, (double)costs_ns[half] / 1e3,
	       (double)costs_ns[nine_tenths] / 1e3, (double)costs_ns[repeats - 1] / 1e3, result,
	       (unsigned long long)value);
}

/* Repeats a call with a millisecond in between, as answers may be kept for a moment. */
#define PRICE(name, present, call, value)                                                          \
	do {                                                                                       \
		int result = 0;                                                                    \
		if (!(present)) {                                                                  \
			printf("%-44s missing\n", name);                                           \
			break;                                                                     \
		}                                                                                  \
		for (size_t i = 0; i < repeats; i++) {                                             \
			const int64_t start_ns = now_ns();                                         \
			result = (call);                                                           \
			costs_ns[i] = now_ns() - start_ns;                                         \
			(void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);             \
		}                                                                                  \
		print(name, result, (uint64_t)(value));                                            \
	} while (0)

#define PRICE_CALL(name, value, ...)                                                               \
	PRICE(#name, nvml.name, nvml.name(device.handle, __VA_ARGS__), value)

static void price_field(const char *name, uint32_t id)
{
	struct gt_nvml_field field = {.field = id};
	char text[64];

	if (nvml.nvmlDeviceGetFieldValues)
		(void)nvml.nvmlDeviceGetFieldValues(device.handle, 1, &field);
	(void)snprintf(text, sizeof(text), "field %s, type %d", name, field.type);
	PRICE(text, nvml.nvmlDeviceGetFieldValues,
	      nvml.nvmlDeviceGetFieldValues(device.handle, 1, &field) + field.result,
	      field.type == 1 ? field.value.small : field.value.large);
}

static void price_levels(void)
{
	struct gt_nvml_utilization rates = {0};
	struct gt_nvml_memory memory = {.version = (uint32_t)sizeof(memory) | 2u << 24};
	unsigned value = 0;
	uint64_t large = 0;

	price_field("power instant", 186);
	price_field("power average", 185);
	price_field("pcie tx bytes", 197);
	price_field("pcie rx bytes", 198);
	PRICE_CALL(nvmlDeviceGetPowerUsage, value, &value);
	PRICE_CALL(nvmlDeviceGetTotalEnergyConsumption, large, &large);
	PRICE_CALL(nvmlDeviceGetClockInfo, value, 1, &value);
	PRICE_CALL(nvmlDeviceGetClockInfo, value, 2, &value);
	PRICE_CALL(nvmlDeviceGetTemperature, value, 0, &value);
	PRICE_CALL(nvmlDeviceGetUtilizationRates, rates.gpu_percent, &rates);
	PRICE_CALL(nvmlDeviceGetMemoryInfo_v2, memory.used_bytes, &memory);
	PRICE_CALL(nvmlDeviceGetCurrentClocksEventReasons, large, &large);
	PRICE_CALL(nvmlDeviceGetCurrentClocksThrottleReasons, large, &large);
}

static void price_seldom(void)
{
	struct gt_nvml_process processes[128];
	struct gt_nvml_process_sample samples[128];
	unsigned value = 0;
	uint64_t large = 0;

	PRICE_CALL(nvmlDeviceGetTotalEccErrors, large, 0, 0, &large);
	PRICE_CALL(nvmlDeviceGetTotalEccErrors, large, 1, 0, &large);
	PRICE_CALL(nvmlDeviceGetPcieReplayCounter, value, &value);
	PRICE_CALL(nvmlDeviceGetPcieThroughput, value, 0, &value);
	PRICE_CALL(nvmlDeviceGetComputeRunningProcesses_v2, value, (value = 128, &value),
	           processes);
	PRICE_CALL(nvmlDeviceGetGraphicsRunningProcesses_v2, value, (value = 128, &value),
	           processes);
	PRICE_CALL(nvmlDeviceGetProcessUtilization, value, samples, (value = 128, &value), 0);
}

/* Every 100 ms, as a recording does it. */
static void price_samples(void)
{
	int64_t values[GT_NVML_COUNTER_COUNT];
	uint64_t measured = 0;

	repeats = repeats < 50 ? repeats : 50;
	for (size_t i = 0; i < repeats; i++) {
		const int64_t start_ns = now_ns();

		gt_nvml_sample(&nvml, &device, values);
		costs_ns[i] = now_ns() - start_ns;
		for (size_t j = 0; j < GT_NVML_COUNTER_COUNT; j++)
			measured += values[j] != GT_NVML_NOT_MEASURED;
		(void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
	print("gt_nvml_sample; value: counters measured", 0, measured);
}

int main(int argc, char **argv)
{
	const unsigned gpu = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	gt_nvml_result (*find)(unsigned index, gt_nvml_handle *handle) = NULL;
	char uuid[96] = "";
	gt_nvml_result (*name)(gt_nvml_handle handle, char *text, unsigned size) = NULL;
	gt_nvml_handle handle = NULL;

	if (argc > 2)
		repeats = strtoul(argv[2], NULL, 10);
	repeats = repeats < 1 || repeats > MOST_REPEATS ? 200 : repeats;
	if (gt_nvml_open(&nvml) < 0) {
		(void)fprintf(stderr, "nvml_calls: NVML cannot be used\n");
		return 1;
	}
	*(void **)&find =
		dlsym(dlopen("libnvidia-ml.so.1", RTLD_NOW), "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&name = dlsym(dlopen("libnvidia-ml.so.1", RTLD_NOW), "nvmlDeviceGetUUID");
	if (!find || !name || find(gpu, &handle) || name(handle, uuid, sizeof(uuid)) ||
	    gt_nvml_find(&nvml, uuid, &device) < 0) {
		(void)fprintf(stderr, "nvml_calls: there is no GPU %u\n", gpu);
		return 1;
	}
	printf("%-44s %10s %10s %10s %7s %20s\n", "call", "median us", "90% us", "max us", "result",
	       "value");
	price_levels();
	price_seldom();
	price_samples();
	gt_nvml_close(&nvml);
	return 0;
}
