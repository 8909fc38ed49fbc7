/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/host.h"
#include "base/parse.h"
#include "base/strings.h"
#include "cli/calibrate/store.h"
#include "cli/gpus/choice.h"
#include "cli/gpus/lock.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/recording/manifest.h"
#include "cli/replay/again.h"
#include "cli/replay/apart.h"
#include "cli/replay/best.h"
#include "cli/replay/forms.h"
#include "cli/replay/left.h"
#include "cli/replay/request.h"
#include "model/bundle/bundle.h"
#include "model/bundle/excerpt.h"
#include "model/gpu/calibration.h"
#include "model/trace.h"

#include "replay/gpu/cuda.h"
#include "replay/gpu/describe.h"
#include "replay/gpu/gpu.h"
#include "replay/gpu/state.h"
#include "replay/tune/variant.h"
#include "replay/verify/rehearsal.h"
#include "replay/verify/roles.h"

/* Launches being run again on a GPU. */
struct session {
	const struct gt_replay_request *request;
	const struct gt_bundle
		*bundle;            /* whose launches are timed: the excerpt's, if there is one */
	struct gt_excerpt *excerpt; /* NULL: all steps are run */
	struct gt_rehearsal rehearsal; /* of all steps, for the excerpt */
	struct gt_outcomes *outcomes;
	struct gt_cuda cuda;
	struct gt_replay_options options;
	gt_array(struct gt_element_choice) elements;
	struct gt_forms forms;
	struct gt_left left; /* by the process before, of which taken outcomes were used */
	size_t taken;
	bool spoiled; /* the GPU does nothing more in this process */
	struct gt_roles roles;
	struct gt_calibration gpu; /* what the driver says of it */
	struct gt_roof roof;
	struct gt_gpu_state state;
	int others; /* processes; negative: not known */
	struct {
		int64_t asked_ns; /* 0: never */
		bool throttled;
		double sm_mhz;
	} reading; /* of state */
	struct gt_progress progress;
	char variant[GT_OUTCOME_LABEL_BYTES]; /* being run */
	char what[96];                        /* being done, as it was told last */
};

/* ---- what was typed ---- */

/* [MEMORY=]TYPE; MEMORY as the table buffers numbers them. */
static int read_element(const char *text, size_t memories, struct gt_element_choice *choice,
                        struct gt_error *err)
{
	const char *equals = strchr(text, '=');
	const char *type = equals ? equals + 1 : text;
	char digits[24];
	uint64_t memory = UINT32_MAX;

	snprintf(digits, sizeof(digits), "%.*s", equals ? (int)(equals - text) : 0, text);
	if (equals && (gt_parse_count(digits, &memory) < 0 || memory >= memories))
		return gt_fail(err, EINVAL,
		               "--element %s: the bundle's memory is numbered from 0 to %zu", text,
		               memories ? memories - 1 : 0);
	choice->memory = (uint32_t)memory;
	if (gt_element_parse(type, &choice->element))
		return 0;
#define ELEMENT(name, size) " " #name
	return gt_fail(err, EINVAL, "--element does not know '%s'; it takes" GT_ELEMENTS(ELEMENT),
	               type);
#undef ELEMENT
}

static int read_elements(struct session *session, struct gt_error *err)
{
	const struct gt_option_list *list = &session->request->args->elements;
	int result = 0;

	for (size_t i = 0; result == 0 && i < list->count; i++)
		result = read_element(list->texts[i], session->bundle->memory.count,
		                      gt_array_push(&session->elements), err);
	session->options.elements = session->elements.rows;
	session->options.element_count = session->elements.count;
	return result;
}

/* ---- the GPU ---- */

/* The one that was recorded on; else the first of its architecture; else the first. */
static int best_device(const struct session *session)
{
	const struct gt_bundle_origin *origin = &session->bundle->origin;
	const int count = gt_cuda_count(&session->cuda);
	int best = 0;
	bool fits = false;

	for (int i = 0; i < count; i++) {
		struct gt_calibration found = {0};
		struct gt_gpu gpu = {.cuda = &session->cuda};

		if (session->cuda.device_get(&gpu.device, i) != CUDA_SUCCESS)
			continue;
		gt_gpu_tell(&gpu, &found);
		if (*found.uuid && strcmp(found.uuid, origin->uuid) == 0)
			return i;
		if (fits || found.cc_major != origin->cc_major ||
		    found.cc_minor != origin->cc_minor)
			continue;
		best = i;
		fits = true;
	}
	return best;
}

static int choose_device(struct session *session, struct gt_error *err)
{
	const char *word = session->request->args->device;
	struct gt_gpu gpu = {.cuda = &session->cuda};
	int result;

	if (word) {
		result = gt_gpu_choose(&session->cuda, word, &session->options.device, err);
		if (result < 0)
			return result;
	} else {
		session->options.device = best_device(session);
	}
	result = gt_cuda_check(&session->cuda,
	                       session->cuda.device_get(&gpu.device, session->options.device), err,
	                       "the GPU cannot be used");
	if (result == 0)
		gt_gpu_tell(&gpu, &session->gpu);
	return result;
}

/* The ceiling of its memory, by what reports take it from. */
static void find_roof(struct session *session)
{
	const struct gt_calibration *gpu = &session->gpu;
	struct gt_calibrations here = {0};
	struct gt_calibrations shipped = {0};
	struct gt_trace trace;

	gt_trace_init(&trace);
	gt_store_load(&here, NULL);
	gt_calibrations_add_shipped(&shipped);
	*gt_array_push(&trace.devices) = (struct gt_device){
		.name = gt_strings_add(trace.strings, gpu->device),
		.uuid = gt_strings_add(trace.strings, gpu->uuid),
		.cc_major = gpu->cc_major,
		.cc_minor = gpu->cc_minor,
		.sm_count = gpu->sm_count,
		.sm_clock_khz = gpu->sm_clock_khz,
		.memory_clock_khz = gpu->memory_clock_khz,
		.memory_bus_bits = gpu->memory_bus_bits,
	};
	gt_ceilings_add(&trace, 0, &here, &shipped);
	session->roof = gt_roof_of_memory(&trace, 0, NAN, NAN);
	gt_calibrations_release(&here);
	gt_calibrations_release(&shipped);
	gt_trace_release(&trace);
}

static void look_for_others(struct session *session)
{
	session->others = gt_gpu_state_others(&session->state);
	if (session->others > 0 && gt_begun_again() == 0 && session->left.outcomes.list.count == 0)
		gt_say("%d other process%s ha%s a context on GPU %d: what %s on it shows in the "
		       "times",
		       session->others, session->others == 1 ? "" : "es",
		       session->others == 1 ? "s" : "ve", session->options.device,
		       session->others == 1 ? "it runs" : "they run");
}

/* ---- running ---- */

/*
 * NVML takes its time to answer, in which the GPU would idle and its clocks fall: short runs share
 * an answer.
 */
static void read_state(struct session *session)
{
	enum { PAUSE_NS = 5000000 };
	const int64_t now_ns = gt_gpu_now_ns();
	uint64_t reasons;
	unsigned mhz;

	if (session->reading.asked_ns && now_ns - session->reading.asked_ns < PAUSE_NS)
		return;
	session->reading.throttled = gt_gpu_state_slowed(&session->state, &reasons) && reasons;
	mhz = gt_gpu_state_sm_mhz(&session->state);
	session->reading.sm_mhz = mhz ? (double)mhz : (double)NAN;
	session->reading.asked_ns = gt_gpu_now_ns();
}

static bool is_throttled(void *context)
{
	struct session *session = context;

	read_state(session);
	return session->reading.throttled;
}

static double sm_mhz(void *context)
{
	struct session *session = context;

	read_state(session);
	return session->reading.sm_mhz;
}

static void tell(void *context, double share, const char *what)
{
	enum { STEPS = 1000 };
	struct session *session = context;

	if (strcmp(what, session->what) != 0) {
		snprintf(session->what, sizeof(session->what), "%s", what);
		gt_progress_begin(&session->progress, false, "%s: %s", session->variant, what);
	}
	if (share >= 0 && share <= 1)
		gt_watch_tell(gt_progress_watch(&session->progress), (uint64_t)(share * STEPS),
		              STEPS);
}

static void name_buffer(struct gt_outcome_buffer *buffer, const struct gt_bundle_memory *memory)
{
	const struct gt_array_shape *shape = &memory->array;

	if (memory->kind != GT_BUNDLE_MEMORY_array)
		snprintf(buffer->name, sizeof(buffer->name), "%s", memory->name);
	else
		snprintf(buffer->name, sizeof(buffer->name), "%sarray %llu x %llu x %llu",
		         shape->levels ? "mipmapped " : "", (unsigned long long)shape->width,
		         (unsigned long long)(shape->height ? shape->height : 1),
		         (unsigned long long)(shape->depth ? shape->depth : 1));
}

static void add_buffers(struct gt_outcome *outcome, const struct gt_bundle *bundle,
                        const struct gt_replay_result *result)
{
	gt_array_each(const struct gt_replay_buffer, buffer, &result->buffers) {
		struct gt_outcome_buffer *added = gt_array_push(&outcome->buffers);

		*added = (struct gt_outcome_buffer){
			.found = *buffer,
			.element = gt_element_name(buffer->comparison.element),
		};
		if (buffer->memory < bundle->memory.count) {
			const struct gt_bundle_memory *memory =
				&bundle->memory.rows[buffer->memory];

			added->address = memory->address;
			added->bytes = memory->size;
			name_buffer(added, memory);
		}
		outcome->mismatches += buffer->comparison.mismatches;
		outcome->unwritten += buffer->unwritten + buffer->untouched;
		outcome->outside += buffer->outside;
		outcome->varying += buffer->varying;
	}
}

static void add_times(struct gt_outcome *outcome, const struct session *session,
                      const struct gt_replay_result *result)
{
	const struct gt_replay_times *times = &result->times;

	outcome->median_ns = times->median;
	outcome->least_ns = times->least;
	outcome->most_ns = times->most;
	outcome->p05_ns = times->p05;
	outcome->p95_ns = times->p95;
	outcome->error = times->error;
	outcome->events_ns = times->events_median;
	outcome->sm_mhz = times->sm_mhz;
	outcome->runs = times->ns.count;
	outcome->thrown_out = times->thrown_out;
	outcome->other_mode = times->other_mode;
	outcome->restored_bytes = times->restored_bytes;
	outcome->left_bytes = times->left_bytes;
	snprintf(outcome->doubt, sizeof(outcome->doubt), "%s", times->doubt);
	outcome->stable = times->stable;
	snprintf(outcome->clock, sizeof(outcome->clock), "%s", times->clock ? times->clock : "");
	outcome->job_launches = session->bundle->origin.job_launches;
	outcome->job_ns =
		outcome->job_launches ? (double)session->bundle->origin.job_ns : result->job_ns;
	if (session->options.compare_states) {
		memcpy(outcome->by_state, times->by_state, sizeof(outcome->by_state));
		gt_apart_choose(outcome, (unsigned)session->options.l2);
	}
	outcome->bytes = result->bytes;
	outcome->moved = !result->at_addresses;
	outcome->layouts = result->layouts + gt_begun_again();
	snprintf(outcome->no_cupti, sizeof(outcome->no_cupti), "%s", times->no_cupti);
	snprintf(outcome->guessed, sizeof(outcome->guessed), "%s", result->guessed);
	snprintf(outcome->handles, sizeof(outcome->handles), "%s", result->handles);
}

/* In place of what is there. */
static void add_outputs(struct gt_outcome *outcome, const struct session *session,
                        const struct gt_replay_result *result)
{
	gt_array_release(&outcome->buffers);
	outcome->mismatches = outcome->unwritten = outcome->outside = outcome->varying = 0;
	/* Memory not known to be written tells nothing of what the launches do. */
	outcome->unchanged = session->options.verify && result->proven == 0 && !result->wrong;
	outcome->checked = session->options.verify && !outcome->unchanged;
	outcome->verified =
		outcome->checked && result->verified && outcome->sequence_mismatches == 0;
	outcome->first_bad_step = result->first_bad_step;
	snprintf(outcome->no_poison, sizeof(outcome->no_poison), "%s", result->no_poison);
	snprintf(outcome->no_roles, sizeof(outcome->no_roles), "%s", result->no_roles);
	memcpy(outcome->roles, result->roles, sizeof(outcome->roles));
	add_buffers(outcome, session->bundle, result);
}

static void begin_outcome(struct gt_outcome *outcome, const struct session *session,
                          const struct gt_variant *variant)
{
	const struct gt_calibration *gpu = &session->gpu;

	gt_outcome_init(outcome);
	gt_variant_describe(variant, outcome->variant);
	gt_replay_conditions(&session->options,
	                     session->excerpt ? session->excerpt->step : UINT32_MAX,
	                     outcome->conditions);
	if (session->options.form != GT_SEQUENCE_recorded)
		gt_replay_form(&session->options, outcome->form);
	snprintf(outcome->date, sizeof(outcome->date), "%s", gt_instant_now().utc);
	snprintf(outcome->gputrace, sizeof(outcome->gputrace), "%s", GPUTRACE_VERSION);
	snprintf(outcome->device, sizeof(outcome->device), "%s", gpu->device);
	snprintf(outcome->uuid, sizeof(outcome->uuid), "%s", gpu->uuid);
	snprintf(outcome->driver, sizeof(outcome->driver), "%s", gpu->driver);
	gt_host_name(outcome->host, sizeof(outcome->host));
	outcome->others_plus_one = session->others < 0 ? 0 : (uint64_t)session->others + 1;
	outcome->roof = session->roof;
	if (!session->excerpt)
		return;
	outcome->step_plus_one = (uint64_t)session->excerpt->step + 1;
	outcome->sequence_compared = session->rehearsal.compared;
	outcome->sequence_mismatches = session->rehearsal.mismatches;
	outcome->sequence_first = session->rehearsal.first;
}

/* ---- other processes ---- */

/* With the first so many outcomes, of the last of which more may be found out; begin:
 * gt_begin_again or gt_go_on_elsewhere. */
static void leave(struct session *session, size_t outcomes, bool unverified,
                  void (*begin)(const void *left, size_t size))
{
	struct gt_left left = {.outcomes = *session->outcomes,
	                       .relocate = session->options.relocate,
	                       .unverified = unverified,
	                       .roles = session->roles};
	size_t size = 0;
	void *bytes;

	left.outcomes.list.count = outcomes;
	bytes = gt_left_pack(&left, &size);
	gt_progress_end(&session->progress);
	if (bytes)
		begin(bytes, size);
	free(bytes);
	gt_progress_begin(&session->progress, false, "running launches again");
}

/* Whether the process before has run what comes next. */
static bool was_run(struct session *session)
{
	struct gt_outcome *from;

	if (session->taken >= session->left.outcomes.list.count)
		return false;
	from = &session->left.outcomes.list.rows[session->taken++];
	*gt_array_push(&session->outcomes->list) = *from;
	memset(&from->buffers, 0, sizeof(from->buffers));
	return true;
}

static struct gt_outcome *last_outcome(const struct session *session)
{
	return gt_array_end(&session->outcomes->list) - 1;
}

/* Launches as recorded end; whether changed ones do is unknown. */
static int64_t longest_run(const struct session *session)
{
	enum { TIMES = 1000 };
	const double least_ns = 10e9;
	const struct gt_outcomes *outcomes = session->outcomes;

	if (outcomes->list.count < 2 || !isfinite(outcomes->list.rows->most_ns))
		return 0;
	return (int64_t)fmax(TIMES * outcomes->list.rows->most_ns, least_ns);
}

/* The last outcome's: untimed where the process before timed it, and found its outputs in part. */
static int run_once(struct session *session, const struct gt_variant *variant, bool untimed,
                    struct gt_error *err)
{
	struct gt_outcome *outcome = last_outcome(session);
	struct gt_replay_result result = {0};
	int failed;

	session->options.variant = *variant;
	session->options.roles = &session->roles;
	session->options.untimed = untimed;
	session->options.seen_most_ns =
		untimed && isfinite(outcome->most_ns) ? outcome->most_ns : 0;
	session->options.most_run_ns = longest_run(session);
	/* With the first one all others are compared. */
	session->options.compare_states = !untimed && session->outcomes->list.count == 1;
	gt_outcome_label(outcome, session->variant);
	session->what[0] = '\0';
	failed = gt_replay_run(session->bundle, &session->cuda, &session->options, &result, err);
	if (failed == 0 && !untimed)
		add_times(outcome, session, &result);
	if (failed == 0)
		add_outputs(outcome, session, &result);
	session->spoiled |= result.spoiled;
	gt_replay_result_release(&result);
	return failed;
}

/*
 * A process that cannot use the GPU any more does nothing else: it might not even end. Another one
 * finds out more of the last outcome, where there is more.
 */
static void leave_spoiled(struct session *session)
{
	if (session->spoiled)
		leave(session, session->outcomes->list.count,
		      !*last_outcome(session)->failure && session->roles.unfinished,
		      gt_go_on_elsewhere);
}

/* Finishes the last outcome that the process before left. */
static void go_on_with(struct session *session, const struct gt_variant *variant)
{
	struct gt_error ignored = {0};

	if (!session->left.unverified || session->taken < session->left.outcomes.list.count)
		return;
	session->left.unverified = false;
	session->roles.unfinished =
		false; /* till verifying says so again: else it would never end */
	if (run_once(session, variant, true, &ignored) == -EADDRINUSE)
		leave(session, session->outcomes->list.count, true, gt_begin_again);
	leave_spoiled(session);
}

static int run_new(struct session *session, const struct gt_variant *variant, struct gt_error *err)
{
	const bool unproven = session->roles.unproven;
	int failed;

	if (session->outcomes->list.count > 0)
		gt_roles_begin_variant(&session->roles);
	begin_outcome(gt_array_push(&session->outcomes->list), session, variant);
	failed = run_once(session, variant, false, err);
	/* It was a run over other bytes that failed: without those it is run elsewhere. */
	if (failed < 0 && session->spoiled && session->roles.unproven && !unproven)
		leave(session, session->outcomes->list.count - 1, false, gt_go_on_elsewhere);
	if (failed < 0)
		snprintf(last_outcome(session)->failure, sizeof(last_outcome(session)->failure),
		         "%s", err->text);
	if (failed == 0 || session->outcomes->list.count > 1)
		leave_spoiled(session);
	/* In a process that went on, addresses that the one before had may be taken. */
	if (failed == -EADDRINUSE && session->outcomes->list.count > 1)
		leave(session, session->outcomes->list.count - 1, false, gt_begin_again);
	return failed;
}

/* Adds what comes of it, if only why it cannot be run. */
static int run_variant(struct session *session, const struct gt_variant *variant,
                       struct gt_error *err)
{
	if (!was_run(session))
		return run_new(session, variant, err);
	go_on_with(session, variant);
	return *last_outcome(session)->failure
	               ? gt_fail(err, EIO, "%s", last_outcome(session)->failure)
	               : 0;
}

/* Runs the variants that options name; a variant's failure is its outcome. */
static void run_asked(struct session *session)
{
	const struct gt_tune_space *asked = &session->request->asked;
	const size_t count = asked->axis_count > 0 ? gt_tune_count(asked) : 0;

	for (size_t i = 0; i < count; i++) {
		const struct gt_variant variant = gt_tune_configuration(asked, i);
		struct gt_error ignored = {0};

		(void)run_variant(session, &variant, &ignored);
	}
}

/* For a search: the launch as recorded has been measured. */
static int measure(void *context, const struct gt_variant *variant, double *ns, bool *verified,
                   struct gt_error *err)
{
	struct session *session = context;
	struct gt_outcome *outcome = session->outcomes->list.rows;
	int result = 0;

	if (gt_variant_changes(variant)) {
		result = run_variant(session, variant, err);
		outcome = last_outcome(session);
		outcome->tuned = true;
	}
	*ns = outcome->median_ns;
	*verified = !*outcome->doubt && (outcome->verified || !session->options.verify ||
	                                 session->options.inputs != GT_INPUTS_recorded);
	return result;
}

static int search(struct session *session, struct gt_error *err)
{
	const struct gt_tune_plan plan = {
		.space = &session->request->tuned,
		.most = GT_REPLAY_MOST_VARIANTS,
		.measure = measure,
		.context = session,
	};
	struct gt_tune_result result = {0};
	int failed;

	if (plan.space->axis_count == 0)
		return 0;
	failed = gt_tune_search(&plan, &result, err);
	if (failed == 0 && result.best < result.rows.count)
		gt_best_keep(session->bundle, session->outcomes->list.rows,
		             &result.rows.rows[result.best]);
	gt_tune_result_release(&result);
	return failed;
}

static void use_form(struct session *session, const struct gt_form *form)
{
	session->options.form = form->form;
	session->options.priorities = form->priorities.rows;
	session->options.priority_count = form->priorities.count;
}

/* In other forms than the first; what they fail of is their outcome. */
static void run_forms(struct session *session)
{
	const struct gt_variant recorded = gt_variant_recorded();

	for (size_t i = 1; i < session->forms.list.count; i++) {
		const size_t first = session->outcomes->list.count;
		struct gt_error ignored = {0};

		use_form(session, &session->forms.list.rows[i]);
		(void)run_variant(session, &recorded, &ignored);
		run_asked(session);
		for (size_t row = first; row < session->outcomes->list.count; row++)
			session->outcomes->list.rows[row].tuned = session->request->all_forms;
	}
	use_form(session, &session->forms.list.rows[0]);
}

/*
 * With what the process before left, which none of this was taken from yet: a process that goes on
 * with it needs its memory, and the addresses may be taken there.
 */
static void rehearse_again(struct session *session)
{
	struct gt_left left = session->left;
	size_t size = 0;
	void *bytes;

	left.roles = session->roles;
	bytes = gt_left_pack(&left, &size);
	gt_progress_end(&session->progress);
	if (bytes)
		gt_begin_again(bytes, size);
	free(bytes);
	gt_progress_begin(&session->progress, false, "running launches again");
}

/* Steps that ended in the program may not where each waits for the one before it. */
static int64_t longest_rehearsal(const struct session *session)
{
	enum { TIMES = 1000 };
	const double least_ns = 60e9;
	const struct gt_bundle_origin *origin = &session->excerpt->whole->origin;

	return (int64_t)fmin(fmax(TIMES * (double)origin->job_ns, least_ns), 1e18);
}

/* Finds what memory holds before the step and after it. */
static int rehearse(struct session *session, struct gt_error *err)
{
	struct gt_replay_options options = session->options;
	int result;

	if (!session->excerpt)
		return 0;
	snprintf(session->variant, sizeof(session->variant), "step %u", session->excerpt->step);
	session->what[0] = '\0';
	options.most_run_ns = longest_rehearsal(session);
	result = gt_rehearse(session->excerpt, &session->cuda, &options, &session->rehearsal, err);
	if (result == -EADDRINUSE && session->left.outcomes.list.count > 0)
		rehearse_again(session);
	return result;
}

/* As recorded it must run. */
static int run_all(struct session *session, struct gt_error *err)
{
	const struct gt_variant recorded = gt_variant_recorded();
	int result;

	use_form(session, &session->forms.list.rows[0]);
	result = rehearse(session, err);
	if (result == 0)
		result = run_variant(session, &recorded, err);
	if (result < 0)
		return result;
	run_asked(session);
	run_forms(session);
	return search(session, err);
}

/* On one GPU, which nobody else measures on meanwhile. */
static int run_locked(struct session *session, struct gt_error *err)
{
	const int lock = gt_gpu_lock(session->gpu.uuid, err);
	int result;

	if (lock < 0)
		return lock;
	gt_gpu_state_open(&session->state, session->gpu.uuid);
	look_for_others(session);
	find_roof(session);
	gt_progress_begin(&session->progress, false, "running launches again");
	result = run_all(session, err);
	gt_progress_end(&session->progress);
	gt_gpu_state_close(&session->state);
	gt_gpu_unlock(lock);
	return result;
}

/*
 * As another process there may be room; where there was none in many, the launch runs at other
 * addresses, if every pointer is known: that is said with its figures.
 */
static int try_elsewhere(struct session *session, struct gt_error *err)
{
	const struct gt_error first = *err;
	struct gt_error second = {0};
	int result;

	gt_begin_again(NULL, 0);
	gt_outcomes_release(session->outcomes);
	session->options.relocate = true;
	result = run_locked(session, &second);
	if (result == 0)
		return 0;
	return gt_fail(err, EADDRINUSE,
	               "%.200s; so it was in %u processes, each with other addresses. At others it "
	               "cannot run: %.200s",
	               first.text, gt_begun_again() + 1, second.text);
}

static int take_left(struct session *session, struct gt_error *err)
{
	void *bytes = NULL;
	size_t size = 0;
	int result = gt_take_left(&bytes, &size, err);

	if (result == 0 && bytes)
		result = gt_left_unpack(&session->left, bytes, size, err);
	free(bytes);
	session->options.relocate |= session->left.relocate;
	session->roles = session->left.roles;
	session->left.roles = (struct gt_roles){0};
	return result;
}

int gt_replay_session(const struct gt_replay_request *request, const struct gt_bundle *bundle,
                      struct gt_excerpt *excerpt, struct gt_outcomes *outcomes,
                      struct gt_error *err)
{
	struct session session = {
		.request = request,
		.bundle = excerpt ? &excerpt->bundle : bundle,
		.excerpt = excerpt,
		.outcomes = outcomes,
		.options = request->options,
	};
	int result = read_elements(&session, err);

	if (result == 0)
		result = gt_forms_choose(&session.forms, request, session.bundle, err);
	if (result == 0)
		result = take_left(&session, err);
	session.options.progress = tell;
	session.options.throttled = is_throttled;
	session.options.sm_mhz = sm_mhz;
	session.options.context = &session;
	if (result == 0)
		result = gt_gpu_open_driver(&session.cuda, err);
	if (result == 0)
		result = choose_device(&session, err);
	if (result == 0)
		result = run_locked(&session, err);
	if (result == -EADDRINUSE)
		result = try_elsewhere(&session, err);
	gt_array_release(&session.elements);
	gt_forms_release(&session.forms);
	gt_left_release(&session.left);
	gt_roles_release(&session.roles);
	return result;
}
