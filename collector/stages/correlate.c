/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "collector/stage.h"

/*
 * Joins what the GPU did with the API call that asked for it, by process and CUPTI's
 * correlation id, never by position. A call made inside another one shares its id: the outer
 * one is the program's.
 *
 * CUPTI counts ids up for each process, so calls and kernels that are near in time have ids
 * that are near: the index keeps them in pages of neighbours, and mostly the page that is wanted
 * is the one that was used last or near it.
 */

enum { PAGE_BITS = 4, PAGE_IDS = 1 << PAGE_BITS };

struct page {
	uint64_t key;         /* the process and the ids' upper bits */
	gt_id rows[PAGE_IDS]; /* of api_calls, the last one with the id; GT_NONE: none */
};

/* Ids are of 32 bits and come again in a long run. */
struct twin {
	gt_id row;
	gt_id older;    /* the call before it with its process and id */
	gt_id jump;     /* one further back, so that few steps lead to any: a skip list */
	uint32_t depth; /* calls that are older */
};

struct index {
	gt_array(struct page) pages;
	gt_array(struct twin) twins; /* sorted by row */
	gt_id *slots;                /* pages by a hash of their keys; GT_NONE: free */
	size_t mask;
	size_t last; /* the page that was used last */
};

static uint64_t key_of(gt_id process, uint32_t correlation)
{
	return (uint64_t)process << 32 | correlation >> PAGE_BITS;
}

/* The slot that holds the page with this key, or the free one for it. */
static gt_id *slot_of(const struct index *index, uint64_t key)
{
	size_t at = (size_t)gt_hash_number(key, index->slots) & index->mask;

	while (index->slots[at] != GT_NONE && index->pages.rows[index->slots[at]].key != key)
		at = (at + 1) & index->mask;
	return &index->slots[at];
}

static void make_slots(struct index *index, size_t count)
{
	free(index->slots);
	index->slots = gt_allocate(count * sizeof(*index->slots));
	index->mask = count - 1;
	memset(index->slots, 0xff, count * sizeof(*index->slots));
	for (size_t i = 0; i < index->pages.count; i++)
		*slot_of(index, index->pages.rows[i].key) = (gt_id)i;
}

static struct page *add_page(struct index *index, uint64_t key)
{
	struct page *page;

	if (2 * index->pages.count > index->mask)
		make_slots(index, 2 * (index->mask + 1));
	*slot_of(index, key) = (gt_id)index->pages.count;
	index->last = index->pages.count;
	page = gt_array_push(&index->pages);
	page->key = key;
	memset(page->rows, 0xff, sizeof(page->rows));
	return page;
}

static struct page *find_page(struct index *index, uint64_t key)
{
	if (index->pages.count == 0)
		return NULL;

	/* Mostly no key is left out and pages stand in the order of their keys. */
	const size_t guess = index->last + (size_t)(key - index->pages.rows[index->last].key);
	const size_t at = guess < index->pages.count && index->pages.rows[guess].key == key
	                          ? guess
	                          : *slot_of(index, key);

	if (at == GT_NONE)
		return NULL;
	index->last = at;
	return &index->pages.rows[at];
}

static int by_row(const void *a, const void *b)
{
	const gt_id left = ((const struct twin *)a)->row;
	const gt_id right = ((const struct twin *)b)->row;

	return (left > right) - (left < right);
}

/* The oldest of all calls with an id has none that is older, and is no twin. */
static struct twin find_twin(const struct index *index, gt_id row)
{
	const struct twin wanted = {.row = row, .older = row, .jump = row};
	const struct twin *twin = index->twins.count
	                                  ? bsearch(&wanted, index->twins.rows, index->twins.count,
	                                            sizeof(wanted), by_row)
	                                  : NULL;

	return twin ? *twin : wanted;
}

/*
 * Myers' skip list: the jump of a new twin is as long as the two before it when those are of one
 * length, so that any place is found in some 2 log n steps.
 */
static void add_twin(struct index *index, gt_id row, gt_id older_row)
{
	const struct twin older = find_twin(index, older_row);
	const struct twin far = find_twin(index, older.jump);
	const struct twin farther = find_twin(index, far.jump);
	const bool doubles =
		older.depth > 0 && older.depth - far.depth == far.depth - farther.depth;

	*gt_array_push(&index->twins) = (struct twin){
		.row = row,
		.older = older_row,
		.jump = doubles ? farther.row : older_row,
		.depth = older.depth + 1,
	};
}

static void add_call(struct index *index, gt_id process, uint32_t correlation, gt_id row)
{
	const uint64_t key = key_of(process, correlation);
	struct page *page = find_page(index, key);
	gt_id *place;

	if (!page)
		page = add_page(index, key);
	place = &page->rows[correlation % PAGE_IDS];
	if (*place != GT_NONE)
		add_twin(index, row, *place);
	*place = row;
}

static void fill_index(const struct gt_trace *trace, struct index *index)
{
	make_slots(index, 1024);
	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];

		if (!(call->flags & GT_NESTED))
			add_call(index, trace->threads.rows[call->thread].process,
			         call->correlation, (gt_id)i);
	}
}

/*
 * The last of the calls with one id that began before the work it asked for. Four billion calls lie
 * between two of them, hours, so that a second forgives what the clocks are off.
 */
static gt_id choose(const struct gt_trace *trace, const struct index *index, gt_id row,
                    gt_time start_ns)
{
	const gt_time slack_ns = 1000000000;

	while (start_ns && trace->api_calls.rows[row].start_ns > start_ns + slack_ns) {
		const struct twin twin = find_twin(index, row);

		if (twin.depth == 0)
			break;
		row = trace->api_calls.rows[twin.jump].start_ns > start_ns + slack_ns ? twin.jump
		                                                                      : twin.older;
	}
	return row;
}

static gt_id find_call(const struct gt_trace *trace, struct index *index, gt_id process,
                       uint32_t correlation, gt_time start_ns)
{
	const struct page *page = find_page(index, key_of(process, correlation));
	const gt_id row = page ? page->rows[correlation % PAGE_IDS] : GT_NONE;

	if (row == GT_NONE || index->twins.count == 0)
		return row;
	return choose(trace, index, row, start_ns);
}

/* A table whose rows are joined: what asked for them is found by process and correlation id. */
struct joined {
	struct gt_rows rows;
	size_t table;
	size_t correlation; /* offsets of its columns */
	size_t api_call;
};

/* False for a table that has no such columns. */
static bool find_columns(const struct gt_trace *trace, size_t number, struct joined *joined)
{
	const struct gt_table table = gt_trace_table(trace, number);
	bool has_correlation = false;
	bool has_call = false;

	joined->table = number;
	for (size_t i = 0; i < table.column_count; i++) {
		const struct gt_column *column = &table.columns[i];

		if (strcmp(column->name, "correlation") == 0) {
			joined->correlation = column->offset;
			has_correlation = true;
		} else if (column->target == GT_TABLE_api_calls) {
			joined->api_call = column->offset;
			has_call = true;
		}
	}
	return has_correlation && has_call;
}

static void join(struct gt_trace *trace, struct index *index, const struct joined *joined)
{
	uint8_t *row = joined->rows.rows;

	for (size_t i = 0; i < *joined->rows.count; i++, row += joined->rows.row_size) {
		const gt_id process = gt_trace_process_of(trace, joined->table, row);
		uint32_t correlation;
		gt_time start_ns;
		gt_id call;

		memcpy(&correlation, row + joined->correlation, sizeof(correlation));
		memcpy(&start_ns, row, sizeof(start_ns));
		call = find_call(trace, index, process, correlation, start_ns);
		memcpy(row + joined->api_call, &call, sizeof(call));
	}
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct index index = {.last = 0};

	(void)err;
	fill_index(trace, &index);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		struct joined joined = {.rows = gt_trace_rows(trace, i)};

		if (find_columns(trace, i, &joined))
			join(trace, &index, &joined);
	}
	free(index.slots);
	gt_array_release(&index.pages);
	gt_array_release(&index.twins);
	return 0;
}

const struct gt_stage gt_stage_correlate = {.name = "correlate", .run = run};
