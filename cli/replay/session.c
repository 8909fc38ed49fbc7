/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "cli/gpus/choice.h"
#include "cli/gpus/lock.h"
#include "cli/output/progress.h"
#include "cli/replay/again.h"
#include "cli/replay/best.h"
#include "cli/replay/forms.h"
#include "cli/replay/left.h"
#include "cli/replay/request.h"
#include "cli/replay/session.h"
#include "model/bundle/bundle.h"
#include "model/bundle/excerpt.h"
#include "replay/gpu/state.h"
#include "replay/tune/variant.h"
#include "replay/verify/rehearsal.h"
#include "replay/verify/roles.h"

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

static int read_elements(struct gt_session *session, struct gt_error *err)
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

/* ---- running ---- */

static void tell(void *context, double share, const char *what)
{
	enum { STEPS = 1000 };
	struct gt_session *session = context;

	if (strcmp(what, session->what) != 0) {
		snprintf(session->what, sizeof(session->what), "%s", what);
		gt_progress_begin(&session->progress, false, "%s: %s", session->variant, what);
	}
	if (share >= 0 && share <= 1)
		gt_watch_tell(gt_progress_watch(&session->progress), (uint64_t)(share * STEPS),
		              STEPS);
}

/* ---- other processes ---- */

/* With the first so many outcomes, of the last of which more may be found out; begin:
 * gt_begin_again or gt_go_on_elsewhere. */
static void leave(struct gt_session *session, size_t outcomes, bool unverified,
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
static bool was_run(struct gt_session *session)
{
	struct gt_outcome *from;

	if (session->taken >= session->left.outcomes.list.count)
		return false;
	from = &session->left.outcomes.list.rows[session->taken++];
	*gt_array_push(&session->outcomes->list) = *from;
	memset(&from->buffers, 0, sizeof(from->buffers));
	return true;
}

static struct gt_outcome *last_outcome(const struct gt_session *session)
{
	return gt_array_end(&session->outcomes->list) - 1;
}

/* Launches as recorded end; whether changed ones do is unknown. */
static int64_t longest_run(const struct gt_session *session)
{
	enum { TIMES = 1000 };
	const double least_ns = 10e9;
	const struct gt_outcomes *outcomes = session->outcomes;

	if (outcomes->list.count < 2 || !isfinite(outcomes->list.rows->most_ns))
		return 0;
	return (int64_t)fmax(TIMES * outcomes->list.rows->most_ns, least_ns);
}

/* The last outcome's: untimed where the process before timed it, and found its outputs in part. */
static int run_once(struct gt_session *session, const struct gt_variant *variant, bool untimed,
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
		gt_session_add_times(outcome, session, &result);
	if (failed == 0)
		gt_session_add_outputs(outcome, session, &result);
	session->spoiled |= result.spoiled;
	gt_replay_result_release(&result);
	return failed;
}

/*
 * A process that cannot use the GPU any more does nothing else: it might not even end. Another one
 * finds out more of the last outcome, where there is more.
 */
static void leave_spoiled(struct gt_session *session)
{
	if (session->spoiled)
		leave(session, session->outcomes->list.count,
		      !*last_outcome(session)->failure && session->roles.unfinished,
		      gt_go_on_elsewhere);
}

/* Finishes the last outcome that the process before left. */
static void go_on_with(struct gt_session *session, const struct gt_variant *variant)
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

static int run_new(struct gt_session *session, const struct gt_variant *variant,
                   struct gt_error *err)
{
	const bool unproven = session->roles.unproven;
	int failed;

	if (session->outcomes->list.count > 0)
		gt_roles_begin_variant(&session->roles);
	gt_session_begin_outcome(gt_array_push(&session->outcomes->list), session, variant);
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
static int run_variant(struct gt_session *session, const struct gt_variant *variant,
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
static void run_asked(struct gt_session *session)
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
	struct gt_session *session = context;
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

static int search(struct gt_session *session, struct gt_error *err)
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

static void use_form(struct gt_session *session, const struct gt_form *form)
{
	session->options.form = form->form;
	session->options.priorities = form->priorities.rows;
	session->options.priority_count = form->priorities.count;
}

/* In other forms than the first; what they fail of is their outcome. */
static void run_forms(struct gt_session *session)
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
static void rehearse_again(struct gt_session *session)
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
static int64_t longest_rehearsal(const struct gt_session *session)
{
	enum { TIMES = 1000 };
	const double least_ns = 60e9;
	const struct gt_bundle_origin *origin = &session->excerpt->whole->origin;

	return (int64_t)fmin(fmax(TIMES * (double)origin->job_ns, least_ns), 1e18);
}

/* Finds what memory holds before the step and after it. */
static int rehearse(struct gt_session *session, struct gt_error *err)
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
static int run_all(struct gt_session *session, struct gt_error *err)
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
static int run_locked(struct gt_session *session, struct gt_error *err)
{
	const int lock = gt_gpu_lock(session->gpu.uuid, err);
	int result;

	if (lock < 0)
		return lock;
	gt_gpu_state_open(&session->state, session->gpu.uuid);
	gt_session_look_for_others(session);
	gt_session_find_roof(session);
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
static int try_elsewhere(struct gt_session *session, struct gt_error *err)
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

static int take_left(struct gt_session *session, struct gt_error *err)
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
	struct gt_session session = {
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
	session.options.throttled = gt_session_is_throttled;
	session.options.sm_mhz = gt_session_sm_mhz;
	session.options.context = &session;
	if (result == 0)
		result = gt_gpu_open_driver(&session.cuda, err);
	if (result == 0)
		result = gt_session_choose_device(&session, err);
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
