/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "exporters/timeline/memory_shown.h"
#include "model/names.h"

/* Names of the memory that a timeline shows. */

/* "GPU 0", "Host"; "CUDA" for what is on a GPU that is not known. */
static void place_name(const struct gt_memory_group *group, uint32_t gpu, char name[32])
{
	if (group->is_host)
		snprintf(name, 32, "Host");
	else if (group->device == GT_NONE)
		snprintf(name, 32, "CUDA");
	else
		snprintf(name, 32, "GPU %u", gpu);
}

/* "caching allocator", with its number where another one has that name, or it has none. */
static void pool_name(const struct gt_memory_shown *shown, uint32_t group, char name[200])
{
	const gt_id row = shown->groups.rows[group].pool;
	const struct gt_pool *pool = &shown->trace->pools.rows[row];
	const char *given = gt_trace_text(shown->trace, pool->name);

	if (!*given)
		snprintf(name, 200, "pool %u", pool->number);
	else if (shown->has_twin[group])
		snprintf(name, 200, "%.180s %u", given, pool->number);
	else
		snprintf(name, 200, "%.180s", given);
}

void gt_memory_group_name(const struct gt_memory_shown *shown, uint32_t group, uint32_t gpu,
                          char name[GT_MEMORY_NAME_SIZE])
{
	const struct gt_memory_group *row = &shown->groups.rows[group];
	char place[32];
	char pool[200];

	place_name(row, gpu, place);
	if (row->pool == GT_NONE) {
		snprintf(name, GT_MEMORY_NAME_SIZE, "%s memory", place);
		return;
	}
	pool_name(shown, group, pool);
	snprintf(name, GT_MEMORY_NAME_SIZE, "%s memory: %s", place, pool);
}

static const char in_use[] = "in use";

/*
 * A pool's own counters, in the order of its lines: as in struct gputrace_pool_stats, and what
 * CUDA's own pools have beside. To scale are those that are parts of each other; limits are not,
 * which would leave no room for them. A peak so far has no line: it shows in the lines whose peak
 * it is.
 */
static const struct pool_counter {
	const char *name;
	const char *words; /* NULL: no line */
	bool to_scale;
} pool_counters[] = {
	{"bytes_in_use", in_use, true},
	{"bytes_reserved", "reserved", true},
	{"cached", "cached", true},
	{"free", "free", true},
	{"bytes_requested", "requested", true},
	{"largest_free_block", "largest free block", true},
	{"limit", "limit", false},
	{"bytes_reservable_limit", "limit of what it reserves", false},
	{"release_threshold", "release threshold", false},
	{"num_allocs", "allocations", false},
	{"num_frees", "frees", false},
	{"num_segments", "segments", false},
	{"num_reserve_calls", "calls that asked CUDA for more", false},
	{"num_splits", "splits", false},
	{"num_trims", "trims", false},
	{"num_failed", "failed allocations", false},
	{"peak_bytes_in_use", NULL, false},
	{"peak_bytes_reserved", NULL, false},
	{"largest_alloc", NULL, false},
};

/* Its place in the list; behind its end for one that is not there. */
static size_t find_counter(const char *name)
{
	size_t at = 0;

	while (at < GT_COUNT_OF(pool_counters) && strcmp(pool_counters[at].name, name) != 0)
		at++;
	return at;
}

bool gt_memory_counter_has_line(const char *name)
{
	const size_t at = find_counter(name);

	return at == GT_COUNT_OF(pool_counters) || pool_counters[at].words;
}

bool gt_memory_counter_is_in_use(const char *name)
{
	const size_t at = find_counter(name);

	return at < GT_COUNT_OF(pool_counters) && pool_counters[at].words == in_use;
}

static const char *counter_name(const struct gt_memory_shown *shown,
                                const struct gt_memory_line *line)
{
	return gt_trace_text(shown->trace, shown->trace->counters.rows[line->counter].name);
}

static void counter_words(const char *name, char words[96])
{
	const size_t at = find_counter(name);

	if (at < GT_COUNT_OF(pool_counters) && pool_counters[at].words) {
		snprintf(words, 96, "%s", pool_counters[at].words);
		return;
	}
	snprintf(words, 96, "%s", name);
	for (char *letter = words; *letter; letter++)
		if (*letter == '_')
			*letter = ' ';
}

bool gt_memory_line_is_to_scale(const struct gt_memory_shown *shown,
                                const struct gt_memory_line *line)
{
	size_t at;

	if (line->is != GT_MEMORY_LINE_COUNTER)
		return true;
	at = find_counter(counter_name(shown, line));
	return at < GT_COUNT_OF(pool_counters) && pool_counters[at].to_scale;
}

int32_t gt_memory_line_rank(const struct gt_memory_shown *shown, const struct gt_memory_line *line)
{
	const size_t place = line->is == GT_MEMORY_LINE_COUNTER
	                             ? find_counter(counter_name(shown, line))
	                             : line->kind;

	return (int32_t)line->is * GT_MEMORY_LINES_OF_A_KIND +
	       (int32_t)(place % GT_MEMORY_LINES_OF_A_KIND) + 1;
}

/* Where a pool tells what is in use, its blocks are another way to know. */
static bool tells_use(const struct gt_memory_shown *shown, uint32_t group)
{
	gt_array_each(const struct gt_memory_line, line, &shown->lines)
		if (line->group == group && line->is == GT_MEMORY_LINE_COUNTER &&
		    gt_memory_counter_is_in_use(counter_name(shown, line)))
			return true;
	return false;
}

static void pool_line_words(const struct gt_memory_shown *shown, const struct gt_memory_line *line,
                            char words[96])
{
	if (line->is == GT_MEMORY_LINE_COUNTER)
		counter_words(counter_name(shown, line), words);
	else
		snprintf(words, 96, "%s", tells_use(shown, line->group) ? "in blocks" : in_use);
}

bool gt_memory_line_is_bytes(const struct gt_memory_shown *shown, const struct gt_memory_line *line)
{
	const struct gt_trace *trace = shown->trace;

	return line->is != GT_MEMORY_LINE_COUNTER ||
	       strcmp(gt_trace_text(trace, trace->counters.rows[line->counter].unit), "bytes") == 0;
}

void gt_memory_line_name(const struct gt_memory_shown *shown, const struct gt_memory_line *line,
                         uint32_t gpu, char name[GT_MEMORY_NAME_SIZE])
{
	const struct gt_memory_group *group = &shown->groups.rows[line->group];
	char place[32];
	char pool[200];
	char words[96];

	place_name(group, gpu, place);
	switch (line->is) {
	case GT_MEMORY_LINE_TOTAL:
		snprintf(name, GT_MEMORY_NAME_SIZE, "%s in use", place);
		break;
	case GT_MEMORY_LINE_PART:
		snprintf(name, GT_MEMORY_NAME_SIZE, "%s in use: %s", place,
		         gt_memory_call_name(line->kind));
		break;
	case GT_MEMORY_LINE_APART:
		snprintf(name, GT_MEMORY_NAME_SIZE, "%s %s", place,
		         gt_memory_call_name(line->kind));
		break;
	case GT_MEMORY_LINE_BLOCKS:
	case GT_MEMORY_LINE_COUNTER:
		pool_name(shown, line->group, pool);
		pool_line_words(shown, line, words);
		snprintf(name, GT_MEMORY_NAME_SIZE, "%s %s: %s", place, pool, words);
		break;
	}
}

static struct gt_figure size_figure(uint64_t bytes)
{
	return gt_figure_binary(bytes <= INT64_MAX ? (int64_t)bytes : INT64_MAX);
}

/* "device memory 64 MiB"; without a size where none is known. */
static void name_sized(const char *before, const char *what, uint64_t bytes,
                       char name[GT_MEMORY_NAME_SIZE])
{
	if (bytes > 0)
		snprintf(name, GT_MEMORY_NAME_SIZE, "%s%s %s", before, what,
		         size_figure(bytes).text);
	else
		snprintf(name, GT_MEMORY_NAME_SIZE, "%s%s", before, what);
}

static void name_allocation(const struct gt_trace *trace, const struct gt_memory_mark *mark,
                            char name[GT_MEMORY_NAME_SIZE])
{
	const struct gt_allocation *row = &trace->allocations.rows[mark->row];

	if (mark->is == GT_MEMORY_MARK_BEGIN)
		name_sized("", gt_memory_call_name(row->kind), row->size_bytes, name);
	else if (row->ended_by < trace->memory_calls.count)
		name_sized("", gt_memory_call_name(trace->memory_calls.rows[row->ended_by].kind),
		           row->size_bytes, name);
	else
		name_sized("end of ", gt_memory_call_name(row->kind), row->size_bytes, name);
}

void gt_memory_mark_name(const struct gt_memory_shown *shown, const struct gt_memory_mark *mark,
                         char name[GT_MEMORY_NAME_SIZE])
{
	const struct gt_trace *trace = shown->trace;

	if (mark->is == GT_MEMORY_MARK_PEAK)
		snprintf(name, GT_MEMORY_NAME_SIZE, "peak: %s",
		         size_figure(mark->in_use_bytes).text);
	else if (mark->is == GT_MEMORY_MARK_FAILED)
		name_sized(
			"failed: ", gt_memory_call_name(trace->memory_calls.rows[mark->row].kind),
			trace->memory_calls.rows[mark->row].size_bytes, name);
	else if (shown->groups.rows[mark->group].pool != GT_NONE)
		name_sized("", mark->is == GT_MEMORY_MARK_BEGIN ? "allocate" : "free",
		           trace->pool_blocks.rows[mark->row].size_bytes, name);
	else
		name_allocation(trace, mark, name);
}
