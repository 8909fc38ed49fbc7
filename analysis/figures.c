/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures.h"

#include <math.h>

#include "analysis/result.h"
#include "model/names.h"
#include "model/naming/labels.h"
#include "model/ranges/ranges.h"

struct gt_figure gt_grouped(uint64_t count)
{
	return gt_figure_count(count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

double gt_percent(double part, double whole)
{
	return whole > 0 ? 100.0 * part / whole : NAN;
}

double gt_bytes_per_second(double bytes, double duration_ns)
{
	return duration_ns > 0 ? bytes * 1e9 / duration_ns : NAN;
}

bool gt_several_hosts(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_process, process, &trace->processes)
		if (process->host != trace->processes.rows[0].host)
			return true;
	return false;
}

void gt_add_device(struct gt_result *result, const struct gt_trace *trace, gt_id device)
{
	if (device >= trace->devices.count) {
		gt_result_add_unknown(result);
		return;
	}

	const struct gt_device *row = &trace->devices.rows[device];
	const bool hosts = gt_several_hosts(trace);
	char label[GT_LABEL_BYTES];

	gt_device_label(trace, device, label, sizeof(label));
	gt_result_add_format(result, "%s%s%lld: %s", hosts ? gt_trace_text(trace, row->host) : "",
	                     hosts ? " " : "", (long long)gt_device_number(row), label);
}

void gt_add_device_number(struct gt_result *result, const struct gt_trace *trace, gt_id device)
{
	const struct gt_device *row = &trace->devices.rows[device];
	const bool hosts = gt_several_hosts(trace);

	gt_result_add_format(result, "%s%sGPU %lld", hosts ? gt_trace_text(trace, row->host) : "",
	                     hosts ? " " : "", (long long)gt_device_number(row));
}

void gt_add_stream(struct gt_result *result, const struct gt_trace *trace, gt_id stream)
{
	const gt_id device = gt_stream_device(trace, stream);
	char label[GT_LABEL_BYTES];

	if (stream >= trace->streams.count) {
		gt_result_add_unknown(result);
		return;
	}
	gt_stream_label(trace, stream, label, sizeof(label));
	if (trace->devices.count > 1 && device < trace->devices.count)
		gt_result_add_format(result, "%s of GPU %lld", label,
		                     (long long)gt_device_number(&trace->devices.rows[device]));
	else
		gt_result_add_format(result, "%s", label);
}

void gt_add_thread(struct gt_result *result, const struct gt_trace *trace, gt_id thread)
{
	if (thread >= trace->threads.count) {
		gt_result_add_unknown(result);
		return;
	}

	const struct gt_thread *row = &trace->threads.rows[thread];

	gt_result_add_format(result, "%s (%u)", gt_trace_text(trace, row->name), row->tid);
}

void gt_add_process(struct gt_result *result, const struct gt_trace *trace, gt_id process)
{
	if (process >= trace->processes.count) {
		gt_result_add_unknown(result);
		return;
	}

	const struct gt_process *row = &trace->processes.rows[process];
	const bool hosts = gt_several_hosts(trace);
	const char *host = hosts ? gt_trace_text(trace, row->host) : "";
	/* If the capture of a process says nothing, its file is all that is known for sure. */
	const char *name = gt_trace_text(trace, row->name ? row->name : row->capture);

	if (row->pid)
		gt_result_add_format(result, "%s%s%s (%u)", host, *host ? " " : "", name, row->pid);
	else
		gt_result_add_format(result, "%s%s%s", host, *host ? " " : "", name);
}

void gt_add_range(struct gt_result *result, const struct gt_ranges *ranges, gt_id range)
{
	const gt_id path = gt_ranges_path(ranges, range);
	char text[GT_RANGE_PATH_BYTES];

	if (path == GT_NONE) {
		gt_result_add_unknown(result);
		return;
	}
	gt_range_path_text(ranges, path, text);
	gt_result_add_format(result, "%s", text);
}

void gt_add_string(struct gt_result *result, const struct gt_trace *trace, gt_string text)
{
	const char *bytes = gt_trace_text(trace, text);

	if (bytes[0])
		gt_result_add_text(result, bytes);
	else
		gt_result_add_unknown(result);
}

void gt_add_rounded(struct gt_result *result, double ns)
{
	if (isnan(ns))
		gt_result_add_unknown(result);
	else
		gt_result_add_count(result, llround(ns));
}

void gt_add_bytes(struct gt_result *result, double bytes)
{
	const bool known = fabs(bytes) < 9e18;

	gt_result_add_count_if(result, known, known ? llround(bytes) : 0);
}

void gt_add_moment(struct gt_result *result, const struct gt_trace *trace, gt_time time)
{
	gt_result_add_count(result, time - trace->start_ns);
}

void gt_remark_no_kernels(struct gt_result *result, const struct gt_trace *trace)
{
	if (trace->graph_traces.count == 0)
		gt_result_remark_empty(result, "No kernels were recorded.");
	else
		gt_result_remark_empty(result,
		                       "No kernels were recorded: launches of CUDA graphs were, "
		                       "each as a whole (run --graphs graph).");
}

const char *gt_no_calls(const struct gt_trace *trace)
{
	return gt_trace_has_calls(trace) ? "No API calls are in what was chosen"
	                                 : "No API calls were recorded";
}

void gt_add_host_memory(struct gt_result *result, uint32_t kind)
{
	if (kind)
		gt_result_add_text(result, gt_memory_kind_name(kind));
	else
		gt_result_add_unknown(result);
}

bool gt_api_failed(const struct gt_api_call *call)
{
	return !(call->flags & GT_UNFINISHED) && gt_result_failed(call->result);
}

gt_id gt_api_process(const struct gt_trace *trace, gt_id api_call)
{
	if (api_call >= trace->api_calls.count)
		return GT_NONE;
	return gt_trace_thread_process(trace, trace->api_calls.rows[api_call].thread);
}

gt_id gt_stream_device(const struct gt_trace *trace, gt_id stream)
{
	const gt_id context =
		stream < trace->streams.count ? trace->streams.rows[stream].context : GT_NONE;

	return context < trace->contexts.count ? trace->contexts.rows[context].device : GT_NONE;
}
