/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "base/path.h"
#include "base/search.h"
#include "format/recording.h"
#include "model/json/fields.h"
#include "model/json/walk.h"

/*
 * Limits of any bundle. Objects and lists bound the memory that a text takes when it is read;
 * GPUs have 57 bits of addresses at most.
 */
#define MOST_ENTRY    ((size_t)1 << 22) /* bytes of text; a number of 2 takes 32 in memory */
#define MOST_OBJECTS  ((size_t)1 << 21)
#define MOST_MEMBERS  1000 /* of the whole */
#define MOST_ADDRESS  ((uint64_t)1 << 57)
#define MOST_BYTES    ((int64_t)1 << 57)
#define ARRAYS_END    (MOST_ADDRESS + (uint64_t)MOST_BYTES) /* of the addresses that arrays get */
#define MOST_IMAGE    ((int64_t)1 << 32)
#define MOST_COUNT    ((int64_t)UINT32_MAX - 1)
#define MOST_THREADS  1024 /* of a block */
#define MOST_CLUSTERS 64   /* blocks of a cluster; GPUs have 16 at most */

/* In the order in which they are read. */
#define LISTS(LIST)                                                                                \
	LIST(modules, module)                                                                      \
	LIST(functions, function)                                                                  \
	LIST(memory, memory)                                                                       \
	LIST(streams, stream)                                                                      \
	LIST(steps, step)                                                                          \
	LIST(pointers, pointer)                                                                    \
	LIST(objects, object)                                                                      \
	LIST(handles, handle)                                                                      \
	LIST(missing, missing)

enum list {
#define LIST(key, one) LIST_##key,
	LISTS(LIST)
#undef LIST
		LIST_COUNT,
};

static const struct {
	const char *key;
	const char *one; /* what an entry is called in messages */
} lists[LIST_COUNT] = {
#define LIST(key, one) [LIST_##key] = {#key, #one},
	LISTS(LIST)
#undef LIST
};

struct reader {
	struct gt_json_reading reading;
	struct gt_bundle *bundle;
	struct gt_json_slice lists[LIST_COUNT]; /* size 0: there is none */
	gt_array(uint32_t) parameter_bytes;     /* by function: what its parameters take */
};

typedef void add_entry(struct reader *reader, const json_t *object);

#define FIELDS(reader, object, fields, row)                                                        \
	gt_json_fields(&(reader)->reading, object, fields, GT_COUNT_OF(fields), row)

#define refuse(reader, ...) (void)gt_json_refuse(&(reader)->reading, __VA_ARGS__)

static const char *const memory_kinds[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_MEMORY_KINDS(KIND)
#undef KIND
		NULL,
};

static const char *const object_kinds[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_OBJECT_KINDS(KIND)
#undef KIND
		NULL,
};

static const char *const resources[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_RESOURCES(KIND)
#undef KIND
		NULL,
};

static const char *const step_kinds[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_STEP_KINDS(KIND)
#undef KIND
		NULL,
};

static char *empty_text(void)
{
	char *text = gt_allocate(1);

	*text = '\0';
	return text;
}

/* Contents of most bytes at most; a member that is missing has none. */
static void read_blob(struct reader *reader, const json_t *object, const char *key, int64_t most,
                      struct gt_blob *blob)
{
	const json_t *value = json_object_get(object, key);
	const char *hash = json_string_value(json_object_get(value, "hash"));
	const json_t *size = json_object_get(value, "size");

	if (!value)
		return;
	if (!hash || !gt_blob_is_hash(hash)) {
		refuse(reader, "%s has no hash of 32 digits", key);
		return;
	}
	if (!json_is_integer(size) || json_integer_value(size) < 0 ||
	    json_integer_value(size) > most) {
		refuse(reader, "%s has no size from 0 to %lld", key, (long long)most);
		return;
	}
	blob->size = (uint64_t)json_integer_value(size);
	memcpy(blob->hash, hash, sizeof(blob->hash));
}

static void refuse_size(struct reader *reader, unsigned line)
{
	(void)gt_json_refuse(&reader->reading,
	                     "line %u, nothing that gputrace captures is as large", line);
}

/* Without the place in a list: what is no JSON is named by its line. */
static json_t *parse_entry(struct reader *reader, const struct gt_json_slice *slice)
{
	const char *list = reader->reading.list;
	json_t *entry = NULL;

	reader->reading.list = NULL;
	if (slice->size > MOST_ENTRY)
		refuse_size(reader, slice->line);
	else
		entry = gt_json_parse(&reader->reading, slice);
	reader->reading.list = list;
	return entry;
}

static void read_entry(struct reader *reader, const struct gt_json_slice *slice, add_entry *add)
{
	json_t *entry = parse_entry(reader, slice);

	if (json_is_object(entry) || json_is_string(entry))
		add(reader, entry);
	else if (entry)
		refuse(reader, "it is not an object");
	json_decref(entry);
}

static void read_list(struct reader *reader, enum list which, add_entry *add)
{
	const struct gt_json_slice *list = &reader->lists[which];
	struct gt_json_slice entry;
	struct gt_json_walk walk;

	if (reader->reading.result < 0 || list->size == 0)
		return;
	if (*list->text != '[' || !gt_json_walk_begin(&walk, list))
		refuse(reader, "%s is not a list", lists[which].key);
	for (size_t i = 0; gt_json_walk_next(&walk, &reader->reading, NULL, &entry); i++) {
		reader->reading.list = lists[which].one;
		reader->reading.number = i;
		read_entry(reader, &entry, add);
		reader->reading.list = NULL;
	}
}

#define ORIGIN(name) GT_JSON_OTHER(struct gt_bundle_origin, name, CHARS)
#define ORIGIN_NUMBER(name, kind, low, high)                                                       \
	GT_JSON_NUMBER(struct gt_bundle_origin, name, kind, low, high)

static const struct gt_json_field origin_fields[] = {
	ORIGIN(gputrace),
	ORIGIN(date),
	ORIGIN(host),
	ORIGIN(program),
	ORIGIN(device),
	ORIGIN(uuid),
	ORIGIN(driver),
	ORIGIN_NUMBER(pid, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(correlation, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(cc_major, U32, 0, 1000),
	ORIGIN_NUMBER(cc_minor, U32, 0, 1000),
	ORIGIN_NUMBER(sm_count, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(memory_bytes, U64, 0, MOST_BYTES),
	ORIGIN_NUMBER(sm_clock_mhz, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(job_ns, U64, 0, INT64_MAX),
	ORIGIN_NUMBER(job_launches, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(local_bytes, I64, -1, MOST_BYTES),
	ORIGIN_NUMBER(workspace_bytes, I64, -1, MOST_BYTES),
};

static void read_origin(struct reader *reader, const json_t *root)
{
	const json_t *object = json_object_get(root, "origin");

	reader->bundle->origin.local_bytes = -1;
	reader->bundle->origin.workspace_bytes = -1;
	if (object && !json_is_object(object))
		refuse(reader, "origin is not an object");
	FIELDS(reader, object, origin_fields, &reader->bundle->origin);
}

static const struct gt_json_field module_fields[] = {
	GT_JSON_OTHER(struct gt_bundle_module, ptx, FLAG),
	GT_JSON_NUMBER(struct gt_bundle_module, arch, U32, 0, 10000),
};

static void add_module(struct reader *reader, const json_t *object)
{
	struct gt_bundle_module *module = gt_array_push(&reader->bundle->modules);

	*module = (struct gt_bundle_module){0};
	FIELDS(reader, object, module_fields, module);
	read_blob(reader, object, "image", MOST_IMAGE, &module->image);
	if (module->image.size == 0)
		refuse(reader, "it has no image");
}

#define PARAMETER(name, low, high) GT_JSON_NEEDED(struct gt_bundle_parameter, name, U32, low, high)

static const struct gt_json_field parameter_fields[] = {
	PARAMETER(offset, 0, GT_BUNDLE_MOST_PARAMETERS),
	PARAMETER(size, 1, GT_BUNDLE_MOST_PARAMETERS),
};

static void add_parameters(struct reader *reader, const json_t *list,
                           struct gt_bundle_function *function)
{
	uint32_t bytes = 0;

	if (list && !json_is_array(list))
		refuse(reader, "parameters is not a list");
	for (size_t i = 0; reader->reading.result == 0 && i < json_array_size(list); i++) {
		struct gt_bundle_parameter *parameter = gt_array_push(&function->parameters);

		*parameter = (struct gt_bundle_parameter){0};
		FIELDS(reader, json_array_get(list, i), parameter_fields, parameter);
		if (parameter->offset + parameter->size > GT_BUNDLE_MOST_PARAMETERS)
			refuse(reader, "parameter %zu ends behind %d bytes", i,
			       GT_BUNDLE_MOST_PARAMETERS);
		if (parameter->offset + parameter->size > bytes)
			bytes = parameter->offset + parameter->size;
	}
	*gt_array_push(&reader->parameter_bytes) = bytes;
}

#define FUNCTION(name, kind, low, high)                                                            \
	GT_JSON_NUMBER(struct gt_bundle_function, name, kind, low, high)

static const struct gt_json_field function_fields[] = {
	GT_JSON_NEEDED(struct gt_bundle_function, module, U32, 0, MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_function, name, TEXT),
	FUNCTION(registers, U32, 0, INT32_MAX),
	FUNCTION(shared_bytes, U32, 0, INT32_MAX),
	FUNCTION(local_bytes, U32, 0, INT32_MAX),
	FUNCTION(constant_bytes, U32, 0, INT32_MAX),
	FUNCTION(max_threads, U32, 0, INT32_MAX),
	FUNCTION(max_dynamic_bytes, U32, 0, INT32_MAX),
	FUNCTION(carveout, I32, -1, 100),
	FUNCTION(cluster, TRIPLE, 0, MOST_CLUSTERS),
	GT_JSON_OTHER(struct gt_bundle_function, cluster_other, FLAG),
};

static void add_function(struct reader *reader, const json_t *object)
{
	struct gt_bundle_function *function = gt_array_push(&reader->bundle->functions);

	*function = (struct gt_bundle_function){.carveout = -1};
	FIELDS(reader, object, function_fields, function);
	if (!function->name)
		function->name = empty_text();
	if (!*function->name)
		refuse(reader, "it has no name");
	if (function->module >= reader->bundle->modules.count)
		refuse(reader, "there is no module %u", function->module);
	add_parameters(reader, json_object_get(object, "parameters"), function);
}

static const struct gt_json_field memory_fields[] = {
	GT_JSON_KIND(struct gt_bundle_memory, kind, memory_kinds),
	GT_JSON_OTHER(struct gt_bundle_memory, address, ADDRESS),
	GT_JSON_NEEDED(struct gt_bundle_memory, size, U64, 1, MOST_BYTES),
	GT_JSON_NUMBER(struct gt_bundle_memory, module, U32, 0, MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_memory, name, TEXT),
	GT_JSON_OTHER(struct gt_bundle_memory, same, FLAG),
	GT_JSON_OTHER(struct gt_bundle_memory, pointers, FLAG),
};

static void check_contents(struct reader *reader, const struct gt_bundle_memory *memory)
{
	if (*memory->before.hash && memory->before.size != memory->size)
		refuse(reader, "before has %llu bytes of %llu",
		       (unsigned long long)memory->before.size, (unsigned long long)memory->size);
	if (*memory->after.hash && memory->after.size != memory->size)
		refuse(reader, "after has %llu bytes of %llu",
		       (unsigned long long)memory->after.size, (unsigned long long)memory->size);
	if (memory->same && *memory->after.hash &&
	    strcmp(memory->after.hash, memory->before.hash) != 0)
		refuse(reader, "it stayed the same, but after is not before");
}

#define SHAPE(name, kind, low, high) GT_JSON_NUMBER(struct gt_array_shape, name, kind, low, high)

static const struct gt_json_field shape_fields[] = {
	SHAPE(width, U64, 1, MOST_BYTES),
	SHAPE(height, U64, 0, MOST_BYTES),
	SHAPE(depth, U64, 0, MOST_BYTES),
	SHAPE(format, U32, 0, UINT32_MAX),
	SHAPE(channels, U32, 1, 4),
	SHAPE(flags, U32, 0, UINT32_MAX),
	SHAPE(levels, U32, 0, GT_ARRAY_MOST_LEVELS),
};

/* before: the memory that stands before it in the list, or NULL. */
static void read_array(struct reader *reader, const json_t *object, struct gt_bundle_memory *memory,
                       const struct gt_bundle_memory *before)
{
	const json_t *shape = json_object_get(object, "array");

	if (!json_is_object(shape)) {
		refuse(reader, "it does not say what the array is like");
		return;
	}
	FIELDS(reader, shape, shape_fields, &memory->array);
	if (reader->reading.result < 0)
		return;
	if (!gt_array_is_sound(&memory->array))
		refuse(reader, "no GPU has such an array");
	else if (gt_array_bytes(&memory->array) != memory->size)
		refuse(reader, "the array has %llu bytes, not %llu",
		       (unsigned long long)gt_array_bytes(&memory->array),
		       (unsigned long long)memory->size);
	if (memory->pointers)
		refuse(reader, "an array has no addresses in it");
	memory->address = before && before->address >= MOST_ADDRESS ? before->address + before->size
	                                                            : MOST_ADDRESS;
	if (memory->size > ARRAYS_END - memory->address)
		refuse(reader, "no GPU has as many arrays");
}

/* before: the memory that stands before it in the list, or NULL. */
static void check_place(struct reader *reader, const struct gt_bundle_memory *memory,
                        const struct gt_bundle_memory *before)
{
	if (before && before->kind == GT_BUNDLE_MEMORY_array)
		refuse(reader, "it stands behind an array");
	else if (memory->address == 0 || memory->address >= MOST_ADDRESS ||
	         memory->size > MOST_ADDRESS - memory->address)
		refuse(reader, "no GPU has its addresses");
	else if (before && memory->address < before->address)
		refuse(reader, "it is not in the order of addresses");
	else if (before && memory->address < before->address + before->size)
		refuse(reader, "it overlaps the memory before it");
}

static void add_memory(struct reader *reader, const json_t *object)
{
	struct gt_bundle *bundle = reader->bundle;
	struct gt_bundle_memory *memory = gt_array_push(&bundle->memory);
	const struct gt_bundle_memory *before = bundle->memory.count > 1 ? memory - 1 : NULL;

	*memory = (struct gt_bundle_memory){.module = GT_BUNDLE_NONE};
	FIELDS(reader, object, memory_fields, memory);
	if (memory->kind != GT_BUNDLE_MEMORY_array && !json_object_get(object, "address"))
		refuse(reader, "address is missing");
	if (!memory->name)
		memory->name = empty_text();
	read_blob(reader, object, "before", MOST_BYTES, &memory->before);
	read_blob(reader, object, "after", MOST_BYTES, &memory->after);
	check_contents(reader, memory);
	if (memory->kind == GT_BUNDLE_MEMORY_array)
		read_array(reader, object, memory, before);
	else
		check_place(reader, memory, before);
	if ((memory->kind == GT_BUNDLE_MEMORY_variable || memory->module != GT_BUNDLE_NONE) &&
	    memory->module >= bundle->modules.count)
		refuse(reader, "its module is not in the bundle");
	if (memory->kind == GT_BUNDLE_MEMORY_variable && !*memory->name)
		refuse(reader, "a variable without a name");
}

static const struct gt_json_field stream_fields[] = {
	GT_JSON_NUMBER(struct gt_bundle_stream, number, U32, 0, UINT32_MAX),
	GT_JSON_NUMBER(struct gt_bundle_stream, priority, I32, INT32_MIN, INT32_MAX),
	GT_JSON_OTHER(struct gt_bundle_stream, nonblocking, FLAG),
};

static void add_stream(struct reader *reader, const json_t *object)
{
	struct gt_bundle_stream *stream = gt_array_push(&reader->bundle->streams);

	*stream = (struct gt_bundle_stream){0};
	FIELDS(reader, object, stream_fields, stream);
}

#define STEP(name, kind, low, high) GT_JSON_NUMBER(struct gt_bundle_step, name, kind, low, high)

static const struct gt_json_field step_fields[] = {
	GT_JSON_KIND(struct gt_bundle_step, kind, step_kinds),
	STEP(stream, U32, 0, MOST_COUNT),
	STEP(correlation, U32, 0, UINT32_MAX),
	STEP(start_ns, I64, INT64_MIN, INT64_MAX),
	STEP(end_ns, I64, INT64_MIN, INT64_MAX),
	STEP(call_ns, I64, INT64_MIN, INT64_MAX),
	STEP(function, U32, 0, MOST_COUNT),
	STEP(grid, TRIPLE, 1, INT32_MAX),
	STEP(block, TRIPLE, 1, MOST_THREADS),
	STEP(cluster, TRIPLE, 0, MOST_CLUSTERS),
	STEP(shared_bytes, U32, 0, INT32_MAX),
	GT_JSON_OTHER(struct gt_bundle_step, cooperative, FLAG),
	GT_JSON_OTHER(struct gt_bundle_step, programmatic, FLAG),
	STEP(priority, I32, INT32_MIN, INT32_MAX),
	GT_JSON_OTHER(struct gt_bundle_step, has_priority, FLAG),
	GT_JSON_OTHER(struct gt_bundle_step, to, ADDRESS),
	GT_JSON_OTHER(struct gt_bundle_step, from, ADDRESS),
	STEP(bytes, U64, 1, MOST_BYTES),
	STEP(rows, U64, 1, MOST_BYTES),
	STEP(to_pitch, U64, 0, MOST_BYTES),
	STEP(from_pitch, U64, 0, MOST_BYTES),
	STEP(slices, U64, 1, MOST_BYTES),
	STEP(to_slice_pitch, U64, 0, MOST_BYTES),
	STEP(from_slice_pitch, U64, 0, MOST_BYTES),
	STEP(value, U32, 0, UINT32_MAX),
	STEP(value_bytes, U32, 1, 4),
	STEP(event, U32, 0, MOST_COUNT),
	STEP(graph, U32, 0, MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_step, by_host, FLAG),
	GT_JSON_OTHER(struct gt_bundle_step, pinned, FLAG),
	GT_JSON_OTHER(struct gt_bundle_step, range, TEXT),
};

static void check_launch(struct reader *reader, const struct gt_bundle_step *step)
{
	const uint32_t *const block = step->block;
	const uint32_t *const cluster = step->cluster;

	if (step->function >= reader->bundle->functions.count) {
		refuse(reader, "its function is not in the bundle");
		return;
	}
	if (reader->parameter_bytes.rows[step->function] > step->parameters.size)
		refuse(reader, "its parameters are cut");
	if (step->parameters.size > GT_BUNDLE_MOST_PARAMETERS)
		refuse(reader, "its parameters have more than %d bytes", GT_BUNDLE_MOST_PARAMETERS);
	if (step->grid[0] == 0 || block[0] == 0)
		refuse(reader, "it has no grid or no block");
	else if (step->grid[1] > UINT16_MAX || step->grid[2] > UINT16_MAX)
		refuse(reader, "no GPU runs a grid of its size");
	else if ((uint64_t)block[0] * block[1] * block[2] > MOST_THREADS)
		refuse(reader, "its blocks have more than %d threads", MOST_THREADS);
	if ((cluster[0] && cluster[1] && cluster[2]) != (cluster[0] || cluster[1] || cluster[2]) ||
	    (uint64_t)cluster[0] * cluster[1] * cluster[2] > MOST_CLUSTERS)
		refuse(reader, "no GPU runs clusters of their size");
}

/* One end of a copy or fill. */
struct side {
	const char *what;
	uint64_t address;
	uint64_t pitch;
	uint64_t slice_pitch;
};

/* Takes the rows of the first slice off the bytes that are left; false: they do not fit. */
static bool has_rows(const struct gt_bundle_step *step, const struct side *side, uint64_t *left)
{
	if (step->bytes > *left)
		return false;
	*left -= step->bytes;
	if (step->rows == 1)
		return true;
	if (*left / side->pitch < step->rows - 1)
		return false;
	*left -= (step->rows - 1) * side->pitch;
	return true;
}

/* Slices of rows inside of one memory of the bundle. */
static void check_rows(struct reader *reader, const struct gt_bundle_step *step,
                       const struct side *side)
{
	const uint32_t number = gt_bundle_find(reader->bundle, side->address);
	const struct gt_bundle_memory *memory;
	uint64_t left;

	if (number == GT_BUNDLE_NONE) {
		refuse(reader, "%s is in no memory of the bundle", side->what);
		return;
	}
	memory = &reader->bundle->memory.rows[number];
	left = memory->address + memory->size - side->address;
	if (memory->kind == GT_BUNDLE_MEMORY_array)
		refuse(reader, "%s is in an array", side->what);
	else if (step->bytes == 0)
		refuse(reader, "%s is of no bytes", side->what);
	else if (step->rows > 1 && side->pitch < step->bytes)
		refuse(reader, "%s has rows that overlap", side->what);
	else if (step->slices > 1 && step->rows == 1)
		refuse(reader, "its slices are of one row");
	else if (step->slices > 1 && (side->slice_pitch % side->pitch != 0 ||
	                              side->slice_pitch / side->pitch < step->rows))
		refuse(reader, "%s has slices that are no whole rows apart", side->what);
	else if (!has_rows(step, side, &left) ||
	         (step->slices > 1 && left / side->slice_pitch < step->slices - 1))
		refuse(reader, "%s ends behind its memory", side->what);
}

/* Each number is checked before the next one is divided by what it leaves. */
static bool is_whole(const struct gt_bundle_step *step)
{
	const uint64_t size = step->parameters.size;

	return size % step->slices == 0 && size / step->slices % step->rows == 0 &&
	       size / step->slices / step->rows == step->bytes;
}

static void check_to(struct reader *reader, const struct gt_bundle_step *step)
{
	check_rows(reader, step,
	           &(struct side){"to", step->to, step->to_pitch, step->to_slice_pitch});
}

static void check_copy(struct reader *reader, const struct gt_bundle_step *step)
{
	if (step->from == 0 && step->to == 0)
		refuse(reader, "it copies nothing of the GPU's");
	if (step->pinned && step->from && step->to)
		refuse(reader, "it is pinned, and has nothing of the host's");
	if (step->to)
		check_to(reader, step);
	if (step->from)
		check_rows(reader, step,
		           &(struct side){"from", step->from, step->from_pitch,
		                          step->from_slice_pitch});
	else if (!is_whole(step))
		refuse(reader, "the bytes that it copies from the host are not all there");
}

static void check_fill(struct reader *reader, const struct gt_bundle_step *step)
{
	check_to(reader, step);
	if (step->value_bytes == 0 || step->value_bytes == 3)
		refuse(reader, "value_bytes is not 1, 2 or 4");
	else if (step->bytes % step->value_bytes != 0 || step->to % step->value_bytes != 0)
		refuse(reader, "it does not fill whole values");
}

static void check_event(struct reader *reader, const struct gt_bundle_step *step)
{
	if (step->event == GT_BUNDLE_NONE && step->kind != GT_BUNDLE_STEP_host_wait)
		refuse(reader, "it is about no event");
}

static void check_step(struct reader *reader, const struct gt_bundle_step *step)
{
	if (reader->reading.result < 0)
		return;
	if (step->stream == GT_BUNDLE_NONE && step->kind != GT_BUNDLE_STEP_host_wait)
		refuse(reader, "it says no stream");
	else if (step->stream != GT_BUNDLE_NONE && step->stream >= reader->bundle->streams.count)
		refuse(reader, "there is no stream %u", step->stream);
	switch (step->kind) {
	case GT_BUNDLE_STEP_launch:
		check_launch(reader, step);
		break;
	case GT_BUNDLE_STEP_copy:
		check_copy(reader, step);
		break;
	case GT_BUNDLE_STEP_fill:
		check_fill(reader, step);
		break;
	case GT_BUNDLE_STEP_record:
	case GT_BUNDLE_STEP_wait:
	case GT_BUNDLE_STEP_host_wait:
		check_event(reader, step);
		break;
	}
}

static void add_step(struct reader *reader, const json_t *object)
{
	struct gt_bundle_step *step = gt_array_push(&reader->bundle->steps);

	*step = (struct gt_bundle_step){.start_ns = -1,
	                                .end_ns = -1,
	                                .call_ns = -1,
	                                .stream = GT_BUNDLE_NONE,
	                                .function = GT_BUNDLE_NONE,
	                                .rows = 1,
	                                .slices = 1,
	                                .event = GT_BUNDLE_NONE};
	FIELDS(reader, object, step_fields, step);
	if (!step->range)
		step->range = empty_text();
	read_blob(reader, object, "parameters", MOST_BYTES, &step->parameters);
	check_step(reader, step);
}

static void check_events(struct reader *reader)
{
	const struct gt_bundle *bundle = reader->bundle;

	reader->reading.list = "step";
	for (size_t i = 0; i < bundle->steps.count; i++) {
		const uint32_t event = bundle->steps.rows[i].event;

		reader->reading.number = i;
		if (event != GT_BUNDLE_NONE && event >= bundle->steps.count)
			refuse(reader, "event %u of %zu steps", event, bundle->steps.count);
	}
	reader->reading.list = NULL;
}

/* The steps of a graph follow each other, and some of them are work. */
static void check_graphs(struct reader *reader)
{
	const struct gt_bundle *bundle = reader->bundle;
	uint32_t graphs = 0; /* that have begun */
	bool works = true;   /* the one that began last */

	if (bundle->steps.count == 0)
		return;
	reader->reading.list = "step";
	for (size_t i = 0; i <= bundle->steps.count; i++) {
		const struct gt_bundle_step *step = &bundle->steps.rows[i];
		const uint32_t graph = i < bundle->steps.count ? step->graph : 0;
		const bool goes_on = i > 0 && step[-1].graph == graph;

		reader->reading.number = !works && !goes_on ? i - 1 : i;
		if (!works && !goes_on)
			refuse(reader, "graph %u ends there without work", graphs);
		else if (graph != 0 && !goes_on && graph != graphs + 1)
			refuse(reader, "it is of graph %u, and %u began before it", graph, graphs);
		else if (graph != 0 && step->kind == GT_BUNDLE_STEP_host_wait)
			refuse(reader, "the host does not wait in a graph");
		works = graph == 0 || (goes_on && works) || gt_bundle_is_work(step);
		graphs = graph ? graph : graphs;
	}
	reader->reading.list = NULL;
}

static const struct gt_json_field focus_fields[] = {
	GT_JSON_NUMBER(struct gt_bundle, focus, U32, 0, MOST_COUNT),
};

static void read_focus(struct reader *reader, const json_t *root)
{
	struct gt_bundle *bundle = reader->bundle;

	FIELDS(reader, root, focus_fields, bundle);
	if (bundle->focus != GT_BUNDLE_NONE &&
	    (bundle->focus >= bundle->steps.count ||
	     bundle->steps.rows[bundle->focus].kind != GT_BUNDLE_STEP_launch))
		refuse(reader, "focus is on step %u, which is no launch", bundle->focus);
}

#define POINTER(name, kind) GT_JSON_NUMBER(struct gt_bundle_pointer, name, kind, 0, MOST_COUNT)

static const struct gt_json_field pointer_fields[] = {
	POINTER(memory, U32),
	POINTER(step, U32),
	GT_JSON_NEEDED(struct gt_bundle_pointer, offset, U64, 0, MOST_BYTES),
	GT_JSON_NEEDED(struct gt_bundle_pointer, target, U32, 0, MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_pointer, declared, FLAG),
};

/* Bytes of what a pointer or a handle stands in; 0: that is not there. */
static uint64_t bytes_around(struct reader *reader, uint32_t memory, uint32_t step)
{
	const struct gt_bundle *bundle = reader->bundle;

	if (memory != GT_BUNDLE_NONE) {
		if (memory < bundle->memory.count)
			return bundle->memory.rows[memory].size;
		refuse(reader, "there is no memory %u", memory);
	} else if (step < bundle->steps.count) {
		return bundle->steps.rows[step].parameters.size;
	} else {
		refuse(reader, "it is in no memory and no step");
	}
	return 0;
}

static bool is_array(const struct gt_bundle *bundle, uint32_t memory)
{
	return memory < bundle->memory.count &&
	       bundle->memory.rows[memory].kind == GT_BUNDLE_MEMORY_array;
}

static void add_pointer(struct reader *reader, const json_t *object)
{
	struct gt_bundle_pointer *pointer = gt_array_push(&reader->bundle->pointers);
	uint64_t bytes;

	*pointer = (struct gt_bundle_pointer){.memory = GT_BUNDLE_NONE, .step = GT_BUNDLE_NONE};
	FIELDS(reader, object, pointer_fields, pointer);
	bytes = bytes_around(reader, pointer->memory, pointer->step);
	if (bytes < sizeof(uint64_t) || pointer->offset > bytes - sizeof(uint64_t))
		refuse(reader, "it ends behind what it stands in");
	if (pointer->target >= reader->bundle->memory.count)
		refuse(reader, "there is no memory %u", pointer->target);
	else if (is_array(reader->bundle, pointer->target) ||
	         (pointer->memory != GT_BUNDLE_NONE && is_array(reader->bundle, pointer->memory)))
		refuse(reader, "arrays neither have addresses nor hold any");
}

/* ---- textures and surfaces ---- */

#define OBJECT(name, kind, low, high) GT_JSON_NUMBER(struct gt_bundle_object, name, kind, low, high)

static const struct gt_json_field object_fields[] = {
	GT_JSON_KIND(struct gt_bundle_object, kind, object_kinds),
	GT_JSON_KIND(struct gt_bundle_object, resource, resources),
	GT_JSON_OTHER(struct gt_bundle_object, value, ADDRESS),
	GT_JSON_NEEDED(struct gt_bundle_object, memory, U32, 0, MOST_COUNT),
	OBJECT(level, U32, 0, GT_ARRAY_MOST_LEVELS),
	OBJECT(offset, U64, 0, MOST_BYTES),
	OBJECT(format, U32, 0, UINT32_MAX),
	OBJECT(channels, U32, 1, 4),
	OBJECT(bytes, U64, 1, MOST_BYTES),
	OBJECT(width, U64, 1, INT32_MAX),
	OBJECT(height, U64, 1, INT32_MAX),
	OBJECT(pitch, U64, 1, INT32_MAX),
};

#define SAMPLER(name, kind, high) GT_JSON_NUMBER(struct gt_bundle_sampler, name, kind, 0, high)

static const struct gt_json_field sampler_fields[] = {
	SAMPLER(address_modes, TRIPLE, INT32_MAX), SAMPLER(filter, U32, INT32_MAX),
	SAMPLER(flags, U32, UINT32_MAX),           SAMPLER(anisotropy, U32, UINT32_MAX),
	SAMPLER(mip_filter, U32, INT32_MAX),       SAMPLER(mip_bias, U32, UINT32_MAX),
	SAMPLER(least_level, U32, UINT32_MAX),     SAMPLER(most_level, U32, UINT32_MAX),
};

#define VIEW(name, kind) GT_JSON_NUMBER(struct gt_bundle_view, name, kind, 0, INT32_MAX)

static const struct gt_json_field view_fields[] = {
	VIEW(format, U64),      VIEW(width, U64),       VIEW(height, U64),
	VIEW(depth, U64),       VIEW(first_level, U32), VIEW(last_level, U32),
	VIEW(first_layer, U32), VIEW(last_layer, U32),
};

static void read_border(struct reader *reader, const json_t *list,
                        struct gt_bundle_sampler *sampler)
{
	if (!list)
		return;
	if (!json_is_array(list) || json_array_size(list) != 4) {
		refuse(reader, "border is not a list of four numbers");
		return;
	}
	for (size_t i = 0; i < 4; i++) {
		const json_t *value = json_array_get(list, i);

		if (!json_is_integer(value) || json_integer_value(value) < 0 ||
		    json_integer_value(value) > UINT32_MAX)
			refuse(reader, "border is not a list of four numbers");
		else
			sampler->border[i] = (uint32_t)json_integer_value(value);
	}
}

static void check_array_of(struct reader *reader, const struct gt_bundle_object *object)
{
	const struct gt_bundle_memory *memory = &reader->bundle->memory.rows[object->memory];

	if (memory->kind != GT_BUNDLE_MEMORY_array)
		refuse(reader, "memory %u is no array", object->memory);
	else if (object->resource == GT_BUNDLE_RESOURCE_mipmap && memory->array.levels == 0)
		refuse(reader, "memory %u has no levels", object->memory);
	else if (object->level >= gt_array_levels(&memory->array))
		refuse(reader, "memory %u has no level %u", object->memory, object->level);
}

/* Checks the part of its memory that a linear or pitch object takes. */
static void check_elements_of(struct reader *reader, const struct gt_bundle_object *object)
{
	const struct gt_bundle_memory *memory = &reader->bundle->memory.rows[object->memory];
	const uint64_t element = gt_array_element_bytes(object->format, object->channels);
	const bool rows = object->resource == GT_BUNDLE_RESOURCE_pitch;
	const uint64_t row = rows ? object->width * element : object->bytes;
	const uint64_t left = memory->size - object->offset;

	if (memory->kind == GT_BUNDLE_MEMORY_array)
		refuse(reader, "memory %u is an array", object->memory);
	else if (element == 0)
		refuse(reader, "it has elements of no known format");
	else if (row == 0 || (rows && (object->height == 0 || object->pitch < row)))
		refuse(reader, "it has no elements, or rows that overlap");
	else if (object->offset > memory->size || row > left ||
	         (rows && (left - row) / object->pitch < object->height - 1))
		refuse(reader, "it ends behind its memory");
}

static void add_object(struct reader *reader, const json_t *entry)
{
	struct gt_bundle_object *object = gt_array_push(&reader->bundle->objects);
	const json_t *view = json_object_get(entry, "view");

	*object = (struct gt_bundle_object){0};
	FIELDS(reader, entry, object_fields, object);
	FIELDS(reader, entry, sampler_fields, &object->sampler);
	read_border(reader, json_object_get(entry, "border"), &object->sampler);
	if (view && !json_is_object(view))
		refuse(reader, "view is not an object");
	object->has_view = view != NULL;
	FIELDS(reader, view, view_fields, &object->view);
	if (reader->reading.result < 0)
		return;
	if (object->value == 0)
		refuse(reader, "it has no handle");
	else if (object->memory >= reader->bundle->memory.count)
		refuse(reader, "there is no memory %u", object->memory);
	else if (object->resource == GT_BUNDLE_RESOURCE_array ||
	         object->resource == GT_BUNDLE_RESOURCE_mipmap)
		check_array_of(reader, object);
	else
		check_elements_of(reader, object);
	if (object->kind == GT_BUNDLE_OBJECT_surface &&
	    object->resource != GT_BUNDLE_RESOURCE_array)
		refuse(reader, "a surface is of an array");
}

static const struct gt_json_field handle_fields[] = {
	GT_JSON_NUMBER(struct gt_bundle_handle, memory, U32, 0, MOST_COUNT),
	GT_JSON_NUMBER(struct gt_bundle_handle, step, U32, 0, MOST_COUNT),
	GT_JSON_NEEDED(struct gt_bundle_handle, offset, U64, 0, MOST_BYTES),
	GT_JSON_NEEDED(struct gt_bundle_handle, object, U32, 0, MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_handle, declared, FLAG),
};

static uint64_t bytes_around_handle(struct reader *reader, const struct gt_bundle_handle *handle)
{
	struct gt_bundle *bundle = reader->bundle;

	if (handle->memory != GT_BUNDLE_NONE) {
		if (handle->memory >= bundle->memory.count || is_array(bundle, handle->memory)) {
			refuse(reader, "there is no memory %u with handles", handle->memory);
			return 0;
		}
		bundle->memory.rows[handle->memory].handles = true;
	}
	return bytes_around(reader, handle->memory, handle->step);
}

static void add_handle(struct reader *reader, const json_t *entry)
{
	struct gt_bundle_handle *handle = gt_array_push(&reader->bundle->handles);
	uint64_t bytes;

	*handle = (struct gt_bundle_handle){.memory = GT_BUNDLE_NONE, .step = GT_BUNDLE_NONE};
	FIELDS(reader, entry, handle_fields, handle);
	bytes = bytes_around_handle(reader, handle);
	if (bytes < sizeof(uint64_t) || handle->offset > bytes - sizeof(uint64_t))
		refuse(reader, "it ends behind what it stands in");
	if (handle->object >= reader->bundle->objects.count)
		refuse(reader, "there is no object %u", handle->object);
}

static void add_missing(struct reader *reader, const json_t *entry)
{
	const char *text = json_string_value(entry);
	char *copy;

	if (!text) {
		refuse(reader, "it is not a text");
		return;
	}
	copy = gt_allocate(strlen(text) + 1);
	memcpy(copy, text, strlen(text) + 1);
	*gt_array_push(&reader->bundle->missing) = copy;
}

static void read_root(struct reader *reader, const json_t *root)
{
	read_origin(reader, root);
#define LIST(key, one) read_list(reader, LIST_##key, add_##one);
	LISTS(LIST)
#undef LIST
	check_events(reader);
	check_graphs(reader);
	read_focus(reader, root);
	if (reader->bundle->steps.count == 0)
		refuse(reader, "it has no steps");
}

static bool has_too_much(const char *text, size_t size)
{
	size_t objects = 0;

	for (size_t i = 0; i < size; i++)
		objects += text[i] == '{' || text[i] == '[';
	return size > GT_BUNDLE_MOST_MANIFEST || objects > MOST_OBJECTS;
}

static struct gt_json_slice *list_of(struct reader *reader, const char *key)
{
	for (int i = 0; i < LIST_COUNT; i++)
		if (strcmp(lists[i].key, key) == 0)
			return &reader->lists[i];
	return NULL;
}

static void add_member(struct reader *reader, json_t *root, const char *key,
                       const struct gt_json_slice *value)
{
	struct gt_json_slice *list = list_of(reader, key);
	json_t *parsed = list ? json_null() : parse_entry(reader, value);

	if (json_object_get(root, key))
		refuse(reader, "line %u, duplicate object key near '\"%.40s\"'", value->line, key);
	else if (list)
		*list = *value;
	(void)json_object_set_new(root, key, parsed);
}

/* All but the lists, which are kept in mind. */
static json_t *read_members(struct reader *reader, const struct gt_json_slice *text)
{
	struct gt_json_walk walk;
	struct gt_json_slice key;
	struct gt_json_slice value;
	json_t *root;

	if (!gt_json_walk_begin(&walk, text) || walk.closing == ']')
		return parse_entry(reader, text);
	root = json_object();
	while (gt_json_walk_next(&walk, &reader->reading, &key, &value)) {
		if (json_object_size(root) == MOST_MEMBERS) {
			refuse_size(reader, key.line);
			break;
		}
		json_t *name = parse_entry(reader, &key);

		if (name)
			add_member(reader, root, json_string_value(name), &value);
		json_decref(name);
	}
	return root;
}

static int parse(struct reader *reader, const char *text, size_t size)
{
	struct gt_json_reading *reading = &reader->reading;
	const json_t *version;
	json_t *root;

	if (size == 0)
		return gt_json_refuse(reading, "it is empty");
	if (has_too_much(text, size))
		return gt_json_refuse(reading, "nothing that gputrace captures is as large");
	root = read_members(reader, &(struct gt_json_slice){text, size, 1});
	version = json_object_get(root, "version");
	if (!json_is_integer(version) || json_integer_value(version) < 1)
		refuse(reader, "it has no version"); /* says nothing where it is no JSON */
	else if (json_integer_value(version) > GT_BUNDLE_VERSION)
		reading->result = gt_fail(reading->err, ENOTSUP,
		                          "%s was written by a newer gputrace", reading->file);
	else
		read_root(reader, root);
	json_decref(root);
	return reading->result;
}

int gt_bundle_parse(struct gt_bundle *bundle, const char *text, size_t size, const char *folder,
                    struct gt_error *err)
{
	char file[PATH_MAX];
	struct reader reader = {.reading = {.file = file, .err = err}, .bundle = bundle};
	int result;

	*bundle = (struct gt_bundle){.focus = GT_BUNDLE_NONE};
	snprintf(file, sizeof(file), "%s/" GT_BUNDLE_MANIFEST, folder);
	bundle->folder = gt_allocate(strlen(folder) + 1);
	memcpy(bundle->folder, folder, strlen(folder) + 1);
	result = parse(&reader, text, size);
	gt_array_release(&reader.parameter_bytes);
	if (result < 0)
		gt_bundle_close(bundle);
	return result;
}

static int load(struct gt_content *content, const char *path, struct gt_error *err)
{
	struct gt_error why = {0};
	struct stat status;
	int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, &why);
	int result = fd < 0 ? fd : 0;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > GT_BUNDLE_MOST_MANIFEST)
		result = gt_fail(&why, EBADMSG, "it has more than %u bytes",
		                 GT_BUNDLE_MOST_MANIFEST);
	if (result == 0)
		result = gt_load_fd(content, fd, &why);
	if (fd >= 0)
		close(fd);
	return result < 0 ? gt_fail(err, -result, "%s: %s", path, why.text) : 0;
}

int gt_bundle_open(struct gt_bundle *bundle, const char *folder, struct gt_error *err)
{
	struct gt_content content = {0};
	char path[PATH_MAX];
	int result;

	*bundle = (struct gt_bundle){0};
	if (strlen(folder) > sizeof(path) - 64)
		return gt_fail(err, ENAMETOOLONG, "the path of the bundle is too long");
	snprintf(path, sizeof(path), "%s/" GT_BUNDLE_MANIFEST, folder);
	if (!gt_path_is_folder(folder))
		return gt_fail(err, ENOENT, "there is no folder %s", folder);
	if (access(path, F_OK) < 0)
		return gt_fail(err, ENOENT,
		               "%s is not whole: it has no " GT_BUNDLE_MANIFEST
		               ", as what captured it did not end",
		               folder);
	result = load(&content, path, err);
	if (result == 0)
		result = gt_bundle_parse(bundle, (const char *)content.bytes, content.size, folder,
		                         err);
	gt_unload(&content);
	return result;
}

void gt_bundle_close(struct gt_bundle *bundle)
{
	gt_array_each(struct gt_bundle_function, function, &bundle->functions) {
		gt_array_free(function->name);
		gt_array_release(&function->parameters);
	}
	gt_array_each(struct gt_bundle_memory, memory, &bundle->memory)
		gt_array_free(memory->name);
	gt_array_each(struct gt_bundle_step, step, &bundle->steps)
		gt_array_free(step->range);
	gt_array_each(char *, text, &bundle->missing)
		gt_array_free(*text);
	gt_array_release(&bundle->modules);
	gt_array_release(&bundle->functions);
	gt_array_release(&bundle->memory);
	gt_array_release(&bundle->pointers);
	gt_array_release(&bundle->objects);
	gt_array_release(&bundle->handles);
	gt_array_release(&bundle->streams);
	gt_array_release(&bundle->steps);
	gt_array_release(&bundle->missing);
	gt_array_free(bundle->folder);
	*bundle = (struct gt_bundle){0};
}

bool gt_bundle_is_work(const struct gt_bundle_step *step)
{
	return step->kind == GT_BUNDLE_STEP_launch || step->kind == GT_BUNDLE_STEP_copy ||
	       step->kind == GT_BUNDLE_STEP_fill;
}

bool gt_bundle_goes_on_with_graph(const struct gt_bundle *bundle, size_t step)
{
	const struct gt_bundle_step *row = &bundle->steps.rows[step];

	return step > 0 && row->graph != 0 && row[-1].graph == row->graph;
}

uint64_t gt_bundle_memory_bytes(const struct gt_bundle *bundle)
{
	uint64_t bytes = 0;

	gt_array_each(const struct gt_bundle_memory, memory, &bundle->memory)
		if (memory->kind != GT_BUNDLE_MEMORY_variable)
			bytes += memory->size;
	return bytes;
}

static int by_address(const void *row, const void *wanted)
{
	const uint64_t address = ((const struct gt_bundle_memory *)row)->address;
	const uint64_t limit = *(const uint64_t *)wanted;

	return (address > limit) - (address < limit);
}

uint32_t gt_bundle_find(const struct gt_bundle *bundle, uint64_t address)
{
	const size_t count = gt_count_up_to(&bundle->memory, &address, by_address);
	const struct gt_bundle_memory *memory;

	if (count == 0)
		return GT_BUNDLE_NONE;
	memory = &bundle->memory.rows[count - 1];
	return address - memory->address < memory->size ? (uint32_t)(count - 1) : GT_BUNDLE_NONE;
}

/* Where byte at of what a copy brings goes, row after row. */
static uint64_t target_of(const struct gt_bundle_step *step, uint64_t at)
{
	const uint64_t row = at / step->bytes;

	return step->to + row / step->rows * step->to_slice_pitch +
	       row % step->rows * step->to_pitch + at % step->bytes;
}

bool gt_bundle_handle_place(const struct gt_bundle *bundle, const struct gt_bundle_handle *handle,
                            uint32_t *memory, uint64_t *offset)
{
	const struct gt_bundle_step *step;
	uint64_t address;

	*memory = handle->memory;
	*offset = handle->offset;
	if (handle->memory != GT_BUNDLE_NONE)
		return true;
	step = &bundle->steps.rows[handle->step];
	if (step->kind != GT_BUNDLE_STEP_copy || step->from != 0 ||
	    step->bytes < sizeof(uint64_t) ||
	    handle->offset % step->bytes > step->bytes - sizeof(uint64_t))
		return false;
	address = target_of(step, handle->offset);
	*memory = gt_bundle_find(bundle, address);
	if (*memory == GT_BUNDLE_NONE)
		return false;
	*offset = address - bundle->memory.rows[*memory].address;
	return bundle->memory.rows[*memory].size - *offset >= sizeof(uint64_t);
}
