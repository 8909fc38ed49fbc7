/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/nvtx/memory.h"

#include <stdbool.h>
#include <stdlib.h>

#include "collector/nvtx/names.h"
#include "collector/stage.h"
#include "format/ranges.h"

/* The regions of a heap, for when it ends; those of no heap are of the whole process. */
struct walk {
	struct gt_nvtx_names *names;
	struct gt_known heaps;   /* rows by handle: the latest that had it */
	struct gt_known regions; /* likewise */
	size_t first;            /* row of this capture */
	gt_array(gt_id) inside;  /* by row, from the first: the region of the heap that came last */
	gt_array(gt_id) before;  /* by row, from the first: the region of its heap before it */
	gt_id of_process;        /* the last region that is in no heap */
};

static int by_time(const void *a, const void *b)
{
	const struct gt_record_told_memory *left = a;
	const struct gt_record_told_memory *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return (left->handle > right->handle) - (left->handle < right->handle);
}

static struct gt_memory_region *row_of(const struct walk *walk, gt_id row)
{
	return row == GT_NONE ? NULL : &walk->names->trace->memory_regions.rows[row];
}

static bool is_open(const struct walk *walk, gt_id row)
{
	return row != GT_NONE && row_of(walk, row)->end_ns == 0;
}

static gt_string name_of(const struct walk *walk, const struct gt_record_told_memory *told)
{
	return told->registered ? gt_nvtx_registered(walk->names, told->registered)
	                        : gt_capture_string(walk->names->capture, told->text);
}

static void end_row(struct walk *walk, gt_id row, gt_time time_ns)
{
	if (is_open(walk, row))
		row_of(walk, row)->end_ns = time_ns;
}

/* Each region is ended so once. */
static void end_inside(struct walk *walk, gt_id *last, gt_time time_ns)
{
	while (*last != GT_NONE) {
		end_row(walk, *last, time_ns);
		*last = walk->before.rows[*last - walk->first];
	}
}

static gt_id *last_inside(struct walk *walk, gt_id heap)
{
	return heap == GT_NONE ? &walk->of_process : &walk->inside.rows[heap - walk->first];
}

static void add_row(struct walk *walk, const struct gt_record_told_memory *told)
{
	struct gt_trace *trace = walk->names->trace;
	const bool is_heap = told->kind == GT_TOLD_HEAP;
	struct gt_known *known = is_heap ? &walk->heaps : &walk->regions;
	const gt_id heap =
		is_heap || !told->heap ? GT_NONE : gt_known_find(&walk->heaps, told->heap);
	const gt_id row = (gt_id)trace->memory_regions.count;
	gt_id *last = is_heap ? NULL : last_inside(walk, heap);

	end_row(walk, gt_known_find(known, told->handle), (gt_time)told->time_ns);
	*gt_array_push(&walk->before) = last ? *last : GT_NONE;
	*gt_array_push(&walk->inside) = GT_NONE;
	if (last)
		*last_inside(walk, heap) = row;
	*gt_array_push(&trace->memory_regions) = (struct gt_memory_region){
		.start_ns = (gt_time)told->time_ns,
		.process = walk->names->capture->process,
		.domain = gt_nvtx_domain(walk->names, told->domain),
		.heap = heap,
		.address = told->address,
		.size_bytes = told->size_bytes,
		.name = name_of(walk, told),
		.category = gt_nvtx_category(walk->names, told->domain, told->category),
		.is_heap = is_heap,
		.type = told->type,
		.usage = told->usage,
	};
	gt_known_set(known, told->handle, row);
}

static void end_heap(struct walk *walk, const struct gt_record_told_memory *told)
{
	const gt_id heap = told->handle ? gt_known_find(&walk->heaps, told->handle) : GT_NONE;

	if (told->handle && heap == GT_NONE)
		return; /* nobody registered it */
	end_inside(walk, last_inside(walk, heap), (gt_time)told->time_ns);
	if (told->kind == GT_TOLD_HEAP_END)
		end_row(walk, heap, (gt_time)told->time_ns);
}

static void change_region(struct walk *walk, const struct gt_record_told_memory *told)
{
	const gt_id row = gt_known_find(&walk->regions, told->handle);

	if (!is_open(walk, row))
		return;
	if (told->kind == GT_TOLD_REGION_END) {
		end_row(walk, row, (gt_time)told->time_ns);
	} else if (told->kind == GT_TOLD_REGION_SIZE) {
		row_of(walk, row)->size_bytes = told->size_bytes;
	} else {
		row_of(walk, row)->name = name_of(walk, told);
		if (told->category)
			row_of(walk, row)->category =
				gt_nvtx_category(walk->names, told->domain, told->category);
	}
}

static void see(struct walk *walk, const struct gt_record_told_memory *told)
{
	switch (told->kind) {
	case GT_TOLD_HEAP:
	case GT_TOLD_REGION:
		add_row(walk, told);
		break;
	case GT_TOLD_HEAP_END:
	case GT_TOLD_HEAP_RESET:
		end_heap(walk, told);
		break;
	case GT_TOLD_REGION_SIZE:
	case GT_TOLD_REGION_END:
	case GT_TOLD_REGION_NAME:
		change_region(walk, told);
		break;
	default: /* any number may stand in a file */
		break;
	}
}

void gt_nvtx_memory_add(struct gt_nvtx_names *names)
{
	struct gt_capture *capture = names->capture;
	struct walk walk = {
		.names = names,
		.first = names->trace->memory_regions.count,
		.of_process = GT_NONE,
	};

	if (capture->raw_told_memory.count > 1)
		qsort(capture->raw_told_memory.rows, capture->raw_told_memory.count,
		      sizeof(struct gt_record_told_memory), by_time);
	gt_array_each(const struct gt_record_told_memory, told, &capture->raw_told_memory)
		see(&walk, told);
	gt_known_release(&walk.heaps);
	gt_known_release(&walk.regions);
	gt_array_release(&walk.inside);
	gt_array_release(&walk.before);
}
