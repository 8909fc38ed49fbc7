/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "exporters/chrome/events.h"
#include "exporters/timeline/memory_shown.h"
#include "model/names.h"
#include "model/view/view.h"

/*
 * Memory of a process: counters, which the format knows of processes alone, and marks for
 * allocations and their ends. The same lines and marks as in Perfetto's own format.
 */

static const char category[] = "cuda_memory";

static uint32_t gpu_of(const struct gt_chrome *chrome, const struct gt_memory_shown *shown,
                       uint32_t group)
{
	const gt_id device = shown->groups.rows[group].device;

	return device < chrome->trace->devices.count ? chrome->ids.gpus[device] : 0;
}

/* False: it is of no process, or has no time. */
static bool is_shown(const struct gt_chrome *chrome, const struct gt_memory_shown *shown,
                     uint32_t group, gt_time time_ns)
{
	return shown->groups.rows[group].process < chrome->trace->processes.count &&
	       gt_ids_time_is_sound(time_ns);
}

static struct gt_place place_of(const struct gt_chrome *chrome, const struct gt_memory_shown *shown,
                                uint32_t group)
{
	return (struct gt_place){.pid = chrome->ids.pids[shown->groups.rows[group].process]};
}

static void put_value(struct gt_chrome *chrome, const char *name, struct gt_place place,
                      const char *key, const struct gt_point *point)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chrome_begin(chrome, "C", category, name, 0);
	gt_chrome_add_place(chrome, place, point->time_ns, INT64_MAX);
	gt_chars_add(chars, ",\"args\":{\"");
	gt_chars_add(chars, key);
	gt_chars_add(chars, "\":");
	gt_chars_add_number(chars, point->value < 0x1p63 ? (int64_t)point->value : INT64_MAX);
	gt_chars_add(chars, "}}");
	gt_chrome_pass(&chrome->out);
	chrome->counts.memory_values++;
}

static void put_line(struct gt_chrome *chrome, const struct gt_memory_shown *shown,
                     const struct gt_memory_line *line)
{
	const char *key = gt_memory_line_is_bytes(shown, line) ? "bytes" : "count";
	char name[GT_MEMORY_NAME_SIZE];

	gt_memory_line_name(shown, line, gpu_of(chrome, shown, line->group), name);
	gt_array_each(const struct gt_point, point, &line->values.points)
		if (is_shown(chrome, shown, line->group, point->time_ns))
			put_value(chrome, name, place_of(chrome, shown, line->group), key, point);
		else
			chrome->counts.skipped++;
}

static void add_address(struct gt_chars *chars, uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	if (address)
		gt_chrome_add_text(chars, "address", text);
}

static void add_bytes(struct gt_chars *chars, uint64_t bytes)
{
	if (bytes > 0)
		gt_chrome_add_number(chars, "bytes",
		                     bytes <= INT64_MAX ? (int64_t)bytes : INT64_MAX);
}

static void add_life(struct gt_chars *chars, const struct gt_memory_mark *mark)
{
	if (mark->lived_ns == INT64_MAX)
		gt_chrome_add_number(chars, "never_freed", 1);
	else
		gt_chrome_add_number(chars, "lived_ns", mark->lived_ns);
	if (mark->at_peak)
		gt_chrome_add_number(chars, "at_peak", 1);
}

static void add_allocation(struct gt_chrome *chrome, const struct gt_memory_mark *mark)
{
	const struct gt_allocation *row = &chrome->trace->allocations.rows[mark->row];
	struct gt_chars *chars = &chrome->out.chars;

	gt_chrome_add_text(chars, "kind", gt_memory_call_name(row->kind));
	add_bytes(chars, row->size_bytes);
	add_address(chars, row->address);
	add_life(chars, mark);
	if (mark->is != GT_MEMORY_MARK_BEGIN)
		return;
	if (*gt_trace_text(chrome->trace, row->library))
		gt_chrome_add_text(chars, "library", gt_trace_text(chrome->trace, row->library));
	gt_chrome_add_path(chrome, "range", row->range);
}

static void add_block(struct gt_chrome *chrome, const struct gt_memory_mark *mark)
{
	const struct gt_pool_block *row = &chrome->trace->pool_blocks.rows[mark->row];
	struct gt_chars *chars = &chrome->out.chars;

	add_bytes(chars, row->size_bytes);
	add_address(chars, row->address);
	add_life(chars, mark);
	if (mark->is == GT_MEMORY_MARK_BEGIN)
		gt_chrome_add_path(chrome, "range", row->range);
}

static void add_failure(struct gt_chrome *chrome, const struct gt_memory_mark *mark)
{
	const struct gt_memory_call *row = &chrome->trace->memory_calls.rows[mark->row];
	const char *result = gt_result_name(row->result, (row->flags & GT_DRIVER_API) != 0);
	struct gt_chars *chars = &chrome->out.chars;

	gt_chrome_add_text(chars, "kind", gt_memory_call_name(row->kind));
	add_bytes(chars, row->size_bytes);
	gt_chrome_add_number(chars, "code", row->result);
	if (result)
		gt_chrome_add_text(chars, "result", result);
}

static void add_args(struct gt_chrome *chrome, const struct gt_memory_shown *shown,
                     const struct gt_memory_mark *mark)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chars_add(chars, ",\"args\":{\"in_use_bytes\":");
	gt_chars_add_number(chars, mark->in_use_bytes <= INT64_MAX ? (int64_t)mark->in_use_bytes
	                                                           : INT64_MAX);
	switch (mark->is) {
	case GT_MEMORY_MARK_BEGIN:
	case GT_MEMORY_MARK_END:
		if (shown->groups.rows[mark->group].pool == GT_NONE)
			add_allocation(chrome, mark);
		else
			add_block(chrome, mark);
		break;
	case GT_MEMORY_MARK_FAILED:
		add_failure(chrome, mark);
		break;
	case GT_MEMORY_MARK_PEAK:
		break;
	}
	gt_chars_add(chars, "}}");
}

/* Marks are of the whole process, as the counters are: "s":"p". */
static void put_mark(struct gt_chrome *chrome, const struct gt_memory_shown *shown,
                     const struct gt_memory_mark *mark)
{
	char name[GT_MEMORY_NAME_SIZE];

	if (!is_shown(chrome, shown, mark->group, mark->time_ns)) {
		chrome->counts.skipped++;
		return;
	}
	gt_memory_mark_name(shown, mark, name);
	gt_chrome_begin(chrome, "i", category, name, 0);
	gt_chrome_add_place(chrome, place_of(chrome, shown, mark->group), mark->time_ns, INT64_MAX);
	gt_chars_add(&chrome->out.chars, ",\"s\":\"p\"");
	add_args(chrome, shown, mark);
	gt_chrome_pass(&chrome->out);
	chrome->counts.memory_marks++;
}

void gt_chrome_write_memory(struct gt_chrome *chrome)
{
	struct gt_memory_shown shown;

	if (!gt_memory_is_known(chrome->trace) || !gt_ids_time_is_sound(chrome->view->start_ns))
		return;
	gt_memory_shown_init(&shown, chrome->view);
	gt_array_each(const struct gt_memory_line, line, &shown.lines)
		if (gt_memory_line_is_shown(line))
			put_line(chrome, &shown, line);
	gt_array_each(const struct gt_memory_mark, mark, &shown.marks)
		put_mark(chrome, &shown, mark);
	gt_memory_shown_release(&shown);
}
