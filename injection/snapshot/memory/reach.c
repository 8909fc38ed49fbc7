/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/reach.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

/* Addresses of the GPU's are less than 2^49; nobody maps the first megabyte. */
#define LEAST_ADDRESS (UINT64_C(1) << 20)
#define MOST_ADDRESS  (UINT64_C(1) << 49)

/* Allocations are aligned to so much, so that all of such a piece is in the same one or in none. */
#define PIECE_SHIFT 8

void gt_reach_begin(struct gt_reach *reach, gt_reach_ask *ask, void *context)
{
	reach->ask = ask;
	reach->context = context;
	reach->count = 0;
	reach->pointer_count = 0;
	reach->left_out = 0;
	reach->last = 0;
	reach->reused = 0;
	reach->refused[0] = '\0';
	gt_reach_step(reach, 0);
}

void gt_reach_step(struct gt_reach *reach, uint32_t step)
{
	reach->step = step;
	reach->questions = 0;
	memset(reach->nothing, 0, sizeof(reach->nothing));
}

/* How many of by_address begin at or before the address. */
static uint32_t place_of(const struct gt_reach *reach, uint64_t address)
{
	uint32_t first = 0;
	uint32_t end = reach->count;

	while (first < end) {
		const uint32_t middle = first + (end - first) / 2;

		if (reach->memory[reach->by_address[middle]].address <= address)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static bool holds(const struct gt_reached *memory, uint64_t address)
{
	return address >= memory->address && address - memory->address < memory->size;
}

/* Also of memory that is gone. */
static uint32_t find_any(const struct gt_reach *reach, uint64_t address)
{
	const uint32_t place = place_of(reach, address);
	const uint32_t found = place > 0 ? reach->by_address[place - 1] : GT_REACH_NONE;

	return found != GT_REACH_NONE && holds(&reach->memory[found], address) ? found
	                                                                       : GT_REACH_NONE;
}

uint32_t gt_reach_find(const struct gt_reach *reach, uint64_t address)
{
	const uint32_t found = find_any(reach, address);

	return found != GT_REACH_NONE && !reach->memory[found].gone ? found : GT_REACH_NONE;
}

void gt_reach_free(struct gt_reach *reach, uint32_t number)
{
	reach->memory[number].gone = true;
	reach->last = reach->last == number ? GT_REACH_NONE : reach->last;
}

/* Memory lies where others do; true: it is what was there before. */
static bool come_back(struct gt_reach *reach, const struct gt_reached *memory, uint32_t place)
{
	uint32_t found = find_any(reach, memory->address);

	if (found == GT_REACH_NONE)
		found = reach->by_address[place];
	if (!reach->memory[found].gone) {
		reach->left_out |= GT_REACH_OVERLAP;
		return false;
	}
	if (reach->memory[found].address != memory->address ||
	    reach->memory[found].size != memory->size ||
	    reach->memory[found].kind != memory->kind) {
		reach->reused = memory->address;
		return false;
	}
	reach->memory[found].gone = false;
	return true;
}

bool gt_reach_add(struct gt_reach *reach, const struct gt_reached *memory)
{
	const uint32_t place = place_of(reach, memory->address);
	const uint64_t end = memory->address + memory->size;

	if (memory->size == 0 || end < memory->address)
		return false;
	if (find_any(reach, memory->address) != GT_REACH_NONE ||
	    (place < reach->count && reach->memory[reach->by_address[place]].address < end))
		return come_back(reach, memory, place);
	if (reach->count == GT_REACH_MEMORY) {
		reach->left_out |= GT_REACH_MANY_MEMORY;
		return false;
	}
	memmove(&reach->by_address[place + 1], &reach->by_address[place],
	        (reach->count - place) * sizeof(reach->by_address[0]));
	reach->by_address[place] = reach->count;
	reach->memory[reach->count++] = *memory;
	return true;
}

/* Whether the piece of memory is known to be none; it is remembered to be. */
static uint64_t *nothing_at(struct gt_reach *reach, uint64_t address)
{
	const uint64_t piece = address >> PIECE_SHIFT;

	return &reach->nothing[(piece ^ piece >> 16) % GT_REACH_ASKED];
}

static enum gt_reach_answer ask(struct gt_reach *reach, uint64_t address, uint32_t depth,
                                struct gt_error *err)
{
	struct gt_reached found = {.name = "", .depth = depth};
	uint64_t *nothing = nothing_at(reach, address);
	enum gt_reach_answer answer;

	if (*nothing == address >> PIECE_SHIFT)
		return GT_REACH_NOTHING;
	if (reach->questions == GT_REACH_QUESTIONS) {
		reach->left_out |= GT_REACH_MANY_QUESTIONS;
		return GT_REACH_NOTHING;
	}
	reach->questions++;
	answer = reach->ask(reach->context, address, &found, err);
	if (answer == GT_REACH_FOUND && !gt_reach_add(reach, &found))
		answer = GT_REACH_NOTHING;
	if (answer != GT_REACH_FOUND)
		*nothing = address >> PIECE_SHIFT;
	return answer;
}

/* The memory that the value points into, known or found now. */
static enum gt_reach_answer look_up(struct gt_reach *reach, uint64_t value, uint32_t depth,
                                    struct gt_error *err)
{
	enum gt_reach_answer answer;

	if (value < LEAST_ADDRESS || value >= MOST_ADDRESS)
		return GT_REACH_NOTHING;
	if (reach->last < reach->count && holds(&reach->memory[reach->last], value))
		return GT_REACH_FOUND;
	reach->last = gt_reach_find(reach, value);
	if (reach->last != GT_REACH_NONE)
		return GT_REACH_FOUND;
	answer = ask(reach, value, depth, err);
	if (answer == GT_REACH_FOUND)
		reach->last = gt_reach_find(reach, value);
	return reach->last == GT_REACH_NONE && answer == GT_REACH_FOUND ? GT_REACH_NOTHING : answer;
}

static void note_pointer(struct gt_reach *reach, const struct gt_reach_pointer *pointer)
{
	if (reach->pointer_count == GT_REACH_POINTERS)
		reach->left_out |= GT_REACH_MANY_POINTERS;
	else
		reach->pointers[reach->pointer_count++] = *pointer;
}

int gt_reach_parameter(struct gt_reach *reach, const uint8_t *block, size_t offset, size_t size,
                       struct gt_error *err)
{
	const size_t end = offset + size;

	for (size_t at = (offset + 7) & ~(size_t)7; at + 8 <= end; at += 8) {
		switch (look_up(reach, gt_get_u64(block + at), 0, err)) {
		case GT_REACH_NOTHING:
			break;
		case GT_REACH_FOUND:
			note_pointer(reach, &(struct gt_reach_pointer){.memory = GT_REACH_NONE,
			                                               .step = reach->step,
			                                               .target = reach->last,
			                                               .offset = at,
			                                               .declared = size == 8});
			break;
		case GT_REACH_REFUSED:
			return err ? -err->code : -1;
		}
	}
	return 0;
}

struct scan {
	uint32_t depth; /* of what is found */
	/* Takes an address that leads to memory, which is reach->last; NULL: nothing is done. */
	void (*note)(struct gt_reach *reach, uint32_t memory, uint64_t offset);
	uint32_t memory;
	uint64_t offset; /* of the bytes */
};

static void scan(struct gt_reach *reach, const struct scan *scan, const uint8_t *bytes, size_t size)
{
	struct gt_error err = {0};

	for (size_t at = 0; at + 8 <= size; at += 8) {
		const uint64_t value = gt_get_u64(bytes + at);
		enum gt_reach_answer answer;

		if (value < LEAST_ADDRESS || value >= MOST_ADDRESS)
			continue;
		if (scan->depth > GT_REACH_DEPTH && gt_reach_find(reach, value) == GT_REACH_NONE) {
			reach->left_out |= GT_REACH_DEEP;
			continue;
		}
		answer = look_up(reach, value, scan->depth, &err);
		if (answer == GT_REACH_FOUND && scan->note) {
			scan->note(reach, scan->memory, scan->offset + at);
		} else if (answer == GT_REACH_REFUSED) {
			reach->left_out |= GT_REACH_FOREIGN;
			(void)snprintf(reach->refused, sizeof(reach->refused), "%.255s", err.text);
		}
	}
}

static void note_in_step(struct gt_reach *reach, uint32_t memory, uint64_t offset)
{
	note_pointer(reach, &(struct gt_reach_pointer){.memory = memory,
	                                               .step = reach->step,
	                                               .target = reach->last,
	                                               .offset = offset});
}

static void note_in_memory(struct gt_reach *reach, uint32_t memory, uint64_t offset)
{
	reach->memory[memory].pointers = true;
	note_in_step(reach, memory, offset);
}

void gt_reach_brought(struct gt_reach *reach, uint64_t offset, const uint8_t *bytes, size_t size)
{
	const struct scan wanted = {
		.note = note_in_step, .memory = GT_REACH_NONE, .offset = offset};

	scan(reach, &wanted, bytes, size);
}

void gt_reach_written(struct gt_reach *reach, uint32_t memory, const uint8_t *bytes, size_t size)
{
	const struct scan wanted = {.depth = reach->memory[memory].depth + 1};

	scan(reach, &wanted, bytes, size);
}

void gt_reach_contents(struct gt_reach *reach, uint32_t memory, uint64_t offset,
                       const uint8_t *bytes, size_t size)
{
	const struct scan wanted = {.depth = reach->memory[memory].depth + 1,
	                            .note = note_in_memory,
	                            .memory = memory,
	                            .offset = offset};

	scan(reach, &wanted, bytes, size);
}
