/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/strings.h"
#include "cli/run/machine/machine.h"
#include "model/names.h"

/*
 * Facts that the kernel knows of a machine: Documentation/ABI/stable/sysfs-devices-node and
 * testing/sysfs-bus-pci. Files that are not there say nothing.
 */

enum { TEXT = 1024, MOST_NODES = 1024, MOST_DEVICES = 4096 };

/* The first line of a file below a folder; "" when there is none. */
static void read_line(char *line, size_t size, const char *folder, const char *name)
{
	char path[PATH_MAX];
	FILE *file;

	line[0] = '\0';
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return;
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(line, (int)size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	(void)fclose(file);
}

static uint32_t add_line(struct gt_machine *machine, const char *folder, const char *name)
{
	char line[TEXT];

	read_line(line, sizeof(line), folder, name);
	return gt_strings_add(machine->strings, line);
}

/* Names in a folder, in order, that so many are taken of. The caller frees them. */
static int list(struct dirent ***entries, const char *root, const char *below)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, below);
	return scandir(path, entries, NULL, versionsort);
}

static void free_list(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count >= 0)
		free(entries);
}

/* ---- NUMA nodes ---- */

/* "Node 0 MemTotal:       65536000 kB" is the first line of a node's meminfo. */
static uint64_t memory_of(const char *folder)
{
	char line[TEXT];
	const char *at;
	char digits[24];
	uint64_t kilobytes = 0;

	read_line(line, sizeof(line), folder, "meminfo");
	at = strstr(line, "MemTotal:");
	if (!at)
		return 0;
	at += strlen("MemTotal:");
	at += strspn(at, " ");
	snprintf(digits, sizeof(digits), "%.*s", (int)strspn(at, "0123456789"), at);
	if (gt_parse_count(digits, &kilobytes) < 0 || kilobytes > UINT64_MAX / 1024)
		return 0;
	return kilobytes * 1024;
}

static void add_node(struct gt_machine *machine, const char *root, const char *name)
{
	char folder[PATH_MAX];
	uint64_t number;

	if (strncmp(name, "node", 4) != 0 || gt_parse_count(name + 4, &number) < 0 ||
	    number >= MOST_NODES)
		return;
	snprintf(folder, sizeof(folder), "%s/devices/system/node/%s", root, name);
	*gt_array_push(&machine->nodes) = (struct gt_record_numa_node){
		.number = (uint32_t)number,
		.cpus = add_line(machine, folder, "cpulist"),
		.memory_bytes = memory_of(folder),
		.distances = add_line(machine, folder, "distance"),
	};
}

static void add_nodes(struct gt_machine *machine, const char *root)
{
	struct dirent **entries = NULL;
	const int count = list(&entries, root, "devices/system/node");

	for (int i = 0; i < count; i++)
		add_node(machine, root, entries[i]->d_name);
	free_list(entries, count);
}

/* ---- PCI devices ---- */

/* Of "32.0 GT/s PCIe"; 0: not known. */
static uint32_t generation_of(const char *speed)
{
	static const char *const speeds[] = {"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};

	for (uint32_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++)
		if (strncmp(speed, speeds[i], strlen(speeds[i])) == 0 &&
		    speed[strlen(speeds[i])] == ' ')
			return i + 1;
	return 0;
}

static uint32_t read_generation(const char *folder, const char *name)
{
	char line[TEXT] = "";

	read_line(line, sizeof(line), folder, name);
	return generation_of(line);
}

/* A width that nobody knows is 255 there. */
static uint32_t read_width(const char *folder, const char *name)
{
	char line[TEXT];
	uint64_t width = 0;

	read_line(line, sizeof(line), folder, name);
	return gt_parse_count(line, &width) == 0 && width < 64 ? (uint32_t)width : 0;
}

/* Of /sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0 what is between the two. */
static uint32_t read_path(struct gt_machine *machine, const char *folder)
{
	char path[PATH_MAX];
	const char *begin;
	const char *end;

	if (!realpath(folder, path))
		return 0;
	begin = strstr(path, "/pci");
	end = strrchr(path, '/');
	if (!begin || end <= begin)
		return 0;
	return gt_strings_add_bytes(machine->strings, begin + 1, (size_t)(end - begin - 1));
}

static void fill_generation(uint32_t *generation, const char *folder, const char *name)
{
	if (!*generation)
		*generation = read_generation(folder, name);
}

static void fill_width(uint32_t *width, const char *folder, const char *name)
{
	if (!*width)
		*width = read_width(folder, name);
}

/*
 * Adds to what NVML told. The kernel's word on the node holds where it has one: what NVML shows
 * inside a container can be cut down to that.
 */
static void place_device(struct gt_machine *machine, struct gt_record_pci_device *device,
                         const char *root)
{
	const char *address = gt_strings_get(machine->strings, device->address);
	char folder[PATH_MAX];
	char line[TEXT];
	uint64_t node;

	snprintf(folder, sizeof(folder), "%s/bus/pci/devices/%s", root, address);
	device->path = read_path(machine, folder);
	read_line(line, sizeof(line), folder, "numa_node"); /* -1: not known */
	if (gt_parse_count(line, &node) == 0 && node < MOST_NODES)
		device->numa_node_plus_one = (uint32_t)node + 1;
	read_line(line, sizeof(line), folder, "local_cpulist");
	if (*line)
		device->cpus = gt_strings_add(machine->strings, line);
	fill_generation(&device->pcie_generation, folder, "current_link_speed");
	fill_generation(&device->most_pcie_generation, folder, "max_link_speed");
	fill_width(&device->pcie_width, folder, "current_link_width");
	fill_width(&device->most_pcie_width, folder, "max_link_width");
}

static bool is_gpu(const char *folder)
{
	char vendor[TEXT];
	char class[TEXT];

	read_line(vendor, sizeof(vendor), folder, "vendor");
	read_line(class, sizeof(class), folder, "class");
	return strcmp(vendor, "0x10de") == 0 && strncmp(class, "0x03", 4) == 0;
}

static void add_gpus(struct gt_machine *machine, const char *root)
{
	struct dirent **entries = NULL;
	const int count = list(&entries, root, "bus/pci/devices");

	for (int i = 0; i < count; i++) {
		char folder[PATH_MAX];

		snprintf(folder, sizeof(folder), "%s/bus/pci/devices/%s", root, entries[i]->d_name);
		if (machine->devices.count < MOST_DEVICES && is_gpu(folder))
			(void)gt_machine_add_device(machine, entries[i]->d_name);
	}
	free_list(entries, count);
}

/* The PCI device behind an adapter: where its link "device" ends. */
static void add_adapter(struct gt_machine *machine, const char *root, const char *name)
{
	char link[PATH_MAX];
	char path[PATH_MAX];
	struct gt_record_pci_device *device;

	snprintf(link, sizeof(link), "%s/class/infiniband/%s/device", root, name);
	if (name[0] == '.' || machine->devices.count >= MOST_DEVICES || !realpath(link, path))
		return;
	device = gt_machine_add_device(machine, strrchr(path, '/') + 1);
	device->kind = GT_PCI_NETWORK;
	device->name = gt_strings_add(machine->strings, name);
}

static void add_adapters(struct gt_machine *machine, const char *root)
{
	struct dirent **entries = NULL;
	const int count = list(&entries, root, "class/infiniband");

	for (int i = 0; i < count; i++)
		add_adapter(machine, root, entries[i]->d_name);
	free_list(entries, count);
}

void gt_machine_read_sysfs(struct gt_machine *machine, const char *root)
{
	add_nodes(machine, root);
	if (machine->devices.count == 0)
		add_gpus(machine, root);
	add_adapters(machine, root);
	gt_array_each(struct gt_record_pci_device, device, &machine->devices)
		place_device(machine, device, root);
}
