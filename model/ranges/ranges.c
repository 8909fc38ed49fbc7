/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/ranges.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "model/ranges/folds.h"
#include "model/work/timed.h"

#define UNKNOWN GT_NONE       /* path_of before a row was looked at */
#define BEGUN   (GT_NONE - 1) /* path_of while what is around the row is looked at */

enum {
	MOST_STEPS = 1 << 8, /* past ranges that have ended: nothing real has as many in a row */
	MOST_OPEN = 1 << 12, /* ranges open at once that a path is made of anew */
	/* Steps up chains for all paths that are made anew: so many, and so many for each range. */
	MOST_WALKED = 1 << 20,
	MOST_WALKED_EACH = 1 << 6,
};

static const char no_name[] = "(no name)";
static const char cut_off[] = "...";

gt_time gt_range_end(const struct gt_range *range)
{
	return gt_known_end(range->flags, range->end_ns, INT64_MAX);
}

static gt_time end_of(const struct gt_ranges *ranges, gt_id row)
{
	return gt_range_end(&ranges->trace->ranges.rows[row]);
}

/* The first from this row upwards that ends after a moment. walked: grows by the steps. */
static gt_id walk_to_open(const struct gt_ranges *ranges, gt_id row, gt_time at_ns, size_t *walked)
{
	for (size_t steps = 0; row != GT_NONE && steps < MOST_STEPS; steps++, ++*walked) {
		if (end_of(ranges, row) > at_ns)
			return row;
		row = ranges->outlasting[row];
	}
	return GT_NONE;
}

static gt_id open_from(const struct gt_ranges *ranges, gt_id row, gt_time at_ns)
{
	size_t walked = 0;

	return walk_to_open(ranges, row, at_ns, &walked);
}

/* The next around it on its own thread. */
static gt_id own_around(const struct gt_ranges *ranges, gt_id range, gt_time at_ns)
{
	return open_from(ranges, ranges->around[range], at_ns);
}

/* A range began after the one that it is for; a damaged recording may say otherwise. */
gt_id gt_ranges_for(const struct gt_ranges *ranges, gt_id range)
{
	const struct gt_range *rows = ranges->trace->ranges.rows;
	const gt_id other = rows[range].for_range;

	return other < ranges->trace->ranges.count && rows[other].start_ns < rows[range].start_ns
	               ? other
	               : GT_NONE;
}

gt_id gt_ranges_around(const struct gt_ranges *ranges, gt_id range, gt_time at_ns)
{
	const gt_id around = own_around(ranges, range, at_ns);

	return around == GT_NONE && ranges->for_others
	               ? open_from(ranges, gt_ranges_for(ranges, range), at_ns)
	               : around;
}

bool gt_ranges_by_time(const struct gt_ranges *ranges, gt_id range, gt_id around)
{
	const struct gt_range *rows = ranges->trace->ranges.rows;

	return rows[range].flags & GT_BY_TIME && rows[range].thread != rows[around].thread;
}

gt_id gt_ranges_around_sure(const struct gt_ranges *ranges, gt_id range, gt_time at_ns)
{
	const gt_id around = gt_ranges_around(ranges, range, at_ns);

	return around != GT_NONE && gt_ranges_by_time(ranges, range, around) ? GT_NONE : around;
}

gt_id gt_ranges_beyond(const struct gt_ranges *ranges, gt_id range, gt_time at_ns)
{
	gt_id outermost = range;

	if (!ranges->for_others)
		return GT_NONE;
	for (size_t i = 0; range != GT_NONE && i < MOST_OPEN; i++) {
		outermost = range;
		range = own_around(ranges, range, at_ns);
	}
	return open_from(ranges, gt_ranges_for(ranges, outermost), at_ns);
}

static gt_string domain_of(const struct gt_trace *trace, const struct gt_range *range)
{
	return range->domain < trace->domains.count ? trace->domains.rows[range->domain].name : 0;
}

static gt_id add_name(struct gt_ranges *ranges, gt_string domain, gt_string text)
{
	const struct gt_range_folds *folds = ranges->folds;
	const uint32_t folded =
		folds && text < folds->count && folds->first[text] ? folds->varies[text] : 0;

	if (folded)
		text = folds->first[text];

	const uint64_t key = (uint64_t)domain << 32 | text;
	gt_id row;

	if (gt_known_is_new(&ranges->name_rows, key, ranges->names.count, &row))
		*gt_array_push(&ranges->names) = (struct gt_range_name){domain, text, folded};
	return row;
}

/* outer: row of paths, GT_NONE: none. */
static gt_id add_path(struct gt_ranges *ranges, gt_id outer, gt_id name)
{
	const uint64_t key = (uint64_t)outer << 32 | name;
	gt_id row;

	if (gt_known_is_new(&ranges->path_rows, key, ranges->paths.count, &row))
		*gt_array_push(&ranges->paths) = (struct gt_range_path){
			.outer = outer,
			.name = name,
			.depth = outer == GT_NONE ? 0 : ranges->paths.rows[outer].depth + 1,
		};
	return row;
}

static bool walked_too_far(const struct gt_ranges *ranges)
{
	return ranges->walked > MOST_WALKED + MOST_WALKED_EACH * ranges->trace->ranges.count;
}

/*
 * The path of the chain above a range that begins in it, and until when it stays whole. Where all
 * ranges lie in one another it is the path of the next around, and so it is once paths that are
 * made anew took more steps than any real recording needs.
 */
static gt_id path_around(struct gt_ranges *ranges, gt_id around, gt_time at_ns,
                         gt_time *whole_until_ns)
{
	gt_array(gt_id) chain = {0};
	gt_id path = GT_NONE;

	*whole_until_ns = INT64_MAX;
	if (around == GT_NONE)
		return GT_NONE;
	*whole_until_ns = ranges->whole_until_ns[around];
	if (*whole_until_ns > at_ns || walked_too_far(ranges))
		return ranges->path_of[around];
	*whole_until_ns = INT64_MAX;
	for (gt_id row = around; row != GT_NONE && chain.count < MOST_OPEN;
	     row = walk_to_open(ranges, ranges->around[row], at_ns, &ranges->walked)) {
		*gt_array_push(&chain) = row;
		ranges->walked++;
	}
	for (size_t i = chain.count; i-- > 0;) {
		const gt_id row = chain.rows[i];

		if (end_of(ranges, row) < *whole_until_ns)
			*whole_until_ns = end_of(ranges, row);
		path = add_path(ranges, path, ranges->paths.rows[ranges->path_of[row]].name);
	}
	gt_array_free(chain.rows);
	return path;
}

/* The range around it has its path already. */
static void place(struct gt_ranges *ranges, gt_id row, gt_id around)
{
	const struct gt_range *range = &ranges->trace->ranges.rows[row];
	const gt_id name = add_name(ranges, domain_of(ranges->trace, range), range->text);
	gt_time whole_until_ns;
	const gt_id outer = path_around(ranges, around, range->start_ns, &whole_until_ns);

	ranges->around[row] = around;
	ranges->outlasting[row] = open_from(ranges, around, gt_range_end(range));
	ranges->path_of[row] = add_path(ranges, outer, name);
	ranges->whole_until_ns[row] =
		gt_range_end(range) < whole_until_ns ? gt_range_end(range) : whole_until_ns;
}

/*
 * A parent may stand behind its child, where both began in one nanosecond; and damaged recordings
 * have anything, also a range that is its own grandparent.
 */
static void find_path(struct gt_ranges *ranges, gt_id row, size_t *placed)
{
	gt_array(gt_id) inner = {0};
	gt_id around = GT_NONE;

	while (row < ranges->trace->ranges.count && ranges->path_of[row] == UNKNOWN) {
		ranges->path_of[row] = BEGUN;
		*gt_array_push(&inner) = row;
		row = ranges->trace->ranges.rows[row].parent;
	}
	if (row < ranges->trace->ranges.count && ranges->path_of[row] != BEGUN)
		around = row;
	while (inner.count > 0) {
		row = inner.rows[--inner.count];
		place(ranges, row, around);
		ranges->order[(*placed)++] = row;
		around = row;
	}
	gt_array_free(inner.rows);
}

void gt_ranges_init(struct gt_ranges *ranges, const struct gt_trace *trace)
{
	gt_ranges_init_folded(ranges, trace, NULL);
}

void gt_ranges_init_folded(struct gt_ranges *ranges, const struct gt_trace *trace,
                           const struct gt_range_folds *folds)
{
	const size_t count = trace->ranges.count;
	size_t placed = 0;

	*ranges = (struct gt_ranges){
		.trace = trace,
		.folds = folds,
		.path_of = gt_allocate(count * sizeof(*ranges->path_of)),
		.order = gt_allocate(count * sizeof(*ranges->order)),
		.around = gt_allocate(count * sizeof(*ranges->around)),
		.outlasting = gt_allocate(count * sizeof(*ranges->outlasting)),
		.whole_until_ns = gt_allocate(count * sizeof(*ranges->whole_until_ns)),
	};
	for (gt_id i = 0; i < count; i++) {
		ranges->path_of[i] = UNKNOWN;
		ranges->for_others = ranges->for_others || gt_ranges_for(ranges, i) != GT_NONE;
	}
	for (gt_id i = 0; i < count; i++)
		if (ranges->path_of[i] == UNKNOWN)
			find_path(ranges, i, &placed);
}

void gt_ranges_release(struct gt_ranges *ranges)
{
	gt_array_release(&ranges->names);
	gt_array_release(&ranges->paths);
	gt_array_free(ranges->path_of);
	gt_array_free(ranges->order);
	gt_array_free(ranges->around);
	gt_array_free(ranges->outlasting);
	gt_array_free(ranges->whole_until_ns);
	gt_known_release(&ranges->name_rows);
	gt_known_release(&ranges->path_rows);
	*ranges = (struct gt_ranges){0};
}

static bool is_escaped(char byte)
{
	return byte == GT_RANGE_SEPARATOR || byte == GT_RANGE_ESCAPE;
}

/* ASCII characters at the begin of a text that need no escape, at most most. */
static size_t count_plain(const char *bytes, size_t most)
{
	size_t count = 0;

	while (count < most && (signed char)bytes[count] > 0 && !is_escaped(bytes[count]))
		count++;
	return count;
}

/* Adds a text with what it needs before separators, whole characters only; the new length. */
static size_t add_escaped(char *text, size_t used, size_t size, const char *bytes)
{
	const size_t end = size - sizeof(cut_off);

	while (*bytes) {
		size_t length = count_plain(bytes, used < end ? end - used : 0);
		bool escape = false;

		if (length == 0) {
			const size_t known = gt_utf8_size(bytes);

			length = known ? known : 1;
			escape = is_escaped(*bytes);
		}
		if (used + escape + length > end) {
			memcpy(text + used, cut_off, sizeof(cut_off) - 1);
			return used + sizeof(cut_off) - 1;
		}
		if (escape)
			text[used++] = GT_RANGE_ESCAPE;
		memcpy(text + used, bytes, length);
		used += length;
		bytes += length;
	}
	return used;
}

size_t gt_range_name_text(const struct gt_trace *trace, struct gt_range_name name,
                          char text[GT_RANGE_NAME_BYTES])
{
	const char *domain = gt_trace_text(trace, name.domain);
	const char *own = gt_trace_text(trace, name.text);
	char folded[GT_RANGE_NAME_BYTES];
	size_t used = 0;

	folded[0] = '\0';
	if (name.folded) {
		gt_fold_text(own, name.folded, folded, sizeof(folded));
		own = folded;
	}
	if (*domain) {
		used = add_escaped(text, used, GT_RANGE_NAME_BYTES / 2, domain);
		text[used++] = GT_RANGE_DOMAIN;
	}
	used = add_escaped(text, used, GT_RANGE_NAME_BYTES - 1, *own ? own : no_name);
	text[used] = '\0';
	return used;
}

static size_t bytes_of_a_path(const struct gt_ranges *ranges)
{
	const size_t paths = ranges->paths.count;

	if (paths < GT_RANGE_PATHS_BYTES / GT_RANGE_PATH_BYTES)
		return GT_RANGE_PATH_BYTES;
	if (paths >= GT_RANGE_PATHS_BYTES / GT_RANGE_PATH_LEAST_BYTES)
		return GT_RANGE_PATH_LEAST_BYTES;
	return GT_RANGE_PATHS_BYTES / (paths + 1);
}

/* From the end to the beginning: what does not fit is what everything else lies in. */
size_t gt_range_path_text(const struct gt_ranges *ranges, gt_id path,
                          char text[GT_RANGE_PATH_BYTES])
{
	char name[GT_RANGE_NAME_BYTES];
	const size_t most = bytes_of_a_path(ranges);
	size_t begin = most - 1;
	size_t length;

	text[begin] = '\0';
	for (gt_id row = path; row != GT_NONE; row = ranges->paths.rows[row].outer) {
		const bool last = row == path;
		const char *part = name;

		length = gt_range_name_text(ranges->trace,
		                            ranges->names.rows[ranges->paths.rows[row].name], name);
		if (length + !last + sizeof(cut_off) > begin) {
			part = cut_off;
			length = sizeof(cut_off) - 1;
		}
		if (!last)
			text[--begin] = GT_RANGE_SEPARATOR;
		begin -= length;
		memcpy(text + begin, part, length);
		if (part == cut_off)
			break;
	}
	length = most - 1 - begin;
	memmove(text, text + begin, length + 1);
	return length;
}
