/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/topology/tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/traffic/peak.h"
#include "base/array.h"
#include "model/gpu/topology.h"
#include "model/names.h"

static const struct gt_heading tree_headings[] = {
	{"part", GT_UNIT_TEXT,
         "Machine, NUMA node, PCIe bridge where it parts, GPU or network adapter", GT_WORTH_KEY},
	{"depth", GT_UNIT_COUNT, "How many parts are above it", GT_WORTH_DATA},
	{"is", GT_UNIT_TEXT, "Its kind", GT_WORTH_KEY},
	{"used", GT_UNIT_TEXT, "Whether a recorded process used this GPU", GT_WORTH_KEY},
	{"pcie", GT_UNIT_TEXT, "Its PCIe link at its best; in brackets as it was when asked",
         GT_WORTH_ORDINARY},
	{"pcie_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "Highest rate of that link, one way",
         GT_WORTH_ORDINARY},
	{"nvlinks", GT_UNIT_COUNT, "NVLinks that are up", GT_WORTH_ORDINARY},
	{"nvlink_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,
         "All of them together, one way, as the driver states it", GT_WORTH_ORDINARY},
	{"c2c_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,
         "NVLink-C2C to the host's processor, one way, as the driver states it", GT_WORTH_LEAST},
	{"cpus", GT_UNIT_TEXT, "Processors that are near it", GT_WORTH_LITTLE},
	{"memory_bytes", GT_UNIT_BINARY_BYTES, "Memory of a NUMA node", GT_WORTH_LEAST},
	{"address", GT_UNIT_TEXT, "PCI address", GT_WORTH_LEAST},
};

struct tree {
	const struct gt_trace *trace;
	struct gt_result *result;
	gt_id *rows; /* of pci_devices, sorted so that what hangs together stands together */
	size_t count;
	int64_t depth;
};

static const struct gt_pci_device *device_at(const struct tree *tree, size_t place)
{
	return &tree->trace->pci_devices.rows[tree->rows[place]];
}

static void add_part(const struct tree *tree, const char *name)
{
	gt_result_add_format(tree->result, "%*s%s", (int)(2 * tree->depth), "", name);
	gt_result_add_count(tree->result, tree->depth);
}

/* A row of which nothing else is said. */
static void add_plain_part(const struct tree *tree, const char *name, const char *is)
{
	add_part(tree, name);
	gt_result_add_text(tree->result, is);
	gt_result_add_unknowns(tree->result, 9);
}

const char *gt_topology_gpu_name(const struct gt_pci_device *device, char *text, size_t size)
{
	if (device->index >= 0)
		snprintf(text, size, "GPU %d", device->index);
	else
		snprintf(text, size, "GPU");
	return text;
}

static void add_pcie(const struct tree *tree, const struct gt_pci_device *device)
{
	const unsigned best[] = {device->most_pcie_generation, device->most_pcie_width};
	const unsigned now[] = {device->pcie_generation, device->pcie_width};

	if (!best[0] || !best[1])
		gt_result_add_unknown(tree->result);
	else if (!now[0] || !now[1] || (now[0] == best[0] && now[1] == best[1]))
		gt_result_add_format(tree->result, "%u.0 x%u", best[0], best[1]);
	else
		gt_result_add_format(tree->result, "%u.0 x%u (%u.0 x%u)", best[0], best[1], now[0],
		                     now[1]);
	gt_result_add_real(tree->result, gt_peak_of_pcie_link(best[0], best[1]));
}

static void add_device(const struct tree *tree, size_t place)
{
	const struct gt_pci_device *device = device_at(tree, place);
	const bool is_gpu = device->kind == GT_PCI_GPU;
	const double c2c = gt_topology_c2c_rate(device);
	char name[32];

	add_part(tree, is_gpu ? gt_topology_gpu_name(device, name, sizeof(name))
	                      : gt_trace_text(tree->trace, device->name));
	if (is_gpu)
		gt_add_string(tree->result, tree->trace, device->name);
	else
		gt_result_add_text(tree->result, "network adapter");
	if (is_gpu)
		gt_result_add_text(tree->result, device->device != GT_NONE ? "yes" : "no");
	else
		gt_result_add_unknown(tree->result);
	add_pcie(tree, device);
	gt_result_add_count_if(tree->result, is_gpu && device->nvlinks >= 0, device->nvlinks);
	gt_result_add_real(tree->result, is_gpu ? gt_topology_nvlink_rate(device) : NAN);
	gt_result_add_real(tree->result, is_gpu && c2c > 0 ? c2c : NAN);
	gt_add_string(tree->result, tree->trace, device->cpus);
	gt_result_add_unknown(tree->result);
	gt_add_string(tree->result, tree->trace, device->address);
}

/* The end of the n-th part of a path, whose parts stand between slashes; NULL: it has fewer. */
static const char *end_of_part(const char *path, size_t n)
{
	const char *at = path;

	if (!*path)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		at = strchr(at, '/');
		if (!at)
			return NULL;
		at++;
	}
	return at + strcspn(at, "/");
}

static bool share_part(const char *one, const char *other, size_t n)
{
	const char *end = end_of_part(one, n);
	const char *other_end = end_of_part(other, n);

	return end && other_end && end - one == other_end - other &&
	       memcmp(one, other, (size_t)(end - one)) == 0;
}

static const char *path_at(const struct tree *tree, size_t place)
{
	return gt_trace_text(tree->trace, device_at(tree, place)->path);
}

/* Parts of a path that are looked at: no machine has bridges so deep, but a damaged file may. */
enum { MOST_PARTS = 32 };

/* How many parts the paths of all these devices begin with: sorted, the first and the last have. */
static size_t shared_parts(const struct tree *tree, size_t first, size_t end)
{
	size_t parts = 0;

	while (parts < MOST_PARTS &&
	       share_part(path_at(tree, first), path_at(tree, end - 1), parts))
		parts++;
	return parts;
}

static size_t end_of_branch(const struct tree *tree, size_t first, size_t end, size_t parts)
{
	size_t last = first;

	while (last + 1 < end && share_part(path_at(tree, first), path_at(tree, last + 1), parts))
		last++;
	return last + 1;
}

/* "pci0000:3a" is a host bridge, "0000:3a:00.0" a bridge or a port of a switch. */
static void add_bridge(const struct tree *tree, const char *path, size_t parts)
{
	const char *end = end_of_part(path, parts - 1);
	const char *begin = end;
	char name[64];

	while (begin > path && begin[-1] != '/')
		begin--;
	snprintf(name, sizeof(name), "%.*s", (int)(end - begin), begin);
	add_plain_part(tree, name, parts == 1 ? "PCIe host bridge" : "PCIe bridge");
}

/*
 * The devices from first to before end, which have so many parts of their paths in common: the
 * bridge where they part, if there are several, and what hangs on it.
 */
// NOLINTNEXTLINE(misc-no-recursion): each call has more parts, MOST_PARTS at most
static void add_branch(struct tree *tree, size_t first, size_t end, size_t known)
{
	const size_t parts = shared_parts(tree, first, end);
	const bool forks = end - first > 1 && parts > known;

	if (forks) {
		add_bridge(tree, path_at(tree, first), parts);
		tree->depth++;
	}
	for (size_t at = first; at < end;) {
		const size_t branch_end = end_of_branch(tree, at, end, parts);

		if (branch_end - at > 1)
			add_branch(tree, at, branch_end, parts);
		else
			add_device(tree, at);
		at = branch_end;
	}
	tree->depth -= forks;
}

static void add_node(const struct tree *tree, const struct gt_numa_node *node)
{
	char name[32];

	snprintf(name, sizeof(name), "NUMA node %u", node->number);
	add_part(tree, name);
	gt_result_add_text(tree->result, "processors and memory");
	gt_result_add_unknowns(tree->result, 6);
	gt_add_string(tree->result, tree->trace, node->cpus);
	gt_result_add_count_if(tree->result, node->memory_bytes > 0, (int64_t)node->memory_bytes);
	gt_result_add_unknown(tree->result);
}

/* The devices of a machine that are near a node, GT_NONE: near none that is known. */
static void add_near(struct tree *tree, gt_string host, gt_id node)
{
	size_t first = 0;
	size_t end;

	while (first < tree->count &&
	       (device_at(tree, first)->host != host || device_at(tree, first)->numa_node != node))
		first++;
	end = first;
	while (end < tree->count && device_at(tree, end)->host == host &&
	       device_at(tree, end)->numa_node == node)
		end++;
	if (first < end)
		add_branch(tree, first, end, 0);
}

static void add_machine(struct tree *tree, gt_string host)
{
	add_plain_part(tree, gt_trace_text(tree->trace, host), "machine");
	tree->depth = 1;
	for (gt_id row = 0; row < tree->trace->numa_nodes.count; row++) {
		const struct gt_numa_node *node = &tree->trace->numa_nodes.rows[row];

		if (node->host != host)
			continue;
		add_node(tree, node);
		tree->depth = 2;
		add_near(tree, host, row);
		tree->depth = 1;
	}
	add_near(tree, host, GT_NONE);
	tree->depth = 0;
}

static int compare(uint64_t one, uint64_t other)
{
	return one < other ? -1 : one > other;
}

static int by_place(const void *a, const void *b, void *context)
{
	const struct gt_trace *trace = ((const struct tree *)context)->trace;
	const struct gt_pci_device *one = &trace->pci_devices.rows[*(const gt_id *)a];
	const struct gt_pci_device *other = &trace->pci_devices.rows[*(const gt_id *)b];
	int order = compare(one->host, other->host);

	if (order == 0)
		order = compare(one->numa_node, other->numa_node);
	if (order == 0)
		order = strcmp(gt_trace_text(trace, one->path), gt_trace_text(trace, other->path));
	if (order == 0)
		order = strcmp(gt_trace_text(trace, one->address),
		               gt_trace_text(trace, other->address));
	return order;
}

/* Machines in the order in which they are in the tables. */
static void add_machines(struct tree *tree)
{
	const struct gt_trace *trace = tree->trace;
	gt_string done = 0;

	gt_array_each(const struct gt_numa_node, node, &trace->numa_nodes) {
		if (node->host != done)
			add_machine(tree, node->host);
		done = node->host;
	}
	for (size_t i = 0; i < tree->count; i++) {
		const gt_string host = device_at(tree, i)->host;
		bool has_nodes = false;

		gt_array_each(const struct gt_numa_node, node, &trace->numa_nodes)
			has_nodes = has_nodes || node->host == host;
		if (!has_nodes && (i == 0 || device_at(tree, i - 1)->host != host))
			add_machine(tree, host);
	}
}

void gt_topology_add_tree(const struct gt_trace *trace, struct gt_result *result)
{
	struct tree tree = {
		.trace = trace,
		.result = result,
		.rows = gt_allocate(trace->pci_devices.count * sizeof(gt_id)),
		.count = trace->pci_devices.count,
	};

	for (gt_id row = 0; row < trace->pci_devices.count; row++)
		tree.rows[row] = row;
	if (tree.count > 1)
		qsort_r(tree.rows, tree.count, sizeof(gt_id), by_place, &tree);
	gt_result_begin(result, "tree", tree_headings, GT_COUNT_OF(tree_headings));
	gt_result_whole(result);
	add_machines(&tree);
	gt_array_free(tree.rows);
}
