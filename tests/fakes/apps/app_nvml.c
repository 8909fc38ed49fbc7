/* SPDX-License-Identifier: Apache-2.0 */
/* Finds GPU 0 with NVML in each way there is and prints what it is called, as one line of JSON. */
#include <dlfcn.h>
#include <stdio.h>

#include <cuda.h>

struct nvml {
	int (*start)(void);
	int (*by_index)(unsigned index, void **device);
	int (*by_pci)(const char *id, void **device);
	int (*by_uuid)(const char *uuid, void **device);
	int (*name)(void *device, char *text, unsigned size);
	int (*uuid)(void *device, char *text, unsigned size);
	int (*index)(void *device, unsigned *index);
};

static int find(struct nvml *nvml)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (!library)
		return -1;
	*(void **)&nvml->start = dlsym(library, "nvmlInit_v2");
	*(void **)&nvml->by_index = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&nvml->by_pci = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
	*(void **)&nvml->by_uuid = dlsym(library, "nvmlDeviceGetHandleByUUID");
	*(void **)&nvml->name = dlsym(library, "nvmlDeviceGetName");
	*(void **)&nvml->uuid = dlsym(library, "nvmlDeviceGetUUID");
	*(void **)&nvml->index = dlsym(library, "nvmlDeviceGetIndex");
	return 0;
}

int main(void)
{
	struct nvml nvml = {0};
	char name[96] = "";
	char uuid[96] = "";
	char pci[32] = "";
	unsigned by_pci = 99;
	unsigned by_uuid = 99;
	void *device = NULL;
	int early;
	int failed;

	if (find(&nvml))
		return 1;
	early = nvml.name(NULL, name, sizeof(name));
	failed = nvml.start() || nvml.by_index(0, &device);
	failed = failed || nvml.name(device, name, sizeof(name));
	failed = failed || nvml.uuid(device, uuid, sizeof(uuid));
	failed = failed || nvml.by_uuid(uuid, &device) || nvml.index(device, &by_uuid);
	failed = failed || cuInit(0) || cuDeviceGetPCIBusId(pci, sizeof(pci), 0);
	failed = failed || nvml.by_pci(pci, &device) || nvml.index(device, &by_pci);
	printf("{\"before_init\":%d,\"name\":\"%s\",\"uuid\":\"%s\",\"pci\":\"%s\",\"by_uuid\":%u,"
	       "\"by_pci\":%u}\n",
	       early, name, uuid, pci, by_uuid, by_pci);
	return failed;
}
