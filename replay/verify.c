/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/restored.h"
#include "replay/steps.h"

enum {
	SECTOR = 32,      /* bytes that are looked at together: of the GPU's memory */
	HOLE_SECTORS = 8, /* that are not written between two that are: they belong to one output */
};

/* What is known of one memory while it is verified. */
struct seen {
	uint8_t *first;  /* contents after the first run; NULL: it changes nothing of it */
	uint8_t *inside; /* of each byte, whether it is poisoned; NULL: none is */
	uint8_t *poison;
};

struct verifying {
	struct gt_steps *steps;
	struct gt_restored *restored;
	const struct gt_replay_options *options;
	struct gt_replay_result *result;
	const struct gt_bundle *bundle;
	struct seen *seen; /* by memory */
};

static size_t size_of(const struct verifying *verifying, size_t number)
{
	return verifying->bundle->memory.rows[number].size;
}

static struct gt_replay_buffer *find_buffer(const struct verifying *verifying, size_t number)
{
	gt_array_each(struct gt_replay_buffer, buffer, &verifying->result->buffers)
		if (buffer->memory == number)
			return buffer;
	return NULL;
}

static struct gt_replay_buffer *buffer_of(const struct verifying *verifying, size_t number)
{
	struct gt_replay_buffer *buffer = find_buffer(verifying, number);

	if (!buffer) {
		buffer = gt_array_push(&verifying->result->buffers);
		*buffer = (struct gt_replay_buffer){.memory = (uint32_t)number};
	}
	return buffer;
}

static enum gt_element choose_element(const struct verifying *verifying, size_t number,
                                      const uint8_t *bytes, bool *guessed)
{
	const struct gt_replay_options *options = verifying->options;

	*guessed = false;
	for (size_t i = options->element_count; i > 0; i--)
		if (options->elements[i - 1].memory == number ||
		    options->elements[i - 1].memory == GT_BUNDLE_NONE)
			return options->elements[i - 1].element;
	*guessed = true;
	return gt_element_guess(bytes, size_of(verifying, number));
}

static int run(const struct verifying *verifying, struct gt_error *err)
{
	int result = gt_restored_reset(verifying->restored, err);

	if (result == 0)
		result = gt_gpu_wait(verifying->steps->gpu, err);
	if (result == 0)
		result = gt_steps_run(verifying->steps, err);
	return result < 0 ? result : gt_gpu_wait(verifying->steps->gpu, err);
}

/* Contents that the program had afterwards, where the same inputs were used. */
static int read_wanted(const struct verifying *verifying, size_t number, uint8_t **wanted,
                       struct gt_error *err)
{
	const struct gt_bundle_memory *memory = &verifying->bundle->memory.rows[number];
	int result = 0;

	*wanted = NULL;
	if (verifying->options->inputs != GT_INPUTS_recorded)
		return 0;
	if (memory->same ? !memory->before.hash[0] : !memory->after.hash[0])
		return 0;
	*wanted = gt_allocate(memory->size + 1);
	result = memory->same ? gt_restored_before(verifying->restored, number, *wanted, err)
	                      : gt_restored_after(verifying->restored, number, *wanted, err);
	return result;
}

static void compare(const struct verifying *verifying, size_t number, const uint8_t *wanted,
                    const uint8_t *got)
{
	const size_t size = size_of(verifying, number);
	struct gt_replay_buffer *buffer = buffer_of(verifying, number);
	const enum gt_element element =
		choose_element(verifying, number, wanted ? wanted : got, &buffer->guessed);

	buffer->wanted_known = wanted != NULL;
	if (wanted) {
		gt_compare(wanted, got, size, element, verifying->options->tolerance,
		           &buffer->comparison);
		return;
	}
	buffer->comparison = (struct gt_comparison){.element = element};
	gt_values_of(got, size, element, &buffer->comparison.got_values);
}

/* Of a memory that nothing changed in the program only that it is changed here. */
static int look_at(const struct verifying *verifying, size_t number, struct gt_error *err)
{
	bool changes = gt_restored_changes(verifying->restored, number);
	uint8_t *got = gt_allocate(size_of(verifying, number) + 1);
	uint8_t *wanted = NULL;
	int result = gt_restored_get(verifying->restored, number, got, err);

	if (result == 0)
		result = read_wanted(verifying, number, &wanted, err);
	if (result == 0 && wanted && memcmp(wanted, got, size_of(verifying, number)) != 0)
		changes = true;
	if (result == 0 && changes) {
		compare(verifying, number, wanted, got);
		verifying->seen[number].first = got;
		got = NULL;
	}
	free(wanted);
	free(got);
	return result;
}

static int look_at_zones(const struct verifying *verifying, size_t number, struct gt_error *err)
{
	const struct gt_layout_place *at = &verifying->restored->layout.places.rows[number];
	uint64_t changed = 0;
	int64_t first = 0;
	const int result =
		gt_restored_check_zones(verifying->restored, number, &changed, &first, err);

	if (result < 0)
		return result;
	if (changed || find_buffer(verifying, number)) {
		struct gt_replay_buffer *buffer = buffer_of(verifying, number);

		buffer->zone_bytes = at->before + at->behind;
		buffer->outside = changed;
		buffer->first_outside = first;
	}
	return 0;
}

static int first_run(const struct verifying *verifying, struct gt_error *err)
{
	int result = gt_restored_fill_zones(verifying->restored, err);

	if (result == 0)
		result = run(verifying, err);
	for (size_t i = 0; result == 0 && i < verifying->bundle->memory.count; i++) {
		result = look_at(verifying, i, err);
		if (result == 0)
			result = look_at_zones(verifying, i, err);
	}
	return result;
}

static uint64_t differing(const uint8_t *one, const uint8_t *other, size_t size, size_t element)
{
	uint64_t count = 0;

	for (size_t i = 0; i < size; i += element)
		count += memcmp(one + i, other + i, size - i < element ? size - i : element) != 0;
	return count;
}

static int second_run(const struct verifying *verifying, struct gt_error *err)
{
	int result = run(verifying, err);

	for (size_t i = 0; result == 0 && i < verifying->bundle->memory.count; i++) {
		const uint8_t *first = verifying->seen[i].first;
		struct gt_replay_buffer *buffer = first ? buffer_of(verifying, i) : NULL;
		uint8_t *got;

		if (!first)
			continue;
		got = gt_allocate(size_of(verifying, i) + 1);
		result = gt_restored_get(verifying->restored, i, got, err);
		if (result == 0)
			buffer->varying = differing(first, got, size_of(verifying, i),
			                            gt_element_size(buffer->comparison.element));
		buffer->varies = buffer->varying > 0;
		free(got);
	}
	return result;
}

/* ---- poison ---- */

static size_t length(size_t size, size_t sector)
{
	return size - sector * SECTOR < SECTOR ? size - sector * SECTOR : SECTOR;
}

/*
 * What counts as an output: all of a memory of which half was changed; else sectors that were, and
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

/* Pointers would lead anywhere. */
static bool can_be_poisoned(const struct verifying *verifying, size_t number)
{
	const struct gt_replay_buffer *buffer = find_buffer(verifying, number);

	return verifying->seen[number].first && !verifying->bundle->memory.rows[number].pointers &&
	       buffer && !buffer->varies;
}

static int poison(const struct verifying *verifying, size_t number, struct gt_error *err)
{
	const size_t size = size_of(verifying, number);
	struct seen *seen = &verifying->seen[number];
	uint8_t *bytes = gt_allocate(size + 1);
	uint8_t *wanted = NULL;
	int result = gt_restored_before(verifying->restored, number, bytes, err);

	if (result == 0)
		result = read_wanted(verifying, number, &wanted, err);
	if (result == 0) {
		seen->inside = gt_allocate(size + 1);
		seen->poison = gt_allocate(size + 1);
		choose_inside(seen->inside, bytes, wanted ? wanted : seen->first, size);
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

/* What became of the poison, element by element. */
struct judged {
	const uint8_t *before; /* what was there in the program, */
	const uint8_t *after;  /* and afterwards */
	const uint8_t *got;
	size_t size;
};

static bool is_inside(const struct seen *seen, size_t at, size_t bytes)
{
	return seen->inside[at] && seen->inside[at + bytes - 1];
}

/* Elements that are not poison have to be what they were without it. */
static void judge(struct gt_replay_buffer *buffer, const struct seen *seen,
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

static int judge_poison(const struct verifying *verifying, size_t number, struct gt_error *err)
{
	const size_t size = size_of(verifying, number);
	const struct seen *seen = &verifying->seen[number];
	uint8_t *before = gt_allocate(size + 1);
	uint8_t *got = gt_allocate(size + 1);
	uint8_t *wanted = NULL;
	int result = gt_restored_before(verifying->restored, number, before, err);

	if (result == 0)
		result = gt_restored_get(verifying->restored, number, got, err);
	if (result == 0)
		result = read_wanted(verifying, number, &wanted, err);
	if (result == 0)
		judge(buffer_of(verifying, number), seen,
		      &(struct judged){before, wanted ? wanted : seen->first, got, size});
	free(before);
	free(got);
	free(wanted);
	return result;
}

/* What a kernel makes of poison may be anything: it may never end. */
static int poisoned_run(const struct verifying *verifying, int64_t most_ns, struct gt_error *err)
{
	int result = gt_restored_reset(verifying->restored, err);

	for (size_t i = 0; result == 0 && i < verifying->bundle->memory.count; i++)
		if (can_be_poisoned(verifying, i))
			result = poison(verifying, i, err);
	if (result == 0)
		result = gt_steps_run(verifying->steps, err);
	if (result == 0)
		result = gt_gpu_wait_for(verifying->steps->gpu, most_ns, err);
	for (size_t i = 0; result == 0 && i < verifying->bundle->memory.count; i++)
		if (verifying->seen[i].inside)
			result = judge_poison(verifying, i, err);
	return result;
}

static void try_poison(const struct verifying *verifying, int64_t most_ns)
{
	struct gt_error err = {0};

	if (verifying->options->inputs != GT_INPUTS_recorded ||
	    poisoned_run(verifying, most_ns, &err) == 0)
		return;
	snprintf(verifying->result->no_poison, sizeof(verifying->result->no_poison),
	         "over other contents the run failed: %.110s", err.text);
	gt_gpu_abandon(verifying->steps->gpu);
}

/* ---- sequences ---- */

static uint64_t not_finite(const struct gt_values *values)
{
	return values->nans + values->infinities;
}

/* How many there are in all that may change. */
static int count_not_finite(const struct verifying *verifying, uint64_t *count,
                            struct gt_error *err)
{
	int result = 0;

	*count = 0;
	gt_array_each(const struct gt_replay_buffer, buffer, &verifying->result->buffers) {
		const size_t size = size_of(verifying, buffer->memory);
		uint8_t *got = gt_allocate(size + 1);
		struct gt_values values = {0};

		if (result == 0)
			result = gt_restored_get(verifying->restored, buffer->memory, got, err);
		if (result == 0)
			gt_values_of(got, size, buffer->comparison.element, &values);
		*count += not_finite(&values);
		free(got);
	}
	return result;
}

static int find_bad_step(const struct verifying *verifying, struct gt_error *err)
{
	uint64_t before = 0;
	uint64_t now = 0;
	int result = gt_restored_reset(verifying->restored, err);

	if (result == 0)
		result = count_not_finite(verifying, &before, err);
	for (size_t i = 0; result == 0 && i < verifying->bundle->steps.count; i++) {
		result = gt_steps_run_one(verifying->steps, i, err);
		if (result == 0)
			result = count_not_finite(verifying, &now, err);
		if (result == 0 && now > before) {
			verifying->result->first_bad_step = (uint32_t)i;
			return 0;
		}
		before = now;
	}
	return result;
}

static bool is_sequence(const struct gt_bundle *bundle)
{
	size_t launches = 0;

	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		launches += step->kind == GT_BUNDLE_STEP_launch;
	return launches > 1;
}

static bool has_not_finite(const struct gt_replay_result *result)
{
	gt_array_each(const struct gt_replay_buffer, buffer, &result->buffers)
		if (not_finite(&buffer->comparison.got_values) > 0)
			return true;
	return false;
}

static bool is_verified(const struct gt_replay_result *result)
{
	gt_array_each(const struct gt_replay_buffer, buffer, &result->buffers)
		if (buffer->comparison.mismatches || buffer->outside || buffer->unwritten)
			return false;
	return true;
}

int gt_verify(struct gt_steps *steps, struct gt_restored *restored,
              const struct gt_replay_options *options, int64_t most_ns,
              struct gt_replay_result *found, struct gt_error *err)
{
	const size_t count = steps->bundle->memory.count;
	struct verifying verifying = {steps, restored, options, found, steps->bundle, NULL};
	int result;

	verifying.seen = memset(gt_allocate((count + 1) * sizeof(*verifying.seen)), 0,
	                        (count + 1) * sizeof(*verifying.seen));
	result = first_run(&verifying, err);
	if (result == 0)
		result = second_run(&verifying, err);
	if (result == 0 && is_sequence(steps->bundle) && has_not_finite(found))
		result = find_bad_step(&verifying, err);
	if (result == 0)
		try_poison(&verifying, most_ns);
	found->verified = result == 0 && is_verified(found);
	for (size_t i = 0; i < count; i++) {
		free(verifying.seen[i].first);
		free(verifying.seen[i].inside);
		free(verifying.seen[i].poison);
	}
	free(verifying.seen);
	return result;
}
