/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/reports/topology/tables.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading node_headings[] = {
	{"host", GT_UNIT_TEXT, "Machine", GT_WORTH_LITTLE},
	{"node", GT_UNIT_COUNT, "NUMA node", GT_WORTH_KEY},
	{"cpus", GT_UNIT_TEXT, "Its processors", GT_WORTH_KEY},
	{"memory_bytes", GT_UNIT_BINARY_BYTES, "Its memory", GT_WORTH_KEY},
	{"distances", GT_UNIT_TEXT,
         "To each node, as the firmware states them: 10 is itself, 20 twice as far", GT_WORTH_KEY},
};

static void add_nodes(const struct gt_trace *trace, struct gt_result *result)
{
	gt_result_begin(result, "numa_nodes", node_headings, GT_COUNT_OF(node_headings));
	gt_result_detail(result);
	gt_array_each(const struct gt_numa_node, node, &trace->numa_nodes) {
		gt_add_string(result, trace, node->host);
		gt_result_add_count(result, node->number);
		gt_add_string(result, trace, node->cpus);
		gt_result_add_count_if(result, node->memory_bytes > 0, (int64_t)node->memory_bytes);
		gt_add_string(result, trace, node->distances);
	}
}

static void remark_notes(const struct gt_trace *trace, struct gt_result *result)
{
	gt_array_each(const struct gt_note, note, &trace->notes)
		if (strcmp(gt_trace_text(trace, note->topic), "topology") == 0)
			gt_result_remark(result, "%s.", gt_trace_text(trace, note->text));
}

static bool any_slow(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_pci_device, device, &trace->pci_devices)
		if (device->pcie_width && device->pcie_width < device->most_pcie_width)
			return true;
	return false;
}

static void add_remarks(const struct gt_trace *trace, struct gt_result *result)
{
	remark_notes(trace, result);
	if (trace->pci_devices.count == 0 && trace->numa_nodes.count == 0) {
		gt_result_remark_empty(
			result,
			"The machine's parts are not in the recording: gputrace run "
			"asks for it when the program has ended; programs that are recorded "
			"without it, and runs of older versions, have none.");
		return;
	}
	if (any_slow(trace))
		gt_result_remark_on(
			result, "pcie",
			"A PCIe link in brackets had fewer lanes, or was slower, when it was asked. "
			"Links slow down while nothing uses them; fewer lanes than it could have is "
			"its slot's, or a fault.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	(void)arguments;
	(void)err;
	gt_topology_add_tree(view->trace, result);
	gt_topology_add_matrix(view->trace, result);
	gt_topology_add_pairs(view->trace, result);
	add_nodes(view->trace, result);
	add_remarks(view->trace, result);
	return 0;
}

const struct gt_report gt_report_topology = {
	.name = "topology",
	.summary = "The machine's parts: NUMA nodes, PCIe, GPUs and their links",
	.run = run,
};
