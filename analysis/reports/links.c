/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/statistics/shares.h"
#include "analysis/time/measured.h"
#include "analysis/traffic/copy_nodes.h"
#include "analysis/traffic/link_flows.h"
#include "analysis/traffic/peak.h"
#include "base/array.h"
#include "model/gpu/ceilings.h"
#include "model/gpu/sampled.h"
#include "model/gpu/topology.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/timed.h"

static const struct gt_heading copy_headings[] = {
	{"link", GT_UNIT_TEXT,
         "PCIe, NVLink, NVLink-C2C; between GPUs of a machine that nobody asked: not known",
         GT_WORTH_KEY},
	{"from", GT_UNIT_TEXT, "The host, or the GPU that was read", GT_WORTH_KEY},
	{"to", GT_UNIT_TEXT, "The host, or the GPU that was written", GT_WORTH_KEY},
	{"copies", GT_UNIT_COUNT, "Copies that have a start and an end", GT_WORTH_LITTLE},
	{"bytes", GT_UNIT_BYTES, "Sum of their sizes", GT_WORTH_KEY},
	{"busy_ns", GT_UNIT_NS, "Time in which at least one of them ran", GT_WORTH_LITTLE},
	{"busy_percent", GT_UNIT_PERCENT,
         "Time of the recording, or of its window, when at least one of them ran", GT_WORTH_KEY},
	{"busy_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "bytes / busy_ns", GT_WORTH_KEY},
	{"peak_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,
         "Most that the link can carry one way, by its generation and lanes, or as the driver "
         "states it",
         GT_WORTH_ORDINARY},
	{"peak_percent", GT_UNIT_PERCENT, "busy_bytes_per_second of that", GT_WORTH_KEY},
	{"ceiling_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,
         "Most that was measured of large copies this way, pinned where it is the host's memory",
         GT_WORTH_LITTLE},
	{"ceiling_percent", GT_UNIT_PERCENT, "busy_bytes_per_second of that", GT_WORTH_ORDINARY},
	{"ceiling_source", GT_UNIT_TEXT, "Where that was measured, or what would measure it",
         GT_WORTH_LITTLE},
};

static const struct gt_heading counted_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"link", GT_UNIT_TEXT, "PCIe, or all NVLinks of the GPU together", GT_WORTH_KEY},
	{"direction", GT_UNIT_TEXT, "As the GPU's counter names it", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BYTES,
         "That the counter counted, whoever moved them: copies, kernels, others", GT_WORTH_KEY},
	{"mean_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "bytes over the time of all samples",
         GT_WORTH_KEY},
	{"most_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "Highest rate of any sample",
         GT_WORTH_ORDINARY},
	{"peak_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "Most that the link can carry one way",
         GT_WORTH_LITTLE},
	{"peak_percent", GT_UNIT_PERCENT, "mean_bytes_per_second of that", GT_WORTH_ORDINARY},
	{"busy_percent", GT_UNIT_PERCENT,
         "Time of samples with busy percent of the peak or more, of the time of all samples",
         GT_WORTH_KEY},
	{"copied_bytes", GT_UNIT_BYTES,
         "Bytes of recorded copies this way, as far as they were in the time of the samples",
         GT_WORTH_ORDINARY},
	{"source", GT_UNIT_TEXT, "The counter that counted it, or would count it", GT_WORTH_LITTLE},
};

static const struct gt_heading node_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"direction", GT_UNIT_TEXT, "Into the GPU or out of it", GT_WORTH_KEY},
	{"host_memory", GT_UNIT_TEXT, "Kind of the host's memory", GT_WORTH_ORDINARY},
	{"memory_node", GT_UNIT_COUNT, "NUMA node that it lies on", GT_WORTH_KEY},
	{"gpu_node", GT_UNIT_COUNT, "NUMA node that the GPU is near", GT_WORTH_KEY},
	{"thread_node", GT_UNIT_COUNT, "NUMA node that the thread ran on when it asked",
         GT_WORTH_KEY},
	{"far", GT_UNIT_TEXT, "The part that is on another node than the GPU", GT_WORTH_KEY},
	{"copies", GT_UNIT_COUNT, "Copies that have a start and an end", GT_WORTH_LITTLE},
	{"bytes", GT_UNIT_BYTES, "Sum of their sizes", GT_WORTH_KEY},
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "bytes / sum of end - start",
         GT_WORTH_KEY},
	{"near_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,
         "Rate of the like copies whose memory is on the GPU's node, by any thread",
         GT_WORTH_ORDINARY},
	{"thread", GT_UNIT_TEXT, "Who asked", GT_WORTH_NAME},
};

static const struct gt_parameter parameters[] = {
	{"busy", GT_PARAMETER_COUNT, "5",
         "Percent of the peak from which on a sample counts as busy"},
	{0},
};

enum { BUSY }; /* arguments, as above */

#define COUNT_THEM   "not measured: gputrace run --counters=links"
#define MEASURE_THEM "not measured: gputrace calibrate"

static const char *const media[] = {
	[GT_MEDIUM_PCIE] = "PCIe",
	[GT_MEDIUM_C2C] = "NVLink-C2C",
	[GT_MEDIUM_NVLINK] = "NVLink",
	[GT_MEDIUM_UNKNOWN] = NULL,
};

/* ---- what was measured of it elsewhere ---- */

static const struct gt_ceiling *peer_ceiling(const struct gt_trace *trace,
                                             const struct gt_link_way *way)
{
	const struct gt_ceiling *best = NULL;

	gt_array_each(const struct gt_ceiling, ceiling, &trace->ceilings)
		if (ceiling->device == way->from && ceiling->peer == way->to &&
		    ceiling->source != GT_CEILING_DATA_SHEET &&
		    strcmp(gt_trace_text(trace, ceiling->name),
		           gt_ceiling_names[GT_CEILING_peer_copy]) == 0 &&
		    (!best || ceiling->source < best->source))
			best = ceiling;
	return best;
}

static const struct gt_ceiling *ceiling_of(const struct gt_trace *trace,
                                           const struct gt_link_way *way)
{
	if (gt_link_is_between_gpus(way))
		return peer_ceiling(trace, way);
	if (way->from == GT_NONE)
		return gt_ceilings_of(trace, way->to, GT_CEILING_pcie_to_device_pinned).measured;
	return gt_ceilings_of(trace, way->from, GT_CEILING_pcie_to_host_pinned).measured;
}

/* ---- the tables ---- */

static void add_end(struct gt_result *result, const struct gt_trace *trace, gt_id device)
{
	if (device == GT_NONE)
		gt_result_add_text(result, "host");
	else
		gt_add_device_number(result, trace, device);
}

static void add_medium(struct gt_result *result, enum gt_link_medium medium)
{
	if (media[medium])
		gt_result_add_text(result, media[medium]);
	else
		gt_result_add_unknown(result);
}

static void add_flow(struct gt_result *result, const struct gt_link_flows *flows,
                     const struct gt_link_flow *flow)
{
	const struct gt_trace *trace = flows->trace;
	const struct gt_share busy =
		gt_share_of(&flow->inside, &flows->wall, GT_OF_RECORDING, GT_NONE);
	const double busy_ns = (double)flow->cover.covered_ns;
	const double rate = gt_bytes_per_second((double)flow->bytes, busy_ns);
	const struct gt_ceiling *ceiling = ceiling_of(trace, &flow->way);
	const double most = ceiling ? ceiling->value : NAN;

	add_medium(result, flow->medium);
	add_end(result, trace, flow->way.from);
	add_end(result, trace, flow->way.to);
	gt_result_add_count(result, (int64_t)flow->copies);
	gt_result_add_count(result, (int64_t)flow->bytes);
	gt_result_add_count(result, (int64_t)flow->cover.covered_ns);
	gt_result_add_real(result, gt_share_percent(&busy));
	gt_result_add_real(result, rate);
	gt_result_add_real(result, flow->peak);
	gt_result_add_real(result, gt_percent(rate, flow->peak));
	gt_result_add_real(result, most);
	gt_result_add_real(result, gt_percent(rate, most));
	gt_result_add_text(result,
	                   ceiling ? gt_ceiling_source_name(ceiling->source) : MEASURE_THEM);
}

/* ---- what the GPUs counted ---- */

struct counted {
	const char *counter;
	const char *direction;
	bool nvlink;
	bool inwards; /* to the GPU */
};

static const struct counted counters[] = {
	{"pcie_read_bytes", "read", false, true},
	{"pcie_write_bytes", "written", false, false},
	{"nvlink_rx_bytes", "received", true, true},
	{"nvlink_tx_bytes", "sent", true, false},
};

struct sum {
	double bytes;
	double most; /* bytes a second of any sample */
	double time_ns;
	double busy_ns;
	gt_time first_ns;
	gt_time last_ns;
};

static struct sum sum_up(const struct gt_sampled *sampled, const struct gt_counter *counter,
                         double busy_from)
{
	const double *column = sampled->series->columns[counter->place];
	struct sum sum = {0};

	for (size_t i = 0; i < sampled->series->count; i++) {
		const double length_ns = gt_sampled_length(sampled, i);
		const double rate = gt_bytes_per_second(column[i], length_ns);

		if (!isfinite(rate))
			continue;
		if (sum.time_ns <= 0)
			sum.first_ns = sampled->series->times_ns[i];
		sum.last_ns = sampled->series->times_ns[i] + (gt_time)length_ns;
		sum.bytes += column[i];
		sum.time_ns += length_ns;
		sum.most = rate > sum.most ? rate : sum.most;
		if (rate >= busy_from)
			sum.busy_ns += length_ns;
	}
	return sum;
}

static double peak_of_counted(const struct gt_trace *trace, gt_id device,
                              const struct counted *counted)
{
	const struct gt_pci_device *gpu = gt_topology_of(trace, device);

	if (!counted->nvlink)
		return gt_peak_of_pcie(&trace->devices.rows[device]);
	return gpu ? gt_topology_nvlink_rate(gpu) : NAN;
}

/* Whether a copy crosses what the counter counts. */
static bool is_counted(struct gt_link_flows *flows, const struct gt_copy *copy, gt_id device,
                       const struct counted *counted)
{
	struct gt_link_way way;

	if (!gt_link_way_of(flows->trace, copy, &way) ||
	    !gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
		return false;
	if ((counted->inwards ? way.to : way.from) != device)
		return false;
	return gt_link_flow_of(flows, &way)->medium ==
	       (counted->nvlink ? GT_MEDIUM_NVLINK : GT_MEDIUM_PCIE);
}

/* As much of a copy as it was of its time between the first and the last sample. */
static double share_in(const struct gt_copy *copy, const struct sum *sum)
{
	const gt_time start = copy->start_ns > sum->first_ns ? copy->start_ns : sum->first_ns;
	const gt_time end = copy->end_ns < sum->last_ns ? copy->end_ns : sum->last_ns;

	if (copy->end_ns == copy->start_ns)
		return start <= end;
	return end > start ? (double)(end - start) / (double)(copy->end_ns - copy->start_ns) : 0;
}

static double copied_in(struct gt_link_flows *flows, gt_id device, const struct counted *counted,
                        const struct sum *sum)
{
	double bytes = 0;

	gt_array_each(const struct gt_copy, copy, &flows->trace->copies)
		if (is_counted(flows, copy, device, counted))
			bytes += (double)copy->size_bytes * share_in(copy, sum);
	return bytes;
}

static void add_sum(struct gt_result *result, struct gt_link_flows *flows, gt_id device,
                    const struct counted *counted, const struct sum *sum)
{
	const double peak = peak_of_counted(flows->trace, device, counted);
	const double mean = gt_bytes_per_second(sum->bytes, sum->time_ns);

	gt_result_add_count(result, (int64_t)sum->bytes);
	gt_result_add_real(result, mean);
	gt_result_add_real(result, sum->most);
	gt_result_add_real(result, peak);
	gt_result_add_real(result, gt_percent(mean, peak));
	gt_result_add_real(result, peak > 0 ? gt_percent(sum->busy_ns, sum->time_ns) : NAN);
	gt_result_add_count(result, (int64_t)copied_in(flows, device, counted, sum));
	gt_result_add_text(result, "hardware counters");
}

/* A GPU without NVLink has no rows for it. */
static bool has_link(const struct gt_trace *trace, gt_id device, const struct counted *counted)
{
	const struct gt_pci_device *gpu = gt_topology_of(trace, device);

	return !counted->nvlink || !gpu || gpu->nvlinks != 0;
}

static void add_counted(struct gt_result *result, struct gt_link_flows *flows,
                        const struct gt_sampled_list *list, gt_id device,
                        const struct counted *counted, double busy_percent)
{
	const struct gt_counter *counter = gt_counter_find(flows->trace, device, counted->counter);
	const struct gt_sampled *sampled = counter ? gt_sampled_of(list, counter) : NULL;
	const double peak = peak_of_counted(flows->trace, device, counted);
	struct sum sum = {0};

	if (!sampled && !has_link(flows->trace, device, counted))
		return;
	if (sampled)
		sum = sum_up(sampled, counter, peak > 0 ? busy_percent / 100 * peak : INFINITY);
	gt_add_device(result, flows->trace, device);
	gt_result_add_text(result, counted->nvlink ? "NVLink" : "PCIe");
	gt_result_add_text(result, counted->direction);
	if (sum.time_ns > 0) {
		add_sum(result, flows, device, counted, &sum);
		return;
	}
	gt_result_add_unknowns(result, 7);
	gt_result_add_text(result, COUNT_THEM);
}

static bool add_all_counted(struct gt_result *result, struct gt_link_flows *flows,
                            double busy_percent)
{
	struct gt_sampled_list list;

	gt_sampled_list_init(&list, flows->trace);
	gt_result_begin(result, "counted", counted_headings, GT_COUNT_OF(counted_headings));
	for (gt_id device = 0; list.count && device < flows->trace->devices.count; device++)
		for (size_t i = 0; i < GT_COUNT_OF(counters); i++)
			add_counted(result, flows, &list, device, &counters[i], busy_percent);

	const bool sampled = list.count > 0;

	gt_sampled_list_release(&list);
	return sampled;
}

/* ---- NUMA nodes ---- */

static void add_node_number(struct gt_result *result, gt_code node)
{
	gt_result_add_count_if(result, node >= 0, node);
}

static void add_far(struct gt_result *result, const struct gt_copy_node *node)
{
	const bool memory = gt_is_far(node->memory_node, node->gpu_node);
	const bool thread = gt_is_far(node->thread_node, node->gpu_node);

	if (memory || thread)
		gt_result_add_text(result, !thread   ? "memory"
		                           : !memory ? "thread"
		                                     : "memory, thread");
	else if (node->memory_node < 0 || node->gpu_node < 0)
		gt_result_add_unknown(result);
	else
		gt_result_add_text(result, "nothing");
}

static double rate_of(const struct gt_copy_node *node)
{
	return gt_bytes_per_second((double)node->bytes, (double)node->total_ns);
}

static void add_node(struct gt_result *result, const struct gt_trace *trace,
                     const struct gt_copy_nodes *nodes, const struct gt_copy_node *node)
{
	gt_add_device(result, trace, node->device);
	gt_result_add_text(result, node->to_gpu ? "to the GPU" : "to the host");
	gt_add_host_memory(result, node->memory_kind);
	add_node_number(result, node->memory_node);
	add_node_number(result, node->gpu_node);
	add_node_number(result, node->thread_node);
	add_far(result, node);
	gt_result_add_count(result, (int64_t)node->copies);
	gt_result_add_count(result, (int64_t)node->bytes);
	gt_result_add_real(result, rate_of(node));
	gt_result_add_real(result, gt_near_rate(nodes, node));
	gt_add_thread(result, trace, node->thread);
}

/* Far memory counts as slow below this share of what near memory had. */
#define SLOW 0.9

static void remark_slow(struct gt_result *result, const struct gt_copy_nodes *nodes)
{
	uint64_t bytes = 0;
	uint64_t lost_ns = 0;

	gt_array_each(const struct gt_copy_node, node, &nodes->list) {
		const double near = gt_near_rate(nodes, node);

		if (!gt_is_far(node->memory_node, node->gpu_node) || !(rate_of(node) < SLOW * near))
			continue;
		bytes += node->bytes;
		lost_ns += node->total_ns - (uint64_t)((double)node->bytes * 1e9 / near);
	}
	if (bytes)
		gt_result_remark(
			result,
			"%s were copied between GPUs and memory of the host on another NUMA node, "
			"slower than from and to near memory; at its rate these copies had taken %s "
			"less. Allocate the memory, and pin it, from a thread that runs near the GPU "
			"(numactl, or the processors that report topology has).",
			gt_figure_bytes((int64_t)bytes).text, gt_figure_ns((int64_t)lost_ns).text);
}

static void add_nodes(const struct gt_trace *trace, struct gt_result *result)
{
	struct gt_copy_nodes nodes;

	gt_copy_nodes_init(&nodes, trace);
	gt_result_begin(result, "copy_nodes", node_headings, GT_COUNT_OF(node_headings));
	gt_result_order(result, "bytes");
	gt_array_each(const struct gt_copy_node, node, &nodes.list)
		add_node(result, trace, &nodes, node);
	remark_slow(result, &nodes);
	if (trace->copy_places.count == 0 && trace->numa_nodes.count != 1 && trace->copies.count)
		gt_result_remark(result,
		                 "On which NUMA node the host's memory lies, and the threads run "
		                 "that copy, was not measured (gputrace run --numa).");
	gt_copy_nodes_release(&nodes);
}

static void add_remarks(const struct gt_link_flows *flows, struct gt_result *result, bool sampled)
{
	if (flows->trace->devices.count == 0) {
		gt_result_remark_empty(result, "No GPU was used.");
		return;
	}
	if (!sampled)
		gt_result_remark(
			result,
			"Bytes that crossed the links beside copies were not measured: only "
			"hardware counters know how much kernels and other programs move over "
			"PCIe and NVLink (gputrace run --counters=links).");
	if (flows->unknown_peer)
		gt_result_remark_on(
			result, "link",
			"Whether GPUs are linked by NVLink or PCIe is not in the recording: gputrace "
			"run asks the machine, and NVML has to answer (report topology).");
	if (flows->managed)
		gt_result_remark(
			result,
			"%s copies of managed memory are in no row: where its pages lay was "
			"not measured.",
			gt_grouped(flows->managed).text);
	if (flows->unfinished)
		gt_result_remark(result, "%s copies have no end time and are in no figure above.",
		                 gt_grouped(flows->unfinished).text);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_link_flows flows;
	bool sampled;

	(void)err;
	gt_link_flows_init(&flows, view);
	gt_result_begin(result, "links", copy_headings, GT_COUNT_OF(copy_headings));
	gt_array_each(const struct gt_link_flow, flow, &flows.all)
		add_flow(result, &flows, flow);
	sampled = add_all_counted(result, &flows, (double)arguments->values[BUSY].number);
	add_nodes(view->trace, result);
	add_remarks(&flows, result, sampled);
	gt_link_flows_release(&flows);
	return 0;
}

const struct gt_report gt_report_links = {
	.name = "links",
	.summary = "PCIe and NVLink by direction: bytes, rates, and how much of the time in use",
	.parameters = parameters,
	.run = run,
};
