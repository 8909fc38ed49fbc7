/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/strings.h"
#include "collector/stage.h"

/*
 * Answers of each machine to gputrace run, HOST.topology, as rows: NUMA nodes, GPUs and network
 * adapters, and how GPUs reach each other. A GPU that a process used is found by its uuid, else by
 * its PCI address.
 */

/*
 * More than any machine has. Rows of a damaged file beyond are left out: reports look at each
 * device of a machine beside each other.
 */
enum { MOST_NODES = 1024, MOST_DEVICES = 4096, MOST_PAIRS = 8192 };

struct machine {
	struct gt_trace *trace;
	const struct gt_capture *capture;
	gt_string host;
	size_t first_node;   /* of the trace's numa_nodes: the machine's own are from here on, */
	size_t first_device; /* and of its pci_devices */
};

static gt_string text_of(const struct machine *machine, uint32_t id)
{
	return gt_capture_string(machine->capture, id);
}

static gt_string host_of(struct gt_trace *trace, const struct gt_capture *capture)
{
	return gt_strings_add_bytes(trace->strings, capture->name,
	                            strlen(capture->name) - strlen(GT_TOPOLOGY_SUFFIX));
}

static void add_nodes(const struct machine *machine)
{
	const size_t count = machine->capture->raw_numa_nodes.count;

	for (size_t i = 0; i < count && i < MOST_NODES; i++) {
		const struct gt_record_numa_node *raw = &machine->capture->raw_numa_nodes.rows[i];

		*gt_array_push(&machine->trace->numa_nodes) = (struct gt_numa_node){
			.host = machine->host,
			.number = raw->number,
			.cpus = text_of(machine, raw->cpus),
			.memory_bytes = raw->memory_bytes,
			.distances = text_of(machine, raw->distances),
		};
	}
}

/* In a machine of one node everything is near that. */
static gt_id node_of(const struct machine *machine, uint32_t number_plus_one)
{
	const struct gt_trace *trace = machine->trace;

	if (!number_plus_one && trace->numa_nodes.count == machine->first_node + 1)
		return (gt_id)machine->first_node;
	for (size_t row = machine->first_node; row < trace->numa_nodes.count; row++)
		if (number_plus_one && trace->numa_nodes.rows[row].number == number_plus_one - 1)
			return (gt_id)row;
	return GT_NONE;
}

static gt_id used_device(const struct machine *machine, gt_string uuid, gt_string address)
{
	const struct gt_trace *trace = machine->trace;
	const char *wanted = gt_trace_text(trace, address);

	for (gt_id row = 0; row < trace->devices.count; row++) {
		const struct gt_device *device = &trace->devices.rows[row];

		if (device->host != machine->host)
			continue;
		if (uuid && device->uuid == uuid)
			return row;
		if (*wanted && strcasecmp(gt_trace_text(trace, device->pci), wanted) == 0)
			return row;
	}
	return GT_NONE;
}

/* Decodes a number that captures hold plus one, where 0 is one that nobody told. */
static gt_code told(uint32_t value_plus_one)
{
	return value_plus_one <= INT32_MAX ? (gt_code)value_plus_one - 1 : -1;
}

static void add_devices(const struct machine *machine)
{
	const size_t count = machine->capture->raw_pci_devices.count;

	for (size_t i = 0; i < count && i < MOST_DEVICES; i++) {
		const struct gt_record_pci_device *raw = &machine->capture->raw_pci_devices.rows[i];
		const gt_string uuid = text_of(machine, raw->uuid);
		const gt_string address = text_of(machine, raw->address);

		*gt_array_push(&machine->trace->pci_devices) = (struct gt_pci_device){
			.device = used_device(machine, uuid, address),
			.numa_node = node_of(machine, raw->numa_node_plus_one),
			.host = machine->host,
			.address = address,
			.path = text_of(machine, raw->path),
			.kind = raw->kind,
			.name = text_of(machine, raw->name),
			.uuid = uuid,
			.index = told(raw->index_plus_one),
			.cpus = text_of(machine, raw->cpus),
			.pcie_generation = raw->pcie_generation,
			.pcie_width = raw->pcie_width,
			.most_pcie_generation = raw->most_pcie_generation,
			.most_pcie_width = raw->most_pcie_width,
			.nvlinks = told(raw->nvlinks_plus_one),
			.nvlinks_to_switches = raw->nvlinks_to_switches,
			.nvlink_bytes_per_second = raw->nvlink_bytes_per_second,
			.c2c_links = raw->c2c_links,
			.c2c_bytes_per_second = raw->c2c_bytes_per_second,
		};
	}
}

static gt_id device_at(const struct machine *machine, gt_string address)
{
	const struct gt_trace *trace = machine->trace;

	for (size_t row = machine->first_device; row < trace->pci_devices.count; row++)
		if (address && trace->pci_devices.rows[row].address == address)
			return (gt_id)row;
	return GT_NONE;
}

/* A pair of which one is not there says nothing. */
static void add_pairs(const struct machine *machine)
{
	const size_t count = machine->capture->raw_gpu_pairs.count;

	for (size_t i = 0; i < count && i < MOST_PAIRS; i++) {
		const struct gt_record_gpu_pair *raw = &machine->capture->raw_gpu_pairs.rows[i];
		const gt_id from = device_at(machine, text_of(machine, raw->from));
		const gt_id to = device_at(machine, text_of(machine, raw->to));

		if (from == GT_NONE || to == GT_NONE || from == to)
			continue;
		*gt_array_push(&machine->trace->gpu_pairs) = (struct gt_gpu_pair){
			.from = from,
			.to = to,
			.level = told(raw->level_plus_one),
			.nvlinks = told(raw->nvlinks_plus_one),
			.nvlink_bytes_per_second = raw->nvlink_bytes_per_second,
			.switched = raw->switched != 0,
			.reading = told(raw->reading_plus_one),
			.writing = told(raw->writing_plus_one),
			.atomics = told(raw->atomics_plus_one),
		};
	}
}

static void add_notes(struct gt_collection *collection, const struct machine *machine)
{
	gt_array_each(const struct gt_record_note, raw, &machine->capture->raw_notes)
		gt_collection_note(collection, GT_NONE, "topology", "%s: %s",
		                   gt_trace_text(machine->trace, machine->host),
		                   gt_trace_text(machine->trace, text_of(machine, raw->text)));
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;

	(void)err;
	gt_array_each(const struct gt_capture, capture, &collection->machines) {
		const struct machine machine = {
			.trace = trace,
			.capture = capture,
			.host = host_of(trace, capture),
			.first_node = trace->numa_nodes.count,
			.first_device = trace->pci_devices.count,
		};

		add_nodes(&machine);
		add_devices(&machine);
		add_pairs(&machine);
		add_notes(collection, &machine);
	}
	return 0;
}

const struct gt_stage gt_stage_topology = {.name = "topology", .run = run};
