/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "import/builder.h"
#include "import/nsys/database.h"
#include "import/nsys/rows.h"

enum {
	KIND_EVENT_RECORD = 16, /* format/kinds/sync.def */
	COPY_PEER = 10,         /* CUpti_ActivityMemcpyKind */
	/* Migrations of managed memory, which nsys has among copies. */
	MIGRATION_HOST_TO_DEVICE = 11,
	MIGRATION_DEVICE_TO_HOST = 12,
	MIGRATION_DEVICE_TO_DEVICE = 13,
	CLASS_DRIVER = 1, /* eventClass of a call of the driver */
};

#define NUMBER(column)   gt_nsys_number(row, column, 0)
#define COUNT(column)    (uint32_t) NUMBER(column)
#define TIME(column)     gt_nsys_number(row, column, GT_NO_TIME)
#define OR_NONE(column)  (uint32_t) gt_nsys_number(row, column, GT_NOT_SAID)
#define POSITIVE(column) (NUMBER(column) > 0 ? (uint64_t)NUMBER(column) : 0)

/* Times, device, context, stream and correlation, as all records of work have them. */
#define PLACE(table)                                                                               \
	.start_ns = gt_builder_time(builder, TIME(NSYS_##table##_start)),                          \
	.end_ns = gt_builder_time(builder, TIME(NSYS_##table##_end)),                              \
	.context = COUNT(NSYS_##table##_contextId), .stream = COUNT(NSYS_##table##_streamId),      \
	.correlation = COUNT(NSYS_##table##_correlationId),                                        \
	.flags = TIME(NSYS_##table##_end) == GT_NO_TIME ? GT_RECORD_UNFINISHED : 0

#define SEE_STREAM(table)                                                                          \
	gt_builder_stream(builder, COUNT(NSYS_##table##_contextId),                                \
	                  COUNT(NSYS_##table##_streamId), TIME(NSYS_##table##_start))

/* As the compiler mangled it, else the whole name, else the short one. */
static uint32_t name_of(struct gt_nsys_reading *reading, sqlite3_stmt *row)
{
	static const int columns[] = {NSYS_kernel_mangledName, NSYS_kernel_demangledName,
	                              NSYS_kernel_shortName};

	for (size_t i = 0; i < GT_COUNT_OF(columns); i++) {
		uint32_t name = 0;

		if (sqlite3_column_type(row, columns[i]) != SQLITE_NULL)
			name = gt_nsys_text(reading->nsys, reading->builder, NUMBER(columns[i]));
		if (name)
			return name;
	}
	return 0;
}

static void take_kernel(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;
	struct gt_builder *builder = reading->builder;
	struct gt_record_shape shape;

	memset(&shape, 0, sizeof(shape)); /* padding too: equal shapes are found by their bytes */
	shape.name = name_of(reading, row);
	shape.grid_x = COUNT(NSYS_kernel_gridX);
	shape.grid_y = COUNT(NSYS_kernel_gridY);
	shape.grid_z = COUNT(NSYS_kernel_gridZ);
	shape.block_x = COUNT(NSYS_kernel_blockX);
	shape.block_y = COUNT(NSYS_kernel_blockY);
	shape.block_z = COUNT(NSYS_kernel_blockZ);
	shape.cluster_x = COUNT(NSYS_kernel_clusterX);
	shape.cluster_y = COUNT(NSYS_kernel_clusterY);
	shape.cluster_z = COUNT(NSYS_kernel_clusterZ);
	shape.registers = COUNT(NSYS_kernel_registersPerThread);
	shape.shared_static = COUNT(NSYS_kernel_staticSharedMemory);
	shape.shared_dynamic = COUNT(NSYS_kernel_dynamicSharedMemory);
	shape.shared_executed = COUNT(NSYS_kernel_sharedMemoryExecuted);
	shape.local_per_thread = COUNT(NSYS_kernel_localMemoryPerThread);
	shape.cache_config = COUNT(NSYS_kernel_cacheConfig);
	SEE_STREAM(kernel);
	gt_builder_add(builder, kernel, PLACE(kernel), .device = COUNT(NSYS_kernel_deviceId),
	               .graph = COUNT(NSYS_kernel_graphId),
	               .graph_node = POSITIVE(NSYS_kernel_graphNodeId),
	               .grid_id = COUNT(NSYS_kernel_gridId),
	               .shape = gt_builder_shape(builder, &shape));
}

/* CUpti_ActivityMemoryKind; nsys counts from 0 and has "unknown" last. */
static uint32_t memory_kind(int64_t kind)
{
	return kind >= 0 && kind < 7 ? (uint32_t)kind + 1 : 0;
}

/* Device ordinal plus one. */
static uint32_t peer(sqlite3_stmt *row, int column)
{
	return (uint32_t)(gt_nsys_number(row, column, -1) + 1);
}

/* CUpti_ActivityUnifiedMemoryCounterKind of bytes that moved. */
static void take_migration(struct gt_builder *builder, sqlite3_stmt *row, int64_t kind)
{
	gt_builder_add(
		builder, unified_event,
		.start_ns = gt_builder_time(builder, TIME(NSYS_memcpy_start)),
		.end_ns = gt_builder_time(builder, TIME(NSYS_memcpy_end)),
		.address = POSITIVE(NSYS_memcpy_virtualAddress),
		.value = POSITIVE(NSYS_memcpy_bytes),
		.source = kind == MIGRATION_HOST_TO_DEVICE ? 0 : peer(row, NSYS_memcpy_srcDeviceId),
		.target = kind == MIGRATION_DEVICE_TO_HOST ? 0 : peer(row, NSYS_memcpy_dstDeviceId),
		.kind = kind == MIGRATION_HOST_TO_DEVICE   ? 1
	                : kind == MIGRATION_DEVICE_TO_HOST ? 2
	                                                   : 8,
		.detail = COUNT(NSYS_memcpy_migrationCause));
}

static void take_copy(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;
	struct gt_builder *builder = reading->builder;
	const int64_t kind = NUMBER(NSYS_memcpy_copyKind);
	const bool peers = kind == COPY_PEER;

	if (kind >= MIGRATION_HOST_TO_DEVICE && kind <= MIGRATION_DEVICE_TO_DEVICE) {
		take_migration(builder, row, kind);
		return;
	}
	SEE_STREAM(memcpy);
	gt_builder_add(builder, copy, PLACE(memcpy), .device = COUNT(NSYS_memcpy_deviceId),
	               .graph_node = POSITIVE(NSYS_memcpy_graphNodeId),
	               .size_bytes = POSITIVE(NSYS_memcpy_bytes), .kind = (uint32_t)kind,
	               .src_kind = memory_kind(gt_nsys_number(row, NSYS_memcpy_srcKind, -1)),
	               .dst_kind = memory_kind(gt_nsys_number(row, NSYS_memcpy_dstKind, -1)),
	               .src_device = peers ? peer(row, NSYS_memcpy_srcDeviceId) : 0,
	               .dst_device = peers ? peer(row, NSYS_memcpy_dstDeviceId) : 0);
}

static void take_fill(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;
	struct gt_builder *builder = reading->builder;

	SEE_STREAM(memset);
	gt_builder_add(builder, fill, PLACE(memset), .device = COUNT(NSYS_memset_deviceId),
	               .graph_node = POSITIVE(NSYS_memset_graphNodeId),
	               .size_bytes = POSITIVE(NSYS_memset_bytes), .value = COUNT(NSYS_memset_value),
	               .memory_kind = memory_kind(gt_nsys_number(row, NSYS_memset_memKind, -1)));
}

static void take_graph(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;
	struct gt_builder *builder = reading->builder;
	const uint32_t exec = COUNT(NSYS_graph_graphExecId);

	SEE_STREAM(graph);
	gt_builder_add(builder, graph_trace, PLACE(graph), .device = peer(row, NSYS_graph_deviceId),
	               .graph = exec ? exec : COUNT(NSYS_graph_graphId));
}

/* ---- of threads ---- */

static void take_call(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;
	const struct gt_built_call call = {
		.start_ns = TIME(NSYS_runtime_start),
		.end_ns = TIME(NSYS_runtime_end),
		.correlation = COUNT(NSYS_runtime_correlationId),
		.tid = (uint32_t)(NUMBER(NSYS_runtime_globalTid) & 0xffffff),
		.result = (int32_t)NUMBER(NSYS_runtime_returnValue),
		.flags = NUMBER(NSYS_runtime_eventClass) == CLASS_DRIVER ? GT_RECORD_DRIVER_API : 0,
	};

	if (gt_builder_time(reading->builder, call.start_ns))
		gt_builder_call(reading->builder, &call,
		                gt_nsys_string(reading->nsys, NUMBER(NSYS_runtime_nameId)));
}

static void take_wait(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;
	const struct gt_built_wait wait = {
		.start_ns = TIME(NSYS_sync_start),
		.end_ns = TIME(NSYS_sync_end),
		.correlation = COUNT(NSYS_sync_correlationId),
		.kind = COUNT(NSYS_sync_syncType),
		.context = OR_NONE(NSYS_sync_contextId),
		.stream = OR_NONE(NSYS_sync_streamId),
		.event = OR_NONE(NSYS_sync_eventId),
	};

	gt_builder_wait(reading->builder, &wait);
}

static void take_event(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;
	const struct gt_built_wait wait = {
		.start_ns = GT_NO_TIME,
		.end_ns = GT_NO_TIME,
		.correlation = COUNT(NSYS_event_correlationId),
		.kind = KIND_EVENT_RECORD,
		.context = OR_NONE(NSYS_event_contextId),
		.stream = OR_NONE(NSYS_event_streamId),
		.event = OR_NONE(NSYS_event_eventId),
	};

	gt_builder_wait(reading->builder, &wait);
}

/* CUpti_ActivityOverheadKind of ENUM_CUPTI_OVERHEAD_TYPE. */
static void take_overhead(void *context, sqlite3_stmt *row)
{
	static const uint32_t kinds[] = {0,       0,       1,       1 << 16, 2 << 16,
	                                 3 << 16, 4 << 16, 5 << 16, 6 << 16};
	struct gt_nsys_reading *reading = context;
	struct gt_builder *builder = reading->builder;
	const uint32_t type = COUNT(NSYS_overhead_overheadType);

	gt_builder_add(builder, overhead,
	               .start_ns = gt_builder_time(builder, TIME(NSYS_overhead_start)),
	               .end_ns = gt_builder_time(builder, TIME(NSYS_overhead_end)),
	               .correlation = COUNT(NSYS_overhead_correlationId),
	               .tid = (uint32_t)(NUMBER(NSYS_overhead_globalTid) & 0xffffff),
	               .kind = type < GT_COUNT_OF(kinds) ? kinds[type] : 0);
}

void gt_nsys_read_work(struct gt_nsys_reading *reading)
{
	static const struct {
		enum gt_nsys_table table;
		gt_nsys_row *take;
	} parts[] = {
		{NSYS_kernel, take_kernel}, {NSYS_memcpy, take_copy},
		{NSYS_memset, take_fill},   {NSYS_graph, take_graph},
		{NSYS_runtime, take_call},  {NSYS_sync, take_wait},
		{NSYS_event, take_event},   {NSYS_overhead, take_overhead},
	};

	for (size_t i = 0; i < GT_COUNT_OF(parts); i++)
		gt_nsys_each(reading->nsys, parts[i].table, reading->process, parts[i].take,
		             reading);
}
