/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include "fakes/nvml/nvml.h"

/*
 * The fake libnvidia-ml: what moves while a program runs. The pretended GPU draws one power while
 * anything runs on it and another while nothing does; the energy is exactly their integral.
 */

struct state {
	uint64_t elapsed_ns; /* since the first nvmlInit */
	uint64_t busy_ns;    /* of these */
	int busy;
};

/* Also without CUDA in the process, where nothing ever runs. */
static uint64_t busy_until(CUdevice device, uint64_t now_ns, int *busy)
{
	uint64_t (*ask)(CUdevice device, uint64_t now_ns, int *busy) = NULL;
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	*busy = 0;
	if (cuda)
		*(void **)&ask = dlsym(cuda, "fake_cuda_busy_ns");
	return ask ? ask(device, now_ns, busy) : 0;
}

static struct state state_of(nvmlDevice_t device)
{
	const CUdevice index = (CUdevice)fake_nvml_index(device);
	const uint64_t now_ns = fake_realtime_ns();
	struct state state = {.elapsed_ns = now_ns - fake_nvml.start_ns};
	int before;

	state.busy_ns = busy_until(index, now_ns, &state.busy);
	state.busy_ns -= busy_until(index, fake_nvml.start_ns, &before);
	return state;
}

static void hang_as_told(void)
{
	static _Atomic uint64_t readings;

	if (++readings >= fake_nvml.script.nvml_hang && fake_nvml.script.nvml_hang)
		for (;;)
			(void)pause();
}

int fake_nvml_ask(nvmlDevice_t device, enum fake_nvml_failure failure)
{
	const int result = fake_nvml_check(device);

	hang_as_told();

	if (result != NVML_SUCCESS)
		return result;
	return fake_nvml.script.nvml_fail & UINT64_C(1) << failure ? NVML_ERROR_NOT_SUPPORTED
	                                                           : NVML_SUCCESS;
}

static unsigned milliwatts_of(const struct state *state)
{
	return state->busy ? FAKE_BUSY_MILLIWATTS : FAKE_IDLE_MILLIWATTS;
}

static uint64_t pcie_bytes(const struct state *state, int mb_per_second)
{
	return state->elapsed_ns / 1000 * (uint64_t)mb_per_second;
}

static int read_field(nvmlDevice_t device, nvmlFieldValue_t *field)
{
	const struct state state = state_of(device);
	const int bytes = field->fieldId != NVML_FI_DEV_POWER_INSTANT;
	const int of_link = fake_nvml_read_link_field(device, field);

	if (of_link >= 0)
		return of_link;
	if (field->fieldId != NVML_FI_DEV_POWER_INSTANT &&
	    field->fieldId != NVML_FI_DEV_PCIE_COUNT_TX_BYTES &&
	    field->fieldId != NVML_FI_DEV_PCIE_COUNT_RX_BYTES)
		return NVML_ERROR_NOT_SUPPORTED;
	field->timestamp = (long long)(fake_realtime_ns() / 1000);
	field->valueType = bytes && fake_nvml.script.pcie_bits == 64
	                           ? NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
	                           : NVML_VALUE_TYPE_UNSIGNED_INT;
	field->value.ullVal = UINT64_MAX; /* the upper half of a small value means nothing */
	if (!bytes)
		field->value.uiVal = milliwatts_of(&state);
	else if (field->fieldId == NVML_FI_DEV_PCIE_COUNT_TX_BYTES)
		field->value.ullVal = pcie_bytes(&state, FAKE_PCIE_TX_MB_S);
	else
		field->value.ullVal = pcie_bytes(&state, FAKE_PCIE_RX_MB_S);
	if (bytes && fake_nvml.script.pcie_bits != 64)
		field->value.ullVal |= UINT64_MAX << 32;
	return fake_nvml_ask(device, bytes ? FAKE_NVML_pcie_bytes : FAKE_NVML_power_instant);
}

int nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values)
{
	const int result = fake_nvml_check(device);

	for (int i = 0; i < count && result == NVML_SUCCESS; i++)
		values[i].nvmlReturn = read_field(device, &values[i]);
	return result;
}

/* mW times ns */
static uint64_t energy_of(const struct state *state)
{
	return FAKE_IDLE_MILLIWATTS * (state->elapsed_ns - state->busy_ns) +
	       FAKE_BUSY_MILLIWATTS * state->busy_ns;
}

/* A mean, as from the real one: here since nvmlInit. */
int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts)
{
	const struct state state = state_of(device);

	*milliwatts = (unsigned)(energy_of(&state) / (state.elapsed_ns ? state.elapsed_ns : 1));
	return fake_nvml_ask(device, FAKE_NVML_power);
}

int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *millijoules)
{
	const struct state state = state_of(device);

	*millijoules = energy_of(&state) / 1000000000;
	return fake_nvml_ask(device, FAKE_NVML_energy);
}

static int throttled(const struct state *state)
{
	const struct fake_script *script = &fake_nvml.script;
	const uint64_t ms = state->elapsed_ns / 1000000;

	return script->throttle && ms >= script->throttle_start_ms &&
	       (!script->throttle_ms || ms < script->throttle_start_ms + script->throttle_ms);
}

static unsigned sm_mhz(const struct state *state)
{
	if (!state->busy)
		return FAKE_IDLE_MHZ;
	if (throttled(state))
		return FAKE_THROTTLED_MHZ;
	return (unsigned)fake_device_attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0) / 1000;
}

int nvmlDeviceGetClockInfo(nvmlDevice_t device, int clock, unsigned int *mhz)
{
	const struct state state = state_of(device);

	if (clock == NVML_CLOCK_MEM)
		*mhz = (unsigned)fake_device_attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 0) /
		       1000;
	else
		*mhz = sm_mhz(&state);
	return fake_nvml_ask(device, FAKE_NVML_clocks);
}

/* One degree more for every 100 ms of work, and as far as 85. */
int nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned int *celsius)
{
	const struct state state = state_of(device);
	const uint64_t warmed = state.busy_ns / 100000000;

	*celsius = (unsigned)(warmed < 50 ? 35 + warmed : 85);
	return sensor ? NVML_ERROR_INVALID_ARGUMENT : fake_nvml_ask(device, FAKE_NVML_temperature);
}

int nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates)
{
	const struct state state = state_of(device);

	rates->gpu = state.busy ? 97 : 0;
	rates->memory = state.busy ? 41 : 0;
	return fake_nvml_ask(device, FAKE_NVML_utilization);
}

static int has_other(nvmlDevice_t device)
{
	return fake_nvml_index(device) == 0 && fake_nvml.script.others_bytes;
}

int nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
	if (memory->version != (sizeof(*memory) | 2u << 24))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	memory->total = FAKE_DEVICE_BYTES + FAKE_RESERVED_BYTES;
	memory->reserved = FAKE_RESERVED_BYTES;
	memory->used = FAKE_OWN_BYTES + (has_other(device) ? fake_nvml.script.others_bytes : 0);
	memory->free = FAKE_DEVICE_BYTES - memory->used;
	return fake_nvml_ask(device, FAKE_NVML_memory);
}

int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons)
{
	const struct state state = state_of(device);

	*reasons = (state.busy ? 0 : 1) | (throttled(&state) ? fake_nvml.script.throttle : 0);
	return fake_nvml_ask(device, FAKE_NVML_throttle);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons)
{
	return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

/* Those corrected: two, and one more each second. */
int nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, int type, int counter,
                                unsigned long long *errors)
{
	const struct state state = state_of(device);

	*errors = type ? 0 : 2 + state.elapsed_ns / 1000000000;
	return counter ? NVML_ERROR_INVALID_ARGUMENT : fake_nvml_ask(device, FAKE_NVML_ecc);
}

int nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *replays)
{
	const struct state state = state_of(device);

	*replays = (unsigned)(7 + state.elapsed_ns / 1000000000);
	return fake_nvml_ask(device, FAKE_NVML_replays);
}

/* As slow as the real one. */
int nvmlDeviceGetPcieThroughput(nvmlDevice_t device, int direction, unsigned int *kb_per_second)
{
	const struct timespec window = {.tv_nsec = 20000000};

	(void)nanosleep(&window, NULL);
	*kb_per_second = 1000 * (direction ? FAKE_PCIE_RX_MB_S : FAKE_PCIE_TX_MB_S);
	return fake_nvml_ask(device, FAKE_NVML_pcie_rate);
}

static unsigned pid_told(unsigned pid)
{
	return fake_nvml.script.host_pids ? pid + FAKE_HOST_PIDS : pid;
}

int nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                            nvmlProcessInfo_v2_t *processes)
{
	const unsigned room = *count;

	*count = has_other(device) ? 2 : 1;
	if (room < *count)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	processes[0] =
		(nvmlProcessInfo_v2_t){pid_told((unsigned)getpid()), FAKE_OWN_BYTES, ~0u, ~0u};
	if (has_other(device))
		processes[1] = (nvmlProcessInfo_v2_t){pid_told(FAKE_OTHER_PID),
		                                      fake_nvml.script.others_bytes, ~0u, ~0u};
	return fake_nvml_ask(device, FAKE_NVML_processes);
}

/* The other process draws as well. */
int nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                             nvmlProcessInfo_v2_t *processes)
{
	const unsigned room = *count;

	*count = has_other(device) ? 1 : 0;
	if (room < *count)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	if (has_other(device))
		processes[0] = (nvmlProcessInfo_v2_t){pid_told(FAKE_OTHER_PID),
		                                      fake_nvml.script.others_bytes, ~0u, ~0u};
	return fake_nvml_ask(device, FAKE_NVML_processes);
}

/* Who runs something at this moment, if the caller has not seen this moment yet. */
int nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                    unsigned int *count, unsigned long long since_us)
{
	const struct state state = state_of(device);
	const unsigned long long now_us = fake_realtime_ns() / 1000;
	const unsigned room = *count;
	nvmlProcessUtilizationSample_t found[2];
	unsigned rows = 0;

	if (state.busy)
		found[rows++] = (nvmlProcessUtilizationSample_t){
			pid_told((unsigned)getpid()), now_us, 60, 30, 0, 0};
	if (fake_nvml_index(device) == 0 && fake_nvml.script.others_percent)
		found[rows++] =
			(nvmlProcessUtilizationSample_t){pid_told(FAKE_OTHER_PID),
		                                         now_us,
		                                         (unsigned)fake_nvml.script.others_percent,
		                                         5,
		                                         0,
		                                         0};
	*count = rows;
	if (fake_nvml_ask(device, FAKE_NVML_process_utilization) != NVML_SUCCESS)
		return fake_nvml_ask(device, FAKE_NVML_process_utilization);
	if (!rows || since_us >= now_us)
		return NVML_ERROR_NOT_FOUND;
	if (room < rows)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < rows; i++)
		samples[i] = found[i];
	return NVML_SUCCESS;
}
