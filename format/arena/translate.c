/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/translate.h"

#include <stddef.h>
#include <string.h>

#include "format/records.h"

/* Numbers of CUPTI's that only matter here (cupti_activity.h, CUDA 13.0). */
enum {
	OBJECT_THREAD = 2,   /* CUPTI_ACTIVITY_OBJECT_THREAD */
	ON_HOST = INT32_MAX, /* device of a graph */
	UNIFIED_HTOD = 1,    /* CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_... */
	UNIFIED_DTOH = 2,
	UNIFIED_CPU_FAULT = 3,
	UNIFIED_GPU_FAULT = 4,
	UNIFIED_THRASHING = 5,
	UNIFIED_THROTTLING = 6,
	UNIFIED_REMOTE_MAP = 7,
	UNIFIED_DTOD = 8,
	COPY_ASYNC = 1, /* CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC, the same bit as for memset */
};

/* A field that is taken as it stands. */
struct copy {
	uint16_t place; /* enum gt_raw_field */
	uint16_t offset;
	uint8_t width;
	bool is_name;
};

/* clang-format off */
#define ACTIVITY(name, number, kind, type, record, how) typedef struct gt_record_##record record_of_##name;
#define RAW(name, field, member)
#include "format/activity.def"

/* One array for each activity: each closes the one before it. */
static const struct copy no_copies[] = {{0}
#define ACTIVITY(name, number, kind, type, record, how) }; static const struct copy name##_copies[] = {
#define RAW(name, field, member) \
	{GT_RAW_##name##_##field, offsetof(record_of_##name, field), \
	 sizeof(((record_of_##name *)NULL)->field), false},
#define NAME(name, field, member) \
	{GT_RAW_##name##_##field, offsetof(record_of_##name, field), \
	 sizeof(((record_of_##name *)NULL)->field), true},
#define AUX(name, field, member)
#include "format/activity.def"
};
/* clang-format on */

static uint64_t get(const struct gt_translator *translator, const uint8_t *raw,
                    enum gt_raw_field field)
{
	return gt_raw_get(translator->layout, raw, field);
}

#define GET(activity, field)   get(translator, raw, GT_RAW_##activity##_##field)
#define GET32(activity, field) ((uint32_t)GET(activity, field))

static uint32_t name_at(const struct gt_translator *translator, uint64_t pointer)
{
	return pointer ? translator->name_of(translator->context, pointer) : 0;
}

static bool translate_kernel(const struct gt_translator *translator, const uint8_t *raw,
                             void *record)
{
	struct gt_record_kernel *kernel = record;
	struct gt_record_shape shape = {
		.name = name_at(translator, GET(kernel, name)),
		.grid_x = GET32(kernel, grid_x),
		.grid_y = GET32(kernel, grid_y),
		.grid_z = GET32(kernel, grid_z),
		.block_x = GET32(kernel, block_x),
		.block_y = GET32(kernel, block_y),
		.block_z = GET32(kernel, block_z),
		.cluster_x = GET32(kernel, cluster_x),
		.cluster_y = GET32(kernel, cluster_y),
		.cluster_z = GET32(kernel, cluster_z),
		.registers = GET32(kernel, registers),
		.shared_static = GET32(kernel, shared_static),
		.shared_dynamic = GET32(kernel, shared_dynamic),
		.shared_executed = GET32(kernel, shared_executed),
		.local_per_thread = GET32(kernel, local_per_thread),
		.cache_config =
			GET32(kernel, cache_config) >> 4, /* the upper half: executed with */
	};

	kernel->shape = translator->shape_of(translator->context, &shape);
	kernel->flags |= GET(kernel, device_launched) ? GT_RECORD_DEVICE_LAUNCHED : 0;
	return true;
}

static bool translate_memcpy(const struct gt_translator *translator, const uint8_t *raw,
                             void *record)
{
	struct gt_record_copy *copy = record;

	copy->flags |= GET(memcpy, flags) & COPY_ASYNC ? GT_RECORD_ASYNC : 0;
	return true;
}

static bool translate_memcpy2(const struct gt_translator *translator, const uint8_t *raw,
                              void *record)
{
	struct gt_record_copy *copy = record;

	copy->src_device++; /* 0 stands for none */
	copy->dst_device++;
	copy->flags |= GET(memcpy2, flags) & COPY_ASYNC ? GT_RECORD_ASYNC : 0;
	return true;
}

static bool translate_memset(const struct gt_translator *translator, const uint8_t *raw,
                             void *record)
{
	struct gt_record_fill *fill = record;

	fill->flags |= GET(memset, flags) & COPY_ASYNC ? GT_RECORD_ASYNC : 0;
	return true;
}

/* Where a graph begins on the host, it says so instead of a device and a context. */
static bool translate_graph_trace(const struct gt_translator *translator, const uint8_t *raw,
                                  void *record)
{
	struct gt_record_graph_trace *trace = record;
	const uint32_t device = GET32(graph_trace, device_id);

	trace->context = trace->stream = UINT32_MAX;
	if (device == ON_HOST)
		return true;
	trace->device = device + 1;
	trace->context = GET32(graph_trace, context_id);
	trace->stream = GET32(graph_trace, stream_id);
	return true;
}

/*
 * An event without an end ends when it began: it is not open. CUPTI has an id for the host, all
 * bits set; version 13.0 says 0 instead where memory moves (seen on an H200), so that the kind
 * decides. For a fault of the host it tells at which instruction, and not that it is one.
 */
static bool translate_unified(const struct gt_translator *translator, const uint8_t *raw,
                              void *record)
{
	struct gt_record_unified_event *event = record;

	if (event->start_ns && !event->end_ns) {
		event->end_ns = event->start_ns;
		event->flags &= ~(uint32_t)GT_RECORD_UNFINISHED;
	}
	switch (event->kind) {
	case UNIFIED_HTOD:
		event->target = GET32(unified, target) + 1;
		break;
	case UNIFIED_DTOH:
		event->source = GET32(unified, source) + 1;
		break;
	case UNIFIED_CPU_FAULT:
		event->value = 1;
		break;
	case UNIFIED_DTOD:
	case UNIFIED_REMOTE_MAP:
		event->target = GET32(unified, target) + 1;
		event->source = GET32(unified, source) + 1;
		break;
	case UNIFIED_GPU_FAULT:
	case UNIFIED_THROTTLING:
		event->source = GET32(unified, source) + 1;
		break;
	case UNIFIED_THRASHING:
		event->processors = GET(unified, processors);
		break;
	default:
		break;
	}
	return true;
}

static bool translate_overhead(const struct gt_translator *translator, const uint8_t *raw,
                               void *record)
{
	struct gt_record_overhead *overhead = record;

	if (GET(overhead, object_kind) == OBJECT_THREAD)
		overhead->tid = GET32(overhead, object_tid);
	return true;
}

static bool translate_device(const struct gt_translator *translator, const uint8_t *raw,
                             void *record)
{
	struct gt_record_device *device = record;

	device->max_threads_per_sm = GET32(device, max_warps) * GET32(device, warp_size);
	/* CUPTI also describes the GPUs that CUDA_VISIBLE_DEVICES hides from the process. */
	return GET(device, visible) != 0;
}

/* The number of multiprocessors is only set where the context is a green one. */
static bool translate_context(const struct gt_translator *translator, const uint8_t *raw,
                              void *record)
{
	struct gt_record_context *context = record;

	if (GET(context, green))
		context->sm_count = GET32(context, multiprocessors);
	return true;
}

typedef bool translate(const struct gt_translator *translator, const uint8_t *raw, void *record);

struct activity {
	const struct copy *copies;
	size_t copy_count;
	uint16_t record;
	translate *hook;
};

/* clang-format off */
#define HOW_plain(name) NULL
#define HOW_hook(name)  translate_##name
static const struct activity activities[GT_ACTIVITY_COUNT + 1] = {
#define ACTIVITY(name, number, kind, type, record, how) \
	[GT_ACTIVITY_##name] = {name##_copies, sizeof(name##_copies) / sizeof(struct copy), \
	                        GT_RECORD_##record, HOW_##how(name)},
#define RAW(name, field, member)
#include "format/activity.def"
	[GT_ACTIVITY_COUNT] = {no_copies, 0, 0, NULL},
};
/* clang-format on */

static uint32_t kind_of(const uint8_t *raw)
{
	uint32_t kind;

	memcpy(&kind, raw, sizeof(kind));
	return kind;
}

enum gt_cupti_activity gt_raw_activity(const uint8_t *raw)
{
	return gt_activity_of_kind(kind_of(raw) & ~GT_RAW_KIND_OPEN);
}

uint32_t gt_raw_bytes(const struct gt_activity_layout *layout, const uint8_t *raw)
{
	const enum gt_cupti_activity activity = gt_raw_activity(raw);

	return activity == GT_ACTIVITY_COUNT ? 0 : layout->sizes[activity];
}

uint16_t gt_activity_record(enum gt_cupti_activity activity)
{
	return activities[activity].record;
}

static void take(const struct gt_translator *translator, const struct copy *copy,
                 const uint8_t *raw, uint8_t *record)
{
	const uint64_t value = get(translator, raw, copy->place);
	const uint32_t narrow = copy->is_name ? name_at(translator, value) : (uint32_t)value;

	if (copy->width == sizeof(value))
		memcpy(record + copy->offset, &value, sizeof(value));
	else
		memcpy(record + copy->offset, &narrow, sizeof(narrow));
}

/* CUPTI leaves both times 0 until it knows them, and marks the record as open. */
static uint32_t flags_of(const struct gt_translator *translator, const uint8_t *raw,
                         const uint8_t *record)
{
	uint64_t times[2];
	bool open;

	memcpy(times, record, sizeof(times)); /* what has flags begins with its times */
	open = times[0] == 0 || times[1] == 0 || kind_of(raw) & GT_RAW_KIND_OPEN;
	return translator->record_flags | (open ? GT_RECORD_UNFINISHED : 0);
}

bool gt_translate(const struct gt_translator *translator, enum gt_cupti_activity activity,
                  const uint8_t *raw, void *record)
{
	const struct activity *how = &activities[activity];
	const struct gt_record_info *info = gt_record_info(how->record);
	/* The flags of a record stand last. */
	const struct gt_field *last = &info->fields[info->field_count - 1];
	uint8_t *bytes = record;

	for (size_t i = 0; i < how->copy_count; i++)
		take(translator, &how->copies[i], raw, bytes);
	if (last->role == GT_ROLE_flags) {
		const uint32_t flags = flags_of(translator, raw, bytes);

		memcpy(bytes + last->offset, &flags, sizeof(flags));
	}
	return !how->hook || how->hook(translator, raw, record);
}
