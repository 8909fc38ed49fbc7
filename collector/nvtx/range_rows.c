/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/nvtx/range_walk.h"

#include <stdlib.h>

#include "collector/decode/rows.h"
#include "collector/nvtx/memory.h"
#include "format/ranges.h"

static int by_time(const void *a, const void *b)
{
	const struct gt_range_start *left = a;
	const struct gt_range_start *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

static bool is_mark(const struct gt_record_range_begin *begin)
{
	return begin->kind == GT_RANGE_STEP_MARK || begin->kind == GT_RANGE_STEP_LATER_MARK;
}

bool gt_range_has_id(uint32_t kind)
{
	return kind == GT_RANGE_STEP_ID || kind == GT_RANGE_STEP_LATER;
}

static void add_starts(struct gt_range_walk *walk, uint32_t number, struct gt_capture *capture)
{
	for (size_t i = 0; i < capture->raw_range_begins.count; i++) {
		const struct gt_record_range_begin *begin = &capture->raw_range_begins.rows[i];
		const struct gt_range_start start = {
			.time_ns = (gt_time)begin->time_ns,
			.thread = gt_row_of_thread(walk->trace, capture, begin->thread),
			.order = begin->order,
			.capture = number,
			.begin = (uint32_t)i,
		};

		if (is_mark(begin))
			*gt_array_push(&walk->marks) = start;
		else
			*gt_array_push(&walk->ranges) = start;
	}
}

static void sort(struct gt_range_start *starts, size_t count)
{
	if (count > 1)
		qsort(starts, count, sizeof(*starts), by_time);
}

static gt_string text_of(struct gt_nvtx_names *names, const struct gt_record_range_begin *begin)
{
	return begin->registered ? gt_nvtx_registered(names, begin->registered)
	                         : gt_capture_string(names->capture, begin->text);
}

static struct gt_range range_of(struct gt_nvtx_names *names,
                                const struct gt_record_range_begin *begin, gt_id thread)
{
	return (struct gt_range){
		.start_ns = (gt_time)begin->time_ns,
		.payload = begin->payload,
		.thread = thread,
		.end_thread = GT_NONE,
		.domain = gt_nvtx_domain(names, begin->domain),
		.parent = GT_NONE,
		.for_range = GT_NONE,
		.text = text_of(names, begin),
		.category = gt_nvtx_category(names, begin->domain, begin->category),
		.payload_type = begin->payload_type,
		.color = begin->color,
		.kind = gt_range_has_id(begin->kind) ? GT_RANGE_STARTED : GT_RANGE_PUSHED,
		.flags = begin->flags | GT_UNFINISHED,
	};
}

static struct gt_mark mark_of(struct gt_nvtx_names *names,
                              const struct gt_record_range_begin *begin, gt_id thread)
{
	return (struct gt_mark){
		.start_ns = (gt_time)begin->time_ns,
		.end_ns = (gt_time)begin->time_ns,
		.payload = begin->payload,
		.thread = thread,
		.domain = gt_nvtx_domain(names, begin->domain),
		.range = GT_NONE,
		.text = text_of(names, begin),
		.category = gt_nvtx_category(names, begin->domain, begin->category),
		.payload_type = begin->payload_type,
		.color = begin->color,
		.flags = begin->flags,
	};
}

static gt_string data_of(struct gt_range_source *source, const struct gt_record_range_begin *begin,
                         gt_string *message)
{
	const struct gt_payload_event event = {begin->thread, begin->order, begin->time_ns};

	return gt_payloads_of(&source->payloads, &event, 0, message);
}

static void fill_range(struct gt_range_walk *walk, gt_id row)
{
	const struct gt_range_start *start = &walk->ranges.rows[row];
	struct gt_range_source *source = &walk->sources[start->capture];
	const struct gt_record_range_begin *begin =
		&source->names.capture->raw_range_begins.rows[start->begin];
	struct gt_range range = range_of(&source->names, begin, start->thread);

	source->rows[start->begin] = row;
	range.data = data_of(source, begin, &range.text);
	walk->trace->ranges.rows[row] = range;
}

static void fill_mark(struct gt_range_walk *walk, gt_id row)
{
	const struct gt_range_start *start = &walk->marks.rows[row];
	struct gt_range_source *source = &walk->sources[start->capture];
	const struct gt_record_range_begin *begin =
		&source->names.capture->raw_range_begins.rows[start->begin];
	struct gt_mark mark = mark_of(&source->names, begin, start->thread);

	source->rows[start->begin] = row;
	mark.data = data_of(source, begin, &mark.text);
	walk->trace->marks.rows[row] = mark;
}

void gt_range_fill_rows(struct gt_range_walk *walk)
{
	for (size_t i = 0; i < walk->ranges.count; i++)
		fill_range(walk, (gt_id)i);
	for (size_t i = 0; i < walk->marks.count; i++)
		fill_mark(walk, (gt_id)i);
}

void gt_range_make_rows(struct gt_range_walk *walk)
{
	const size_t ranges = walk->ranges.count;

	sort(walk->ranges.rows, ranges);
	sort(walk->marks.rows, walk->marks.count);
	if (ranges)
		(void)gt_trace_extend(walk->trace, GT_TABLE_ranges, ranges);
	if (walk->marks.count)
		(void)gt_trace_extend(walk->trace, GT_TABLE_marks, walk->marks.count);
	walk->links = gt_allocate((ranges + 1) * sizeof(*walk->links));
	for (size_t i = 0; i < ranges; i++)
		walk->links[i] = (struct gt_range_link){.level = GT_LEVEL_UNKNOWN};
}

void gt_range_init_sources(struct gt_range_walk *walk, struct gt_collection *collection)
{
	const size_t count = collection->captures.count;

	walk->sources = gt_allocate((count + 1) * sizeof(*walk->sources));
	for (size_t i = 0; i < count; i++) {
		struct gt_capture *capture = &collection->captures.rows[i];
		struct gt_range_source *source = &walk->sources[i];

		add_starts(walk, (uint32_t)i, capture);
		gt_nvtx_names_init(&source->names, walk->trace, capture);
		gt_nvtx_memory_add(&source->names);
		gt_payloads_init(&source->payloads, &source->names, capture);
		source->rows = gt_allocate((capture->raw_range_begins.count + 1) * sizeof(gt_id));
	}
}

void gt_range_release_sources(struct gt_range_walk *walk, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		gt_payloads_release(&walk->sources[i].payloads);
		gt_nvtx_names_release(&walk->sources[i].names);
		free(walk->sources[i].rows);
	}
	free(walk->sources);
}
