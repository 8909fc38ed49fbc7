/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_WRITER_H
#define GT_EXPORTERS_PERFETTO_WRITER_H

#include <stdint.h>

#include "base/array.h"
#include "exporters/exporter.h"
#include "exporters/perfetto/wire/names.h"
#include "exporters/perfetto/wire/packets.h"
#include "exporters/perfetto/wire/sequence.h"
#include "exporters/timeline/ids.h"

struct gt_steps;
struct gt_view;

/* One export on its way: what its parts share. */
struct gt_perfetto {
	const struct gt_view *view;
	const struct gt_trace *trace; /* of the view */
	const struct gt_steps *steps; /* likewise; NULL: nobody has found them */
	struct gt_ids ids;
	struct gt_names names;
	struct gt_packets packets;
	struct gt_sequence descriptions; /* descriptors of tracks */
	struct gt_export_counts counts;
	gt_array(const char *) groups; /* of lines, see lines.h; borrowed */
	gt_time base_ns;               /* where the clocks of all sequences begin */
	uint64_t flows;                /* arrows between slices of the host, numbers given out */
	uint32_t sequences;            /* numbers given out */
};

/* Everything between opening and closing the packets. */
void gt_perfetto_write(struct gt_perfetto *perfetto, const struct gt_export_options *options);

/* The parts. */
#define PART(name) void gt_perfetto_write_##name(struct gt_perfetto *perfetto);
#include "exporters/perfetto/parts.def"

/* The first and the last reading of the clocks: joins the file to others by wall-clock time. */
void gt_perfetto_write_first_clock(struct gt_perfetto *perfetto);
void gt_perfetto_write_last_clock(struct gt_perfetto *perfetto);

/* A new sequence whose events are on track_uuid (0: each says its own). */
void gt_perfetto_start(struct gt_perfetto *perfetto, struct gt_sequence *sequence,
                       uint64_t track_uuid);

/* Numbers for so many arrows between slices of the host: this one and those behind it. */
static inline uint64_t gt_perfetto_add_flows(struct gt_perfetto *perfetto, uint64_t count)
{
	const uint64_t first = perfetto->flows + 1;

	perfetto->flows += count;
	return first;
}

/* A row without a time to show it at. */
static inline void gt_perfetto_skip(struct gt_perfetto *perfetto)
{
	perfetto->counts.skipped++;
}

#endif
