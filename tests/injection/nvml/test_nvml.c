/* SPDX-License-Identifier: Apache-2.0 */
/* injection/nvml/nvml.c with the fake libnvidia-ml, whose figures are known
 * (tests/fakes/README.md). */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cuda.h>

#include "injection/nvml/nvml.h"
#include "support/check.h"

#define UUID      "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00"
#define MS        INT64_C(1000000)
#define NOT_ASKED GT_NVML_NOT_MEASURED
#define OWN_BYTES (INT64_C(512) << 20)

struct watch {
	struct gt_nvml nvml;
	struct gt_nvml_device device;
	int64_t values[GT_NVML_COUNTER_COUNT];
};

/* As FAKE_CUPTI says, with the GPU of that uuid found. */
static struct watch watch_with(const char *script)
{
	struct watch watch = {.values = {0}};

	setenv("FAKE_CUPTI", script, 1);
	cr_assert(eq(int, gt_nvml_open(&watch.nvml), 0));
	cr_assert(eq(int, gt_nvml_find(&watch.nvml, UUID, &watch.device), 0));
	return watch;
}

static void sample(struct watch *watch)
{
	gt_nvml_sample(&watch->nvml, &watch->device, watch->values);
}

static void expect_value(const struct watch *watch, enum gt_nvml_counter counter, int64_t expected)
{
	cr_expect(eq(i64, watch->values[counter], expected), "counter %d", (int)counter);
}

static void expect_about(const struct watch *watch, enum gt_nvml_counter counter, int64_t expected)
{
	cr_expect(ge(i64, watch->values[counter], expected * 9 / 10), "counter %d", (int)counter);
	cr_expect(le(i64, watch->values[counter], expected * 11 / 10), "counter %d", (int)counter);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void pass(int64_t ns)
{
	const struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	nanosleep(&time, NULL);
}

/* One kernel, as long as FAKE_CUPTI's kernel_ns, is on the GPU from now on. */
static void begin_work(void)
{
	CUcontext context;
	CUmodule module;
	CUfunction function;

	cr_assert(eq(int, cuInit(0), CUDA_SUCCESS));
	cr_assert(eq(int, cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS));
	cr_assert(eq(int, cuCtxSetCurrent(context), CUDA_SUCCESS));
	cr_assert(eq(int, cuModuleLoadData(&module, "burn"), CUDA_SUCCESS));
	cr_assert(eq(int, cuModuleGetFunction(&function, module, "burn"), CUDA_SUCCESS));
	cr_assert(eq(int, cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
	             CUDA_SUCCESS));
	pass(MS);
}

/* Everything is due again, whatever it has cost. */
static void make_due(struct watch *watch)
{
	for (int i = 0; i < GT_NVML_READINGS; i++)
		watch->device.readings[i].due_ns = 0;
}

Test(nvml, places_a_gpu_in_its_machine)
{
	struct watch watch = watch_with("devices=2");
	struct gt_nvml_place place;

	cr_assert(eq(int,
	             gt_nvml_find(&watch.nvml, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae01",
	                          &watch.device),
	             0));
	place = gt_nvml_place_of(&watch.nvml, &watch.device);
	cr_expect(eq(u32, place.index_plus_one, 2));
	cr_expect(eq(u32, place.pcie_generation, 5));
	cr_expect(eq(u32, place.pcie_width, 16));
	cr_expect(eq(int, gt_nvml_find(&watch.nvml, "GPU-none", &watch.device), -ENODEV));
	gt_nvml_close(&watch.nvml);
	gt_nvml_close(&watch.nvml);
	cr_expect(eq(int, gt_nvml_find(&watch.nvml, UUID, &watch.device), -ENODEV));
}

Test(nvml, reads_every_counter_of_an_idle_gpu)
{
	struct watch watch = watch_with("others_bytes=12345678");

	sample(&watch);
	expect_value(&watch, GT_NVML_power_mw, 120000);
	expect_value(&watch, GT_NVML_sm_clock_mhz, 345);
	expect_value(&watch, GT_NVML_memory_clock_mhz, 3201);
	expect_value(&watch, GT_NVML_temperature_c, 35);
	expect_value(&watch, GT_NVML_gpu_utilization_percent, 0);
	expect_value(&watch, GT_NVML_memory_utilization_percent, 0);
	expect_value(&watch, GT_NVML_memory_used_bytes, OWN_BYTES + 12345678);
	expect_value(&watch, GT_NVML_throttle_reasons, 1);
	expect_value(&watch, GT_NVML_ecc_corrected, 2);
	expect_value(&watch, GT_NVML_ecc_uncorrected, 0);
	expect_value(&watch, GT_NVML_pcie_replays, 7);
	expect_value(&watch, GT_NVML_others_memory_bytes, 12345678);
	cr_expect(ge(i64, watch.values[GT_NVML_energy_mj], 0));
	gt_nvml_close(&watch.nvml);
}

Test(nvml, sees_power_clocks_and_energy_of_a_busy_gpu)
{
	struct watch watch = watch_with("kernel_ns=3000000000,throttle=4");
	int64_t energy_mj;
	int64_t start_ns;

	begin_work();
	sample(&watch);
	start_ns = now_ns();
	energy_mj = watch.values[GT_NVML_energy_mj];
	expect_value(&watch, GT_NVML_power_mw, 620000);
	expect_value(&watch, GT_NVML_sm_clock_mhz, 1200);
	expect_value(&watch, GT_NVML_gpu_utilization_percent, 97);
	expect_value(&watch, GT_NVML_memory_utilization_percent, 41);
	expect_value(&watch, GT_NVML_throttle_reasons, 4);
	pass(200 * MS);
	make_due(&watch);
	sample(&watch);
	cr_expect(ge(i64, watch.values[GT_NVML_energy_mj] - energy_mj, 620 * 190));
	cr_expect(le(i64, watch.values[GT_NVML_energy_mj] - energy_mj,
	             620 * ((now_ns() - start_ns) / MS + 10)));
	gt_nvml_close(&watch.nvml);
}

Test(nvml, takes_the_mean_power_where_that_of_the_moment_is_not_told)
{
	struct watch watch = watch_with("kernel_ns=2000000000,nvml_fail=power_instant");

	pass(20 * MS);
	begin_work();
	pass(20 * MS);
	sample(&watch);
	cr_expect(gt(i64, watch.values[GT_NVML_power_mw], 121000));
	cr_expect(lt(i64, watch.values[GT_NVML_power_mw], 619000));
	watch.nvml.nvmlDeviceGetPowerUsage = NULL;
	make_due(&watch);
	sample(&watch);
	expect_value(&watch, GT_NVML_power_mw, NOT_ASKED);
}

Test(nvml, leaves_what_is_not_supported_unmeasured)
{
	struct watch watch = watch_with(
		"others_bytes=1,nvml_fail=power+power_instant+energy+clocks+temperature+utilization+"
		"memory+throttle+ecc+replays+pcie_bytes+pcie_rate+processes+process_utilization");

	for (int round = 0; round < 2; round++) {
		sample(&watch);
		for (int i = 0; i < GT_NVML_COUNTER_COUNT; i++)
			expect_value(&watch, i, NOT_ASKED);
		make_due(&watch);
	}
}

/* An old driver: not one of the optional calls is there. */
Test(nvml, leaves_what_is_missing_unmeasured)
{
	struct watch watch = watch_with("");
	const struct gt_nvml bare = {.pid = watch.nvml.pid};

	watch.nvml = bare;
	sample(&watch);
	for (int i = 0; i < GT_NVML_COUNTER_COUNT; i++)
		expect_value(&watch, i, NOT_ASKED);
	cr_expect(eq(u32, gt_nvml_place_of(&watch.nvml, &watch.device).index_plus_one, 0));
}

Test(nvml, asks_for_throttle_reasons_under_their_old_name)
{
	struct watch watch = watch_with("throttle=32");

	watch.nvml.nvmlDeviceGetCurrentClocksEventReasons = NULL;
	sample(&watch);
	expect_value(&watch, GT_NVML_throttle_reasons, 33);
}

Test(nvml, tells_bytes_over_pcie_from_the_second_sample_on)
{
	struct watch watch = watch_with("");

	sample(&watch);
	expect_value(&watch, GT_NVML_pcie_tx_bytes_per_second, NOT_ASKED);
	expect_value(&watch, GT_NVML_pcie_rx_bytes_per_second, NOT_ASKED);
	pass(300 * MS);
	make_due(&watch);
	sample(&watch);
	expect_about(&watch, GT_NVML_pcie_tx_bytes_per_second, 1000000000);
	expect_about(&watch, GT_NVML_pcie_rx_bytes_per_second, 2000000000);
}

/* Counters of 32 bits pass 4 GiB in 67 ms at most here: generation 5, 16 lanes. */
Test(nvml, does_not_guess_how_often_a_small_pcie_counter_began_again)
{
	struct watch watch = watch_with("pcie_bits=32");

	sample(&watch);
	pass(100 * MS);
	make_due(&watch);
	sample(&watch);
	expect_value(&watch, GT_NVML_pcie_tx_bytes_per_second, NOT_ASKED);
	expect_value(&watch, GT_NVML_pcie_rx_bytes_per_second, NOT_ASKED);
}

Test(nvml, follows_a_small_pcie_counter_that_is_watched)
{
	struct watch watch = watch_with("pcie_bits=32");

	cr_expect(eq(i64, gt_nvml_watch_interval_ns(&watch.device), INT64_MAX));
	sample(&watch);
	cr_expect(gt(i64, gt_nvml_watch_interval_ns(&watch.device), 45 * MS));
	cr_expect(lt(i64, gt_nvml_watch_interval_ns(&watch.device), 55 * MS));
	watch.device.pcie.link_bytes_per_ns = 6; /* slower, so that a late wake-up does no harm */
	for (int i = 0; i < 8; i++) {            /* passes 4 GiB on the way, at 2 GB/s */
		pass(200 * MS);
		gt_nvml_watch(&watch.nvml, &watch.device);
		pass(100 * MS);
		make_due(&watch);
		sample(&watch);
		expect_about(&watch, GT_NVML_pcie_tx_bytes_per_second, 1000000000);
		expect_about(&watch, GT_NVML_pcie_rx_bytes_per_second, 2000000000);
	}
}

/* One gap that is too long spoils one sample, and no other. */
Test(nvml, begins_anew_after_a_small_pcie_counter_was_not_watched)
{
	struct watch watch = watch_with("pcie_bits=32");

	watch.device.pcie.link_bytes_per_ns = 10; /* 4 GiB in 429 ms */
	sample(&watch);
	pass(500 * MS);
	gt_nvml_watch(&watch.nvml, &watch.device);
	pass(10 * MS);
	make_due(&watch);
	sample(&watch);
	expect_value(&watch, GT_NVML_pcie_tx_bytes_per_second, NOT_ASKED);
	pass(200 * MS);
	make_due(&watch);
	sample(&watch);
	expect_about(&watch, GT_NVML_pcie_tx_bytes_per_second, 1000000000);
}

Test(nvml, need_not_watch_large_pcie_counters_or_costly_ones)
{
	struct watch watch = watch_with("");

	sample(&watch);
	cr_expect(eq(i64, gt_nvml_watch_interval_ns(&watch.device), INT64_MAX));
	watch = watch_with("pcie_bits=32");
	sample(&watch);
	cr_expect(lt(i64, gt_nvml_watch_interval_ns(&watch.device), INT64_MAX));
	for (int i = 0; i < GT_NVML_READINGS; i++)
		watch.device.readings[i].cost_ns = MS; /* 2 % of 50 ms */
	cr_expect(eq(i64, gt_nvml_watch_interval_ns(&watch.device), INT64_MAX));
}

Test(nvml, makes_calls_that_block_only_when_it_may)
{
	struct watch watch = watch_with("nvml_fail=pcie_bytes");
	const int64_t start_ns = now_ns();

	sample(&watch);
	expect_value(&watch, GT_NVML_pcie_tx_bytes_per_second, NOT_ASKED);
	watch.nvml.may_block = true;
	make_due(&watch);
	sample(&watch);
	expect_value(&watch, GT_NVML_pcie_tx_bytes_per_second, 1000000000);
	expect_value(&watch, GT_NVML_pcie_rx_bytes_per_second, 2000000000);
	cr_expect(ge(i64, now_ns() - start_ns, 40 * MS));
}

Test(nvml, makes_a_costly_call_less_often)
{
	struct watch watch = watch_with("nvml_fail=pcie_bytes");
	int measured = 0;

	watch.nvml.may_block = true; /* 40 ms: again in 4 s */
	for (int i = 0; i < 10; i++) {
		pass(10 * MS);
		sample(&watch);
		measured += watch.values[GT_NVML_pcie_tx_bytes_per_second] != NOT_ASKED;
		expect_value(&watch, GT_NVML_ecc_corrected, i == 0 ? 2 : NOT_ASKED);
	}
	cr_expect(eq(int, measured, 2)); /* one slow call alone may have been bad luck */
}

Test(nvml, counts_no_others_where_there_are_none)
{
	struct watch watch = watch_with("kernel_ns=2000000000");

	begin_work();
	sample(&watch); /* asks for nothing before this moment */
	pass(MS);
	make_due(&watch);
	sample(&watch);
	expect_value(&watch, GT_NVML_others_memory_bytes, 0);
	expect_value(&watch, GT_NVML_others_utilization_percent, 0);
}

Test(nvml, tells_the_others_time_once_the_process_itself_was_seen)
{
	struct watch watch = watch_with("kernel_ns=2000000000,others_bytes=1,others_percent=30");

	pass(MS);
	sample(&watch);
	expect_value(&watch, GT_NVML_others_utilization_percent, NOT_ASKED);
	begin_work();
	make_due(&watch);
	sample(&watch);
	expect_value(&watch, GT_NVML_others_utilization_percent, 30);
	cr_expect(gt(u64, watch.device.processes_seen_us, 0));
}

/* The last time in which processes were seen to run, as the driver keeps it. */
static uint64_t ran_us;

static gt_nvml_result tell_latest(gt_nvml_handle device, struct gt_nvml_process_sample *samples,
                                  unsigned *count, uint64_t since_us)
{
	(void)device;
	*count = 2;
	if (since_us >= ran_us)
		return 6; /* not found */
	samples[0] = (struct gt_nvml_process_sample){.pid = (unsigned)getpid(), .time_us = ran_us};
	samples[1] =
		(struct gt_nvml_process_sample){.pid = 1, .time_us = ran_us - 1, .sm_percent = 40};
	return 0;
}

static void sample_others(struct watch *watch, int64_t expected)
{
	make_due(watch);
	sample(watch);
	expect_value(watch, GT_NVML_others_utilization_percent, expected);
}

/* The driver tells nothing twice, as long as it is asked for what is newer. */
Test(nvml, counts_once_what_others_ran)
{
	struct watch watch = watch_with("");

	watch.nvml.nvmlDeviceGetProcessUtilization = tell_latest;
	sample(&watch);
	ran_us = watch.device.processes_seen_us + 1000;
	sample_others(&watch, 40);
	sample_others(&watch, 0);
	ran_us += 1000;
	sample_others(&watch, 40);
	sample_others(&watch, 0);
}

/* In a container the lists may hold the host's numbers: the process cannot find itself. */
Test(nvml, does_not_take_itself_for_another_process)
{
	struct watch watch =
		watch_with("kernel_ns=2000000000,others_bytes=1,others_percent=30,host_pids=1");

	begin_work();
	sample(&watch);
	pass(MS);
	make_due(&watch);
	sample(&watch);
	expect_value(&watch, GT_NVML_others_memory_bytes, NOT_ASKED);
	expect_value(&watch, GT_NVML_others_utilization_percent, NOT_ASKED);
	expect_value(&watch, GT_NVML_memory_used_bytes, OWN_BYTES + 1);
}
