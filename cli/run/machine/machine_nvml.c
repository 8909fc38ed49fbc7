/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/strings.h"
#include "cli/run/machine/machine.h"
#include "format/nvml_types.h"

/* What NVML knows of GPUs and of what is between them. */

/* NVML's numbers. */
enum { NOT_SUPPORTED = 3 };
enum { FIELD_NVLINK_SPEED = 164, FIELD_NVLINK_COMMON_SPEED = 90 }; /* MB/s, one way */
enum { FIELD_C2C_COUNT = 170, FIELD_C2C_STATUS = 171, FIELD_C2C_SPEED = 172 };
enum { REMOTE_GPU = 0, REMOTE_SWITCH = 2, REMOTE_UNKNOWN = 255 };
enum { P2P_READ = 0, P2P_WRITE = 1, P2P_NVLINK = 2, P2P_ATOMICS = 3 };
enum { SCOPE_NODE = 0 };

enum { MOST_GPUS = 64, MOST_LINKS = 64, MOST_CPUS = 4096, MOST_NODES = 1024 };

#define MB   UINT64_C(1000000)
#define WORD (CHAR_BIT * sizeof(unsigned long))

struct pci_info { /* nvmlPciInfo_t */
	char short_address[16];
	uint32_t domain;
	uint32_t bus;
	uint32_t device;
	uint32_t device_id;
	uint32_t subsystem_id;
	char address[32];
};

_Static_assert(sizeof(struct pci_info) == 68, "nvmlPciInfo_t");

struct nvml {
#define CALL(name, parameters) gt_nvml_result(*name) parameters; /* NULL: missing */
#include "cli/run/machine/machine_calls.def"
};

/* A GPU while it is asked. */
struct gpu {
	gt_nvml_handle handle;
	char address[32];
	char remotes[MOST_LINKS][32]; /* GPUs that its NVLinks lead to, "": to none */
	unsigned links;               /* that are up */
	unsigned to_switches;         /* of them */
	unsigned elsewhere;           /* of them, to what NVML cannot say */
	bool links_told;
	uint64_t link_bytes_per_second; /* of one, one way; 0: not known */
};

/* 00000000:3B:00.0 as the kernel writes it: 0000:3b:00.0. */
static void set_address(char *address, size_t size, const struct pci_info *info)
{
	unsigned function = 0;
	const char *dot = strrchr(info->address, '.');

	if (dot && dot[1] >= '0' && dot[1] <= '7')
		function = (unsigned)(dot[1] - '0');
	snprintf(address, size, "%04x:%02x:%02x.%u", info->domain, info->bus, info->device,
	         function);
}

static bool read_field(const struct nvml *nvml, const struct gpu *gpu, uint32_t number,
                       uint32_t scope, uint64_t *value)
{
	struct gt_nvml_field field = {.field = number, .scope = scope};

	if (!nvml->nvmlDeviceGetFieldValues ||
	    nvml->nvmlDeviceGetFieldValues(gpu->handle, 1, &field) != 0 || field.result != 0)
		return false;
	*value = gt_nvml_field_value(&field);
	return true;
}

/* ---- NVLink ---- */

static void add_remote(const struct nvml *nvml, struct gpu *gpu, unsigned link)
{
	struct pci_info remote = {0};
	int type = REMOTE_UNKNOWN;

	if (nvml->nvmlDeviceGetNvLinkRemoteDeviceType &&
	    nvml->nvmlDeviceGetNvLinkRemoteDeviceType(gpu->handle, link, &type) != 0)
		type = REMOTE_UNKNOWN;
	if (type == REMOTE_SWITCH)
		gpu->to_switches++;
	else if (type == REMOTE_GPU && nvml->nvmlDeviceGetNvLinkRemotePciInfo_v2 &&
	         nvml->nvmlDeviceGetNvLinkRemotePciInfo_v2(gpu->handle, link, &remote) == 0)
		set_address(gpu->remotes[link], sizeof(gpu->remotes[link]), &remote);
	else
		gpu->elsewhere++;
}

static void read_link_speed(const struct nvml *nvml, struct gpu *gpu, unsigned link)
{
	uint64_t megabytes = 0;

	if (gpu->link_bytes_per_second)
		return;
	if (read_field(nvml, gpu, FIELD_NVLINK_SPEED, link, &megabytes) ||
	    read_field(nvml, gpu, FIELD_NVLINK_COMMON_SPEED, 0, &megabytes))
		gpu->link_bytes_per_second = megabytes * MB;
}

/* Links are asked one by one until there is no such link. */
static void read_links(const struct nvml *nvml, struct gpu *gpu)
{
	for (unsigned link = 0; nvml->nvmlDeviceGetNvLinkState && link < MOST_LINKS; link++) {
		int active = 0;
		const gt_nvml_result result =
			nvml->nvmlDeviceGetNvLinkState(gpu->handle, link, &active);

		if (result == 0 || result == NOT_SUPPORTED)
			gpu->links_told = true; /* also: it has none */
		if (result != 0)
			return;
		if (!active)
			continue;
		gpu->links++;
		read_link_speed(nvml, gpu, link);
		add_remote(nvml, gpu, link);
	}
}

static void read_c2c(const struct nvml *nvml, const struct gpu *gpu,
                     struct gt_record_pci_device *device)
{
	uint64_t count = 0;

	if (!read_field(nvml, gpu, FIELD_C2C_COUNT, 0, &count))
		return;
	for (uint32_t link = 0; link < count && link < MOST_LINKS; link++) {
		uint64_t value = 0;

		if (!read_field(nvml, gpu, FIELD_C2C_STATUS, link, &value) || value == 0)
			continue;
		device->c2c_links++;
		if (read_field(nvml, gpu, FIELD_C2C_SPEED, link, &value))
			device->c2c_bytes_per_second = value * MB;
	}
}

/* ---- a GPU ---- */

static bool bit(const unsigned long *words, unsigned number)
{
	return words[number / WORD] >> number % WORD & 1;
}

/* "0-15,32-47" of a set of processors. */
static void print_set(char *text, size_t size, const unsigned long *words, unsigned count)
{
	size_t used = 0;

	*text = '\0';
	for (unsigned first = 0; first < count && used + 24 < size; first++) {
		unsigned last = first;

		if (!bit(words, first))
			continue;
		while (last + 1 < count && bit(words, last + 1))
			last++;
		used += (size_t)snprintf(text + used, size - used,
		                         first == last ? "%s%u" : "%s%u-%u", used ? "," : "", first,
		                         last);
		first = last;
	}
}

/* Where there is more than one node the kernel says which, unless it is told otherwise by nobody. */
static void read_affinity(struct gt_machine *machine, const struct nvml *nvml,
                          const struct gpu *gpu, struct gt_record_pci_device *device)
{
	unsigned long cpus[MOST_CPUS / WORD] = {0};
	unsigned long nodes[MOST_NODES / WORD] = {0};

	if (nvml->nvmlDeviceGetCpuAffinity &&
	    nvml->nvmlDeviceGetCpuAffinity(gpu->handle, MOST_CPUS / WORD, cpus) == 0) {
		char text[1024];

		print_set(text, sizeof(text), cpus, MOST_CPUS);
		device->cpus = gt_strings_add(machine->strings, text);
	}
	if (!nvml->nvmlDeviceGetMemoryAffinity ||
	    nvml->nvmlDeviceGetMemoryAffinity(gpu->handle, MOST_NODES / WORD, nodes, SCOPE_NODE) !=
	            0)
		return;
	for (unsigned node = 0; node < MOST_NODES; node++) {
		if (!bit(nodes, node))
			continue;
		/* Near several it is near none in particular. */
		device->numa_node_plus_one = device->numa_node_plus_one ? 0 : node + 1;
		if (!device->numa_node_plus_one)
			return;
	}
}

typedef gt_nvml_result (*count_call)(gt_nvml_handle device, unsigned *value);

static uint32_t ask_count(count_call call, const struct gpu *gpu)
{
	unsigned value = 0;

	return call && call(gpu->handle, &value) == 0 ? value : 0;
}

typedef gt_nvml_result (*text_call)(gt_nvml_handle device, char *text, unsigned size);

static uint32_t ask_text(struct gt_machine *machine, text_call call, const struct gpu *gpu)
{
	char text[96] = "";

	if (!call || call(gpu->handle, text, sizeof(text)) != 0)
		return 0;
	return gt_strings_add(machine->strings, text);
}

static void add_gpu(struct gt_machine *machine, const struct nvml *nvml, struct gpu *gpu,
                    unsigned index)
{
	struct gt_record_pci_device *device = gt_machine_add_device(machine, gpu->address);

	read_links(nvml, gpu);
	device->index_plus_one = index + 1;
	device->name = ask_text(machine, nvml->nvmlDeviceGetName, gpu);
	device->uuid = ask_text(machine, nvml->nvmlDeviceGetUUID, gpu);
	device->most_pcie_generation = ask_count(nvml->nvmlDeviceGetMaxPcieLinkGeneration, gpu);
	device->most_pcie_width = ask_count(nvml->nvmlDeviceGetMaxPcieLinkWidth, gpu);
	device->pcie_generation = ask_count(nvml->nvmlDeviceGetCurrPcieLinkGeneration, gpu);
	device->pcie_width = ask_count(nvml->nvmlDeviceGetCurrPcieLinkWidth, gpu);
	device->nvlinks_plus_one = gpu->links_told ? gpu->links + 1 : 0;
	device->nvlinks_to_switches = gpu->to_switches;
	device->nvlink_bytes_per_second = gpu->link_bytes_per_second;
	read_c2c(nvml, gpu, device);
	read_affinity(machine, nvml, gpu, device);
}

/* ---- pairs ---- */

static uint32_t ask_status(const struct nvml *nvml, const struct gpu *one, const struct gpu *other,
                           int capability)
{
	int status = -1;

	if (!nvml->nvmlDeviceGetP2PStatus ||
	    nvml->nvmlDeviceGetP2PStatus(one->handle, other->handle, capability, &status) != 0 ||
	    status < 0)
		return 0;
	return (uint32_t)status + 1;
}

static unsigned direct_links(const struct gpu *one, const struct gpu *other)
{
	unsigned links = 0;

	for (unsigned link = 0; link < MOST_LINKS; link++)
		links += strcmp(one->remotes[link], other->address) == 0;
	return links;
}

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Links that lead straight to the other; through switches, what both have, if the driver says that
 * they reach each other over NVLink. In virtual machines it does not tell what links lead to.
 */
static void set_links(struct gt_record_gpu_pair *pair, const struct gpu *one,
                      const struct gpu *other, uint32_t over_nvlink)
{
	const unsigned direct = direct_links(one, other);
	const unsigned shared =
		smaller(one->to_switches + one->elsewhere, other->to_switches + other->elsewhere);

	if (!one->links_told || !other->links_told)
		return;
	pair->nvlink_bytes_per_second = one->link_bytes_per_second < other->link_bytes_per_second
	                                        ? one->link_bytes_per_second
	                                        : other->link_bytes_per_second;
	if (direct || !shared)
		pair->nvlinks_plus_one = direct + 1;
	else if (over_nvlink == 1)
		pair->nvlinks_plus_one = shared + 1;
	else if (over_nvlink)
		pair->nvlinks_plus_one = 1;
	pair->switched = !direct && pair->nvlinks_plus_one > 1;
}

static void add_pair(struct gt_machine *machine, const struct nvml *nvml, const struct gpu *one,
                     const struct gpu *other)
{
	struct gt_record_gpu_pair *pair = gt_array_push(&machine->pairs);
	int level = -1;

	*pair = (struct gt_record_gpu_pair){
		.from = gt_strings_add(machine->strings, one->address),
		.to = gt_strings_add(machine->strings, other->address),
		.reading_plus_one = ask_status(nvml, one, other, P2P_READ),
		.writing_plus_one = ask_status(nvml, one, other, P2P_WRITE),
		.atomics_plus_one = ask_status(nvml, one, other, P2P_ATOMICS),
	};
	if (nvml->nvmlDeviceGetTopologyCommonAncestor &&
	    nvml->nvmlDeviceGetTopologyCommonAncestor(one->handle, other->handle, &level) == 0 &&
	    level >= 0)
		pair->level_plus_one = (uint32_t)level + 1;
	set_links(pair, one, other, ask_status(nvml, one, other, P2P_NVLINK));
}

/* ---- all of them ---- */

static bool open_nvml(struct gt_machine *machine, struct nvml *nvml)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	*nvml = (struct nvml){0};
	if (!library) {
		gt_machine_note(machine, "NVML is not there (libnvidia-ml.so.1 cannot be loaded): "
		                         "NVLink and GPUs' numbers are not known");
		return false;
	}
	/* POSIX gives functions out as void pointers; C has no cast for that. */
#define CALL(name, parameters) *(void **)&nvml->name = dlsym(library, #name);
#include "cli/run/machine/machine_calls.def"
	if (nvml->nvmlInit_v2 && nvml->nvmlShutdown && nvml->nvmlDeviceGetCount_v2 &&
	    nvml->nvmlDeviceGetHandleByIndex_v2 && nvml->nvmlInit_v2() == 0)
		return true;
	gt_machine_note(machine, "NVML cannot start: NVLink and GPUs' numbers are not known");
	return false;
}

/* A GPU that NVML may not show, or cannot place, is left out. */
static bool find_gpu(const struct nvml *nvml, struct gpu *gpu, unsigned index)
{
	struct pci_info info = {0};

	*gpu = (struct gpu){0};
	if (nvml->nvmlDeviceGetHandleByIndex_v2(index, &gpu->handle) != 0 ||
	    !nvml->nvmlDeviceGetPciInfo_v3 ||
	    nvml->nvmlDeviceGetPciInfo_v3(gpu->handle, &info) != 0)
		return false;
	info.address[sizeof(info.address) - 1] = '\0';
	set_address(gpu->address, sizeof(gpu->address), &info);
	return true;
}

static unsigned read_gpus(struct gt_machine *machine, const struct nvml *nvml, struct gpu *gpus)
{
	unsigned count = 0;
	unsigned found = 0;

	if (nvml->nvmlDeviceGetCount_v2(&count) != 0)
		count = 0;
	for (unsigned index = 0; index < count && found < MOST_GPUS; index++)
		if (find_gpu(nvml, &gpus[found], index))
			add_gpu(machine, nvml, &gpus[found++], index);
	for (unsigned one = 0; one < found; one++)
		for (unsigned other = one + 1; other < found; other++)
			add_pair(machine, nvml, &gpus[one], &gpus[other]);
	return found;
}

int gt_machine_read_nvml(struct gt_machine *machine)
{
	struct gpu *gpus;
	struct nvml nvml;
	unsigned found;

	if (!open_nvml(machine, &nvml))
		return -ENODEV;
	gpus = gt_allocate(MOST_GPUS * sizeof(*gpus));
	found = read_gpus(machine, &nvml, gpus);
	gt_array_free(gpus);
	(void)nvml.nvmlShutdown();
	if (found)
		return 0;
	gt_machine_note(machine, "NVML shows no GPU: NVLink and GPUs' numbers are not known");
	return -ENODEV;
}
