/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/capture_segments.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "format/bundle_writer.h"
#include "injection/capture_lists.h"
#include "injection/reach.h"

#define IN_SEGMENT                                                                                 \
	(GT_REACH_NONE - 1) /* a pointer's memory while it stands in none, by its address */

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

/* Pointers in a segment are found again by their addresses; none may lead to it. */
static bool let_go(struct gt_reach *reach, const struct gt_segment *segment)
{
	for (uint32_t i = 0; i < reach->pointer_count; i++) {
		struct gt_reach_pointer *pointer = &reach->pointers[i];

		if (pointer->target == segment->number)
			return false;
		if (pointer->memory != segment->number)
			continue;
		pointer->memory = IN_SEGMENT;
		pointer->offset += segment->address;
	}
	return true;
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
                     struct gt_bundle_writer *writer, struct gt_reached *variable,
                     struct gt_error *err)
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
	if (!segment->split && !let_go(reach, segment))
		return refuse(variable, segment->size, err);
	result = gt_bundle_blob(writer, segment->before + (variable->address - segment->address),
	                        (size_t)variable->size, variable->before, err);
	if (result < 0 || segment->split)
		return result;
	segment->split = true;
	memcpy(reach->memory[segment->number].before, variable->before, sizeof(variable->before));
	reach->memory[segment->number].pointers = false;
	return take_place(reach, segment->number, variable);
}

/* ---- after the variables of a module ---- */

static void settle_pointers(struct gt_reach *reach)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < reach->pointer_count; i++) {
		struct gt_reach_pointer pointer = reach->pointers[i];

		if (pointer.memory == IN_SEGMENT) {
			pointer.memory = gt_reach_find(reach, pointer.offset);
			if (pointer.memory == GT_REACH_NONE)
				continue; /* between variables */
			pointer.offset -= reach->memory[pointer.memory].address;
			reach->memory[pointer.memory].pointers = true;
		}
		reach->pointers[kept++] = pointer;
	}
	reach->pointer_count = kept;
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
                       const struct gt_capture_lists *lists, struct gt_error *err)
{
	settle_pointers(reach);
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
