/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/bundle/bundle.h"
#include "replay/gpu/gpu.h"
#include "replay/verify/verifying.h"

/* Runs over other bytes in memory that the steps write: what is not these any more was written. */

enum {
	SECTOR = 32,      /* bytes that are looked at together: of the GPU's memory */
	HOLE_SECTORS = 8, /* that are not written between two that are: they belong to one output */
};

static size_t length(size_t size, size_t sector)
{
	return size - sector * SECTOR < SECTOR ? size - sector * SECTOR : SECTOR;
}

/*
 * Counted as an output: all of a memory of which half was changed; else sectors that were, and
 * holes between them that are not wide. Inputs that lie in the same memory are left alone.
 */
static void choose_inside(uint8_t *inside, const uint8_t *before, const uint8_t *after, size_t size)
{
	const size_t sectors = (size + SECTOR - 1) / SECTOR;
	size_t changed = 0;
	size_t last = SIZE_MAX; /* that was changed */

	memset(inside, 0, size);
	for (size_t i = 0; i < sectors; i++) {
		const size_t from =
			last != SIZE_MAX && i - last <= HOLE_SECTORS ? last * SECTOR : i * SECTOR;

		if (memcmp(before + i * SECTOR, after + i * SECTOR, length(size, i)) == 0)
			continue;
		memset(inside + from, 1, i * SECTOR + length(size, i) - from);
		last = i;
		changed++;
	}
	if (2 * changed >= sectors)
		memset(inside, 1, size);
}

/* Levels of a mipmapped array of which nothing was changed are other ones' neighbours alone. */
static void spare_levels(const struct gt_array_shape *shape, uint8_t *inside, const uint8_t *before,
                         const uint8_t *after)
{
	for (uint32_t i = 0; i < shape->levels; i++) {
		const struct gt_array_level level = gt_array_level(shape, i);
		const uint64_t bytes = gt_array_level_bytes(&level);

		if (memcmp(before + level.offset, after + level.offset, bytes) == 0)
			memset(inside + level.offset, 0, bytes);
	}
}

/* Pointers and handles would lead anywhere. */
static bool can_be_poisoned(const struct gt_verifying *verifying, size_t number)
{
	const struct gt_replay_buffer *buffer = gt_verifying_find(verifying, number);

	return verifying->seen[number].first && !verifying->seen[number].read &&
	       !verifying->bundle->memory.rows[number].pointers &&
	       !verifying->bundle->memory.rows[number].handles && buffer && !buffer->varies;
}

static int poison(const struct gt_verifying *verifying, size_t number, struct gt_error *err)
{
	const size_t size = gt_verifying_size(verifying, number);
	struct gt_seen *seen = &verifying->seen[number];
	uint8_t *bytes = gt_allocate(size + 1);
	uint8_t *wanted = NULL;
	int result = gt_restored_before(verifying->restored, number, bytes, err);

	if (result == 0)
		result = gt_verifying_wanted(verifying, number, &wanted, err);
	if (result == 0) {
		seen->inside = gt_allocate(size + 1);
		seen->poison = gt_allocate(size + 1);
		choose_inside(seen->inside, bytes, wanted ? wanted : seen->first, size);
		spare_levels(&verifying->bundle->memory.rows[number].array, seen->inside, bytes,
		             wanted ? wanted : seen->first);
		gt_poison(seen->first, seen->poison, size);
		for (size_t i = 0; i < size; i++)
			if (seen->inside[i])
				bytes[i] = seen->poison[i];
		result = gt_restored_put(verifying->restored, number, bytes, err);
	}
	free(wanted);
	free(bytes);
	return result;
}

/* Outcome for the poison, element by element. */
struct judged {
	const uint8_t *before; /* what was there in the program, */
	const uint8_t *after;  /* and afterwards */
	const uint8_t *got;
	size_t size;
};

static bool is_inside(const struct gt_seen *seen, size_t at, size_t bytes)
{
	return seen->inside[at] && seen->inside[at + bytes - 1];
}

/* Elements that are not poison have to be what they were without it. */
static void judge(struct gt_replay_buffer *buffer, const struct gt_seen *seen,
                  const struct judged *judged)
{
	const size_t element = gt_element_size(buffer->comparison.element);
	struct gt_replay_buffer found = *buffer;

	found.written_known = true;
	for (size_t i = 0; i < judged->size && found.written_known; i += element) {
		const size_t bytes = judged->size - i < element ? judged->size - i : element;
		const bool left = is_inside(seen, i, bytes) &&
		                  memcmp(judged->got + i, seen->poison + i, bytes) == 0;

		if (!left) {
			found.written_known = memcmp(judged->got + i, seen->first + i, bytes) == 0;
		} else if (memcmp(judged->before + i, judged->after + i, bytes) != 0) {
			found.first_unwritten = found.unwritten ? found.first_unwritten : i;
			found.unwritten += bytes;
		} else {
			found.first_untouched = found.untouched ? found.first_untouched : i;
			found.untouched += bytes;
		}
	}
	if (found.written_known)
		*buffer = found;
}

static int judge_poison(const struct gt_verifying *verifying, size_t number, struct gt_error *err)
{
	const size_t size = gt_verifying_size(verifying, number);
	const struct gt_seen *seen = &verifying->seen[number];
	uint8_t *before = gt_allocate(size + 1);
	uint8_t *got = gt_allocate(size + 1);
	uint8_t *wanted = NULL;
	int result = gt_restored_before(verifying->restored, number, before, err);

	if (result == 0)
		result = gt_restored_get(verifying->restored, number, got, err);
	if (result == 0)
		result = gt_verifying_wanted(verifying, number, &wanted, err);
	if (result == 0)
		judge(gt_verifying_buffer(verifying, number), seen,
		      &(struct judged){before, wanted ? wanted : seen->first, got, size});
	free(before);
	free(got);
	free(wanted);
	return result;
}

/* ---- outputs that hold the same afterwards ---- */

static struct gt_role_of *role_of(const struct gt_verifying *verifying, size_t number)
{
	return number < verifying->roles->list.count ? &verifying->roles->list.rows[number] : NULL;
}

/* Known to be one by now. Memory that this variant changes is none. */
static bool is_output(const struct gt_verifying *verifying, size_t number)
{
	const struct gt_role_of *of = role_of(verifying, number);

	return of && of->role == GT_ROLE_output && !verifying->seen[number].first;
}

static int poison_output(const struct gt_verifying *verifying, size_t number, struct gt_error *err)
{
	const size_t size = gt_verifying_size(verifying, number);
	struct gt_seen *seen = &verifying->seen[number];
	uint8_t *before = gt_allocate(size + 1);
	int result = gt_restored_before(verifying->restored, number, before, err);

	if (result == 0) {
		seen->poison = gt_allocate(size + 1);
		gt_poison(before, seen->poison, size);
		result = gt_restored_put(verifying->restored, number, seen->poison, err);
	}
	free(before);
	return result;
}

/* Written bytes of an output. */
struct written {
	uint64_t bytes;
	uint64_t first;
	uint64_t end;
	uint64_t first_left; /* byte that was not, of those that were as recorded; UINT64_MAX */
	bool wrong;          /* something else than was there */
};

/* Puts what was there into got where it was not written. */
static struct written find_written(const struct gt_role_of *of, const uint8_t *before,
                                   const uint8_t *poison, uint8_t *got, size_t size)
{
	struct written written = {.first_left = UINT64_MAX};

	for (size_t i = 0; i < size; i++) {
		if (got[i] == poison[i]) {
			if (i >= of->first && i < of->end && written.first_left == UINT64_MAX)
				written.first_left = i;
			got[i] = before[i];
			continue;
		}
		written.first = written.bytes ? written.first : i;
		written.end = i + 1;
		written.bytes++;
		written.wrong |= got[i] != before[i];
	}
	return written;
}

/* The first variant counts what is written, and others are to write as much. */
static void conclude(const struct gt_verifying *verifying, size_t number,
                     const struct written *written)
{
	struct gt_role_of *of = role_of(verifying, number);
	struct gt_replay_buffer *buffer = gt_verifying_buffer(verifying, number);

	if (of->bytes == 0 && written->wrong) {
		of->role = GT_ROLE_both;
		return;
	}
	if (of->bytes == 0) {
		of->bytes = written->bytes;
		of->first = written->first;
		of->end = written->end;
	}
	buffer->written_known = true;
	buffer->written = written->bytes;
	if (written->bytes >= of->bytes)
		return;
	buffer->unwritten = of->bytes - written->bytes;
	buffer->first_unwritten = written->first_left == UINT64_MAX ? 0 : written->first_left;
}

/* It is as before afterwards. */
static int judge_output(const struct gt_verifying *verifying, size_t number, struct gt_error *err)
{
	const size_t size = gt_verifying_size(verifying, number);
	uint8_t *before = gt_allocate(size + 1);
	uint8_t *got = gt_allocate(size + 1);
	int result = gt_restored_before(verifying->restored, number, before, err);

	if (result == 0)
		result = gt_restored_get(verifying->restored, number, got, err);
	if (result == 0) {
		const struct written written =
			find_written(role_of(verifying, number), before,
		                     verifying->seen[number].poison, got, size);

		/* Read as well: what was made of poison is nothing that the launch makes. */
		if (role_of(verifying, number)->bytes == 0 && written.wrong)
			memcpy(got, before, size);
		gt_verifying_compare(verifying, number, before, got);
		conclude(verifying, number, &written);
		result = gt_restored_put(verifying->restored, number, before, err);
	}
	free(before);
	free(got);
	return result;
}

/* ---- runs ---- */

int gt_verifying_run(const struct gt_verifying *verifying, struct gt_error *err)
{
	int result;

	verifying->steps->bounded = true;
	result = gt_steps_run(verifying->steps, err);
	verifying->steps->bounded = false;
	return result < 0 ? result
	                  : gt_gpu_wait_for(verifying->steps->gpu, verifying->most_ns, err);
}

static int judge_memory(const struct gt_verifying *verifying, size_t number, struct gt_error *err)
{
	struct gt_seen *seen = &verifying->seen[number];
	int result = 0;

	if (seen->inside)
		result = judge_poison(verifying, number, err);
	else if (seen->poison)
		result = judge_output(verifying, number, err);
	free(seen->inside);
	free(seen->poison);
	seen->inside = seen->poison = NULL;
	return result;
}

/* Over other bytes in outputs, and, changed, in what the steps change. */
static int poisoned_run(const struct gt_verifying *verifying, bool changed, struct gt_error *err)
{
	const size_t count = verifying->bundle->memory.count;
	int result = gt_restored_reset(verifying->restored, err);

	for (size_t i = 0; result == 0 && i < count; i++) {
		if (changed && can_be_poisoned(verifying, i))
			result = poison(verifying, i, err);
		else if (is_output(verifying, i))
			result = poison_output(verifying, i, err);
	}
	if (result == 0)
		result = gt_verifying_run(verifying, err);
	for (size_t i = 0; result == 0 && i < count; i++)
		result = judge_memory(verifying, i, err);
	return result;
}

/*
 * Whether something that is read may be why others were not written: a counter that holds more than
 * there are tiles, say. It keeps its bytes from now on, and what was found is forgotten.
 */
static bool spare_read(const struct gt_verifying *verifying)
{
	bool unwritten = false;
	bool read = false;

	gt_array_each(const struct gt_replay_buffer, buffer, &verifying->result->buffers)
		unwritten |= buffer->unwritten > 0;
	for (size_t i = 0; unwritten && i < verifying->bundle->memory.count; i++) {
		if (!can_be_poisoned(verifying, i) ||
		    gt_verifying_find(verifying, i)->written_known)
			continue;
		verifying->seen[i].read = read = true;
	}
	if (!read)
		return false;
	gt_array_each(struct gt_replay_buffer, buffer, &verifying->result->buffers) {
		buffer->written_known = false;
		buffer->unwritten = buffer->first_unwritten = 0;
		buffer->untouched = buffer->first_untouched = 0;
	}
	return true;
}

static int poisoned_runs(const struct gt_verifying *verifying, bool changed, struct gt_error *err)
{
	const int result = poisoned_run(verifying, changed, err);

	if (result < 0 || !changed || !spare_read(verifying))
		return result;
	return poisoned_run(verifying, changed, err);
}

/* A kernel may do anything with other bytes: it may fault, or never end. */
static bool try_run(const struct gt_verifying *verifying, bool changed)
{
	struct gt_roles *roles = verifying->roles;
	struct gt_error err = {0};

	if (poisoned_runs(verifying, changed, &err) == 0)
		return true;
	snprintf(roles->no_poison, sizeof(roles->no_poison),
	         "over other contents the run failed: %.110s", err.text);
	roles->unfinished = gt_roles_has_more(roles, verifying);
	gt_gpu_abandon(verifying->steps->gpu);
	return false;
}

static bool has_new_output(const struct gt_verifying *verifying)
{
	for (size_t i = 0; i < verifying->bundle->memory.count; i++)
		if (is_output(verifying, i) && !gt_verifying_find(verifying, i))
			return true;
	return false;
}

static bool find_roles(const struct gt_verifying *verifying)
{
	struct gt_replay_result *result = verifying->result;
	struct gt_error err = {0};

	if (gt_roles_find(verifying->roles, verifying, &err) == 0)
		return true;
	snprintf(result->no_roles, sizeof(result->no_roles),
	         "over other contents a run failed: %.110s", err.text);
	gt_gpu_abandon(verifying->steps->gpu);
	return false;
}

/* For memory known to be written: each first run gave what was recorded. */
static void add_same(const struct gt_verifying *verifying, size_t number)
{
	const struct gt_role_of *of = role_of(verifying, number);

	if (!of || verifying->seen[number].first ||
	    (of->role != GT_ROLE_output && of->role != GT_ROLE_both))
		return;
	if (!gt_verifying_buffer(verifying, number)->wanted_known) {
		uint8_t *before = gt_allocate(gt_verifying_size(verifying, number) + 1);

		if (gt_restored_before(verifying->restored, number, before, NULL) == 0)
			gt_verifying_compare(verifying, number, before, before);
		free(before);
	}
	gt_verifying_buffer(verifying, number)->role = of->role;
}

void gt_verifying_poison(struct gt_verifying *verifying)
{
	struct gt_roles *roles = verifying->roles;
	bool works = true;

	roles->unfinished = false;
	if (!roles->no_poison[0]) /* else it failed in the process before this one */
		works = try_run(verifying, true);
	if (works)
		works = find_roles(verifying);
	if (works && has_new_output(verifying) && !try_run(verifying, false))
		roles->unfinished = false; /* it would fail there as well */
	for (size_t i = 0; i < verifying->bundle->memory.count; i++)
		add_same(verifying, i);
	memcpy(verifying->result->no_poison, roles->no_poison, sizeof(roles->no_poison));
}
