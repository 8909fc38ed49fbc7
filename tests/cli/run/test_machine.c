/* SPDX-License-Identifier: Apache-2.0 */
/* cli/run/machine/ with the fake libnvidia-ml (tests/fakes/README.md) and made-up folders. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strings.h"
#include "cli/run/machine/machine.h"
#include "model/names.h"
#include "support/check.h"
#include "support/recording.h"

static struct gt_machine machine;
static struct recording sysfs; /* a folder that stands in for /sys */

static void make(void)
{
	gt_machine_init(&machine);
	recording_init(&sysfs);
}

static void drop(void)
{
	gt_machine_release(&machine);
	recording_release(&sysfs);
}

TestSuite(machine, .init = make, .fini = drop);

static const char *text(uint32_t id)
{
	return gt_strings_get(machine.strings, id);
}

static int ask_nvml(const char *script)
{
	setenv("FAKE_CUPTI", script, 1);
	return gt_machine_read_nvml(&machine);
}

static void make_folders(const char *path)
{
	char part[PATH_MAX];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		(void)mkdir(part, 0700);
	}
}

/* A line in a file of the made-up /sys. */
static void say(const char *name, const char *line)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", sysfs.path, name);
	make_folders(path);
	file = fopen(path, "w");
	cr_assert(file != NULL, "%s", path);
	(void)fprintf(file, "%s\n", line);
	(void)fclose(file);
}

static void link_to(const char *name, const char *target)
{
	char path[PATH_MAX];
	char to[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", sysfs.path, name);
	snprintf(to, sizeof(to), "%s/%s", sysfs.path, target);
	make_folders(path);
	cr_assert(eq(int, symlink(to, path), 0));
}

#define GPU_FOLDER "devices/pci0000:16/0000:16:01.0/0000:19:00.0/"

/* GPU 0 of the fakes behind a bridge, on the second of two nodes; an adapter beside the bridge. */
static void make_up_sysfs(void)
{
	say("devices/system/node/node0/cpulist", "0-15,32-47");
	say("devices/system/node/node0/meminfo", "Node 0 MemTotal:       65536000 kB");
	say("devices/system/node/node0/distance", "10 21");
	say("devices/system/node/node1/cpulist", "16-31,48-63");
	say("devices/system/node/node1/distance", "21 10");
	say("devices/system/node/possible", "0-1");
	say(GPU_FOLDER "vendor", "0x10de");
	say(GPU_FOLDER "class", "0x030200");
	say(GPU_FOLDER "numa_node", "1");
	say(GPU_FOLDER "local_cpulist", "16-31,48-63");
	say(GPU_FOLDER "current_link_speed", "2.5 GT/s PCIe");
	say(GPU_FOLDER "max_link_speed", "32.0 GT/s PCIe");
	say(GPU_FOLDER "current_link_width", "8");
	say(GPU_FOLDER "max_link_width", "255");
	link_to("bus/pci/devices/0000:19:00.0", "devices/pci0000:16/0000:16:01.0/0000:19:00.0");
	say("devices/pci0000:16/0000:17:00.0/vendor", "0x15b3");
	say("devices/pci0000:16/0000:17:00.0/numa_node", "-1");
	link_to("bus/pci/devices/0000:17:00.0", "devices/pci0000:16/0000:17:00.0");
	link_to("class/infiniband/mlx5_0/device", "devices/pci0000:16/0000:17:00.0");
}

Test(machine, has_the_gpus_that_nvml_shows)
{
	const struct gt_record_pci_device *device;

	cr_assert(eq(int, ask_nvml("devices=2,numa_nodes=2"), 0));
	cr_assert(eq(sz, machine.devices.count, 2));
	device = &machine.devices.rows[1];
	expect_text(text(device->address), "0000:1a:00.0");
	expect_text(text(device->name), "NVIDIA H200");
	expect_text(text(device->uuid), "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae01");
	cr_expect(eq(u32, device->index_plus_one, 2));
	cr_expect(eq(u32, device->numa_node_plus_one, 2));
	expect_text(text(device->cpus), "16-31");
	cr_expect(eq(u32, device->most_pcie_generation, 5));
	cr_expect(eq(u32, device->most_pcie_width, 16));
	cr_expect(eq(u32, device->nvlinks_plus_one, 1), "told that there are none");
	cr_expect(eq(sz, machine.notes.count, 0));
}

Test(machine, counts_the_nvlinks_that_lead_through_switches)
{
	cr_assert(eq(int, ask_nvml("devices=8,numa_nodes=2,nvlinks=18"), 0));
	cr_assert(eq(sz, machine.devices.count, 8));
	cr_assert(eq(sz, machine.pairs.count, 28));
	cr_expect(eq(u32, machine.devices.rows[3].nvlinks_plus_one, 19));
	cr_expect(eq(u32, machine.devices.rows[3].nvlinks_to_switches, 18));
	gt_array_each(const struct gt_record_gpu_pair, pair, &machine.pairs) {
		cr_expect(eq(u32, pair->nvlinks_plus_one, 19));
		cr_expect(eq(u32, pair->switched, 1));
		cr_expect(eq(u64, pair->nvlink_bytes_per_second, UINT64_C(26562000000)));
		cr_expect(eq(u32, pair->reading_plus_one, 1), "yes");
	}
	cr_expect(eq(u32, machine.pairs.rows[0].level_plus_one, 11), "0 and 1: one switch");
	cr_expect(eq(u32, machine.pairs.rows[1].level_plus_one, 41), "0 and 2: one node");
	cr_expect(eq(u32, machine.pairs.rows[6].level_plus_one, 51), "0 and 7");
}

Test(machine, tells_bridges_between_two_gpus_from_what_the_others_have)
{
	cr_assert(eq(int, ask_nvml("devices=4,nvlinks=4,nvlink_ends=1"), 0));
	cr_expect(eq(u32, machine.pairs.rows[0].nvlinks_plus_one, 5), "0 and 1");
	cr_expect(eq(u32, machine.pairs.rows[0].switched, 0));
	cr_expect(eq(u32, machine.pairs.rows[1].nvlinks_plus_one, 1), "0 and 2: none");
	cr_expect(eq(u32, machine.pairs.rows[5].nvlinks_plus_one, 5), "2 and 3");
}

Test(machine, believes_the_driver_where_links_lead_to_nobody_knows_what)
{
	cr_assert(eq(int, ask_nvml("devices=2,nvlinks=18,nvlink_ends=2"), 0));
	cr_expect(eq(u32, machine.pairs.rows[0].nvlinks_plus_one, 19));
	cr_expect(eq(u32, machine.devices.rows[0].nvlinks_to_switches, 0));
}

Test(machine, leaves_open_what_nvml_does_not_answer)
{
	cr_assert(eq(int, ask_nvml("devices=2,nvlinks=18,nvml_fail=p2p+ancestor+affinity"), 0));
	cr_expect(eq(u32, machine.pairs.rows[0].nvlinks_plus_one, 0), "not known");
	cr_expect(eq(u32, machine.pairs.rows[0].level_plus_one, 0));
	cr_expect(eq(u32, machine.pairs.rows[0].reading_plus_one, 0));
	cr_expect(eq(u32, machine.devices.rows[0].numa_node_plus_one, 0));
}

Test(machine, has_links_to_the_host_s_processor)
{
	cr_assert(eq(int, ask_nvml("c2c_links=10"), 0));
	cr_expect(eq(u32, machine.devices.rows[0].c2c_links, 10));
	cr_expect(eq(u64, machine.devices.rows[0].c2c_bytes_per_second, UINT64_C(44700000000)));
}

Test(machine, says_why_it_knows_nothing_of_gpus)
{
	cr_expect(lt(int, ask_nvml("nvml_fail=init"), 0));
	cr_assert(eq(sz, machine.notes.count, 1));
	expect_text(text(machine.notes.rows[0].text),
	            "NVML cannot start: NVLink and GPUs' numbers are not known");
}

Test(machine, has_nodes_and_places_devices)
{
	const struct gt_record_pci_device *device;

	make_up_sysfs();
	cr_assert(eq(int, ask_nvml(""), 0));
	gt_machine_read_sysfs(&machine, sysfs.path);
	cr_assert(eq(sz, machine.nodes.count, 2));
	cr_expect(eq(u32, machine.nodes.rows[1].number, 1));
	expect_text(text(machine.nodes.rows[1].cpus), "16-31,48-63");
	expect_text(text(machine.nodes.rows[0].distances), "10 21");
	cr_expect(eq(u64, machine.nodes.rows[0].memory_bytes, UINT64_C(65536000) * 1024));
	cr_expect(eq(u64, machine.nodes.rows[1].memory_bytes, 0), "not said");
	cr_assert(eq(sz, machine.devices.count, 2));
	device = &machine.devices.rows[0];
	expect_text(text(device->path), "pci0000:16/0000:16:01.0");
	cr_expect(eq(u32, device->numa_node_plus_one, 2), "the kernel's word");
	expect_text(text(device->cpus), "16-31,48-63");
	cr_expect(eq(u32, device->pcie_width, 16), "NVML's word");
	device = &machine.devices.rows[1];
	cr_expect(eq(u32, device->kind, GT_PCI_NETWORK));
	expect_text(text(device->name), "mlx5_0");
	expect_text(text(device->address), "0000:17:00.0");
	cr_expect(eq(u32, device->numa_node_plus_one, 0), "-1: not known");
}

Test(machine, finds_gpus_without_nvml)
{
	const struct gt_record_pci_device *device;

	make_up_sysfs();
	gt_machine_read_sysfs(&machine, sysfs.path);
	cr_assert(eq(sz, machine.devices.count, 2));
	device = &machine.devices.rows[0];
	expect_text(text(device->address), "0000:19:00.0");
	cr_expect(eq(u32, device->kind, GT_PCI_GPU));
	cr_expect(eq(u32, device->index_plus_one, 0));
	cr_expect(eq(u32, device->nvlinks_plus_one, 0), "not known");
	cr_expect(eq(u32, device->pcie_generation, 1), "asleep");
	cr_expect(eq(u32, device->most_pcie_generation, 5));
	cr_expect(eq(u32, device->pcie_width, 8));
	cr_expect(eq(u32, device->most_pcie_width, 0), "255: not known");
}

Test(machine, without_anything_is_empty)
{
	gt_machine_read_sysfs(&machine, sysfs.path);
	cr_expect(eq(sz, machine.nodes.count, 0));
	cr_expect(eq(sz, machine.devices.count, 0));
}

Test(machine, is_written_in_the_format_of_captures)
{
	struct capture capture;
	struct gt_record_pci_device *devices;
	struct gt_record_gpu_pair *pairs;
	size_t count;

	cr_assert(eq(int, ask_nvml("devices=4,nvlinks=18"), 0));
	capture_init(&capture, CAPTURE_UNLIMITED);
	cr_assert(eq(int, gt_machine_write(&machine, capture_sink(&capture)), 0));
	devices = read_records(capture.bytes, capture.size, GT_RECORD_pci_device, &count);
	cr_assert(eq(sz, count, 4));
	cr_expect(eq(u32, devices[2].index_plus_one, 3));
	cr_expect(eq(u32, devices[2].nvlinks_plus_one, 19));
	pairs = read_records(capture.bytes, capture.size, GT_RECORD_gpu_pair, &count);
	cr_assert(eq(sz, count, 6));
	cr_expect(eq(u32, pairs[5].from, devices[2].address));
	cr_expect(eq(u32, pairs[5].to, devices[3].address));
	free(devices);
	free(pairs);
	capture_release(&capture);
}
