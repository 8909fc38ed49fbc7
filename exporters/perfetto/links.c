/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/links.h"

#include "base/array.h"
#include "exporters/timeline/ids.h"

/* A number for the list of a row; row GT_NONE: for none. */
struct link {
	gt_id row;
	uint32_t number;
};

static const struct link no_link = {.row = GT_NONE};

/* A counting sort: count per row, sum up to the ends, then fill from the back. */
static void sort(struct gt_links *links, const struct gt_ids *ids, size_t rows, size_t items,
                 struct link (*link_of)(const struct gt_ids *ids, size_t item))
{
	struct link *all = gt_allocate(items * sizeof(*all));

	links->first = gt_allocate_zeroed(rows + 1, sizeof(*links->first));
	links->numbers = gt_allocate(items * sizeof(*links->numbers));

	for (size_t i = 0; i < items; i++) {
		all[i] = link_of(ids, i);
		if (all[i].row != GT_NONE)
			links->first[all[i].row]++;
	}
	for (size_t i = 0; i < rows; i++)
		links->first[i + 1] += links->first[i];
	for (size_t i = items; i-- > 0;)
		if (all[i].row != GT_NONE)
			links->numbers[--links->first[all[i].row]] = all[i].number;
	gt_array_free(all);
}

void gt_links_release(struct gt_links *links)
{
	gt_array_free(links->first);
	gt_array_free(links->numbers);
	*links = (struct gt_links){0};
}

static struct link launched(const struct gt_ids *ids, size_t item)
{
	const struct gt_trace *trace = ids->trace;
	const struct gt_placed slice = gt_ids_place(ids, item);
	gt_id thread;

	if (!slice.placed || slice.api_call >= trace->api_calls.count)
		return no_link;
	thread = trace->api_calls.rows[slice.api_call].thread;
	if (thread >= trace->threads.count || trace->threads.rows[thread].process != slice.process)
		return no_link;
	return (struct link){.row = slice.api_call, .number = (uint32_t)item};
}

void gt_links_launched(struct gt_links *links, const struct gt_ids *ids)
{
	sort(links, ids, ids->trace->api_calls.count, gt_ids_slice_count(ids), launched);
}

/* The GPU slice that the edge begins at, GT_NONE for none in the file. */
static gt_id edge_begin(const struct gt_ids *ids, const struct gt_edge *edge)
{
	const gt_id from = gt_ids_slice_of(ids, edge->from_table, edge->from_row);

	return from != GT_NONE && gt_ids_place(ids, from).placed ? from : GT_NONE;
}

/* The wait of the host that a row of edges is about, to the slice whose end it waited for. */
static struct link wait_end(const struct gt_ids *ids, size_t item)
{
	const struct gt_trace *trace = ids->trace;
	const struct gt_edge *edge = &trace->edges.rows[item];
	const gt_id from = edge_begin(ids, edge);

	if (from == GT_NONE || edge->to_table != GT_TABLE_syncs ||
	    edge->to_row >= trace->syncs.count)
		return no_link;
	return (struct link){.row = edge->to_row, .number = from};
}

void gt_links_wait_ends(struct gt_links *links, const struct gt_ids *ids)
{
	sort(links, ids, ids->trace->syncs.count, ids->trace->edges.count, wait_end);
}

/* The same for the call that waited. */
static struct link host_wait(const struct gt_ids *ids, size_t item)
{
	const struct gt_trace *trace = ids->trace;
	struct link link = wait_end(ids, item);

	if (link.row == GT_NONE)
		return no_link;
	link.row = trace->syncs.rows[link.row].api_call;
	return link.row < trace->api_calls.count ? link : no_link;
}

void gt_links_host_waits(struct gt_links *links, const struct gt_ids *ids)
{
	sort(links, ids, ids->trace->api_calls.count, ids->trace->edges.count, host_wait);
}

static struct link stream_wait(const struct gt_ids *ids, size_t item)
{
	const struct gt_edge *edge = &ids->trace->edges.rows[item];
	const gt_id from = edge_begin(ids, edge);
	const gt_id to = gt_ids_slice_of(ids, edge->to_table, edge->to_row);

	return from != GT_NONE && to != GT_NONE ? (struct link){.row = to, .number = from}
	                                        : no_link;
}

void gt_links_stream_waits(struct gt_links *links, const struct gt_ids *ids)
{
	sort(links, ids, gt_ids_slice_count(ids), ids->trace->edges.count, stream_wait);
}

static struct link sync(const struct gt_ids *ids, size_t item)
{
	const gt_id call = ids->trace->syncs.rows[item].api_call;

	return call < ids->trace->api_calls.count
	               ? (struct link){.row = call, .number = (uint32_t)item}
	               : no_link;
}

void gt_links_syncs(struct gt_links *links, const struct gt_ids *ids)
{
	sort(links, ids, ids->trace->api_calls.count, ids->trace->syncs.count, sync);
}

static struct link memory(const struct gt_ids *ids, size_t item)
{
	const gt_id call = ids->trace->memory_calls.rows[item].api_call;

	return call < ids->trace->api_calls.count
	               ? (struct link){.row = call, .number = (uint32_t)item}
	               : no_link;
}

void gt_links_memory(struct gt_links *links, const struct gt_ids *ids)
{
	sort(links, ids, ids->trace->api_calls.count, ids->trace->memory_calls.count, memory);
}
