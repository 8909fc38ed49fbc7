/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/segments.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "format/bundle/writer.h"
#include "injection/snapshot/launch/lists.h"
#include "injection/snapshot/memory/objects.h"
#include "injection/snapshot/memory/reach.h"

/* The memory of a pointer or handle that lies in no variable that is known: it has its address. */
#define IN_SEGMENT (GT_REACH_NONE - 1)

uint8_t *gt_segments_add(struct gt_segments *segments, uint32_t number,
                         const struct gt_reached *memory)
{
	struct gt_segment *added;

	if (!segments->wanted || segments->count == GT_SEGMENTS_MOST ||
	    memory->size > GT_SEGMENTS_BYTES - segments->used)
		return NULL;
	if (!segments->room) {
		void *room = mmap(NULL, GT_SEGMENTS_BYTES, PROT_READ | PROT_WRITE,
		                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (room == MAP_FAILED)
			return NULL;
		segments->room = room;
	}
	added = &segments->list[segments->count++];
	*added = (struct gt_segment){.number = number,
	                             .address = memory->address,
	                             .size = memory->size,
	                             .before = segments->room + segments->used};
	segments->used += (size_t)memory->size;
	return added->before;
}

void gt_segments_empty(struct gt_segments *segments)
{
	if (segments->room)
		(void)munmap(segments->room, GT_SEGMENTS_BYTES);
	segments->room = NULL;
	segments->used = 0;
	segments->count = 0;
}

static bool holds(const struct gt_segment *segment, uint64_t address, uint64_t size)
{
	return address >= segment->address && size <= segment->size &&
	       address - segment->address <= segment->size - size;
}

static struct gt_segment *find_segment(struct gt_segments *segments,
                                       const struct gt_reached *variable)
{
	for (uint32_t i = 0; i < segments->count; i++)
		if (holds(&segments->list[i], variable->address, variable->size))
			return &segments->list[i];
	return NULL;
}

static int refuse(const struct gt_reached *variable, uint64_t told, struct gt_error *err)
{
	return gt_fail(err, ENOTSUP,
	               "a step uses the variable %.100s before any launches a function of its "
	               "module, and the driver tells of %" PRIu64 " bytes there that has %" PRIu64,
	               variable->name, told, variable->size);
}

/* No pointer leads to it, and no texture is of it. */
static bool is_apart(const struct gt_reach *reach, const struct gt_capture_objects *objects,
                     const struct gt_segment *segment)
{
	for (uint32_t i = 0; i < reach->pointer_count; i++)
		if (reach->pointers[i].target == segment->number)
			return false;
	for (uint32_t i = 0; i < objects->object_count; i++)
		if ((objects->objects[i].resource == GT_BUNDLE_RESOURCE_linear ||
		     objects->objects[i].resource == GT_BUNDLE_RESOURCE_pitch) &&
		    objects->objects[i].memory == segment->number)
			return false;
	return true;
}

static void take_out(const struct gt_segment *segment, uint32_t *memory, uint64_t *offset)
{
	if (*memory != segment->number)
		return;
	*memory = IN_SEGMENT;
	*offset += segment->address;
}

/* Pointers and handles in a segment are found again by their addresses. */
static void let_go(struct gt_reach *reach, struct gt_capture_objects *objects,
                   const struct gt_segment *segment)
{
	for (uint32_t i = 0; i < reach->pointer_count; i++)
		take_out(segment, &reach->pointers[i].memory, &reach->pointers[i].offset);
	for (uint32_t i = 0; i < objects->handle_count; i++)
		take_out(segment, &objects->handles[i].memory, &objects->handles[i].offset);
}

/* The bounds are the same, or what was there before is held. */
static int take_place(struct gt_reach *reach, uint32_t number, const struct gt_reached *variable)
{
	struct gt_reached *memory = &reach->memory[number];

	memory->kind = variable->kind;
	memory->name = variable->name;
	memory->module = variable->module;
	memory->address = variable->address;
	memory->size = variable->size;
	return 1;
}

int gt_segments_take(struct gt_segments *segments, struct gt_reach *reach,
                     struct gt_capture_objects *objects, struct gt_bundle_writer *writer,
                     struct gt_reached *variable, struct gt_error *err)
{
	const uint32_t number = gt_reach_find(reach, variable->address);
	struct gt_reached known = {.size = 0};
	struct gt_segment *segment = find_segment(segments, variable);
	int result;

	if (number != GT_REACH_NONE)
		known = reach->memory[number];
	if (known.size && known.kind == GT_BUNDLE_MEMORY_variable)
		return 0;
	if (known.size == variable->size && known.address == variable->address)
		return take_place(reach, number, variable);
	if (!segment)
		return known.size ? refuse(variable, known.size, err) : 0;
	if (!segment->split && !is_apart(reach, objects, segment))
		return refuse(variable, segment->size, err);
	result = gt_bundle_blob(writer, segment->before + (variable->address - segment->address),
	                        (size_t)variable->size, variable->before, err);
	if (result < 0 || segment->split)
		return result;
	segment->split = true;
	let_go(reach, objects, segment);
	memcpy(reach->memory[segment->number].before, variable->before, sizeof(variable->before));
	reach->memory[segment->number].pointers = false;
	return take_place(reach, segment->number, variable);
}

/* ---- after the variables of a module ---- */

/* The 8 bytes are of a variable where all of them are: else none of it is a pointer or handle. */
static bool put_back(const struct gt_reach *reach, uint32_t *memory, uint64_t *offset)
{
	const uint32_t found =
		*memory == IN_SEGMENT ? gt_reach_find(reach, *offset) : GT_REACH_NONE;

	if (found == GT_REACH_NONE)
		return false; /* of another module, or between variables */
	if (*offset - reach->memory[found].address + sizeof(uint64_t) > reach->memory[found].size)
		return false;
	*memory = found;
	*offset -= reach->memory[found].address;
	return true;
}

static void settle_places(struct gt_reach *reach, struct gt_capture_objects *objects)
{
	for (uint32_t i = 0; i < reach->pointer_count; i++) {
		struct gt_reach_pointer *pointer = &reach->pointers[i];

		if (put_back(reach, &pointer->memory, &pointer->offset))
			reach->memory[pointer->memory].pointers = true;
	}
	for (uint32_t i = 0; i < objects->handle_count; i++)
		(void)put_back(reach, &objects->handles[i].memory, &objects->handles[i].offset);
}

static uint64_t bytes_from(const struct gt_capture_step *step, uint64_t pitch, uint64_t slice_pitch)
{
	return step->bytes + (step->rows - 1) * pitch +
	       (step->slices > 1 ? (step->slices - 1) * slice_pitch : 0);
}

static bool is_of_variable(const struct gt_segments *segments, const struct gt_reach *reach,
                           uint64_t address, uint64_t bytes)
{
	const uint32_t number = gt_reach_find(reach, address);

	for (uint32_t i = 0; i < segments->count; i++)
		if (segments->list[i].split && holds(&segments->list[i], address, 1))
			return number != GT_REACH_NONE &&
			       bytes <= reach->memory[number].size -
			                        (address - reach->memory[number].address);
	return true;
}

int gt_segments_settle(const struct gt_segments *segments, struct gt_reach *reach,
                       struct gt_capture_objects *objects, const struct gt_capture_lists *lists,
                       struct gt_error *err)
{
	settle_places(reach, objects);
	for (uint32_t i = 0; i < lists->step_count; i++) {
		const struct gt_capture_step *step = &lists->steps[i];

		if (!is_of_variable(segments, reach, step->to,
		                    bytes_from(step, step->to_pitch, step->to_slice_pitch)) ||
		    !is_of_variable(segments, reach, step->from,
		                    bytes_from(step, step->from_pitch, step->from_slice_pitch)))
			return gt_fail(err, ENOTSUP,
			               "a step uses memory of a module that is none of its "
			               "variables, before any launches a function of it");
	}
	return 0;
}

void gt_segments_end(struct gt_reach *reach, struct gt_capture_objects *objects)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < reach->pointer_count; i++)
		if (reach->pointers[i].memory != IN_SEGMENT)
			reach->pointers[kept++] = reach->pointers[i];
	reach->pointer_count = kept;
	kept = 0;
	for (uint32_t i = 0; i < objects->handle_count; i++)
		if (objects->handles[i].memory != IN_SEGMENT)
			objects->handles[kept++] = objects->handles[i];
	objects->handle_count = kept;
}
