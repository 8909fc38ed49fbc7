/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "exporters/chrome/events.h"
#include "model/gpu/module_index.h"
#include "model/view/view.h"

static gt_time earlier(gt_time base_ns, gt_time start_ns)
{
	return gt_ids_time_is_sound(start_ns) && start_ns < base_ns ? start_ns : base_ns;
}

/* Nothing that is written is earlier. */
static gt_time find_base(const struct gt_trace *trace)
{
	gt_time base_ns = trace->start_ns;

	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		base_ns = earlier(base_ns, call->start_ns);
	gt_array_each(const struct gt_range, range, &trace->ranges)
		base_ns = earlier(base_ns, range->start_ns);
	gt_array_each(const struct gt_mark, mark, &trace->marks)
		base_ns = earlier(base_ns, mark->start_ns);
	gt_array_each(const struct gt_device_event, event, &trace->device_events)
		base_ns = earlier(base_ns, event->start_ns);
	gt_array_each(const struct gt_module, module, &trace->modules)
		base_ns = earlier(base_ns, gt_module_began(module));
	gt_array_each(const struct gt_jit, jit, &trace->jits)
		base_ns = earlier(base_ns, jit->start_ns);
#define PLACED(name, plural)                                                                       \
	gt_array_each(const struct gt_##name, row, &trace->plural)                                 \
		base_ns = earlier(base_ns, row->start_ns);
#include "exporters/timeline/placed.def"
	return base_ns > 0 ? base_ns : 0;
}

static int write_view(const struct gt_view *view, const struct gt_export_options *options,
                      const struct gt_target *target, struct gt_export_counts *counts,
                      struct gt_error *err)
{
	struct gt_chrome chrome = {.view = view, .trace = view->trace};
	int result = gt_chrome_open(&chrome.out, &target->sink,
	                            options->compression == GT_COMPRESSION_GZIP, err);

	if (result < 0)
		return result;
	chrome.base_ns = find_base(view->trace);
	gt_ids_init(&chrome.ids, view->trace);
	chrome.ids.without_calls = options->without_calls;
	gt_places_init(&chrome.places, &chrome.out, &chrome.ids);
	gt_chrome_write_head(&chrome);
	gt_places_describe(&chrome.places);
	gt_ranges_init(&chrome.ranges, view->trace);
	gt_chrome_write_ranges(&chrome);
	gt_chrome_write_calls(&chrome);
	gt_chrome_write_modules(&chrome);
	gt_chrome_write_device_events(&chrome);
	gt_chrome_write_memory(&chrome);
	gt_chrome_write_slices(&chrome);
	gt_chrome_write_foot(&chrome);
	gt_ranges_release(&chrome.ranges);
	gt_places_release(&chrome.places);
	gt_ids_release(&chrome.ids);
	result = gt_chrome_close(&chrome.out, err);

	chrome.counts.bytes = chrome.out.written.bytes;
	chrome.counts.texts_cut = chrome.out.room.cut;
	chrome.counts.raw_bytes = chrome.out.raw_bytes;
	if (result == 0 && counts)
		*counts = chrome.counts;
	return result;
}

const struct gt_exporter gt_exporter_chrome = {
	.name = "chrome",
	.extension = ".json",
	.summary = "Chrome trace in JSON, with the fields of PyTorch's profiler",
	.readers = "chrome://tracing and Holistic Trace Analysis",
	.compressions = 1u << GT_COMPRESSION_NONE | 1u << GT_COMPRESSION_GZIP,
	.names = GT_NAMES_FULL, /* tools know kernels by them */
	.write = write_view,
};
