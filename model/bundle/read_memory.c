/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/reader.h"

#include <string.h>

#define MOST_ADDRESS ((uint64_t)1 << 57)
#define ARRAYS_END                                                                                 \
	(MOST_ADDRESS + (uint64_t)GT_BUNDLE_MOST_BYTES) /* of the addresses that arrays get */

static const char *const memory_kinds[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_MEMORY_KINDS(KIND)
#undef KIND
		NULL,
};

static const struct gt_json_field memory_fields[] = {
	GT_JSON_KIND(struct gt_bundle_memory, kind, memory_kinds),
	GT_JSON_OTHER(struct gt_bundle_memory, address, ADDRESS),
	GT_JSON_NEEDED(struct gt_bundle_memory, size, U64, 1, GT_BUNDLE_MOST_BYTES),
	GT_JSON_NUMBER(struct gt_bundle_memory, module, U32, 0, GT_BUNDLE_MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_memory, name, TEXT),
	GT_JSON_OTHER(struct gt_bundle_memory, same, FLAG),
	GT_JSON_OTHER(struct gt_bundle_memory, pointers, FLAG),
};

static void check_contents(struct gt_bundle_reader *reader, const struct gt_bundle_memory *memory)
{
	if (*memory->before.hash && memory->before.size != memory->size)
		gt_bundle_refuse(reader, "before has %llu bytes of %llu",
		                 (unsigned long long)memory->before.size,
		                 (unsigned long long)memory->size);
	if (*memory->after.hash && memory->after.size != memory->size)
		gt_bundle_refuse(reader, "after has %llu bytes of %llu",
		                 (unsigned long long)memory->after.size,
		                 (unsigned long long)memory->size);
	if (memory->same && *memory->after.hash &&
	    strcmp(memory->after.hash, memory->before.hash) != 0)
		gt_bundle_refuse(reader, "it stayed the same, but after is not before");
}

#define SHAPE(name, kind, low, high) GT_JSON_NUMBER(struct gt_array_shape, name, kind, low, high)

static const struct gt_json_field shape_fields[] = {
	SHAPE(width, U64, 1, GT_BUNDLE_MOST_BYTES),
	SHAPE(height, U64, 0, GT_BUNDLE_MOST_BYTES),
	SHAPE(depth, U64, 0, GT_BUNDLE_MOST_BYTES),
	SHAPE(format, U32, 0, UINT32_MAX),
	SHAPE(channels, U32, 1, 4),
	SHAPE(flags, U32, 0, UINT32_MAX),
	SHAPE(levels, U32, 0, GT_ARRAY_MOST_LEVELS),
};

/* before: the memory that stands before it in the list, or NULL. */
static void read_array(struct gt_bundle_reader *reader, const json_t *object,
                       struct gt_bundle_memory *memory, const struct gt_bundle_memory *before)
{
	const json_t *shape = json_object_get(object, "array");

	if (!json_is_object(shape)) {
		gt_bundle_refuse(reader, "it does not say what the array is like");
		return;
	}
	GT_BUNDLE_FIELDS(reader, shape, shape_fields, &memory->array);
	if (reader->reading.result < 0)
		return;
	if (!gt_array_is_sound(&memory->array))
		gt_bundle_refuse(reader, "no GPU has such an array");
	else if (gt_array_bytes(&memory->array) != memory->size)
		gt_bundle_refuse(reader, "the array has %llu bytes, not %llu",
		                 (unsigned long long)gt_array_bytes(&memory->array),
		                 (unsigned long long)memory->size);
	if (memory->pointers)
		gt_bundle_refuse(reader, "an array has no addresses in it");
	memory->address = before && before->address >= MOST_ADDRESS ? before->address + before->size
	                                                            : MOST_ADDRESS;
	if (memory->size > ARRAYS_END - memory->address)
		gt_bundle_refuse(reader, "no GPU has as many arrays");
}

/* before: the memory that stands before it in the list, or NULL. */
static void check_place(struct gt_bundle_reader *reader, const struct gt_bundle_memory *memory,
                        const struct gt_bundle_memory *before)
{
	if (before && before->kind == GT_BUNDLE_MEMORY_array)
		gt_bundle_refuse(reader, "it stands behind an array");
	else if (memory->address == 0 || memory->address >= MOST_ADDRESS ||
	         memory->size > MOST_ADDRESS - memory->address)
		gt_bundle_refuse(reader, "no GPU has its addresses");
	else if (before && memory->address < before->address)
		gt_bundle_refuse(reader, "it is not in the order of addresses");
	else if (before && memory->address < before->address + before->size)
		gt_bundle_refuse(reader, "it overlaps the memory before it");
}

void gt_bundle_add_memory(struct gt_bundle_reader *reader, const json_t *object)
{
	struct gt_bundle *bundle = reader->bundle;
	struct gt_bundle_memory *memory = gt_array_push(&bundle->memory);
	const struct gt_bundle_memory *before = bundle->memory.count > 1 ? memory - 1 : NULL;

	*memory = (struct gt_bundle_memory){.module = GT_BUNDLE_NONE};
	GT_BUNDLE_FIELDS(reader, object, memory_fields, memory);
	if (memory->kind != GT_BUNDLE_MEMORY_array && !json_object_get(object, "address"))
		gt_bundle_refuse(reader, "address is missing");
	if (!memory->name)
		memory->name = gt_bundle_empty_text();
	gt_bundle_read_blob(reader, object, "before", GT_BUNDLE_MOST_BYTES, &memory->before);
	gt_bundle_read_blob(reader, object, "after", GT_BUNDLE_MOST_BYTES, &memory->after);
	check_contents(reader, memory);
	if (memory->kind == GT_BUNDLE_MEMORY_array)
		read_array(reader, object, memory, before);
	else
		check_place(reader, memory, before);
	if ((memory->kind == GT_BUNDLE_MEMORY_variable || memory->module != GT_BUNDLE_NONE) &&
	    memory->module >= bundle->modules.count)
		gt_bundle_refuse(reader, "its module is not in the bundle");
	if (memory->kind == GT_BUNDLE_MEMORY_variable && !*memory->name)
		gt_bundle_refuse(reader, "a variable without a name");
}

#define POINTER(name, kind)                                                                        \
	GT_JSON_NUMBER(struct gt_bundle_pointer, name, kind, 0, GT_BUNDLE_MOST_COUNT)

static const struct gt_json_field pointer_fields[] = {
	POINTER(memory, U32),
	POINTER(step, U32),
	GT_JSON_NEEDED(struct gt_bundle_pointer, offset, U64, 0, GT_BUNDLE_MOST_BYTES),
	GT_JSON_NEEDED(struct gt_bundle_pointer, target, U32, 0, GT_BUNDLE_MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_pointer, declared, FLAG),
};

uint64_t gt_bundle_bytes_around(struct gt_bundle_reader *reader, uint32_t memory, uint32_t step)
{
	const struct gt_bundle *bundle = reader->bundle;

	if (memory != GT_BUNDLE_NONE) {
		if (memory < bundle->memory.count)
			return bundle->memory.rows[memory].size;
		gt_bundle_refuse(reader, "there is no memory %u", memory);
	} else if (step < bundle->steps.count) {
		return bundle->steps.rows[step].parameters.size;
	} else {
		gt_bundle_refuse(reader, "it is in no memory and no step");
	}
	return 0;
}

bool gt_bundle_is_array(const struct gt_bundle *bundle, uint32_t memory)
{
	return memory < bundle->memory.count &&
	       bundle->memory.rows[memory].kind == GT_BUNDLE_MEMORY_array;
}

void gt_bundle_add_pointer(struct gt_bundle_reader *reader, const json_t *object)
{
	struct gt_bundle_pointer *pointer = gt_array_push(&reader->bundle->pointers);
	uint64_t bytes;

	*pointer = (struct gt_bundle_pointer){.memory = GT_BUNDLE_NONE, .step = GT_BUNDLE_NONE};
	GT_BUNDLE_FIELDS(reader, object, pointer_fields, pointer);
	bytes = gt_bundle_bytes_around(reader, pointer->memory, pointer->step);
	if (bytes < sizeof(uint64_t) || pointer->offset > bytes - sizeof(uint64_t))
		gt_bundle_refuse(reader, "it ends behind what it stands in");
	if (pointer->target >= reader->bundle->memory.count)
		gt_bundle_refuse(reader, "there is no memory %u", pointer->target);
	else if (gt_bundle_is_array(reader->bundle, pointer->target) ||
	         (pointer->memory != GT_BUNDLE_NONE &&
	          gt_bundle_is_array(reader->bundle, pointer->memory)))
		gt_bundle_refuse(reader, "arrays neither have addresses nor hold any");
}
