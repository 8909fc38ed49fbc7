/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/groups.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void gt_groups_init(struct gt_groups *groups, size_t count)
{
	*groups = (struct gt_groups){
		.count = count,
		.ends = gt_allocate(count * sizeof(*groups->ends)),
	};
	memset(groups->ends, 0, count * sizeof(*groups->ends));
}

void gt_groups_expect(struct gt_groups *groups, size_t group)
{
	assert(group < groups->count && !groups->values);
	groups->ends[group]++;
}

void gt_groups_begin(struct gt_groups *groups)
{
	size_t total = 0;

	for (size_t i = 0; i < groups->count; i++) {
		const size_t expected = groups->ends[i];

		groups->ends[i] = total;
		total += expected;
	}
	groups->values = gt_allocate(total * sizeof(*groups->values));
}

void gt_groups_add(struct gt_groups *groups, size_t group, int64_t value)
{
	assert(group < groups->count && groups->values);
	groups->values[groups->ends[group]++] = value;
}

int64_t *gt_groups_get(const struct gt_groups *groups, size_t first, size_t last, size_t *count)
{
	assert(first <= last && last < groups->count);

	const size_t begin = first > 0 ? groups->ends[first - 1] : 0;

	*count = groups->ends[last] - begin;
	return groups->values + begin;
}

void gt_groups_release(struct gt_groups *groups)
{
	free(groups->ends);
	free(groups->values);
	*groups = (struct gt_groups){0};
}
