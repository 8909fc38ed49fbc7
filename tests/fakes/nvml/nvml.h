/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_NVML_NVML_H
#define GT_TESTS_FAKES_NVML_NVML_H

#include "fakes/fake.h"
#include "fakes/script.h"

/*
 * Shared by the files of the fake libnvidia-ml and the program that tries it. The toolkit does
 * not bring nvml.h: names, layouts and values are NVML's as its documentation has them, written
 * down a second time, so that a mistake in the product's own (injection/nvml/nvml.h) shows.
 */

typedef struct nvml_device *nvmlDevice_t;

enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
};

enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_CLOCK_VIDEO };

enum {
	NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON = 90,
	NVML_FI_DEV_NVLINK_GET_SPEED = 164,
	NVML_FI_DEV_C2C_LINK_COUNT = 170,
	NVML_FI_DEV_C2C_LINK_GET_STATUS = 171,
	NVML_FI_DEV_C2C_LINK_GET_MAX_BW = 172,
	NVML_FI_DEV_POWER_AVERAGE = 185,
	NVML_FI_DEV_POWER_INSTANT = 186,
	NVML_FI_DEV_PCIE_COUNT_TX_BYTES = 197,
	NVML_FI_DEV_PCIE_COUNT_RX_BYTES = 198,
};

enum { NVML_VALUE_TYPE_UNSIGNED_INT = 1, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3 };

typedef struct {
	unsigned int fieldId;
	unsigned int scopeId;
	long long timestamp;
	long long latencyUsec;
	int valueType;
	int nvmlReturn;
	union {
		double dVal;
		unsigned int uiVal;
		unsigned long ulVal;
		unsigned long long ullVal;
	} value;
} nvmlFieldValue_t;

typedef struct {
	char busIdLegacy[16];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId;
	unsigned int pciSubSystemId;
	char busId[32];
} nvmlPciInfo_t;

typedef struct {
	unsigned int gpu;
	unsigned int memory;
} nvmlUtilization_t;

typedef struct {
	unsigned int version;
	unsigned long long total;
	unsigned long long reserved;
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_v2_t;

typedef struct {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
} nvmlProcessInfo_v2_t;

typedef struct {
	unsigned int pid;
	unsigned long long timeStamp;
	unsigned int smUtil;
	unsigned int memUtil;
	unsigned int encUtil;
	unsigned int decUtil;
} nvmlProcessUtilizationSample_t;

struct fake_nvml {
	struct fake_script script;
	int users;
	uint64_t start_ns; /* CLOCK_REALTIME of the first nvmlInit: all counters begin there */
};

extern struct fake_nvml fake_nvml;

unsigned fake_nvml_index(nvmlDevice_t device);

/* The same, or NOT_SUPPORTED where the script says so. */
int fake_nvml_ask(nvmlDevice_t device, enum fake_nvml_failure failure);

/* A field about what is between GPUs; -1: it is none of these. */
int fake_nvml_read_link_field(nvmlDevice_t device, nvmlFieldValue_t *field);

/* Answer of every call before it looks at its arguments. */
int fake_nvml_check(nvmlDevice_t device);

/* Power and clocks of the pretended GPU. */
enum {
	FAKE_IDLE_MILLIWATTS = 120000,
	FAKE_BUSY_MILLIWATTS = 620000,
	FAKE_IDLE_MHZ = 345,
	FAKE_THROTTLED_MHZ = 1200,
	FAKE_PCIE_TX_MB_S = 1000, /* all the time */
	FAKE_PCIE_RX_MB_S = 2000,
	FAKE_OTHER_PID = 4194000,
	FAKE_HOST_PIDS = 5000000, /* added to ids with host_pids=1 */
};
enum { FAKE_NVLINK_MB_S = 26562, FAKE_C2C_MB_S = 44700 }; /* of one link, one way */
#define FAKE_RESERVED_BYTES (UINT64_C(700) << 20)
#define FAKE_OWN_BYTES      (UINT64_C(512) << 20)

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device);
int nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info);
int nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values);
int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts);
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *millijoules);
int nvmlDeviceGetClockInfo(nvmlDevice_t device, int clock, unsigned int *mhz);
int nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned int *celsius);
int nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates);
int nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory);
int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons);
int nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, int type, int counter,
                                unsigned long long *errors);
int nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *replays);
int nvmlDeviceGetPcieThroughput(nvmlDevice_t device, int direction, unsigned int *kb_per_second);
int nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                            nvmlProcessInfo_v2_t *processes);
int nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                             nvmlProcessInfo_v2_t *processes);
int nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                    unsigned int *count, unsigned long long since_us);

#endif
