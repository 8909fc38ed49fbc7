/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/device_events/builder.h"

#include <stdbool.h>

#include "format/arena/device_ring.h"

static gt_id find_ring(struct gt_event_builder *builder, struct gt_known *known, uint32_t context)
{
	gt_id row;

	if (gt_known_is_new(known, context, builder->trace->device_rings.count, &row))
		*gt_array_push(&builder->trace->device_rings) = (struct gt_device_ring){
			.process = builder->capture->process,
			.context = gt_event_context(builder, context),
		};
	return row;
}

/* Whether a record tells what the ring came to, and not when it was made or gone. */
static bool tells_counts(const struct gt_record_device_ring *raw)
{
	return raw->made_ns == 0 && raw->gone_ns == 0;
}

static void take_ring(struct gt_device_ring *ring, const struct gt_record_device_ring *raw)
{
	if (tells_counts(raw)) {
		ring->written = raw->written;
		ring->lost = raw->lost;
		ring->overwritten = raw->overwritten;
	}
	if (raw->made_ns)
		ring->made_ns = (gt_time)raw->made_ns;
	if (raw->gone_ns) {
		ring->gone_ns = (gt_time)raw->gone_ns;
		return;
	}
	ring->bytes = gt_device_ring_bytes(raw->chunk_count);
	ring->chunk_count = raw->chunk_count;
	ring->flags = raw->flags;
}

/* Those that tell counts, or the others. */
static void take_rings(struct gt_event_builder *builder, struct gt_known *known, bool counts)
{
	gt_array_each(const struct gt_record_device_ring, raw,
	              &builder->capture->raw_device_rings) {
		gt_id row;

		if (tells_counts(raw) != counts)
			continue;
		row = find_ring(builder, known, raw->context);
		take_ring(&builder->trace->device_rings.rows[row], raw);
	}
}

void gt_event_add_rings(struct gt_event_builder *builder)
{
	struct gt_trace *trace = builder->trace;
	const size_t first = trace->device_rings.count;
	struct gt_known known = {0};
	size_t told;

	take_rings(builder, &known, true);
	told = trace->device_rings.count;
	take_rings(builder, &known, false);
	for (size_t i = 0; i < builder->written.launches.count; i++) {
		const struct gt_built_writer *writer =
			&builder->writers.rows[builder->first_launch + i];
		const uint32_t context = builder->written.launches.rows[i].context;
		const gt_id row = find_ring(builder, &known, context);
		struct gt_device_ring *ring = &trace->device_rings.rows[row];

		if (row >= told)
			ring->written += writer->events;
		if (builder->launches.rows[builder->first_launch + i].kernel == GT_NONE)
			ring->without_kernel += writer->events;
	}
	gt_array_each(const struct gt_written_chunk, chunk, &builder->written.chunks) {
		const gt_id row = gt_known_find(&known, chunk->context);

		if (row != GT_NONE && row >= told && row >= first)
			trace->device_rings.rows[row].lost += chunk->lost;
	}
	gt_known_release(&known);
}
