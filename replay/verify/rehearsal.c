/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/verify/rehearsal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/bundle/excerpt.h"
#include "replay/memory/restored.h"
#include "replay/steps/steps.h"
#include "replay/tune/variant.h"
#include "replay/types/result.h"
#include "replay/verify/verify.h"

struct rehearsing {
	struct gt_excerpt *excerpt;
	const struct gt_bundle *whole;
	struct gt_replay_options options; /* as recorded, whatever is tried afterwards */
	struct gt_gpu gpu;
	struct gt_steps steps;
	struct gt_restored restored;
	uint8_t **before; /* by memory: what the step found */
};

static size_t size_of(const struct rehearsing *rehearsing, size_t memory)
{
	return rehearsing->whole->memory.rows[memory].size;
}

static int prepare(struct rehearsing *rehearsing, struct gt_error *err)
{
	int result = gt_steps_load(&rehearsing->steps, rehearsing->whole, &rehearsing->gpu,
	                           &rehearsing->options, err);

	if (result == 0)
		result =
			gt_restored_open(&rehearsing->restored, rehearsing->whole, &rehearsing->gpu,
		                         rehearsing->steps.modules, &rehearsing->options, err);
	if (result == 0)
		result = gt_restored_load(&rehearsing->restored, GT_INPUTS_recorded, false, err);
	if (result == 0)
		result = gt_steps_prepare(&rehearsing->steps, &rehearsing->restored, err);
	return result;
}

static int run(struct rehearsing *rehearsing, size_t first, size_t end, struct gt_error *err)
{
	int result = 0;

	for (size_t i = first; result == 0 && i < end; i++)
		result = gt_steps_run_one(&rehearsing->steps, i, err);
	if (result < 0)
		return result;
	/* A step that waits for a kernel behind it never ends. */
	return rehearsing->options.most_run_ns > 0
	               ? gt_gpu_wait_for(&rehearsing->gpu, rehearsing->options.most_run_ns, err)
	               : gt_gpu_wait(&rehearsing->gpu, err);
}

static int keep_before(struct rehearsing *rehearsing, struct gt_error *err)
{
	const size_t count = rehearsing->whole->memory.count;
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++) {
		rehearsing->before[i] = gt_allocate(size_of(rehearsing, i) + 1);
		result = gt_restored_get(&rehearsing->restored, i, rehearsing->before[i], err);
	}
	return result;
}

/* Whether it is what the first step found, which the bundle has. */
static int is_first(const struct rehearsing *rehearsing, size_t memory, const uint8_t *bytes,
                    bool *first, struct gt_error *err)
{
	uint8_t *recorded = gt_allocate(size_of(rehearsing, memory) + 1);
	const int result = gt_restored_before(&rehearsing->restored, memory, recorded, err);

	*first = result == 0 && memcmp(recorded, bytes, size_of(rehearsing, memory)) == 0;
	gt_array_free(recorded);
	return result;
}

/* The two become the excerpt's, but for what the bundle has, and for what did not change. */
static int hold(struct rehearsing *rehearsing, size_t memory, uint8_t *after, struct gt_error *err)
{
	uint8_t *before = rehearsing->before[memory];
	bool first = false;
	int result;

	rehearsing->before[memory] = NULL;
	if (memcmp(before, after, size_of(rehearsing, memory)) == 0) {
		gt_array_free(after);
		after = NULL;
	}
	result = is_first(rehearsing, memory, before, &first, err);
	if (first) {
		gt_array_free(before);
		before = NULL;
	}
	if (before)
		gt_restored_recorded(&rehearsing->restored, memory, before);
	if (after)
		gt_restored_recorded(&rehearsing->restored, memory, after);
	gt_excerpt_hold(rehearsing->excerpt, memory, before, after);
	return result;
}

static int keep_after(struct rehearsing *rehearsing, struct gt_error *err)
{
	const size_t count = rehearsing->whole->memory.count;
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++) {
		uint8_t *after = gt_allocate(size_of(rehearsing, i) + 1);

		result = gt_restored_get(&rehearsing->restored, i, after, err);
		if (result == 0)
			result = hold(rehearsing, i, after, err);
		else
			gt_array_free(after);
	}
	if (result == 0)
		gt_excerpt_settle(rehearsing->excerpt);
	return result;
}

static int compare(struct rehearsing *rehearsing, struct gt_rehearsal *rehearsal,
                   struct gt_error *err)
{
	struct gt_replay_result found = {0};
	const int result = gt_verify_now(&rehearsing->steps, &rehearsing->restored,
	                                 &rehearsing->options, &found, err);

	rehearsal->compared = result == 0;
	gt_array_each(const struct gt_replay_buffer, buffer, &found.buffers) {
		rehearsal->buffers += buffer->wanted_known;
		if (buffer->comparison.mismatches == 0)
			continue;
		if (rehearsal->differing++ == 0)
			rehearsal->first = buffer->memory;
		rehearsal->mismatches += buffer->comparison.mismatches;
	}
	gt_replay_result_release(&found);
	return result;
}

static int rehearse(struct rehearsing *rehearsing, struct gt_rehearsal *rehearsal,
                    struct gt_error *err)
{
	const size_t step = rehearsing->excerpt->step;
	int result = run(rehearsing, 0, step, err);

	if (result == 0)
		result = keep_before(rehearsing, err);
	if (result == 0)
		result = run(rehearsing, step, step + 1, err);
	if (result == 0)
		result = keep_after(rehearsing, err);
	if (result < 0 || !rehearsing->options.verify)
		return result;
	result = run(rehearsing, step + 1, rehearsing->whole->steps.count, err);
	return result < 0 ? result : compare(rehearsing, rehearsal, err);
}

static int rehearse_on_gpu(struct rehearsing *rehearsing, struct gt_rehearsal *rehearsal,
                           struct gt_error *err)
{
	int result = prepare(rehearsing, err);

	if (result == 0) {
		result = rehearse(rehearsing, rehearsal, err);
		/* A fault stays: what is there is given back with the process. */
		if (result == -ETIMEDOUT || (result < 0 && gt_gpu_wait(&rehearsing->gpu, NULL) < 0))
			gt_gpu_abandon(&rehearsing->gpu);
	}
	if (rehearsing->steps.bundle)
		gt_steps_close(&rehearsing->steps);
	if (rehearsing->restored.bundle)
		gt_restored_close(&rehearsing->restored);
	return result;
}

int gt_rehearse(struct gt_excerpt *excerpt, const struct gt_cuda *cuda,
                const struct gt_replay_options *options, struct gt_rehearsal *rehearsal,
                struct gt_error *err)
{
	const size_t count = excerpt->whole->memory.count;
	struct rehearsing rehearsing = {
		.excerpt = excerpt,
		.whole = excerpt->whole,
		.options = *options,
		.before = gt_allocate_zeroed(count, sizeof(uint8_t *)),
	};
	struct gt_rehearsal found = {.first = UINT32_MAX};
	int result;

	rehearsing.options.inputs = GT_INPUTS_recorded;
	rehearsing.options.form = GT_SEQUENCE_one_stream;
	rehearsing.options.variant = gt_variant_recorded();
	if (options->progress)
		options->progress(options->context, 0, "running all steps once");
	result = gt_gpu_open(&rehearsing.gpu, cuda, options->device, err);
	if (result == 0) {
		result = rehearse_on_gpu(&rehearsing, &found, err);
		gt_gpu_close(&rehearsing.gpu);
	}
	for (size_t i = 0; i < count; i++)
		gt_array_free(rehearsing.before[i]);
	gt_array_free(rehearsing.before);
	if (result == 0)
		*rehearsal = found;
	return result;
}
