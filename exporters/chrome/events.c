/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/chrome/events.h"

#include "exporters/perfetto/results.h"
#include "model/names.h"
#include "model/view/view.h"

void gt_chrome_add_number(struct gt_chars *chars, const char *key, int64_t number)
{
	gt_chars_add(chars, ",\"");
	gt_chars_add(chars, key);
	gt_chars_add(chars, "\":");
	gt_chars_add_number(chars, number);
}

void gt_chrome_add_text(struct gt_chars *chars, const char *key, const char *text)
{
	gt_chars_add(chars, ",\"");
	gt_chars_add(chars, key);
	gt_chars_add(chars, "\":");
	gt_chars_add_quoted(chars, text);
}

void gt_chrome_begin(struct gt_chrome *chrome, const char *phase, const char *category,
                     const char *name, uint64_t id)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chars_add(chars, ",\n{\"ph\":\"");
	gt_chars_add(chars, phase);
	gt_chars_add(chars, "\",\"cat\":\"");
	gt_chars_add(chars, category);
	gt_chars_add(chars, "\"");
	gt_chrome_add_text(chars, "name", *name ? name : "(no name)");
	/* Of the process: viewers show asynchronous events with a global id apart from it. */
	if (id) {
		gt_chars_add(chars, ",\"id2\":{\"local\":\"");
		gt_chars_add_number(chars, (int64_t)id);
		gt_chars_add(chars, "\"}");
	}
}

void gt_chrome_add_path(struct gt_chrome *chrome, const char *key, gt_id range)
{
	const gt_id path = gt_ranges_path(&chrome->ranges, range);
	char text[GT_RANGE_PATH_BYTES];

	if (path == GT_NONE)
		return;
	gt_range_path_text(&chrome->ranges, path, text);
	gt_chrome_add_text(&chrome->out.chars, key, text);
}

void gt_chrome_add_place(struct gt_chrome *chrome, struct gt_place place, gt_time start_ns,
                         gt_time end_ns)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chrome_add_number(chars, "pid", place.pid);
	gt_chrome_add_number(chars, "tid", place.tid);
	gt_chars_add(chars, ",\"ts\":");
	gt_chars_add_us(chars, start_ns - chrome->base_ns);
	if (end_ns == INT64_MAX)
		return;
	gt_chars_add(chars, ",\"dur\":");
	gt_chars_add_us(chars, end_ns - start_ns);
}

int64_t gt_chrome_correlation(const struct gt_chrome *chrome, gt_id process, gt_count correlation)
{
	return chrome->ids.several_processes ? (int64_t)process << 32 | correlation : correlation;
}

static void add_result(struct gt_chars *chars, const struct gt_api_call *call)
{
	const char *name = gt_result_name(call->result, (call->flags & GT_DRIVER_API) != 0);

	gt_chrome_add_number(chars, "code", call->result);
	if (name)
		gt_chrome_add_text(chars, "result", name);
}

static void put_call(struct gt_chrome *chrome, gt_id row)
{
	const struct gt_trace *trace = chrome->trace;
	const struct gt_api_call *call = &trace->api_calls.rows[row];
	const int64_t correlation = gt_chrome_correlation(
		chrome, trace->threads.rows[call->thread].process, call->correlation);
	struct gt_chars *chars = &chrome->out.chars;
	gt_time start_ns;
	gt_time end_ns;

	gt_places_fit(&chrome->places, call, &start_ns, &end_ns);
	gt_chars_add(chars, end_ns == INT64_MAX ? ",\n{\"ph\":\"B\"" : ",\n{\"ph\":\"X\"");
	gt_chars_add(chars, call->flags & GT_DRIVER_API ? ",\"cat\":\"cuda_driver\""
	                                                : ",\"cat\":\"cuda_runtime\"");
	gt_chrome_add_text(chars, "name", gt_trace_text(trace, call->function));
	gt_chrome_add_place(chrome, gt_places_of_thread(&chrome->places, call->thread), start_ns,
	                    end_ns);
	gt_chars_add(chars, ",\"args\":{\"External id\":");
	gt_chars_add_number(chars, correlation);
	gt_chrome_add_number(chars, "correlation", correlation);
	if (gt_results_failed(call))
		add_result(chars, call);
	if (call->flags & GT_PROFILED)
		gt_chrome_add_number(chars, "profiled", 1);
	gt_chars_add(chars, "}}");
	gt_chrome_pass(&chrome->out);
	chrome->counts.api_slices++;
}

void gt_chrome_write_calls(struct gt_chrome *chrome)
{
	if (chrome->ids.without_calls)
		return;
	for (gt_id i = 0; i < chrome->trace->api_calls.count; i++)
		if (gt_ids_has_call(&chrome->ids, i))
			put_call(chrome, i);
		else
			chrome->counts.skipped++;
}
