/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/topology/tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/gpu/topology.h"
#include "model/names.h"

static const struct gt_heading pair_headings[] = {
	{"from", GT_UNIT_TEXT, "One GPU", GT_WORTH_KEY},
	{"to", GT_UNIT_TEXT, "The other", GT_WORTH_KEY},
	{"over", GT_UNIT_TEXT, "Link that bytes between them take", GT_WORTH_KEY},
	{"nvlinks", GT_UNIT_COUNT, "NVLinks between them, also through NVSwitches",
         GT_WORTH_LITTLE},
	{"nvlink_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,
         "All of these together, one way, as the driver states it", GT_WORTH_KEY},
	{"pcie", GT_UNIT_TEXT, "Common part of their ways over PCIe", GT_WORTH_ORDINARY},
	{"reads", GT_UNIT_TEXT, "Whether one can read the other's memory", GT_WORTH_ORDINARY},
	{"writes", GT_UNIT_TEXT, "Whether one can write the other's memory", GT_WORTH_LITTLE},
	{"atomics", GT_UNIT_TEXT, "Whether atomic operations on it work", GT_WORTH_LITTLE},
};

/* The columns of the matrix: a number of GPU each. */
#define TO(number)                                                                                 \
	{                                                                                          \
		"to_" #number, GT_UNIT_TEXT, "Connection to GPU " #number, GT_WORTH_KEY, false,    \
			"GPU " #number                                                             \
	}
#define TO_TEN(ten)                                                                                \
	TO(ten##0), TO(ten##1), TO(ten##2), TO(ten##3), TO(ten##4), TO(ten##5), TO(ten##6),        \
		TO(ten##7), TO(ten##8), TO(ten##9)

static const struct gt_heading matrix_headings[] = {
	{"gpu", GT_UNIT_TEXT, "From this GPU", GT_WORTH_KEY},
	TO(0),
	TO(1),
	TO(2),
	TO(3),
	TO(4),
	TO(5),
	TO(6),
	TO(7),
	TO(8),
	TO(9),
	TO_TEN(1),
	TO_TEN(2),
	TO_TEN(3),
};

enum { MOST_COLUMNS = sizeof(matrix_headings) / sizeof(matrix_headings[0]) - 1 };

/* GPUs of several machines are called by these as well. */
static bool several_machines(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_pci_device, device, &trace->pci_devices)
		if (device->host != trace->pci_devices.rows[0].host)
			return true;
	return false;
}

static void add_gpu(struct gt_result *result, const struct gt_trace *trace, gt_id row, bool hosts)
{
	const struct gt_pci_device *device = &trace->pci_devices.rows[row];
	char name[32];

	gt_result_add_format(result, "%s%s%s", hosts ? gt_trace_text(trace, device->host) : "",
	                     hosts ? " " : "", gt_topology_gpu_name(device, name, sizeof(name)));
}

static void add_over(struct gt_result *result, const struct gt_gpu_pair *pair)
{
	if (pair->nvlinks > 0)
		gt_result_add_format(result, "%d NVLink%s%s", pair->nvlinks,
		                     pair->nvlinks == 1 ? "" : "s",
		                     pair->switched ? " through NVSwitches" : "");
	else if (pair->nvlinks == 0)
		gt_result_add_text(result, pair->reading == 0 ? "PCIe" : "PCIe, through the host");
	else
		gt_result_add_unknown(result);
}

static void add_status(struct gt_result *result, gt_code status)
{
	if (status >= 0)
		gt_result_add_text(result, gt_p2p_status_name((uint32_t)status));
	else
		gt_result_add_unknown(result);
}

/* Pairs that text shows unasked: the matrix says the same of more in less room. */
enum { MOST_PAIRS = 6 };

void gt_topology_add_pairs(const struct gt_trace *trace, struct gt_result *result)
{
	const bool hosts = several_machines(trace);

	gt_result_begin(result, "pairs", pair_headings, GT_COUNT_OF(pair_headings));
	if (trace->gpu_pairs.count > MOST_PAIRS)
		gt_result_detail(result);
	gt_array_each(const struct gt_gpu_pair, pair, &trace->gpu_pairs) {
		add_gpu(result, trace, pair->from, hosts);
		add_gpu(result, trace, pair->to, hosts);
		add_over(result, pair);
		gt_result_add_count_if(result, pair->nvlinks >= 0, pair->nvlinks);
		gt_result_add_real(result, pair->nvlinks > 0 ? gt_topology_pair_rate(pair) : NAN);
		if (pair->level >= 0)
			gt_result_add_text(result, gt_pci_level_name((uint32_t)pair->level));
		else
			gt_result_add_unknown(result);
		add_status(result, pair->reading);
		add_status(result, pair->writing);
		add_status(result, pair->atomics);
	}
}

/* The short words that nvidia-smi topo -m has for levels. */
static const char *short_level(gt_code level)
{
	static const struct {
		gt_code level;
		const char *word;
	} words[] = {{0, "board"}, {10, "PIX"},  {20, "PXB"},
	             {30, "PHB"},  {40, "NODE"}, {50, "SYS"}};

	for (size_t i = 0; i < GT_COUNT_OF(words); i++)
		if (words[i].level == level)
			return words[i].word;
	return NULL;
}

static void add_connection(struct gt_result *result, const struct gt_gpu_pair *pair)
{
	const char *word = pair ? short_level(pair->level) : NULL;

	if (pair && pair->nvlinks > 0)
		gt_result_add_format(result, "NV%d", pair->nvlinks);
	else if (pair && pair->nvlinks == 0 && word)
		gt_result_add_text(result, word);
	else
		gt_result_add_unknown(result);
}

static int columns_of(const struct gt_trace *trace)
{
	int columns = 0;

	gt_array_each(const struct gt_pci_device, device, &trace->pci_devices)
		if (device->kind == GT_PCI_GPU && device->index >= columns)
			columns = device->index + 1;
	return columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
}

/* A cell for each GPU and each number that a GPU of its machine can have. */
struct matrix {
	const struct gt_trace *trace;
	const struct gt_gpu_pair **cells; /* by row of pci_devices and number; NULL: not known */
	int columns;
};

static const struct gt_gpu_pair **cell_of(const struct matrix *matrix, gt_id row, gt_id other)
{
	const gt_code number = matrix->trace->pci_devices.rows[other].index;

	return number >= 0 && number < matrix->columns
	               ? &matrix->cells[(size_t)row * (size_t)matrix->columns + (size_t)number]
	               : NULL;
}

static void set_cell(struct matrix *matrix, gt_id row, gt_id other, const struct gt_gpu_pair *pair)
{
	const struct gt_gpu_pair **cell = cell_of(matrix, row, other);

	if (cell)
		*cell = pair;
}

static void matrix_init(struct matrix *matrix, const struct gt_trace *trace)
{
	const int columns = columns_of(trace);
	const size_t count = trace->pci_devices.count * (size_t)columns;

	*matrix = (struct matrix){
		.trace = trace,
		.cells = gt_allocate(count * sizeof(*matrix->cells)),
		.columns = columns,
	};
	for (size_t i = 0; i < count; i++)
		matrix->cells[i] = NULL;
	gt_array_each(const struct gt_gpu_pair, pair, &trace->gpu_pairs) {
		set_cell(matrix, pair->from, pair->to, pair);
		set_cell(matrix, pair->to, pair->from, pair);
	}
}

static void add_line(const struct matrix *matrix, struct gt_result *result, gt_id row, bool hosts)
{
	const struct gt_gpu_pair **cells = &matrix->cells[(size_t)row * (size_t)matrix->columns];

	add_gpu(result, matrix->trace, row, hosts);
	for (int number = 0; number < matrix->columns; number++) {
		if (matrix->trace->pci_devices.rows[row].index == number)
			gt_result_add_text(result, "self");
		else
			add_connection(result, cells[number]);
	}
}

static void add_lines(const struct matrix *matrix, struct gt_result *result)
{
	const struct gt_trace *trace = matrix->trace;
	const bool hosts = several_machines(trace);

	for (gt_id row = 0; row < trace->pci_devices.count; row++)
		if (trace->pci_devices.rows[row].kind == GT_PCI_GPU &&
		    trace->pci_devices.rows[row].index >= 0)
			add_line(matrix, result, row, hosts);
}

void gt_topology_add_matrix(const struct gt_trace *trace, struct gt_result *result)
{
	struct matrix matrix;

	matrix_init(&matrix, trace);
	gt_result_begin(result, "matrix", matrix_headings, 1 + (size_t)matrix.columns);
	gt_result_whole(result);
	if (trace->gpu_pairs.count > 0) {
		add_lines(&matrix, result);
		gt_result_remark(
			result,
			"In matrix NV and a number are so many NVLinks, straight or through "
			"NVSwitches; without NVLink it has what the ways over PCIe have in common: "
			"PIX one switch, PXB several, PHB the host bridge, NODE the NUMA node, SYS "
			"only the link between processors.");
	}
	gt_array_free(matrix.cells);
}
