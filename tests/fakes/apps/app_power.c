/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the GPU busy with one kernel and tells what NVML says before, meanwhile and after, as a
 * line of JSON each. Usage: FAKE_CUPTI=kernel_ns=NANOSECONDS app_power
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "fakes/nvml/nvml.h"

static void print(const char *name, int result, unsigned long long value)
{
	if (result == NVML_SUCCESS)
		printf(",\"%s\":%llu", name, value);
	else
		printf(",\"%s\":null", name);
}

static void tell_processes(nvmlDevice_t device)
{
	nvmlProcessInfo_v2_t processes[8];
	nvmlProcessUtilizationSample_t samples[8];
	unsigned count = 8;
	int result = nvmlDeviceGetComputeRunningProcesses_v2(device, &count, processes);

	print("processes", result, count);
	print("last_pid", result, result ? 0 : processes[count - 1].pid);
	print("last_bytes", result, result ? 0 : processes[count - 1].usedGpuMemory);
	count = 0;
	print("too_small", NVML_SUCCESS,
	      (unsigned)nvmlDeviceGetComputeRunningProcesses_v2(device, &count, processes));
	count = 8;
	result = nvmlDeviceGetProcessUtilization(device, samples, &count, 0);
	print("running", result, count);
	print("last_percent", result, result ? 0 : samples[count - 1].smUtil);
}

static void tell(nvmlDevice_t device, const char *when)
{
	nvmlUtilization_t rates = {0};
	nvmlMemory_v2_t memory = {.version = sizeof(memory) | 2u << 24};
	nvmlFieldValue_t fields[2] = {{.fieldId = NVML_FI_DEV_POWER_INSTANT},
	                              {.fieldId = NVML_FI_DEV_PCIE_COUNT_RX_BYTES}};
	unsigned value = 0;
	unsigned long long large = 0;
	int result;

	printf("{\"when\":\"%s\",\"pid\":%d,\"time_ns\":%llu", when, (int)getpid(),
	       (unsigned long long)fake_realtime_ns());
	result = nvmlDeviceGetTotalEnergyConsumption(device, &large);
	print("energy_mj", result, large);
	result = nvmlDeviceGetPowerUsage(device, &value);
	print("power_mw", result, value);
	result = nvmlDeviceGetFieldValues(device, 2, fields);
	print("instant_mw", result + fields[0].nvmlReturn, fields[0].value.uiVal);
	print("received", result + fields[1].nvmlReturn, fields[1].value.ullVal);
	result = nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &value);
	print("sm_mhz", result, value);
	result = nvmlDeviceGetTemperature(device, 0, &value);
	print("celsius", result, value);
	result = nvmlDeviceGetUtilizationRates(device, &rates);
	print("gpu_percent", result, rates.gpu);
	result = nvmlDeviceGetMemoryInfo_v2(device, &memory);
	print("used_bytes", result, memory.used);
	result = nvmlDeviceGetCurrentClocksEventReasons(device, &large);
	print("reasons", result, large);
	tell_processes(device);
	printf("}\n");
}

int main(void)
{
	const struct timespec moment = {.tv_nsec = 50000000};
	nvmlDevice_t device = NULL;
	CUcontext context;
	CUmodule module;
	CUfunction function;

	if (nvmlInit_v2() || nvmlDeviceGetHandleByIndex_v2(0, &device))
		return 1;
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuModuleLoadData(&module, "burn") || cuModuleGetFunction(&function, module, "burn"))
		return 1;
	tell(device, "before");
	if (cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL))
		return 1;
	(void)nanosleep(&moment, NULL);
	tell(device, "meanwhile");
	if (cuCtxSynchronize())
		return 1;
	tell(device, "after");
	return nvmlShutdown();
}
