/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path/edges.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { SAMPLES = 4096 }; /* of each kind that the median is taken of */

static int by_value(const void *a, const void *b)
{
	const gt_time left = *(const gt_time *)a;
	const gt_time right = *(const gt_time *)b;

	return (left > right) - (left < right);
}

/* The edge to the begin of work that came last by far, and how long after it the work began. */
static bool is_clear(const struct gt_path *path, gt_point to, struct gt_path_edge *last,
                     gt_time *lag_ns)
{
	enum { CLEAR_NS = 20000 }; /* longer than launches and orders take */
	struct gt_path_edges edges = gt_path_edges_to(path, to);
	struct gt_path_edge edge;
	gt_time latest_ns = INT64_MIN;
	gt_time second_ns = INT64_MIN;

	while (gt_path_next_edge(&edges, &edge)) {
		const gt_time at_ns = edge.from_ns;

		if (at_ns > latest_ns) {
			second_ns = latest_ns;
			latest_ns = at_ns;
			*last = edge;
		} else if (at_ns > second_ns) {
			second_ns = at_ns;
		}
	}
	if (latest_ns == INT64_MIN)
		return false;
	*lag_ns = gt_path_time(path, to) - latest_ns;
	return *lag_ns >= 0 && (second_ns == INT64_MIN || latest_ns - second_ns > CLEAR_NS);
}

/* A longer lag than this is not usual, however often it occurs. */
static gt_time most_of(enum gt_path_edge_kind kind)
{
	enum { LAUNCH_MOST_NS = 20000, OTHER_MOST_NS = 10000 };

	return kind == GT_PATH_LAUNCH ? LAUNCH_MOST_NS : OTHER_MOST_NS;
}

void gt_path_find_typical(struct gt_path *path)
{
	const size_t count = gt_path_points(path);
	const size_t stride = count / ((size_t)SAMPLES * 16) + 1;
	struct {
		size_t count;
		gt_time values[SAMPLES];
	} *kinds = gt_allocate(GT_PATH_EDGE_KINDS * sizeof(*kinds));

	for (size_t i = 0; i < GT_PATH_EDGE_KINDS; i++)
		kinds[i].count = 0;
	for (size_t point = 0; point < count; point += stride) {
		struct gt_path_edge last;
		gt_time lag_ns;

		if (!gt_path_has(path, (gt_id)(point / 2)) ||
		    gt_path_is_held_up(path, (gt_id)(point / 2)) ||
		    (point % 2 == 1) != gt_path_is_call(path, (gt_id)(point / 2)) ||
		    !is_clear(path, (gt_point)point, &last, &lag_ns) || last.kind == GT_PATH_CALL ||
		    kinds[last.kind].count == SAMPLES)
			continue;
		kinds[last.kind].values[kinds[last.kind].count++] = lag_ns;
	}
	for (size_t i = 0; i < GT_PATH_EDGE_KINDS; i++) {
		if (kinds[i].count == 0)
			continue;
		qsort(kinds[i].values, kinds[i].count, sizeof(kinds[i].values[0]), by_value);
		path->typical_ns[i] = kinds[i].values[kinds[i].count / 2];
		if (path->typical_ns[i] > most_of((enum gt_path_edge_kind)i))
			path->typical_ns[i] = most_of((enum gt_path_edge_kind)i);
	}
	gt_array_free(kinds);
}
