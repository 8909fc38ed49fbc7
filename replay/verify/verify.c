/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/verify/verifying.h"

size_t gt_verifying_size(const struct gt_verifying *verifying, size_t number)
{
	return verifying->bundle->memory.rows[number].size;
}

static bool is_array(const struct gt_verifying *verifying, size_t number)
{
	return verifying->bundle->memory.rows[number].kind == GT_BUNDLE_MEMORY_array;
}

struct gt_replay_buffer *gt_verifying_find(const struct gt_verifying *verifying, size_t number)
{
	gt_array_each(struct gt_replay_buffer, buffer, &verifying->result->buffers)
		if (buffer->memory == number)
			return buffer;
	return NULL;
}

struct gt_replay_buffer *gt_verifying_buffer(const struct gt_verifying *verifying, size_t number)
{
	struct gt_replay_buffer *buffer = gt_verifying_find(verifying, number);

	if (!buffer) {
		buffer = gt_array_push(&verifying->result->buffers);
		*buffer = (struct gt_replay_buffer){
			.memory = (uint32_t)number,
			.array = is_array(verifying, number),
			.held = verifying->bundle->memory.rows[number].same,
		};
	}
	return buffer;
}

enum gt_element gt_verifying_element(const struct gt_verifying *verifying, size_t number,
                                     const uint8_t *bytes, enum gt_element_source *source)
{
	const struct gt_replay_options *options = verifying->options;

	*source = GT_ELEMENT_GIVEN;
	for (size_t i = options->element_count; i > 0; i--)
		if (options->elements[i - 1].memory == number ||
		    options->elements[i - 1].memory == GT_BUNDLE_NONE)
			return options->elements[i - 1].element;
	*source = GT_ELEMENT_OF_ARRAY;
	if (is_array(verifying, number))
		return gt_element_of_format(verifying->bundle->memory.rows[number].array.format);
	*source = GT_ELEMENT_GUESSED;
	return gt_element_guess(bytes, gt_verifying_size(verifying, number));
}

static int run(const struct gt_verifying *verifying, struct gt_error *err)
{
	int result = gt_restored_reset(verifying->restored, err);

	if (result == 0)
		result = gt_gpu_wait(verifying->steps->gpu, err);
	if (result == 0)
		result = gt_steps_run(verifying->steps, err);
	return result < 0 ? result : gt_gpu_wait(verifying->steps->gpu, err);
}

/* Contents that the program had afterwards, where the same inputs were used. */
int gt_verifying_wanted(const struct gt_verifying *verifying, size_t number, uint8_t **wanted,
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

void gt_verifying_compare(const struct gt_verifying *verifying, size_t number,
                          const uint8_t *wanted, const uint8_t *got)
{
	const size_t size = gt_verifying_size(verifying, number);
	struct gt_replay_buffer *buffer = gt_verifying_buffer(verifying, number);
	const enum gt_element element =
		gt_verifying_element(verifying, number, wanted ? wanted : got, &buffer->source);

	buffer->wanted_known = wanted != NULL;
	if (wanted) {
		gt_compare(wanted, got, size, element, verifying->options->tolerance,
		           &buffer->comparison);
		return;
	}
	buffer->comparison = (struct gt_comparison){.element = element};
	gt_values_of(got, size, element, &buffer->comparison.got_values);
}

/* A memory that nothing changed in the program counts only if it is changed here. */
static int look_at(const struct gt_verifying *verifying, size_t number, struct gt_error *err)
{
	bool changes = gt_restored_changes(verifying->restored, number);
	uint8_t *got = gt_allocate(gt_verifying_size(verifying, number) + 1);
	uint8_t *wanted = NULL;
	int result = gt_restored_get(verifying->restored, number, got, err);

	if (result == 0)
		result = gt_verifying_wanted(verifying, number, &wanted, err);
	if (result == 0 && wanted && memcmp(wanted, got, gt_verifying_size(verifying, number)) != 0)
		changes = true;
	if (result == 0 && changes) {
		gt_verifying_compare(verifying, number, wanted, got);
		verifying->seen[number].first = got;
		got = NULL;
	}
	free(wanted);
	free(got);
	return result;
}

static int look_at_zones(const struct gt_verifying *verifying, size_t number, struct gt_error *err)
{
	const struct gt_layout_place *at = &verifying->restored->layout.places.rows[number];
	uint64_t changed = 0;
	int64_t first = 0;
	const int result =
		gt_restored_check_zones(verifying->restored, number, &changed, &first, err);

	if (result < 0)
		return result;
	if (changed || gt_verifying_find(verifying, number)) {
		struct gt_replay_buffer *buffer = gt_verifying_buffer(verifying, number);

		buffer->zone_bytes = at->before + at->behind;
		buffer->outside = changed;
		buffer->first_outside = first;
	}
	return 0;
}

static int first_run(const struct gt_verifying *verifying, struct gt_error *err)
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

static int second_run(const struct gt_verifying *verifying, struct gt_error *err)
{
	int result = run(verifying, err);

	for (size_t i = 0; result == 0 && i < verifying->bundle->memory.count; i++) {
		const uint8_t *first = verifying->seen[i].first;
		struct gt_replay_buffer *buffer = first ? gt_verifying_buffer(verifying, i) : NULL;
		uint8_t *got;

		if (!first)
			continue;
		got = gt_allocate(gt_verifying_size(verifying, i) + 1);
		result = gt_restored_get(verifying->restored, i, got, err);
		if (result == 0)
			buffer->varying = differing(first, got, gt_verifying_size(verifying, i),
			                            gt_element_size(buffer->comparison.element));
		buffer->varies = buffer->varying > 0;
		free(got);
	}
	return result;
}

/* ---- sequences ---- */

static uint64_t not_finite(const struct gt_values *values)
{
	return values->nans + values->infinities;
}

/* How many there are in all that may change. */
static int count_not_finite(const struct gt_verifying *verifying, uint64_t *count,
                            struct gt_error *err)
{
	int result = 0;

	*count = 0;
	gt_array_each(const struct gt_replay_buffer, buffer, &verifying->result->buffers) {
		const size_t size = gt_verifying_size(verifying, buffer->memory);
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

static int find_bad_step(const struct gt_verifying *verifying, struct gt_error *err)
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

/* Whether it was written with what was recorded: something is there that was not before. */
static bool is_proven(const struct gt_replay_buffer *buffer)
{
	return buffer->wanted_known &&
	       (!buffer->held || (buffer->written_known && buffer->written > 0));
}

static bool is_right(const struct gt_replay_result *result)
{
	gt_array_each(const struct gt_replay_buffer, buffer, &result->buffers)
		if (buffer->comparison.mismatches || buffer->outside || buffer->unwritten)
			return false;
	return true;
}

static void conclude(struct gt_replay_result *result)
{
	result->proven = 0;
	gt_array_each(const struct gt_replay_buffer, buffer, &result->buffers)
		result->proven += is_proven(buffer);
	result->wrong = !is_right(result);
	result->verified = result->proven > 0 && !result->wrong;
}

/* Memory that was asked, by what it was found to be. */
static void count_roles(const struct gt_verifying *verifying)
{
	gt_array_each(const struct gt_role_of, of, &verifying->roles->list)
		verifying->result->roles[of->role] += of->asked;
}

static int verify(struct gt_verifying *verifying, struct gt_error *err)
{
	int result = first_run(verifying, err);

	if (result == 0)
		result = second_run(verifying, err);
	if (result == 0 && is_sequence(verifying->bundle) && has_not_finite(verifying->result))
		result = find_bad_step(verifying, err);
	if (result == 0 && verifying->options->inputs == GT_INPUTS_recorded) {
		gt_verifying_poison(verifying);
		count_roles(verifying);
	}
	return result;
}

static void begin(struct gt_verifying *verifying)
{
	const size_t bytes = (verifying->bundle->memory.count + 1) * sizeof(*verifying->seen);

	verifying->seen = memset(gt_allocate(bytes), 0, bytes);
}

static void end(struct gt_verifying *verifying)
{
	for (size_t i = 0; i < verifying->bundle->memory.count; i++) {
		free(verifying->seen[i].first);
		free(verifying->seen[i].inside);
		free(verifying->seen[i].poison);
	}
	free(verifying->seen);
}

int gt_verify(struct gt_steps *steps, struct gt_restored *restored,
              const struct gt_replay_options *options, int64_t most_ns,
              struct gt_replay_result *found, struct gt_error *err)
{
	struct gt_roles roles = {0};
	struct gt_verifying verifying = {
		.steps = steps,
		.restored = restored,
		.options = options,
		.result = found,
		.bundle = steps->bundle,
		.roles = options->roles ? options->roles : &roles,
		.most_ns = most_ns,
	};
	int result;

	begin(&verifying);
	result = verify(&verifying, err);
	if (result == 0)
		conclude(found);
	end(&verifying);
	gt_roles_release(&roles);
	return result;
}

int gt_verify_now(struct gt_steps *steps, struct gt_restored *restored,
                  const struct gt_replay_options *options, struct gt_replay_result *found,
                  struct gt_error *err)
{
	struct gt_verifying verifying = {
		.steps = steps,
		.restored = restored,
		.options = options,
		.result = found,
		.bundle = steps->bundle,
	};
	int result = 0;

	begin(&verifying);
	for (size_t i = 0; result == 0 && i < verifying.bundle->memory.count; i++) {
		result = look_at(&verifying, i, err);
		free(verifying.seen[i].first);
		verifying.seen[i].first = NULL;
	}
	if (result == 0)
		conclude(found);
	end(&verifying);
	return result;
}
