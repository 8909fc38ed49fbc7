/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle/demangle.h"
#include "base/hash.h"
#include "base/strings.h"
#include "collector/decode/rows.h"
#include "collector/kinds.h"
#include "collector/stage.h"

#define HASH_FUNCTION(key, size, hash) (hash) = (unsigned)gt_hash_bytes(key, size, trace)
#define uthash_fatal(msg)              abort()
#include <uthash.h>

/*
 * Strings and shapes by the trace's own ids: names are demangled, equal shapes of all captures
 * become one row, devices seen by several processes become one row, API calls get their kind.
 */

static gt_string demangle(struct gt_trace *trace, gt_string name)
{
	char *demangled = gt_demangle(gt_trace_text(trace, name));
	gt_string id = name;

	if (demangled)
		id = gt_strings_add(trace->strings, demangled);
	free(demangled);
	return id;
}

/* ---- shapes ---- */

struct shape_entry {
	UT_hash_handle hh;
	struct gt_launch_shape shape;
	gt_id row;
};

/* The row of a shape, made if there is none like it. Padding of the key is zero. */
static gt_id row_of_shape(struct gt_trace *trace, struct shape_entry **all,
                          const struct gt_launch_shape *shape)
{
	struct shape_entry *entry;

	HASH_FIND(hh, *all, shape, sizeof(*shape), entry);
	if (entry)
		return entry->row;
	entry = gt_allocate_zeroed(1, sizeof(*entry));
	memcpy(&entry->shape, shape, sizeof(*shape));
	entry->row = (gt_id)trace->launch_shapes.count;
	*gt_array_push(&trace->launch_shapes) = *shape;
	HASH_ADD(hh, *all, shape, sizeof(entry->shape), entry);
	return entry->row;
}

static void add_shape(struct gt_trace *trace, struct gt_capture *capture, struct shape_entry **all,
                      const struct gt_record_shape *raw)
{
	struct gt_launch_shape shape;

	memset(&shape, 0, sizeof(shape));
	shape.name = gt_capture_string(capture, raw->name);
	shape.demangled = demangle(trace, shape.name);
	shape.grid_x = raw->grid_x;
	shape.grid_y = raw->grid_y;
	shape.grid_z = raw->grid_z;
	shape.block_x = raw->block_x;
	shape.block_y = raw->block_y;
	shape.block_z = raw->block_z;
	shape.cluster_x = raw->cluster_x;
	shape.cluster_y = raw->cluster_y;
	shape.cluster_z = raw->cluster_z;
	shape.registers = raw->registers;
	shape.shared_static_bytes = raw->shared_static;
	shape.shared_dynamic_bytes = raw->shared_dynamic;
	shape.shared_executed_bytes = raw->shared_executed;
	shape.local_per_thread_bytes = raw->local_per_thread;
	/* CUPTI 13.0 says 0 of kernels that have some, too. */
	shape.local_known = raw->local_per_thread > 0;
	shape.cache_config = raw->cache_config;
	gt_known_set(&capture->shapes, raw->id, row_of_shape(trace, all, &shape));
}

static void resolve_shapes(struct gt_trace *trace, struct gt_capture *capture,
                           struct shape_entry **all)
{
	gt_array_each(const struct gt_record_shape, raw, &capture->raw_shapes)
		add_shape(trace, capture, all, raw);
}

/* The row of a capture's shape id; that of the empty shape when nobody said what it is. */
static gt_id shape_of(struct gt_trace *trace, struct gt_capture *capture, struct shape_entry **all,
                      gt_id raw)
{
	const gt_id row = gt_known_find(&capture->shapes, raw);

	return row == GT_NONE ? row_of_shape(trace, all, &(struct gt_launch_shape){0}) : row;
}

/* ---- columns of what the capture calls by ids of its own ---- */

/* One column of the rows that a capture brought. */
struct cells {
	struct gt_trace *trace;
	struct gt_capture *capture;
	struct shape_entry **shapes;
	uint8_t *at;
	size_t row_size;
	size_t count;
};

static void resolve(const struct cells *cells, enum gt_role role)
{
	uint8_t *at = cells->at;

	for (size_t i = 0; i < cells->count; i++, at += cells->row_size) {
		gt_id id;

		memcpy(&id, at, sizeof(id));
		if (role == GT_ROLE_string)
			id = gt_capture_string(cells->capture, id);
		else
			id = shape_of(cells->trace, cells->capture, cells->shapes, id);
		memcpy(at, &id, sizeof(id));
	}
}

static void resolve_columns(struct gt_collection *collection, struct gt_capture *capture,
                            struct shape_entry **shapes)
{
	gt_array_each(const struct gt_segment, segment, &capture->segments) {
		const struct gt_kind *kind = gt_kind_find(collection->kinds, segment->kind);
		const struct gt_rows rows = gt_trace_rows(collection->trace, kind->table);

		for (size_t i = 0; i < kind->binding_count; i++) {
			const struct gt_binding *binding = &kind->bindings[i];
			const struct cells cells = {
				.trace = collection->trace,
				.capture = capture,
				.shapes = shapes,
				.at = rows.rows + segment->first * rows.row_size +
			              binding->column->offset,
				.row_size = rows.row_size,
				.count = segment->count,
			};

			if (binding->field->role == GT_ROLE_string ||
			    binding->field->role == GT_ROLE_shape)
				resolve(&cells, binding->field->role);
		}
	}
}

/* ---- API calls ---- */

static const struct {
	const char *prefix;
	enum gt_api_kind kind;
} calls[] = {
#define GT_API_NONE        GT_API_OTHER
#define CALL(prefix, kind) {prefix, GT_API_##kind},
#include "format/kinds/api_calls.def"
};

static enum gt_api_kind kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strncmp(name, calls[i].prefix, strlen(calls[i].prefix)) == 0)
			return calls[i].kind;
	return GT_API_OTHER;
}

/* Length without one suffix such as _v3020, _v2, _ptsz or _ptds; the same length if it has none. */
static size_t without_suffix(const char *name, size_t length)
{
	size_t at = length;

	if (length > 5 && (strncmp(name + length - 5, "_ptsz", 5) == 0 ||
	                   strncmp(name + length - 5, "_ptds", 5) == 0))
		return length - 5;
	while (at > 0 && isdigit((unsigned char)name[at - 1]))
		at--;
	if (at < length && at > 2 && name[at - 1] == 'v' && name[at - 2] == '_')
		return at - 2;
	return length;
}

static gt_string plain_name(struct gt_trace *trace, gt_string name)
{
	const char *text = gt_trace_text(trace, name);
	size_t length = strlen(text);
	size_t before;

	do {
		before = length;
		length = without_suffix(text, length);
	} while (length < before);
	return gt_strings_add_bytes(trace->strings, text, length);
}

/* Meaning of a text as the name of an API function. */
struct function {
	gt_string name;
	enum gt_api_kind kind;
	bool known;
};

/* Once the texts are the trace's own: few functions, called often. */
static void resolve_calls(struct gt_trace *trace)
{
	const size_t count = gt_strings_count(trace->strings);
	struct function *functions = gt_allocate_zeroed(count, sizeof(*functions));

	gt_array_each(struct gt_api_call, call, &trace->api_calls) {
		const gt_string id = call->function < count ? call->function : 0;
		struct function *function = &functions[id];

		if (!function->known) {
			function->known = true;
			function->kind = kind_of(gt_trace_text(trace, id));
			function->name = plain_name(trace, id);
		}
		call->function = function->name;
		call->kind = function->kind;
	}
	free(functions);
}

/* ---- devices ---- */

/* Fields that a record leaves 0 keep what another record said. */
static void merge_device(struct gt_trace *trace, struct gt_capture *capture,
                         const struct gt_record_device *raw)
{
	const gt_id row = gt_row_of_device(trace, capture, raw->ordinal);
	struct gt_device *device;

	if (row == GT_NONE)
		return; /* the number of none */
	device = &trace->devices.rows[row];

#define MERGE(field, value)                                                                        \
	if (value)                                                                                 \
	device->field = (value)
	MERGE(name, gt_capture_string(capture, raw->name));
	MERGE(uuid, gt_capture_string(capture, raw->uuid));
	MERGE(pci, gt_capture_string(capture, raw->pci));
	MERGE(cc_major, raw->cc_major);
	MERGE(cc_minor, raw->cc_minor);
	MERGE(sm_count, raw->sm_count);
	MERGE(sm_clock_khz, raw->sm_clock_khz);
	MERGE(memory_clock_khz, raw->memory_clock_khz);
	MERGE(memory_bus_bits, raw->memory_bus_bits);
	MERGE(memory_bytes, raw->memory_bytes);
	MERGE(l2_bytes, raw->l2_bytes);
	MERGE(warp_size, raw->warp_size);
	MERGE(max_threads_per_sm, raw->max_threads_per_sm);
	MERGE(max_blocks_per_sm, raw->max_blocks_per_sm);
	MERGE(registers_per_sm, raw->registers_per_sm);
	MERGE(registers_per_block, raw->registers_per_block);
	MERGE(shared_per_sm_bytes, raw->shared_per_sm_bytes);
	MERGE(shared_per_block_bytes, raw->shared_per_block_bytes);
	MERGE(shared_reserved_bytes, raw->shared_reserved_bytes);
	MERGE(pcie_generation, raw->pcie_generation);
	MERGE(pcie_width, raw->pcie_width);
	MERGE(copy_engines, raw->copy_engines);
	if (raw->index_plus_one)
		device->index = (gt_code)(raw->index_plus_one - 1);
	device->host = trace->processes.rows[capture->process].host;
}

/* The first row of the same GPU: by UUID; rows without one stay apart. */
static gt_id first_like(const struct gt_trace *trace, struct gt_known *uuids, gt_id row)
{
	const gt_string uuid = trace->devices.rows[row].uuid;
	const gt_id first = uuid ? gt_known_find(uuids, uuid) : GT_NONE;

	if (uuid && first == GT_NONE)
		gt_known_add(uuids, uuid, row);
	return first == GT_NONE ? row : first;
}

/* Several processes on one GPU: one row of devices. */
static void unite_devices(struct gt_trace *trace)
{
	const size_t count = trace->devices.count;
	gt_id *renamed = gt_allocate(count * sizeof(*renamed));
	struct gt_known uuids = {0};
	gt_id kept = 0;

	for (gt_id row = 0; row < count; row++) {
		const gt_id first = first_like(trace, &uuids, row);

		renamed[row] = first == row ? kept : renamed[first];
		if (first == row)
			trace->devices.rows[kept++] = trace->devices.rows[row];
		else if (trace->devices.rows[renamed[row]].label == 0)
			trace->devices.rows[renamed[row]].label = trace->devices.rows[row].label;
	}
	if (kept < count) {
		trace->devices.count = kept;
		gt_trace_rename(trace, GT_TABLE_devices, &(struct gt_renamed){renamed, count});
	}
	gt_known_release(&uuids);
	free(renamed);
}

/* ---- the rest ---- */

static void name_threads(struct gt_trace *trace, struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_thread, raw, &capture->raw_threads) {
		const gt_id row = gt_row_of_thread(trace, capture, raw->tid);

		trace->threads.rows[row].name = gt_capture_string(capture, raw->name);
	}
}

static void add_notes(struct gt_trace *trace, const struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_note, raw, &capture->raw_notes)
		*gt_array_push(&trace->notes) = (struct gt_note){
			.process = capture->process,
			.topic = gt_capture_string(capture, raw->topic),
			.text = gt_capture_string(capture, raw->text),
		};
}

/* While rows of devices are still those of the capture. When a pool ends is for stage pools. */
static void describe_pools(struct gt_trace *trace, struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_pool, raw, &capture->raw_pools) {
		const gt_id row = gt_row_of_pool(trace, capture, raw->number);
		struct gt_pool *pool = &trace->pools.rows[row];

		pool->start_ns = (gt_time)raw->time_ns;
		pool->device =
			raw->device ? gt_row_of_device(trace, capture, raw->device - 1) : GT_NONE;
		pool->name = gt_capture_string(capture, raw->name);
		pool->place = raw->place;
		pool->teller = raw->teller;
	}
}

/* The first series with a number, whatever its clock. */
static const struct gt_raw_series *find_series(struct gt_capture *capture, uint32_t number)
{
	const gt_id row = gt_known_find(&capture->series_numbers, number);

	return row == GT_NONE ? NULL : &capture->raw_series.rows[row];
}

/* Far more than a machine has; reports look at each for each GPU. */
enum { MOST_COUNTERS = 8192 };

/* A counter that was announced twice stands there once; one without a sample not at all. */
static void add_counters(struct gt_collection *collection, struct gt_capture *capture)
{
	struct gt_trace *trace = collection->trace;
	struct gt_known known = {0}; /* by series and place */
	size_t left_out = 0;

	gt_array_each(const struct gt_record_counter, raw, &capture->raw_counters) {
		const struct gt_raw_series *series = find_series(capture, raw->series);
		const uint64_t number =
			series ? (uint64_t)series->place << 32 | raw->place : UINT64_MAX;

		if (!series || raw->place >= trace->series.rows[series->place].column_count ||
		    gt_known_find(&known, number) != GT_NONE)
			continue;
		if (trace->counters.count >= MOST_COUNTERS) {
			left_out++;
			continue;
		}
		gt_known_add(&known, number, (gt_id)trace->counters.count);
		*gt_array_push(&trace->counters) = (struct gt_counter){
			.name = gt_capture_string(capture, raw->name),
			.unit = gt_capture_string(capture, raw->unit),
			.help = gt_capture_string(capture, raw->help),
			.process = capture->process,
			.device = raw->device ? gt_row_of_device(trace, capture, raw->device - 1)
		                              : GT_NONE,
			.pool = raw->pool ? gt_row_of_pool(trace, capture, raw->pool) : GT_NONE,
			.kind = raw->kind,
			.series = (gt_count)series->place,
			.place = raw->place,
		};
	}
	gt_known_release(&known);
	if (left_out)
		gt_collection_note(collection, capture->process, "names",
		                   "%s holds more counters than can be shown: %zu were left out",
		                   capture->name, left_out);
}

static void release_shapes(struct shape_entry *shapes)
{
	struct shape_entry *entry = shapes;

	HASH_CLEAR(hh, shapes); /* the entries stay, in their order */
	while (entry) {
		struct shape_entry *next = entry->hh.next;

		free(entry);
		entry = next;
	}
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct shape_entry *shapes = NULL;

	(void)err;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		resolve_shapes(trace, capture, &shapes);
		resolve_columns(collection, capture, &shapes);
		name_threads(trace, capture);
		describe_pools(trace, capture);
		add_notes(trace, capture);
		gt_array_each(const struct gt_record_device, raw, &capture->raw_devices)
			merge_device(trace, capture, raw);
	}
	resolve_calls(trace);
	gt_array_each(struct gt_capture, capture, &collection->captures)
		add_counters(collection, capture);
	unite_devices(trace);
	release_shapes(shapes);
	return 0;
}

const struct gt_stage gt_stage_names = {.name = "names", .run = run};
