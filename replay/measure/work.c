/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/work.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/gpu/gpu.h"
#include "replay/measure/sectors.h"
#include "replay/measure/work_runs.h"
#include "replay/memory/restored.h"
#include "replay/steps/steps.h"
#include "replay/tune/variant.h"
#include "replay/types/options.h"

/* A run over other bytes that takes so much longer than the first one does not end. */
#define POISON_TIMES    1000
#define POISON_LEAST_NS INT64_C(2000000000)

size_t gt_work_memory_count(const struct gt_work *work)
{
	return work->steps->bundle->memory.count;
}

size_t gt_work_memory_size(const struct gt_work *work, size_t number)
{
	return work->steps->bundle->memory.rows[number].size;
}

bool gt_work_is_array(const struct gt_work *work, size_t number)
{
	return work->steps->bundle->memory.rows[number].kind == GT_BUNDLE_MEMORY_array;
}

__attribute__((format(printf, 2, 3))) static void doubt(struct gt_work *work, const char *format,
                                                        ...)
{
	va_list args;

	if (*work->doubt)
		return;
	va_start(args, format);
	vsnprintf(work->doubt, sizeof(work->doubt), format, args);
	va_end(args);
}

static void doubt_less(struct gt_work *work, const char *which, size_t number,
                       const struct gt_sectors_compared *compared)
{
	doubt(work,
	      "%s wrote less than the first one: %zu of %zu bytes of memory %zu are as before it",
	      which, compared->missing * GT_SECTOR, compared->changed * GT_SECTOR, number);
}

/* ---- runs ---- */

int gt_work_finish(struct gt_work *work, int64_t most_ns, struct gt_error *err)
{
	int result;

	work->steps->bounded = most_ns > 0;
	result = gt_steps_run(work->steps, err);
	work->steps->bounded = false;
	if (result < 0)
		return result;
	return most_ns > 0 ? gt_gpu_wait_for(work->steps->gpu, most_ns, err)
	                   : gt_gpu_wait(work->steps->gpu, err);
}

int gt_work_reset(const struct gt_work *work, struct gt_error *err)
{
	const int result = gt_restored_reset(work->restored, err);

	return result < 0 ? result : gt_gpu_wait(work->steps->gpu, err);
}

/* From recorded memory. Work never seen to end may not. */
static int run_first(struct gt_work *work, struct gt_error *err)
{
	int result = gt_work_reset(work, err);
	const int64_t begun_ns = gt_gpu_now_ns();

	if (result == 0)
		result = gt_work_finish(work, work->options->most_run_ns, err);
	work->run_ns = gt_gpu_now_ns() - begun_ns;
	work->most_ns = POISON_TIMES * work->run_ns;
	if (work->most_ns < POISON_LEAST_NS)
		work->most_ns = POISON_LEAST_NS;
	return result;
}

/* ---- what they change ---- */

/* As recorded they change what they changed in the program; else it may be anything. */
static bool may_change(const struct gt_work *work, size_t number)
{
	return gt_restored_changes(work->restored, number) ||
	       work->options->inputs != GT_INPUTS_recorded ||
	       gt_variant_changes(&work->options->variant);
}

static int find_changed(struct gt_work *work, size_t number, struct gt_error *err)
{
	struct gt_work_memory *memory = &work->memory[number];
	const size_t size = gt_work_memory_size(work, number);
	uint8_t *before;
	uint8_t *after;
	int result;

	if (!may_change(work, number))
		return 0;
	before = gt_allocate(size + 1);
	after = gt_allocate(size + 1);
	result = gt_restored_get(work->restored, number, after, err);
	if (result == 0)
		result = gt_restored_initial(work->restored, number, work->options->inputs, before,
		                             err);
	if (result == 0 && memcmp(before, after, size) != 0) {
		*memory = (struct gt_work_memory){.before = before, .after = after};
		return gt_restored_keep(work->restored, number, before, err);
	}
	free(before);
	free(after);
	return result;
}

static int compare_second(struct gt_work *work, size_t number, struct gt_error *err)
{
	struct gt_work_memory *memory = &work->memory[number];
	const size_t size = gt_work_memory_size(work, number);
	uint8_t *got = gt_allocate(size + 1);
	const int result = gt_restored_get(work->restored, number, got, err);

	if (result == 0 && memcmp(memory->after, got, size) != 0) {
		const struct gt_sectors_compared compared = gt_sectors_compare(memory, got, size);

		memory->varies = true;
		if (gt_sectors_are_less(&compared))
			doubt_less(work, "a second run from the same memory", number, &compared);
	}
	free(got);
	return result;
}

int gt_work_open(struct gt_work *work, struct gt_steps *steps, struct gt_restored *restored,
                 const struct gt_replay_options *options, struct gt_error *err)
{
	int result;

	*work = (struct gt_work){
		.steps = steps,
		.restored = restored,
		.options = options,
		.memory = gt_allocate_zeroed(steps->bundle->memory.count, sizeof(*work->memory)),
	};
	result = run_first(work, err);
	for (size_t i = 0; result == 0 && i < gt_work_memory_count(work); i++)
		result = find_changed(work, i, err);
	if (result == 0)
		result = gt_work_reset(work, err);
	if (result == 0)
		result = gt_work_finish(work, options->most_run_ns, err);
	for (size_t i = 0; result == 0 && i < gt_work_memory_count(work); i++)
		if (work->memory[i].after)
			result = compare_second(work, i, err);
	return result;
}

void gt_work_close(struct gt_work *work)
{
	for (size_t i = 0; work->memory && i < gt_work_memory_count(work); i++) {
		free(work->memory[i].before);
		free(work->memory[i].after);
	}
	free(work->memory);
	gt_array_release(&work->parts);
	*work = (struct gt_work){0};
}

uint64_t gt_work_bytes(const struct gt_work *work, bool left)
{
	uint64_t bytes = 0;

	gt_array_each(const struct gt_work_part, part, &work->parts)
		bytes += part->left == left ? part->bytes : 0;
	return bytes;
}

void gt_work_leave_nothing(struct gt_work *work)
{
	gt_array_each(struct gt_work_part, part, &work->parts)
		part->left = part->by_time = false;
}

int gt_work_restore(const struct gt_work *work, struct gt_error *err)
{
	int result = 0;

	gt_array_each(const struct gt_work_part, part, &work->parts) {
		if (result == 0 && !part->left)
			result = gt_restored_reset_part(work->restored, part->memory, part->offset,
			                                part->bytes, err);
	}
	return result;
}

size_t gt_work_copies(const struct gt_work *work)
{
	size_t count = 0;

	gt_array_each(const struct gt_work_part, part, &work->parts)
		count += !part->left;
	return count;
}

/* ---- what need not be restored ---- */

/* ---- afterwards ---- */

/* Checks what the last run left, but for what it may have left alone. */
static int check_last(struct gt_work *work, size_t number, struct gt_error *err)
{
	const struct gt_work_memory *memory = &work->memory[number];
	const size_t size = gt_work_memory_size(work, number);
	uint8_t *got = gt_allocate(size + 1);
	const int result = gt_restored_get(work->restored, number, got, err);

	gt_array_each(const struct gt_work_part, part, &work->parts)
		if (part->memory == number && part->left)
			memcpy(got + part->offset, memory->after + part->offset, part->bytes);
	if (result == 0 && memcmp(memory->after, got, size) != 0) {
		const struct gt_sectors_compared compared = gt_sectors_compare(memory, got, size);

		if (gt_sectors_are_less(&compared))
			doubt_less(work, "the last timed run", number, &compared);
	}
	free(got);
	return result;
}

/* Runs that follow each other, over other bytes in what is left: the last one writes it all. */
static int check_left(struct gt_work *work, struct gt_error *err)
{
	struct gt_work_part *parts = gt_allocate((work->parts.count + 1) * sizeof(*parts));
	struct gt_work_asked asked = {parts, 0};
	bool same = true;
	int result = 0;

	gt_array_each(const struct gt_work_part, part, &work->parts)
		if (part->left && !part->by_time)
			parts[asked.count++] = *part;
	if (asked.count > 0 && work->over_poison)
		result = gt_work_try_over(work, &asked, true, &same, err);
	if (result == 0 && !same)
		doubt(work,
		      "behind the last timed run another one did not write what the first one "
		      "did");
	free(parts);
	return result;
}

int gt_work_check(struct gt_work *work, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < gt_work_memory_count(work); i++)
		if (work->memory[i].after)
			result = check_last(work, i, err);
	return result < 0 ? result : check_left(work, err);
}
