/* SPDX-License-Identifier: Apache-2.0 */
/* Covers STAGE(topology): what gputrace run asked a machine becomes rows. */
#include <errno.h>

#include "collector/collect.h"
#include "model/names.h"

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-42-1");
	recording_add_basics(&recording, 42);
	recording_add_kernel(&recording, 2000, 1);
	recording_end(&recording, true);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(topology, .init = make, .fini = drop);

enum { TEXT_FIRST = 1, TEXT_SECOND, TEXT_UUID, TEXT_CPUS, TEXT_PATH, TEXT_NOTE };

/* Two GPUs, the first of which the process used, and a node. */
static void add_machine(void)
{
	recording_begin(&recording, "node");
	recording_add_string(&recording, TEXT_FIRST, "0000:19:00.0");
	recording_add_string(&recording, TEXT_SECOND, "0000:1a:00.0");
	recording_add_string(&recording, TEXT_UUID, "GPU-0123");
	recording_add_string(&recording, TEXT_CPUS, "0-15");
	recording_add_string(&recording, TEXT_PATH, "pci0000:16");
	recording_add_string(&recording, TEXT_NOTE, "something is not known");
	recording_add(&recording, numa_node, .number = 2);
	recording_add(&recording, numa_node, .number = 3, .cpus = TEXT_CPUS, .memory_bytes = 4096);
	recording_add(&recording, pci_device, .address = TEXT_FIRST, .uuid = TEXT_UUID,
	              .index_plus_one = 1, .numa_node_plus_one = 4, .path = TEXT_PATH,
	              .nvlinks_plus_one = 19, .nvlink_bytes_per_second = 26562000000);
	recording_add(&recording, pci_device, .address = TEXT_SECOND);
	recording_add(&recording, gpu_pair, .from = TEXT_FIRST, .to = TEXT_SECOND,
	              .nvlinks_plus_one = 19, .level_plus_one = 11, .switched = 7,
	              .reading_plus_one = 1);
	recording_add(&recording, gpu_pair, .from = TEXT_FIRST, .to = TEXT_NOTE);
	recording_add(&recording, gpu_pair, .from = TEXT_FIRST, .to = TEXT_FIRST);
	recording_add(&recording, note, .text = TEXT_NOTE);
}

static void store(const char *name)
{
	recording_add_file(&recording, name, recording.capture.bytes, recording.capture.size);
}

Test(topology, names_the_gpus_that_were_used)
{
	struct gt_trace trace;

	add_machine();
	store("node.topology");
	trace = collect(&recording);
	cr_expect(eq(sz, trace.processes.count, 1), "a machine is no process");
	cr_assert(eq(sz, trace.numa_nodes.count, 2));
	expect_text(gt_trace_text(&trace, trace.numa_nodes.rows[0].host), "node");
	cr_expect(eq(u32, trace.numa_nodes.rows[1].number, 3));
	cr_assert(eq(sz, trace.pci_devices.count, 2));

	const struct gt_pci_device *first = &trace.pci_devices.rows[0];
	const struct gt_pci_device *second = &trace.pci_devices.rows[1];

	cr_expect(eq(u32, first->device, 0));
	cr_expect(eq(u32, first->numa_node, 1));
	cr_expect(eq(i32, first->index, 0));
	cr_expect(eq(i32, first->nvlinks, 18));
	cr_expect(eq(u32, second->device, GT_NONE));
	cr_expect(eq(u32, second->numa_node, GT_NONE));
	cr_expect(eq(i32, second->index, -1));
	cr_expect(eq(i32, second->nvlinks, -1), "not known");
	cr_expect(has_note(&trace, GT_NONE, "node: something is not known"));
	gt_trace_release(&trace);
}

Test(topology, has_pairs_of_gpus_that_are_there)
{
	struct gt_trace trace;

	add_machine();
	store("node.topology");
	trace = collect(&recording);
	cr_assert(eq(sz, trace.gpu_pairs.count, 1));
	cr_expect(eq(u32, trace.gpu_pairs.rows[0].from, 0));
	cr_expect(eq(u32, trace.gpu_pairs.rows[0].to, 1));
	cr_expect(eq(i32, trace.gpu_pairs.rows[0].level, 10));
	cr_expect(eq(i32, trace.gpu_pairs.rows[0].nvlinks, 18));
	cr_expect(eq(u32, trace.gpu_pairs.rows[0].switched, 1));
	cr_expect(eq(i32, trace.gpu_pairs.rows[0].reading, 0));
	cr_expect(eq(i32, trace.gpu_pairs.rows[0].writing, -1), "not known");
	gt_trace_release(&trace);
}

Test(topology, of_another_machine_is_not_of_this_gpu)
{
	struct gt_trace trace;

	add_machine();
	store("other.topology");
	trace = collect(&recording);
	cr_assert(eq(sz, trace.pci_devices.count, 2));
	cr_expect(eq(u32, trace.pci_devices.rows[0].device, GT_NONE));
	gt_trace_release(&trace);
}

Test(topology, of_two_machines_stay_apart)
{
	struct gt_trace trace;

	add_machine();
	store("node.topology");
	store("other.topology");
	trace = collect(&recording);
	cr_assert(eq(sz, trace.gpu_pairs.count, 2));
	cr_expect(eq(u32, trace.gpu_pairs.rows[1].from, 2));
	cr_expect(eq(u32, trace.gpu_pairs.rows[1].to, 3));
	cr_expect(eq(u32, trace.pci_devices.rows[2].numa_node, 3));
	gt_trace_release(&trace);
}

Test(topology, of_one_node_has_everything_near_that)
{
	struct gt_trace trace;

	recording_begin(&recording, "node");
	recording_add_string(&recording, TEXT_FIRST, "0000:19:00.0");
	recording_add(&recording, numa_node, .number = 0);
	recording_add(&recording, pci_device, .address = TEXT_FIRST);
	store("node.topology");
	trace = collect(&recording);
	cr_expect(eq(u32, trace.pci_devices.rows[0].numa_node, 0));
	gt_trace_release(&trace);
}

/* Statements of a damaged or foreign file on processes have no place. */
Test(topology, says_nothing_of_processes)
{
	struct gt_trace trace;

	add_machine();
	recording_add_meta(&recording, "host", "another");
	recording_add_kernel(&recording, 3000, 2);
	store("node.topology");
	trace = collect(&recording);
	cr_expect(eq(sz, trace.kernels.count, 1));
	expect_text(gt_trace_text(&trace, trace.processes.rows[0].host), "node");
	gt_trace_release(&trace);
}

Test(topology, that_is_cut_anywhere_harms_nothing_else)
{
	add_machine();
	for (size_t size = 0; size < recording.capture.size; size += 7) {
		struct gt_trace trace;

		recording_add_file(&recording, "node.topology", recording.capture.bytes, size);
		trace = collect(&recording);
		cr_expect(eq(sz, trace.kernels.count, 1));
		gt_trace_release(&trace);
	}
}

Test(topology, alone_is_no_recording)
{
	struct recording lonely;
	struct gt_error err = {0};
	struct gt_trace trace;

	add_machine();
	recording_init(&lonely);
	recording_add_file(&lonely, "node.topology", recording.capture.bytes,
	                   recording.capture.size);
	gt_trace_init(&trace);
	cr_expect(eq(int, gt_collect(lonely.path, &trace, &err), -ENODATA));
	gt_trace_release(&trace);
	recording_release(&lonely);
}
