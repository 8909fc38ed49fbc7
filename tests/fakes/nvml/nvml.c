/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/nvml/nvml.h"

/* The fake libnvidia-ml: its start, and the calls that place a GPU in its machine. */

struct fake_nvml fake_nvml;

/* FAKE_NVML_LOADED names a file that says which thread the library is loaded on. */
__attribute__((constructor)) static void tell_thread(void)
{
	const char *path = getenv("FAKE_NVML_LOADED");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	(void)fprintf(file, "%s thread", gettid() == getpid() ? "the program's first" : "another");
	(void)fclose(file);
}

unsigned fake_nvml_index(nvmlDevice_t device)
{
	return (unsigned)((uintptr_t)device - 1);
}

int fake_nvml_check(nvmlDevice_t device)
{
	if (!fake_nvml.users)
		return NVML_ERROR_UNINITIALIZED;
	return device && fake_nvml_index(device) < fake_nvml.script.devices
	               ? NVML_SUCCESS
	               : NVML_ERROR_INVALID_ARGUMENT;
}

static int print(char *text, unsigned size, const char *value)
{
	if (strlen(value) >= size)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	(void)snprintf(text, size, "%s", value);
	return NVML_SUCCESS;
}

int nvmlInit_v2(void)
{
	fake_script_read(&fake_nvml.script);
	if (fake_nvml.script.nvml_fail & UINT64_C(1) << FAKE_NVML_init)
		return NVML_ERROR_UNINITIALIZED;
	if (!fake_nvml.start_ns)
		fake_nvml.start_ns = fake_realtime_ns();
	fake_nvml.users++;
	return NVML_SUCCESS;
}

int nvmlShutdown(void)
{
	if (!fake_nvml.users)
		return NVML_ERROR_UNINITIALIZED;
	fake_nvml.users--;
	return NVML_SUCCESS;
}

const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
	return result == NVML_SUCCESS ? "Success" : "Failure";
}

int nvmlSystemGetDriverVersion(char *text, unsigned int size);
int nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
	return fake_nvml.users ? print(text, size, "580.95.05") : NVML_ERROR_UNINITIALIZED;
}

int nvmlDeviceGetCount_v2(unsigned int *count);
int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = (unsigned)fake_nvml.script.devices;
	return fake_nvml.users ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
	*device = (nvmlDevice_t)(uintptr_t)(index + 1);
	return fake_nvml_check(*device);
}

/* Bus ids are compared as numbers: the domain is printed with four or eight digits. */
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device)
{
	unsigned domain;
	unsigned bus;

	if (sscanf(id, "%x:%x:", &domain, &bus) != 2)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < fake_nvml.script.devices; i++)
		if (bus == (unsigned)fake_device_attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, (int)i))
			return nvmlDeviceGetHandleByIndex_v2(i, device);
	return NVML_ERROR_NOT_FOUND;
}

int nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index);
int nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
	*index = fake_nvml_index(device);
	return fake_nvml_check(device);
}

int nvmlDeviceGetName(nvmlDevice_t device, char *text, unsigned int size);
int nvmlDeviceGetName(nvmlDevice_t device, char *text, unsigned int size)
{
	const int result = fake_nvml_check(device);

	return result == NVML_SUCCESS ? print(text, size, FAKE_DEVICE_NAME) : result;
}

int nvmlDeviceGetUUID(nvmlDevice_t device, char *text, unsigned int size);
int nvmlDeviceGetUUID(nvmlDevice_t device, char *text, unsigned int size)
{
	const int result = fake_nvml_check(device);
	char value[48] = "GPU";
	size_t length = strlen(value);
	CUuuid uuid;

	if (result != NVML_SUCCESS)
		return result;
	uuid = fake_device_uuid((int)fake_nvml_index(device));
	for (size_t i = 0; i < sizeof(uuid.bytes); i++)
		length +=
			(size_t)snprintf(value + length, sizeof(value) - length, "%s%02x",
		                         i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		                         (unsigned char)uuid.bytes[i]);
	return print(text, size, value);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);
int nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	for (unsigned i = 0; i < fake_nvml.script.devices; i++) {
		char text[48];

		if (nvmlDeviceGetHandleByIndex_v2(i, device) == NVML_SUCCESS &&
		    nvmlDeviceGetUUID(*device, text, sizeof(text)) == NVML_SUCCESS &&
		    strcmp(text, uuid) == 0)
			return NVML_SUCCESS;
	}
	return NVML_ERROR_NOT_FOUND;
}

int nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info)
{
	const int result = fake_nvml_check(device);

	if (result != NVML_SUCCESS)
		return result;
	memset(info, 0, sizeof(*info));
	info->bus = (unsigned)fake_device_attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
	                                            (int)fake_nvml_index(device));
	info->pciDeviceId = 0x233510de; /* H200 */
	(void)snprintf(info->busIdLegacy, sizeof(info->busIdLegacy), "0000:%02X:00.0", info->bus);
	(void)snprintf(info->busId, sizeof(info->busId), "00000000:%02X:00.0", info->bus);
	return NVML_SUCCESS;
}

int nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation);
int nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation)
{
	*generation = 5;
	return fake_nvml_check(device);
}

int nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *width);
int nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *width)
{
	*width = 16;
	return fake_nvml_check(device);
}

int nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation);
int nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation)
{
	return nvmlDeviceGetMaxPcieLinkGeneration(device, generation);
}

int nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *width);
int nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int *width)
{
	return nvmlDeviceGetMaxPcieLinkWidth(device, width);
}

/* MHz */
int nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int clock, unsigned int *mhz);
int nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int clock, unsigned int *mhz)
{
	const CUdevice_attribute attribute = clock == NVML_CLOCK_MEM
	                                             ? CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE
	                                             : CU_DEVICE_ATTRIBUTE_CLOCK_RATE;

	*mhz = (unsigned)fake_device_attribute(attribute, 0) / 1000;
	return fake_nvml_check(device);
}
