/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/bundle/bundle.h"
#include "replay/measure/activity.h"
#include "replay/measure/measure.h"
#include "replay/memory/restored.h"
#include "replay/steps/steps.h"
#include "replay/verify/verify.h"

/* A run over poison that takes so much longer than the others does not end. */
#define POISON_TIMES    1000
#define POISON_LEAST_NS 2000000000.0

struct engine {
	const struct gt_bundle *bundle;
	const struct gt_replay_options *options;
	struct gt_replay_result *result;
	struct gt_activity *activity;
	struct gt_gpu gpu;
	struct gt_steps steps;
	struct gt_restored restored;
};

/* ---- what the program says ---- */

/* From the first begin to the last end of work in the program. */
static double job_time(const struct gt_bundle *bundle)
{
	int64_t first_ns = INT64_MAX;
	int64_t last_ns = -1;

	gt_array_each(const struct gt_bundle_step, step, &bundle->steps) {
		if (step->start_ns < 0 || step->end_ns < 0)
			continue;
		first_ns = step->start_ns < first_ns ? step->start_ns : first_ns;
		last_ns = step->end_ns > last_ns ? step->end_ns : last_ns;
	}
	return last_ns > first_ns ? (double)(last_ns - first_ns) : NAN;
}

/*
 * Which memory the launch reaches, as far as is known: what its parameters lead to, and variables.
 * Others may be of steps that ran before it.
 */
static bool *find_reached(const struct gt_bundle *bundle)
{
	bool *reached = gt_allocate(bundle->memory.count + 1);

	for (size_t i = 0; i < bundle->memory.count; i++)
		reached[i] = bundle->memory.rows[i].kind == GT_BUNDLE_MEMORY_variable;
	gt_array_each(const struct gt_bundle_pointer, pointer, &bundle->pointers)
		if (pointer->memory == GT_BUNDLE_NONE)
			reached[pointer->target] = true;
	gt_array_each(const struct gt_bundle_handle, handle, &bundle->handles)
		if (handle->memory == GT_BUNDLE_NONE)
			reached[bundle->objects.rows[handle->object].memory] = true;
	return reached;
}

/* Whether a texture or surface is of all of its memory. */
static bool is_of_all(const struct gt_bundle *bundle, const struct gt_bundle_object *object)
{
	const struct gt_bundle_memory *memory = &bundle->memory.rows[object->memory];

	if (object->resource == GT_BUNDLE_RESOURCE_array)
		return memory->array.levels == 0;
	return object->resource == GT_BUNDLE_RESOURCE_linear && object->bytes == memory->size;
}

/* Whether all memory is reached by parameters that point to its begin: then it is used whole. */
static bool is_whole(const struct gt_bundle *bundle, const uint8_t *parameters, const bool *reached)
{
	gt_array_each(const struct gt_bundle_object, object, &bundle->objects)
		if (!is_of_all(bundle, object))
			return false;
	/* Objects of handles in memory may be read as well. */
	gt_array_each(const struct gt_bundle_handle, handle, &bundle->handles)
		if (handle->memory != GT_BUNDLE_NONE && reached[handle->memory])
			return false;
	gt_array_each(const struct gt_bundle_pointer, pointer, &bundle->pointers) {
		uint64_t address;

		if (pointer->memory != GT_BUNDLE_NONE && !reached[pointer->memory])
			continue;
		if (pointer->memory != GT_BUNDLE_NONE)
			return false;
		memcpy(&address, parameters + pointer->offset, sizeof(address));
		if (address != bundle->memory.rows[pointer->target].address)
			return false;
	}
	return true;
}

/*
 * The least that one launch moves: what it does not change is read once, what it changes is
 * written once. It is unknown for memory used in part, as that of pools.
 */
static double least_bytes(const struct gt_bundle *bundle)
{
	const struct gt_bundle_step *step = bundle->steps.rows;
	uint8_t *parameters;
	bool *reached;
	double bytes = 0;
	bool whole;

	if (bundle->steps.count != 1 || step->kind != GT_BUNDLE_STEP_launch)
		return NAN;
	reached = find_reached(bundle);
	parameters = gt_allocate(step->parameters.size + sizeof(uint64_t));
	whole = step->parameters.hash[0] &&
	        gt_bundle_read(bundle, &step->parameters, parameters, NULL) == 0 &&
	        is_whole(bundle, parameters, reached);
	for (size_t i = 0; i < bundle->memory.count; i++)
		if (bundle->memory.rows[i].kind != GT_BUNDLE_MEMORY_variable && reached[i])
			bytes += (double)bundle->memory.rows[i].size;
	gt_array_free(parameters);
	gt_array_free(reached);
	return whole ? bytes : NAN;
}

/* ---- the run ---- */

static void tell(const struct engine *engine, const char *what)
{
	if (engine->options->progress)
		engine->options->progress(engine->options->context, 0, what);
}

static int prepare(struct engine *engine, struct gt_error *err)
{
	const bool all = engine->options->l2 == GT_L2_as_is;
	int result;

	tell(engine, "loading");
	result = gt_steps_load(&engine->steps, engine->bundle, &engine->gpu, engine->options, err);
	if (result == 0)
		result = gt_restored_open(&engine->restored, engine->bundle, &engine->gpu,
		                          engine->steps.modules, engine->options, err);
	if (result == 0)
		result = gt_restored_load(&engine->restored, engine->options->inputs, all, err);
	if (result == 0)
		result = gt_steps_prepare(&engine->steps, &engine->restored, err);
	return result;
}

static int verify(struct engine *engine, struct gt_error *err)
{
	const double most_ns =
		fmax(engine->result->times.most, engine->options->seen_most_ns) * POISON_TIMES;

	if (!engine->options->verify)
		return 0;
	tell(engine, "verifying");
	return gt_verify(&engine->steps, &engine->restored, engine->options,
	                 (int64_t)fmax(most_ns, POISON_LEAST_NS), engine->result, err);
}

/* Whatever the GPU says once the steps run is the kernel's doing. */
static int run(struct engine *engine, struct gt_error *err)
{
	struct gt_replay_result *result = engine->result;
	struct gt_error why = {0};
	int code = 0;

	if (!engine->options->untimed)
		code = gt_replay_measure(&engine->steps, &engine->restored, engine->activity,
		                         engine->options, &result->times, &why);
	if (code == 0)
		code = verify(engine, &why);
	if (code == 0)
		return 0;
	gt_replay_result_release(result);
	if (code == -EIO || code == -ETIMEDOUT)
		snprintf(result->fault, sizeof(result->fault), "%.255s", why.text);
	/* An error that stays; what does not end cannot be waited for. */
	if (code == -ETIMEDOUT || gt_gpu_wait(&engine->gpu, NULL) < 0)
		gt_gpu_abandon(&engine->gpu);
	return gt_fail(err, -code, "%s", why.text);
}

/* Variables are where their module is, in every process elsewhere. */
static bool is_at_addresses(const struct engine *engine)
{
	const struct gt_bundle *bundle = engine->bundle;

	for (size_t i = 0; i < bundle->memory.count; i++)
		if (bundle->memory.rows[i].kind != GT_BUNDLE_MEMORY_variable &&
		    bundle->memory.rows[i].address !=
		            engine->restored.layout.places.rows[i].address)
			return false;
	return true;
}

static void describe(struct engine *engine)
{
	struct gt_replay_result *result = engine->result;

	result->job_ns = job_time(engine->bundle);
	result->bytes = least_bytes(engine->bundle);
	memcpy(result->guessed, engine->restored.guessed, sizeof(result->guessed));
	memcpy(result->handles, engine->restored.handles, sizeof(result->handles));
	result->layouts = engine->restored.layouts;
	result->at_addresses = is_at_addresses(engine);
}

static int run_on_gpu(struct engine *engine, struct gt_error *err)
{
	int result = prepare(engine, err);

	if (result == 0)
		result = run(engine, err);
	if (result == 0)
		describe(engine);
	if (engine->steps.bundle)
		gt_steps_close(&engine->steps);
	if (engine->restored.bundle)
		gt_restored_close(&engine->restored);
	return result;
}

int gt_replay_run(const struct gt_bundle *bundle, const struct gt_cuda *cuda,
                  const struct gt_replay_options *options, struct gt_replay_result *result,
                  struct gt_error *err)
{
	struct engine engine = {.bundle = bundle, .options = options, .result = result};
	char no_cupti[sizeof(result->times.no_cupti)] = "";
	int code;

	*result = (struct gt_replay_result){.first_bad_step = GT_BUNDLE_NONE};
	engine.activity = gt_activity_start(cuda, no_cupti, sizeof(no_cupti));
	code = gt_gpu_open(&engine.gpu, cuda, options->device, err);
	if (code == 0) {
		code = run_on_gpu(&engine, err);
		result->spoiled = engine.gpu.context == NULL;
		gt_gpu_close(&engine.gpu);
	}
	/* CUPTI may wait for what does not end. */
	if (!result->spoiled)
		gt_activity_stop(engine.activity);
	if (code == 0 && no_cupti[0])
		memcpy(result->times.no_cupti, no_cupti, sizeof(no_cupti));
	return code;
}
