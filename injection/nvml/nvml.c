/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvml/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* NVML's numbers. */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { SENSOR_GPU = 0 };
enum { ECC_CORRECTED = 0, ECC_UNCORRECTED = 1 };
enum { ECC_SINCE_DRIVER = 0 };
enum { PCIE_TX = 0, PCIE_RX = 1 };
enum { FIELD_POWER_INSTANT = 186, FIELD_PCIE_TX_BYTES = 197, FIELD_PCIE_RX_BYTES = 198 };
enum { NOT_FOUND = 6 };

enum { READING_PCIE = 7 }; /* where it stands among the readings */

/* NVML writes a structure's size and version into its first field. */
#define MEMORY_VERSION ((uint32_t)sizeof(struct gt_nvml_memory) | UINT32_C(2) << 24)

_Static_assert(sizeof(struct gt_nvml_memory) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct gt_nvml_process_sample) == 32, "nvmlProcessUtilizationSample_t");

#define SECOND_NS INT64_C(1000000000)

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static uint64_t realtime_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void *load(void)
{
	return dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
}

void gt_nvml_load(void)
{
	(void)load();
}

int gt_nvml_open(struct gt_nvml *nvml)
{
	void *library = load();

	*nvml = (struct gt_nvml){.pid = (uint32_t)getpid()};
	if (!library)
		return -ENOENT;
		/* POSIX gives functions out as void pointers; C has no cast for that. */
#define CALL(name, parameters) *(void **)&nvml->name = dlsym(library, #name);
#include "injection/nvml/calls.def"
	if (nvml->nvmlInit_v2 && nvml->nvmlShutdown && nvml->nvmlInit_v2() == 0)
		return 0;
	*nvml = (struct gt_nvml){0};
	return -ENOTSUP;
}

void gt_nvml_close(struct gt_nvml *nvml)
{
	if (nvml->nvmlShutdown)
		(void)nvml->nvmlShutdown();
	*nvml = (struct gt_nvml){0};
}

struct gt_nvml_place gt_nvml_place_of(const struct gt_nvml *nvml,
                                      const struct gt_nvml_device *device)
{
	struct gt_nvml_place place = {0};
	unsigned value;

	if (nvml->nvmlDeviceGetIndex && nvml->nvmlDeviceGetIndex(device->handle, &value) == 0)
		place.index_plus_one = value + 1;
	if (nvml->nvmlDeviceGetMaxPcieLinkGeneration &&
	    nvml->nvmlDeviceGetMaxPcieLinkGeneration(device->handle, &value) == 0)
		place.pcie_generation = value;
	if (nvml->nvmlDeviceGetMaxPcieLinkWidth &&
	    nvml->nvmlDeviceGetMaxPcieLinkWidth(device->handle, &value) == 0)
		place.pcie_width = value;
	return place;
}

/* Bytes a lane carries in a nanosecond: 2.5 GT/s of 8 in 10 bits, doubled with each generation. */
static double link_bytes_per_ns(struct gt_nvml_place place)
{
	if (!place.pcie_generation || place.pcie_generation > 8)
		return 0;
	return 0.25 * (1u << (place.pcie_generation - 1)) * place.pcie_width;
}

int gt_nvml_find(const struct gt_nvml *nvml, const char *uuid, struct gt_nvml_device *device)
{
	struct gt_nvml_device found = {0};

	if (!nvml->nvmlDeviceGetHandleByUUID ||
	    nvml->nvmlDeviceGetHandleByUUID(uuid, &found.handle) != 0)
		return -ENODEV;
	found.pcie.link_bytes_per_ns = link_bytes_per_ns(gt_nvml_place_of(nvml, &found));
	*device = found;
	return 0;
}

/*
 * The fields are asked for only where a call of their own is worse: power of the moment
 * (nvmlDeviceGetPowerUsage gives the mean of a second from Ampere on), and bytes over PCIe.
 */
static bool read_fields(const struct gt_nvml *nvml, const struct gt_nvml_device *device,
                        struct gt_nvml_field *fields, int count)
{
	if (!nvml->nvmlDeviceGetFieldValues ||
	    nvml->nvmlDeviceGetFieldValues(device->handle, count, fields) != 0)
		return false;
	for (int i = 0; i < count; i++)
		if (fields[i].result != 0)
			return false;
	return true;
}

static void read_power(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	struct gt_nvml_field field = {.field = FIELD_POWER_INSTANT};
	unsigned milliwatts;

	if (read_fields(nvml, device, &field, 1))
		values[GT_NVML_power_mw] = (int64_t)gt_nvml_field_value(&field);
	else if (nvml->nvmlDeviceGetPowerUsage &&
	         nvml->nvmlDeviceGetPowerUsage(device->handle, &milliwatts) == 0)
		values[GT_NVML_power_mw] = milliwatts;
}

static void read_energy(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	uint64_t millijoules;

	if (nvml->nvmlDeviceGetTotalEnergyConsumption &&
	    nvml->nvmlDeviceGetTotalEnergyConsumption(device->handle, &millijoules) == 0)
		values[GT_NVML_energy_mj] = (int64_t)millijoules;
}

static void read_clocks(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	unsigned mhz;

	if (!nvml->nvmlDeviceGetClockInfo)
		return;
	if (nvml->nvmlDeviceGetClockInfo(device->handle, CLOCK_SM, &mhz) == 0)
		values[GT_NVML_sm_clock_mhz] = mhz;
	if (nvml->nvmlDeviceGetClockInfo(device->handle, CLOCK_MEMORY, &mhz) == 0)
		values[GT_NVML_memory_clock_mhz] = mhz;
}

static void read_temperature(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	unsigned celsius;

	if (nvml->nvmlDeviceGetTemperature &&
	    nvml->nvmlDeviceGetTemperature(device->handle, SENSOR_GPU, &celsius) == 0)
		values[GT_NVML_temperature_c] = celsius;
}

static void read_utilization(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	struct gt_nvml_utilization rates;

	if (!nvml->nvmlDeviceGetUtilizationRates ||
	    nvml->nvmlDeviceGetUtilizationRates(device->handle, &rates) != 0)
		return;
	values[GT_NVML_gpu_utilization_percent] = rates.gpu_percent;
	values[GT_NVML_memory_utilization_percent] = rates.memory_percent;
}

static void read_memory(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	struct gt_nvml_memory memory = {.version = MEMORY_VERSION};

	if (!nvml->nvmlDeviceGetMemoryInfo_v2 ||
	    nvml->nvmlDeviceGetMemoryInfo_v2(device->handle, &memory) != 0)
		return;
	values[GT_NVML_memory_used_bytes] = (int64_t)memory.used_bytes;
	values[GT_NVML_memory_free_bytes] = (int64_t)memory.free_bytes;
	values[GT_NVML_memory_reserved_bytes] = (int64_t)memory.reserved_bytes;
}

static void read_throttle(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	gt_nvml_result (*const call)(gt_nvml_handle, uint64_t *) =
		nvml->nvmlDeviceGetCurrentClocksEventReasons
			? nvml->nvmlDeviceGetCurrentClocksEventReasons
			: nvml->nvmlDeviceGetCurrentClocksThrottleReasons;
	uint64_t reasons;

	if (call && call(device->handle, &reasons) == 0)
		values[GT_NVML_throttle_reasons] = (int64_t)reasons;
}

static void read_errors(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	uint64_t errors;
	unsigned replays;

	if (nvml->nvmlDeviceGetTotalEccErrors &&
	    nvml->nvmlDeviceGetTotalEccErrors(device->handle, ECC_CORRECTED, ECC_SINCE_DRIVER,
	                                      &errors) == 0)
		values[GT_NVML_ecc_corrected] = (int64_t)errors;
	if (nvml->nvmlDeviceGetTotalEccErrors &&
	    nvml->nvmlDeviceGetTotalEccErrors(device->handle, ECC_UNCORRECTED, ECC_SINCE_DRIVER,
	                                      &errors) == 0)
		values[GT_NVML_ecc_uncorrected] = (int64_t)errors;
	if (nvml->nvmlDeviceGetPcieReplayCounter &&
	    nvml->nvmlDeviceGetPcieReplayCounter(device->handle, &replays) == 0)
		values[GT_NVML_pcie_replays] = replays;
}

/* Waits some 20 ms for each direction, as the driver itself watches the link that long. */
static void ask_pcie_rates(const struct gt_nvml *nvml, const struct gt_nvml_device *device,
                           int64_t *values)
{
	unsigned kb_per_second;

	if (!nvml->may_block || !nvml->nvmlDeviceGetPcieThroughput)
		return;
	if (nvml->nvmlDeviceGetPcieThroughput(device->handle, PCIE_TX, &kb_per_second) == 0)
		values[GT_NVML_pcie_tx_bytes_per_second] = INT64_C(1000) * kb_per_second;
	if (nvml->nvmlDeviceGetPcieThroughput(device->handle, PCIE_RX, &kb_per_second) == 0)
		values[GT_NVML_pcie_rx_bytes_per_second] = INT64_C(1000) * kb_per_second;
}

static bool is_small(const struct gt_nvml_field *field)
{
	return field->type != GT_NVML_ULONG && field->type != GT_NVML_ULONGLONG &&
	       field->type != GT_NVML_LONGLONG;
}

/* A counter of 32 bits begins again after 4 GiB: whether it can have done so more than once. */
static bool may_have_passed(const struct gt_nvml_device *device, int64_t elapsed_ns)
{
	return device->pcie.link_bytes_per_ns <= 0 ||
	       device->pcie.link_bytes_per_ns * (double)elapsed_ns >= (double)UINT32_MAX;
}

/* Adds what moved since the last reading. False when there are no such counters. */
static bool count_pcie(const struct gt_nvml *nvml, struct gt_nvml_device *device)
{
	struct gt_nvml_field fields[2] = {{.field = FIELD_PCIE_TX_BYTES},
	                                  {.field = FIELD_PCIE_RX_BYTES}};
	const int64_t time_ns = now_ns();
	const int64_t elapsed_ns = time_ns - device->pcie.time_ns;

	if (!read_fields(nvml, device, fields, 2))
		return false;
	device->pcie.small = is_small(&fields[0]);
	if (device->pcie.small && may_have_passed(device, elapsed_ns))
		device->pcie.passed = true;
	for (int i = 0; i < 2; i++) {
		const uint64_t counter = gt_nvml_field_value(&fields[i]);
		const uint64_t moved = counter - device->pcie.counters[i];

		device->pcie.moved[i] += device->pcie.small ? (uint32_t)moved : moved;
		device->pcie.counters[i] = counter;
	}
	device->pcie.time_ns = time_ns;
	return true;
}

static int64_t per_second(uint64_t bytes, int64_t elapsed_ns)
{
	return (int64_t)((double)bytes * (double)SECOND_NS / (double)elapsed_ns);
}

static void read_pcie(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	int64_t elapsed_ns;

	if (!count_pcie(nvml, device)) {
		ask_pcie_rates(nvml, device, values);
		return;
	}
	elapsed_ns = device->pcie.time_ns - device->pcie.sample_ns;
	if (device->pcie.sample_ns && !device->pcie.passed && elapsed_ns > 0) {
		values[GT_NVML_pcie_tx_bytes_per_second] =
			per_second(device->pcie.moved[PCIE_TX], elapsed_ns);
		values[GT_NVML_pcie_rx_bytes_per_second] =
			per_second(device->pcie.moved[PCIE_RX], elapsed_ns);
	}
	device->pcie.sample_ns = device->pcie.time_ns;
	device->pcie.moved[PCIE_TX] = 0;
	device->pcie.moved[PCIE_RX] = 0;
	device->pcie.passed = false;
}

#define MOST_PROCESSES 128

struct process_list {
	struct gt_nvml_process rows[MOST_PROCESSES];
	unsigned count;
};

typedef gt_nvml_result (*list_call)(gt_nvml_handle device, unsigned *count,
                                    struct gt_nvml_process *processes);

static bool add_processes(struct process_list *list, list_call call, gt_nvml_handle device)
{
	unsigned count = MOST_PROCESSES - list->count;

	if (!call || !count || call(device, &count, list->rows + list->count) != 0)
		return false;
	list->count += count;
	return true;
}

/* A process that computes and draws is in both lists, with the same memory. */
static bool listed_before(const struct process_list *list, unsigned row)
{
	for (unsigned i = 0; i < row; i++)
		if (list->rows[i].pid == list->rows[row].pid)
			return true;
	return false;
}

/* In both lists with the same memory, if at all. */
static void tell_own(struct gt_nvml *nvml, const struct gt_nvml_process *process, int64_t *values)
{
	nvml->listed = true;
	if (process->used_bytes <= INT64_MAX)
		values[GT_NVML_process_memory_bytes] = (int64_t)process->used_bytes;
}

/*
 * Others are all processes but this one, also those of the same recording. Nothing is told while
 * the own id has never been in a list: the ids are then the host's, and who is who is not known.
 * The lists of version 2 are asked for because version 3's rows had another size for a while
 * (drivers 535.43 to 535.86).
 */
static void read_processes(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values)
{
	struct process_list list = {.count = 0};
	uint64_t bytes = 0;
	bool known = true;

	if (!add_processes(&list, nvml->nvmlDeviceGetComputeRunningProcesses_v2, device->handle))
		return;
	(void)add_processes(&list, nvml->nvmlDeviceGetGraphicsRunningProcesses_v2, device->handle);
	for (unsigned i = 0; i < list.count; i++) {
		const struct gt_nvml_process *process = &list.rows[i];

		if (process->pid == nvml->pid)
			tell_own(nvml, process, values);
		else if (!process->pid || process->used_bytes > INT64_MAX)
			known = false;
		else if (!listed_before(&list, i))
			bytes += process->used_bytes;
	}
	if (known && nvml->listed)
		values[GT_NVML_others_memory_bytes] = (int64_t)bytes;
}

static void read_others_utilization(struct gt_nvml *nvml, struct gt_nvml_device *device,
                                    int64_t *values)
{
	struct gt_nvml_process_sample samples[MOST_PROCESSES];
	unsigned count = MOST_PROCESSES;
	gt_nvml_result result;
	int64_t percent = 0;

	if (!nvml->nvmlDeviceGetProcessUtilization)
		return;
	if (!device->processes_seen_us)
		device->processes_seen_us = realtime_us(); /* not what ran before */
	result = nvml->nvmlDeviceGetProcessUtilization(device->handle, samples, &count,
	                                               device->processes_seen_us);
	if (result != 0 && result != NOT_FOUND) /* not found: nobody ran anything */
		return;
	for (unsigned i = 0; result == 0 && i < count && i < MOST_PROCESSES; i++) {
		if (samples[i].time_us > device->processes_seen_us)
			device->processes_seen_us = samples[i].time_us;
		if (samples[i].pid == nvml->pid)
			nvml->sampled = true;
		else if (samples[i].sm_percent <= 100)
			percent += samples[i].sm_percent;
	}
	if (nvml->sampled)
		values[GT_NVML_others_utilization_percent] = percent < 100 ? percent : 100;
}

/*
 * Calls that ask for like things. The cost of each of them differs by GPU, driver and load, from a
 * microsecond (clocks) to milliseconds (energy, on some) and tens of them (bytes over PCIe without
 * counters), and while it runs the driver's locks may be held. So the cost is measured: what was
 * read pauses for so many times what it took. (With a hundred instead of a thousand a program of
 * small kernels ran 2.7 % slower; H200, driver 580, 2026-11-21: there the energy counter takes 2.5
 * ms.)
 */
enum { PAUSES = 1000 };

static const struct reading {
	void (*read)(struct gt_nvml *nvml, struct gt_nvml_device *device, int64_t *values);
	int64_t period_ns; /* at least so long from one to the next; 0: with every sample */
} readings[] = {
	{read_power, 0},
	{read_energy, 0},
	{read_clocks, 0},
	{read_temperature, 0},
	{read_utilization, 0},
	{read_memory, 0},
	{read_throttle, 0},
	[READING_PCIE] = {read_pcie, 0},
	{read_errors, SECOND_NS},             /* seldom anything but 0 */
	{read_processes, SECOND_NS},          /* walks every process on the GPU */
	{read_others_utilization, SECOND_NS}, /* the driver itself samples no faster */
};

_Static_assert(sizeof(readings) / sizeof(readings[0]) == GT_NVML_READINGS, "gt_nvml_device");

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * The smaller of two costs counts: a thread that had to wait for its turn is no slow call. A
 * reading that takes a thousandth of a second or more is still made every second, unless that is a
 * hundredth.
 */
static int64_t pause_ns(int64_t period_ns, int64_t cost_ns, int64_t cost_before_ns)
{
	const int64_t cost = cost_ns < cost_before_ns ? cost_ns : cost_before_ns;
	const int64_t most_ns = larger(SECOND_NS, cost * 100);
	const int64_t wanted_ns = cost * PAUSES < most_ns ? cost * PAUSES : most_ns;

	return larger(wanted_ns, period_ns);
}

void gt_nvml_sample(struct gt_nvml *nvml, struct gt_nvml_device *device,
                    int64_t values[GT_NVML_COUNTER_COUNT])
{
	int64_t start_ns = now_ns();

	for (size_t i = 0; i < GT_NVML_COUNTER_COUNT; i++)
		values[i] = GT_NVML_NOT_MEASURED;
	for (size_t i = 0; i < GT_NVML_READINGS; i++) {
		int64_t end_ns;
		int64_t cost_ns;

		if (start_ns < device->readings[i].due_ns)
			continue;
		readings[i].read(nvml, device, values);
		end_ns = now_ns();
		cost_ns = end_ns - start_ns;
		device->readings[i].due_ns = start_ns + pause_ns(readings[i].period_ns, cost_ns,
		                                                 device->readings[i].cost_ns);
		device->readings[i].cost_ns = cost_ns;
		start_ns = end_ns;
	}
}

int64_t gt_nvml_watch_interval_ns(const struct gt_nvml_device *device)
{
	int64_t interval_ns;

	if (!device->pcie.small || device->pcie.link_bytes_per_ns <= 0)
		return INT64_MAX;
	/* Three quarters of the time to 4 GiB, as a thread may wake up late. */
	interval_ns = (int64_t)(0.75 * (double)UINT32_MAX / device->pcie.link_bytes_per_ns);
	return device->readings[READING_PCIE].cost_ns * PAUSES > interval_ns ? INT64_MAX
	                                                                     : interval_ns;
}

void gt_nvml_watch(const struct gt_nvml *nvml, struct gt_nvml_device *device)
{
	if (device->pcie.small)
		(void)count_pcie(nvml, device);
}
