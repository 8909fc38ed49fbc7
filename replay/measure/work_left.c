/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/work_runs.h"

#include <stdlib.h>
#include <string.h>

#include "model/bundle/bundle.h"
#include "replay/compare/compare.h"
#include "replay/gpu/gpu.h"
#include "replay/measure/sectors.h"
#include "replay/memory/restored.h"
#include "replay/steps/steps.h"
#include "replay/types/role.h"

enum {
	HOLE_SECTORS = 8,  /* unchanged ones between two changed ones belong to their part */
	MOST_PARTS = 8,    /* of one memory; of more, those that are near become one */
	LEAST_HALF = 4096, /* bytes of half a part that is still asked alone */
	MOST_RUNS = 64,    /* that show something */
};

#define MOST_NS INT64_C(5000000000) /* after so long no further run is made to show something */

/* So many of a thousand sectors that the first run changed may stay, where as much is changed. */
enum { MISSING_PER_MILLE = 1 };

/* The changed part that begins at that sector or behind it; false: there is none. */
static bool next_part(const struct gt_work *work, size_t number, size_t holes, size_t *sector,
                      struct gt_work_part *part)
{
	const struct gt_work_memory *memory = &work->memory[number];
	const size_t size = gt_work_memory_size(work, number);
	size_t first = *sector;
	size_t last;

	while (first < gt_sectors_in(size) &&
	       !gt_sector_differs(memory->before, memory->after, first, size))
		first++;
	if (first >= gt_sectors_in(size))
		return false;
	last = first;
	for (size_t i = first + 1; i < gt_sectors_in(size) && i - last <= holes + 1; i++)
		if (gt_sector_differs(memory->before, memory->after, i, size))
			last = i;
	*sector = last + 1;
	*part = (struct gt_work_part){
		.memory = (uint32_t)number,
		.offset = first * GT_SECTOR,
		.bytes = (last + 1) * GT_SECTOR < size ? (last + 1 - first) * GT_SECTOR
	                                               : size - first * GT_SECTOR,
	};
	return true;
}

/* More than MOST_PARTS are not counted. */
static size_t count_parts(const struct gt_work *work, size_t number, size_t holes)
{
	struct gt_work_part part;
	size_t sector = 0;
	size_t count = 0;

	while (count <= MOST_PARTS && next_part(work, number, holes, &sector, &part))
		count++;
	return count;
}

/* Arrays are restored whole; where runs differ nobody knows what the next one changes. */
static void add_parts(struct gt_work *work, size_t number)
{
	struct gt_work_part part = {.memory = (uint32_t)number,
	                            .bytes = gt_work_memory_size(work, number)};
	size_t holes = HOLE_SECTORS;
	size_t sector = 0;

	if (gt_work_is_array(work, number) || work->memory[number].varies) {
		*gt_array_push(&work->parts) = part;
		return;
	}
	while (count_parts(work, number, holes) > MOST_PARTS)
		holes *= 4;
	while (next_part(work, number, holes, &sector, &part))
		*gt_array_push(&work->parts) = part;
}

static int by_bytes(const void *a, const void *b)
{
	const struct gt_work_part *left = a;
	const struct gt_work_part *right = b;

	return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static bool may_run(const struct gt_work *work)
{
	return work->runs < MOST_RUNS && gt_gpu_now_ns() - work->begun_ns < MOST_NS;
}

/* Addresses and handles would lead anywhere. */
static bool can_be_asked(const struct gt_work *work, const struct gt_work_part *part)
{
	const struct gt_bundle_memory *memory = &work->steps->bundle->memory.rows[part->memory];

	return !gt_work_is_array(work, part->memory) && !work->memory[part->memory].varies &&
	       !memory->pointers && !memory->handles;
}

/* Puts the bytes that a run left there, or other ones. */
static int put(const struct gt_work *work, const struct gt_work_part *part, bool poison,
               struct gt_error *err)
{
	const uint8_t *after = work->memory[part->memory].after + part->offset;
	uint8_t *bytes = gt_allocate(part->bytes + 1);
	int result;

	if (poison)
		gt_poison(after, bytes, part->bytes);
	else
		memcpy(bytes, after, part->bytes);
	result = gt_restored_put_part(work->restored, part->memory, part->offset, bytes,
	                              part->bytes, err);
	free(bytes);
	return result;
}

/* Bytes of a part that nobody writes hold what was put there: that is as it should be. */
static void forget_holes(const struct gt_work *work, const struct gt_work_part *part, uint8_t *got)
{
	const struct gt_work_memory *memory = &work->memory[part->memory];
	uint8_t *poison = gt_allocate(part->bytes + 1);

	gt_poison(memory->after + part->offset, poison, part->bytes);
	for (uint64_t i = 0; i < part->bytes; i++) {
		const uint64_t at = part->offset + i;

		if (got[at] == poison[i] && memory->before[at] == memory->after[at])
			got[at] = memory->after[at];
	}
	free(poison);
}

/* Whether the run left in that memory what the first one did. */
static int is_same(const struct gt_work *work, size_t number, const struct gt_work_asked *asked,
                   bool *same, struct gt_error *err)
{
	const struct gt_work_memory *memory = &work->memory[number];
	const size_t size = gt_work_memory_size(work, number);
	uint8_t *got;
	int result;

	if (!memory->after || memory->varies)
		return 0;
	got = gt_allocate(size + 1);
	result = gt_restored_get(work->restored, number, got, err);
	for (size_t i = 0; result == 0 && i < asked->count; i++)
		if (asked->parts[i].memory == number)
			forget_holes(work, &asked->parts[i], got);
	if (result == 0 && memcmp(memory->after, got, size) != 0)
		*same = false;
	free(got);
	return result;
}

/* A kernel may do anything with bytes that it did not find in the program. */
static int finish_over(struct gt_work *work, struct gt_error *err)
{
	const int result = gt_work_finish(work, work->most_ns, err);

	if (result < 0 && work->options->roles)
		work->options->roles->unproven = true;
	return result;
}

int gt_work_try_over(struct gt_work *work, const struct gt_work_asked *asked, bool poison,
                     bool *same, struct gt_error *err)
{
	int result = gt_work_reset(work, err);

	*same = true;
	work->runs++;
	for (size_t i = 0; result == 0 && i < asked->count; i++)
		result = put(work, &asked->parts[i], poison, err);
	if (result < 0)
		return result;
	result = finish_over(work, err);
	for (size_t i = 0; result == 0 && i < gt_work_memory_count(work); i++)
		result = is_same(work, i, asked, same, err);
	return result;
}

/*
 * First what a run left there, which is what runs that follow each other find: most of what is read
 * gives something else then, and is never asked over other bytes, which may make the GPU fail.
 */
static int ask(struct gt_work *work, const struct gt_work_asked *asked, bool *same,
               struct gt_error *err)
{
	int result;

	*same = false;
	if (!may_run(work))
		return 0;
	result = gt_work_try_over(work, asked, false, same, err);
	if (result == 0 && *same && work->over_poison)
		result = gt_work_try_over(work, asked, true, same, err);
	return result;
}

static void settle(struct gt_work *work, const struct gt_work_asked *asked, bool left)
{
	for (size_t i = 0; i < asked->count; i++) {
		struct gt_work_part *part = gt_array_push(&work->parts);

		*part = asked->parts[i];
		part->left = left;
	}
}

/*
 * Halves a part that makes a difference as a whole: a counter may lie at the end of an output.
 * Where it is in both halves, all of the part is state.
 */
static int halve(struct gt_work *work, struct gt_work_part part, struct gt_error *err)
{
	int result = 0;

	while (result == 0 && part.bytes >= (uint64_t)2 * LEAST_HALF) {
		const uint64_t half = gt_sectors_in(part.bytes) / 2 * GT_SECTOR;
		struct gt_work_part halves[2] = {part, part};
		bool same[2] = {false, false};

		halves[0].bytes = half;
		halves[1].offset += half;
		halves[1].bytes -= half;
		for (size_t i = 0; result == 0 && i < 2; i++)
			result = ask(work, &(struct gt_work_asked){&halves[i], 1}, &same[i], err);
		if (result < 0 || same[0] == same[1])
			break;
		settle(work, &(struct gt_work_asked){&halves[same[0] ? 0 : 1], 1}, true);
		part = halves[same[0] ? 1 : 0];
	}
	settle(work, &(struct gt_work_asked){&part, 1}, false);
	return result;
}

/* All of them together, then in halves. */
static int divide(struct gt_work *work, struct gt_work_asked asked,
                  struct gt_error *err) // NOLINT(misc-no-recursion)
{
	const size_t half = asked.count / 2;
	bool same = false;
	int result;

	if (asked.count == 0)
		return 0;
	result = ask(work, &asked, &same, err);
	if (result < 0 || same || !may_run(work)) {
		settle(work, &asked, same);
		return result;
	}
	if (asked.count == 1)
		return halve(work, asked.parts[0], err);
	result = divide(work, (struct gt_work_asked){asked.parts, half}, err);
	if (result == 0)
		result = divide(
			work, (struct gt_work_asked){asked.parts + half, asked.count - half}, err);
	return result;
}

/* Sectors of the part that the first run changed, and of these those that are the same in both. */
static struct gt_sectors_compared count_unchanged(const struct gt_work *work,
                                                  const struct gt_work_part *part,
                                                  const uint8_t *found, const uint8_t *left)
{
	const struct gt_work_memory *memory = &work->memory[part->memory];
	const size_t size = gt_work_memory_size(work, part->memory);
	struct gt_sectors_compared counted = {0};

	for (size_t i = part->offset / GT_SECTOR; i < gt_sectors_in(part->offset + part->bytes);
	     i++) {
		if (!gt_sector_differs(memory->before, memory->after, i, size))
			continue;
		counted.changed++;
		counted.missing += !gt_sector_differs(found, left, i, size);
	}
	return counted;
}

/* For a part that makes a difference: whether a run over what one left there changes as much. */
static int try_again_over(struct gt_work *work, struct gt_work_part *part, struct gt_error *err)
{
	const size_t size = gt_work_memory_size(work, part->memory);
	uint8_t *found = gt_allocate(size + 1);
	uint8_t *left = gt_allocate(size + 1);
	int result = gt_work_reset(work, err);

	work->runs++;
	if (result == 0)
		result = gt_work_finish(work, 0, err);
	part->left = true;
	if (result == 0)
		result = gt_work_restore(work, err);
	part->left = false;
	if (result == 0)
		result = gt_restored_get(work->restored, part->memory, found, err);
	if (result == 0)
		result = finish_over(work, err);
	if (result == 0)
		result = gt_restored_get(work->restored, part->memory, left, err);
	if (result == 0) {
		const struct gt_sectors_compared counted = count_unchanged(work, part, found, left);

		part->left = part->by_time =
			counted.missing * 1000 <= counted.changed * MISSING_PER_MILLE;
	}
	free(found);
	free(left);
	return result;
}

/* Parts that are asked, out of the others: the smallest are restored, be they asked or not. */
static size_t take_asked(struct gt_work *work, uint64_t small_bytes, struct gt_work_part *asked)
{
	uint64_t small = 0;
	size_t restored = 0;
	size_t count = 0;

	for (size_t i = 0; i < work->parts.count; i++) {
		const struct gt_work_part part = work->parts.rows[i];

		small += part.bytes;
		if (small > small_bytes && can_be_asked(work, &part))
			asked[count++] = part;
		else
			work->parts.rows[restored++] = part;
	}
	work->parts.count = restored;
	return count;
}

static int try_all_again(struct gt_work *work, uint64_t small_bytes, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < work->parts.count; i++) {
		struct gt_work_part *part = &work->parts.rows[i];

		if (!part->left && part->bytes > small_bytes &&
		    !gt_work_is_array(work, part->memory) && may_run(work))
			result = try_again_over(work, part, err);
	}
	return result;
}

int gt_work_choose(struct gt_work *work, uint64_t small_bytes, bool over_poison,
                   struct gt_error *err)
{
	struct gt_work_part *asked;
	size_t count;
	int result;

	work->parts.count = 0;
	work->begun_ns = gt_gpu_now_ns();
	work->runs = 0;
	work->over_poison = over_poison;
	for (size_t i = 0; i < gt_work_memory_count(work); i++)
		if (work->memory[i].after)
			add_parts(work, i);
	if (work->parts.count == 0)
		return 0;
	qsort(work->parts.rows, work->parts.count, sizeof(*work->parts.rows), by_bytes);
	asked = gt_allocate((work->parts.count + 1) * sizeof(*asked));
	count = take_asked(work, small_bytes, asked);
	result = divide(work, (struct gt_work_asked){asked, count}, err);
	free(asked);
	return result < 0 ? result : try_all_again(work, small_bytes, err);
}
