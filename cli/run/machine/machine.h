/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_MACHINE_MACHINE_H
#define GT_CLI_RUN_MACHINE_MACHINE_H

#include <stddef.h>

#include "base/array.h"
#include "base/sink/sink.h"
#include "format/records.h"

struct gt_strings;

/*
 * Parts of a machine: NUMA nodes, GPUs and network adapters, and how GPUs reach each other.
 * NVML tells of GPUs and NVLink, the kernel (sysfs) of all else. gputrace run asks for it outside
 * of the program that it records, and stores it as records of a capture (format/records.def).
 */
struct gt_machine {
	struct gt_strings *strings; /* texts of the records */
	gt_array(struct gt_record_numa_node) nodes;
	gt_array(struct gt_record_pci_device) devices;
	gt_array(struct gt_record_gpu_pair) pairs;
	gt_array(struct gt_record_note) notes; /* what could not be told */
};

void gt_machine_init(struct gt_machine *machine);
void gt_machine_release(struct gt_machine *machine);

/* A sentence about what could not be told. */
__attribute__((format(printf, 2, 3))) void gt_machine_note(struct gt_machine *machine,
                                                           const char *fmt, ...);

/* An empty device of that address, domain:bus:device.function in lower case. Borrowed. */
struct gt_record_pci_device *gt_machine_add_device(struct gt_machine *machine, const char *address);

/*
 * Adds the GPUs that NVML shows this process, and pairs of them. The calls go to the driver, may
 * take seconds where GPUs sleep, and hang where one is broken. Returns 0, or -ENODEV with a note
 * when NVML has nothing to tell.
 */
int gt_machine_read_nvml(struct gt_machine *machine);

/*
 * Adds NUMA nodes, network adapters for RDMA and, where there are no GPUs so far, NVIDIA's GPUs,
 * and says where GPUs are. root is where sysfs is mounted: "/sys".
 */
void gt_machine_read_sysfs(struct gt_machine *machine, const char *root);

/* Writes a whole file in the format of captures. 0, or what the sink says. */
int gt_machine_write(const struct gt_machine *machine, struct gt_sink sink);

#endif
