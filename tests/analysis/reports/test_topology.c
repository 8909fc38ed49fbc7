/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/check_report.h"
#include "base/strings.h"
#include "model/names.h"

static struct gt_trace trace;
static struct gt_result result;

static void make(void)
{
	trace_init(&trace, 1000);
	trace_process(&trace, "app", 100);
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(topology, .init = make, .fini = drop);

/* Eight GPUs of two nodes, of which one is used: two behind each of four switches. */
static void make_up_eight(gt_code nvlinks)
{
	const gt_id device = trace_device(&trace);

	for (gt_count number = 0; number < 2; number++)
		trace_numa_node(&trace, number);
	for (gt_id gpu = 0; gpu < 8; gpu++) {
		char path[64];

		snprintf(path, sizeof(path), "pci0000:%u0/0000:%u0:01.0/0000:%u1:0%u.0",
		         gpu / 2 + 1, gpu / 2 + 1, gpu / 2 + 1, gpu % 2);
		trace_pci_gpu(&trace, gpu == 3 ? device : GT_NONE, gpu / 4, path);
		trace.pci_devices.rows[gpu].nvlinks = nvlinks;
		trace.pci_devices.rows[gpu].nvlink_bytes_per_second = 25000000000;
	}
	for (gt_id from = 0; from < 8; from++)
		for (gt_id to = from + 1; to < 8; to++)
			trace_gpu_pair(&trace, from, to, nvlinks);
}

static size_t row_of(const char *part)
{
	for (size_t row = 0; row < row_count(&result, "tree"); row++)
		if (strcmp(cell(&result, "tree", row, "part")->text, part) == 0)
			return row;
	cr_fatal("there is no part '%s'", part);
	return 0;
}

Test(topology, is_a_tree_that_shows_bridges_where_it_forks)
{
	make_up_eight(18);
	run_report(&result, "topology", &trace);
	/* the machine, two nodes, four bridges, eight GPUs */
	cr_assert(eq(sz, row_count(&result, "tree"), 15));
	expect_words(&result, "tree", 0, "part", "host");
	expect_words(&result, "tree", 1, "part", "  NUMA node 0");
	expect_words(&result, "tree", 1, "cpus", "0-15");
	expect_words(&result, "tree", 2, "part", "    0000:10:01.0");
	expect_words(&result, "tree", 2, "is", "PCIe bridge");
	expect_words(&result, "tree", 3, "part", "      GPU 0");
	expect_count(&result, "tree", 3, "depth", 3);
	expect_words(&result, "tree", 8, "part", "  NUMA node 1");
	expect_words(&result, "tree", row_of("      GPU 3"), "used", "yes");
	expect_words(&result, "tree", row_of("      GPU 4"), "used", "no");
	expect_words(&result, "tree", 3, "pcie", "5.0 x16");
	expect_count(&result, "tree", 3, "nvlinks", 18);
	expect_real(&result, "tree", 3, "nvlink_bytes_per_second", 450e9);
}

Test(topology, is_a_matrix_of_nvlinks)
{
	make_up_eight(18);
	run_report(&result, "topology", &trace);
	cr_assert(eq(sz, row_count(&result, "matrix"), 8));
	expect_words(&result, "matrix", 2, "gpu", "GPU 2");
	expect_words(&result, "matrix", 2, "to_2", "self");
	expect_words(&result, "matrix", 2, "to_7", "NV18");
	expect_words(&result, "matrix", 7, "to_2", "NV18");
	cr_assert(eq(sz, row_count(&result, "pairs"), 28));
	expect_words(&result, "pairs", 0, "over", "18 NVLinks");
	expect_real(&result, "pairs", 0, "nvlink_bytes_per_second", 450e9);
	expect_words(&result, "pairs", 0, "reads", "yes");
}

Test(topology, has_pcie_where_there_is_no_nvlink)
{
	make_up_eight(0);
	trace.gpu_pairs.rows[0].level = 10;
	trace.gpu_pairs.rows[0].reading = 0;
	trace.gpu_pairs.rows[1].reading = 5;
	run_report(&result, "topology", &trace);
	expect_words(&result, "matrix", 0, "to_1", "PIX");
	expect_words(&result, "matrix", 0, "to_2", "SYS");
	expect_words(&result, "pairs", 0, "over", "PCIe");
	expect_words(&result, "pairs", 0, "pcie", "one PCIe switch");
	expect_words(&result, "pairs", 0, "reads", "yes");
	expect_words(&result, "pairs", 1, "over", "PCIe, through the host");
	expect_words(&result, "pairs", 1, "reads", "no");
	expect_unknown(&result, "pairs", 0, "nvlink_bytes_per_second");
	expect_real(&result, "tree", row_of("      GPU 0"), "nvlink_bytes_per_second", 0.0);
}

Test(topology, leaves_open_what_nvml_did_not_tell)
{
	make_up_eight(-1);
	trace.gpu_pairs.rows[0].level = -1;
	run_report(&result, "topology", &trace);
	expect_unknown(&result, "matrix", 0, "to_1");
	expect_unknown(&result, "matrix", 0, "to_2"); /* NVLink may be there */
	expect_unknown(&result, "pairs", 0, "over");
	expect_unknown(&result, "pairs", 0, "nvlinks");
	expect_unknown(&result, "pairs", 0, "pcie");
	expect_unknown(&result, "tree", row_of("      GPU 0"), "nvlinks");
}

Test(topology, says_how_links_were_when_they_were_asked)
{
	trace_pci_gpu(&trace, GT_NONE, GT_NONE, "");
	trace.pci_devices.rows[0].pcie_width = 8;
	trace.pci_devices.rows[0].pcie_generation = 1;
	run_report(&result, "topology", &trace);
	cr_assert(eq(sz, row_count(&result, "tree"), 2));
	expect_words(&result, "tree", 1, "part", "  GPU 0");
	expect_words(&result, "tree", 1, "pcie", "5.0 x16 (1.0 x8)");
	cr_expect(has_remark(&result, "fewer lanes"));
}

Test(topology, has_network_adapters_beside_the_gpus_of_their_bridge)
{
	trace_pci_gpu(&trace, GT_NONE, GT_NONE, "pci0000:10");
	trace_pci_gpu(&trace, GT_NONE, GT_NONE, "pci0000:10");
	trace.pci_devices.rows[1].kind = GT_PCI_NETWORK;
	trace.pci_devices.rows[1].index = -1;
	trace.pci_devices.rows[1].name = gt_strings_add(trace.strings, "mlx5_0");
	run_report(&result, "topology", &trace);
	cr_assert(eq(sz, row_count(&result, "tree"), 4));
	expect_words(&result, "tree", 1, "part", "  pci0000:10");
	expect_words(&result, "tree", 1, "is", "PCIe host bridge");
	expect_words(&result, "tree", 3, "part", "    mlx5_0");
	expect_words(&result, "tree", 3, "is", "network adapter");
	expect_unknown(&result, "tree", 3, "used");
}

Test(topology, of_a_recording_without_it_says_so)
{
	run_report(&result, "topology", &trace);
	cr_expect(eq(sz, row_count(&result, "tree"), 0));
	cr_expect(gt_result_says_why_empty(&result));
}

Test(topology, passes_on_what_could_not_be_asked)
{
	trace_pci_gpu(&trace, GT_NONE, GT_NONE, "");
	*gt_array_push(&trace.notes) = (struct gt_note){
		.process = GT_NONE,
		.topic = gt_strings_add(trace.strings, "topology"),
		.text = gt_strings_add(trace.strings, "host: NVML cannot start"),
	};
	run_report(&result, "topology", &trace);
	cr_expect(has_remark(&result, "host: NVML cannot start."));
}
