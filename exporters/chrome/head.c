/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/chrome/events.h"
#include "model/naming/job_rank.h"
#include "model/view/view.h"

enum { SCHEMA_VERSION = 1 }; /* of PyTorch's traces */

/* Members that are 0 are not known. */
static void add_property(struct gt_chars *chars, const char *key, uint64_t value)
{
	if (value > 0)
		gt_chrome_add_number(chars, key, (int64_t)value);
}

static void add_device(struct gt_chrome *chrome, gt_id row)
{
	const struct gt_device *device = &chrome->trace->devices.rows[row];
	struct gt_chars *chars = &chrome->out.chars;

	gt_chars_add(chars, row ? ",\n{\"id\":" : "\n{\"id\":");
	gt_chars_add_number(chars, chrome->ids.gpus[row]);
	gt_chrome_add_text(chars, "name", gt_trace_text(chrome->trace, device->name));
	add_property(chars, "totalGlobalMem", device->memory_bytes);
	add_property(chars, "computeMajor", device->cc_major);
	gt_chrome_add_number(chars, "computeMinor", device->cc_minor);
	add_property(chars, "maxThreadsPerMultiprocessor", device->max_threads_per_sm);
	add_property(chars, "regsPerBlock", device->registers_per_block);
	add_property(chars, "warpSize", device->warp_size);
	add_property(chars, "numSms", device->sm_count);
	add_property(chars, "regsPerMultiprocessor", device->registers_per_sm);
	add_property(chars, "sharedMemPerBlockOptin", device->shared_per_block_bytes);
	add_property(chars, "sharedMemPerMultiprocessor", device->shared_per_sm_bytes);
	gt_chars_add(chars, "}");
}

/* The wall-clock time of the base; 0 when no clocks were read. */
static int64_t wall_time_of_base(const struct gt_chrome *chrome)
{
	const struct gt_clock *clock = chrome->trace->clocks.rows;

	if (chrome->trace->clocks.count == 0)
		return 0;
	return (int64_t)(clock->realtime_ns - (uint64_t)clock->boottime_ns +
	                 (uint64_t)chrome->base_ns);
}

/* Tools look for the rank with a pattern that wants the blank. */
static void add_rank(struct gt_chrome *chrome)
{
	const struct gt_job_rank rank = gt_job_rank_of_all(chrome->trace);
	struct gt_chars *chars = &chrome->out.chars;

	if (rank.rank < 0)
		return;
	gt_chars_add(chars, ",\n\"distributedInfo\":{\"rank\": ");
	gt_chars_add_number(chars, rank.rank);
	if (rank.size >= 0)
		gt_chrome_add_number(chars, "world_size", rank.size);
	gt_chars_add(chars, "}");
}

void gt_chrome_write_head(struct gt_chrome *chrome)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chars_add(chars, "{\"schemaVersion\":");
	gt_chars_add_number(chars, SCHEMA_VERSION);
	gt_chars_add(chars, ",\"deviceProperties\":[");
	for (gt_id i = 0; i < chrome->trace->devices.count; i++)
		add_device(chrome, i);
	gt_chars_add(chars, "]");
	gt_chrome_add_text(chars, "gputrace", GPUTRACE_VERSION);
	if (chrome->view->restriction)
		gt_chrome_add_text(chars, "restricted_to", chrome->view->restriction);
	add_rank(chrome);
	gt_chars_add(chars, ",\n\"displayTimeUnit\":\"ms\"");
	gt_chrome_add_number(chars, "baseTimeNanoseconds", wall_time_of_base(chrome));
	/* An event without meaning, so that each of the others can begin with a comma. */
	gt_chars_add(chars, ",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"gputrace\",\"pid\":0,"
	                    "\"tid\":0,\"ts\":0.000,\"args\":{}}");
}

void gt_chrome_write_foot(struct gt_chrome *chrome)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chars_add(chars, "\n]");
	if (chrome->out.room.cut)
		gt_chrome_add_number(chars, "textsCut", (int64_t)chrome->out.room.cut);
	gt_chars_add(chars, "}\n");
}
