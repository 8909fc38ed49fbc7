/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/usdt/records.h"

#include <string.h>

#include "format/activity.h"
#include "injection/cupti/cupti.h"

struct reader {
	const struct gt_activity_layout *layout;
	const uint8_t *record;
};

static uint64_t get(const struct reader *reader, enum gt_raw_field field)
{
	return gt_raw_get(reader->layout, reader->record, field);
}

/* The name is CUPTI's, which keeps it as long as the module is loaded. */
static void fire_kernel(const struct reader *reader)
{
	const uint64_t name = get(reader, GT_RAW_kernel_name);

	gt_probe_fire_kernel(&(struct gt_probe_kernel){
		.start_ns = get(reader, GT_RAW_kernel_start_ns),
		.end_ns = get(reader, GT_RAW_kernel_end_ns),
		.device = get(reader, GT_RAW_kernel_device),
		.context = get(reader, GT_RAW_kernel_context),
		.stream = get(reader, GT_RAW_kernel_stream),
		.correlation = get(reader, GT_RAW_kernel_correlation),
		.graph = get(reader, GT_RAW_kernel_graph),
		.graph_node = get(reader, GT_RAW_kernel_graph_node),
		.name = name ? name : gt_probe_text(NULL),
	});
}

/* CUPTI has two records of copies. */
#define FIRE_COPY(activity)                                                                        \
	gt_probe_fire_copy(&(struct gt_probe_copy){                                                \
		.start_ns = get(reader, GT_RAW_##activity##_start_ns),                             \
		.end_ns = get(reader, GT_RAW_##activity##_end_ns),                                 \
		.bytes = get(reader, GT_RAW_##activity##_size_bytes),                              \
		.kind = get(reader, GT_RAW_##activity##_kind),                                     \
		.src_kind = get(reader, GT_RAW_##activity##_src_kind),                             \
		.dst_kind = get(reader, GT_RAW_##activity##_dst_kind),                             \
		.device = get(reader, GT_RAW_##activity##_device),                                 \
		.context = get(reader, GT_RAW_##activity##_context),                               \
		.stream = get(reader, GT_RAW_##activity##_stream),                                 \
		.correlation = get(reader, GT_RAW_##activity##_correlation),                       \
		.graph = get(reader, GT_RAW_##activity##_graph),                                   \
	})

static void see(const struct reader *reader)
{
	enum gt_cupti_activity activity;
	uint32_t kind;

	memcpy(&kind, reader->record, sizeof(kind));
	if (kind & GT_RAW_KIND_OPEN)
		return;
	activity = gt_activity_of_kind(kind);
	if (activity == GT_ACTIVITY_kernel && GT_PROBE_IS_ON(kernel))
		fire_kernel(reader);
	else if (activity == GT_ACTIVITY_memcpy && GT_PROBE_IS_ON(copy))
		FIRE_COPY(memcpy);
	else if (activity == GT_ACTIVITY_memcpy2 && GT_PROBE_IS_ON(copy))
		FIRE_COPY(memcpy2);
}

void gt_probe_records(const struct gt_cupti *cupti, const struct gt_activity_layout *layout,
                      uint8_t *bytes, size_t used)
{
	CUpti_Activity *record = NULL;

	while (cupti->cuptiActivityGetNextRecord(bytes, used, &record) == CUPTI_SUCCESS)
		see(&(struct reader){layout, (const uint8_t *)record});
}

void gt_probe_dropped(size_t records)
{
	if (GT_PROBE_IS_ON(dropped))
		gt_probe_fire_dropped(&(struct gt_probe_dropped){.records = records});
}
