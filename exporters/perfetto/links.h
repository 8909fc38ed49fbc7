/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_LINKS_H
#define GT_EXPORTERS_PERFETTO_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "exporters/perfetto/tracks.h"

struct gt_ids;

/* For each of some rows a list of others, in ascending order: where the arrows lead. */
struct gt_links {
	uint32_t *first;   /* by row, and one more: where its list begins */
	uint32_t *numbers; /* the lists, one after the other */
};

/* By row of api_calls: the GPU slices that it launched, if they ran in its process. */
void gt_links_launched(struct gt_links *links, const struct gt_ids *ids);

/* By row of api_calls: the GPU slices whose end the host waited for in it. */
void gt_links_host_waits(struct gt_links *links, const struct gt_ids *ids);

/* By row of syncs: the same for the wait itself. */
void gt_links_wait_ends(struct gt_links *links, const struct gt_ids *ids);

/* By number of a GPU slice: those that it had to wait for on other streams. */
void gt_links_stream_waits(struct gt_links *links, const struct gt_ids *ids);

/* By row of api_calls: the rows of syncs that it made. */
void gt_links_syncs(struct gt_links *links, const struct gt_ids *ids);

/* By row of api_calls: the rows of memory_calls that it is. */
void gt_links_memory(struct gt_links *links, const struct gt_ids *ids);

void gt_links_release(struct gt_links *links);

static inline struct gt_slices gt_links_of(const struct gt_links *links, size_t row)
{
	return (struct gt_slices){.numbers = links->numbers + links->first[row],
	                          .count = links->first[row + 1] - links->first[row]};
}

#endif
