/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/result.h"
#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/output/say.h"
#include "cli/render/render.h"
#include "cli/render/show.h"
#include "cli/replay/apart.h"
#include "cli/replay/bundle_choice.h"
#include "cli/replay/limit.h"
#include "cli/replay/request.h"
#include "cli/replay/results.h"
#include "cli/replay/step_choice.h"
#include "cli/replay/tables/table.h"
#include "model/bundle/bundle.h"
#include "model/bundle/excerpt.h"

struct args {
	struct gt_show_args show;
	struct gt_replay_args replay;
	const char *launch;
	const char *step;
	const char *fail_if;
	bool whole;
	bool list;
	bool history;
};

/* The part of a bundle that is run. */
struct part {
	struct gt_excerpt excerpt;
	bool one;        /* step, the excerpt's; else all of it */
	bool focused;    /* nobody asked for it now */
	size_t matching; /* launches that fit what was asked for */
};

#define VARIANT(field) replay.variants[GT_TUNE_##field]

static const char *const l2_words[] = {GT_L2_WORDS, NULL};
static const char *const inputs_words[] = {GT_INPUTS_WORDS, NULL};
static const char *const form_words[] = {GT_FORM_WORDS, GT_FORM_ALL, NULL};

static const struct gt_option options[] = {
	OPT_TEXT("launch", 0, struct args, launch, "LAUNCH",
                 "Recordings with several: the launch of this number, or whose folder's name matches "
                 "this regular expression (POSIX extended)"),
	OPT_TEXT("step", 0, struct args, step, "STEP",
                 "Sequences: one step alone, as memory is when those before it have run once: its "
                 "number, as --list shows it, or a regular expression for the kernel's name (POSIX "
                 "extended), of which the first that fits is run; default: the kernel of a graph that "
                 "was chosen when it was captured, else all steps"),
	OPT_FLAG("whole", 0, struct args, whole,
                 "All steps, also where one was chosen when it was captured"),
	OPT_FLAG("list", 0, struct args, list, "Run nothing, and show the steps of the bundle"),
	OPT_TEXT("device", 0, struct args, replay.device, "GPU",
                 "Run on this GPU: its number, as CUDA counts, or its UUID; default: the one that was "
                 "recorded on, else the first of its architecture"),
	OPT_CHOICE(
		"l2", 0, struct args, replay.l2, "STATE", l2_words,
		"Contents of the level-2 cache before a run: nothing (cold, the default), what the run "
		"before it left (warm), or the inputs that were restored just before (as-is)"),
	OPT_CHOICE("inputs", 0, struct args, replay.inputs, "CONTENTS", inputs_words,
                   "Contents of the buffers that it reads; default: as recorded"),
	{OPT("form", 0, LIST, struct args, replay.forms, "FORM",
             "How the steps of a sequence follow each other: with the gaps of the program (recorded, the "
             "default), without them (back-to-back), all on one-stream, as one CUDA graph, as recorded "
             "but with each stream in turn before the others (priorities) or with launches of graphs "
             "taken apart (nodes), or all of these beside each other; may be given again"),
         .choices = form_words},
	OPT_LIST("priority", 0, struct args, replay.priorities, "STREAM=N",
                 "With --form priorities: this priority for the stream of this number in the program, and "
                 "others as recorded; lower ones go first; may be given again"),
	OPT_FLAG(
		"relocate", 0, struct args, replay.relocate,
		"Put memory at other addresses than in the program; every pointer to it must be known"),
	{OPT("within", 0, TEXT, struct args, replay.within, "SHARE",
             "Measure until the standard error of the median is this share of it; default: 0.2%"),
         .group = "How it is timed"},
	OPT_DURATION("time", 0, struct args, replay.time_ns, "DURATION", 1000000, 3600000000000,
                     "Time for measuring each variant, in all; default: 2s"),
	{OPT("runs", 0, COUNT, struct args, replay.runs, "N",
             "Time so many runs instead of until it is stable"),
         NULL, 1, 1000000},
	{OPT("warm-ups", 0, COUNT, struct args, replay.warm_ups, "N",
             "Runs before the first one that counts, at least; default: 3"),
         NULL, 0, 1000000},
	{OPT("verify", 0, FLAG, struct args, replay.verify, NULL,
             "Compare what it wrote with what was recorded, which is the default"),
         .group = "How its outputs are compared"},
	OPT_FLAG("no-verify", 0, struct args, replay.no_verify, "Only time it"),
	OPT_TEXT(
		"rtol", 0, struct args, replay.rtol, "NUMBER",
		"Elements may differ by this share of the recorded value; default: 0, not by a bit"),
	OPT_TEXT("atol", 0, struct args, replay.atol, "NUMBER",
                 "Elements may differ by this much; default: 0"),
	OPT_LIST("element", 0, struct args, replay.elements, "[MEMORY=]TYPE",
                 "Type of the elements, of all buffers or of the one of this number, as f32 or 2=bf16; "
                 "default: guessed from the contents; may be given again"),
	OPT_SIZE(
		"red-zone", 0, struct args, replay.zone_bytes, "BYTES", 0, 1 << 30,
		"Watch so many bytes before and behind each buffer, where there is room; default: 4K"),
	{OPT("block", 0, LIST, struct args, VARIANT(block), "THREADS",
             "Blocks of so many threads, as 256 or 16x16; the grid follows, for as many threads in all"),
         .group =
                 "Variants that are tried beside it; may be given again, and all combinations are"},
	OPT_LIST("cluster", 0, struct args, VARIANT(cluster), "BLOCKS",
                 "Clusters of so many blocks, as 2 or 2x2"),
	OPT_LIST("shared", 0, struct args, VARIANT(shared_bytes), "BYTES",
                 "So much dynamic shared memory"),
	OPT_LIST("carveout", 0, struct args, VARIANT(carveout), "PERCENT",
                 "Preferred share of the cache as shared memory, 0 to 100, or default"),
	OPT_LIST("max-registers", 0, struct args, VARIANT(max_registers), "N",
                 "So many registers a thread at most, where the bundle has PTX to compile again"),
	OPT_LIST("module", 0, struct args, VARIANT(module), "FILE",
                 "The same function from another cubin or PTX"),
	OPT_TEXT(
		"tune", 0, struct args, replay.tune, "SPACE",
		"All combinations of these, as \"block=128,256 shared=0,16K\", of which any may fail"),
	{OPT("history", 0, FLAG, struct args, history, NULL,
             "Run nothing, and show the results that the bundle holds"),
         .group = "Earlier measurements"},
	OPT_TEXT(
		"fail-if", 0, struct args, fail_if, "LIMIT",
		"End with status 3 when it has become slower, as slower:5%: than its newest result on "
		"this GPU under these conditions, else than in the program; slower-than-job:5%: than "
		"in the program"),
	GT_SHOW_OPTIONS(struct args, show),
	OPT_END_OF("replay"),
};

static void complain(const char *sentence)
{
	gt_say("%s", sentence);
}

static int show(const struct args *args, struct gt_result *result, struct gt_error *err)
{
	struct gt_rendering rendering = {0};
	int status = gt_result_check(result, err);

	if (status == 0)
		status = gt_show_style(&args->show, &rendering.style, err);
	if (status == 0)
		status = gt_show(&args->show, &rendering,
		                 &(struct gt_named_result){"replay", result}, 1, err);
	return status;
}

/* ---- --history ---- */

static int show_history(const struct args *args, const char *folder, struct gt_error *err)
{
	struct gt_results results;
	struct gt_result result;
	int status;

	gt_results_load(&results, folder, complain);
	gt_result_init(&result);
	gt_history_fill(&result, &results);
	if (results.list.count > 0)
		status = show(args, &result, err);
	else
		status = gt_fail(err, ENODATA,
		                 "%s holds no results yet: gputrace replay without --history "
		                 "makes some",
		                 folder);
	gt_result_release(&result);
	gt_results_release(&results);
	return status;
}

/* ---- running ---- */

/* As recorded, a launch is guarded against its past, and what is tried beside it against that. */
static bool is_too_slow(const struct gt_limit *limit, const struct gt_results *results,
                        struct gt_outcome *outcome, const struct gt_outcomes *outcomes)
{
	const struct gt_outcome *recorded = gt_outcome_recorded(outcomes, outcome);
	const struct gt_outcome *earlier =
		outcome == recorded ? gt_results_newest(results, outcome) : recorded;
	char sentence[512];

	outcome->too_slow =
		gt_limit_is_crossed(limit, outcome, earlier, sentence, sizeof(sentence));
	if (!outcome->too_slow)
		return false;
	gt_say("%s", sentence);
	return true;
}

/* Whether --fail-if has nothing to go by: the figure is of other work, or nobody knows of what. */
static bool is_unknown(const struct gt_limit *limit, const struct gt_outcome *outcome,
                       const struct gt_bundle *bundle)
{
	char text[512];

	if (*outcome->doubt)
		gt_say("%s: it is not known that each run did the same work: %s", outcome->variant,
		       outcome->doubt);
	return limit->given &&
	       (*outcome->doubt || (gt_apart_is_far(outcome) &&
	                            !gt_apart_reason(outcome, bundle, text, sizeof(text))));
}

/* Says why the command ends with GT_EXIT_LIMIT; what --tune tried is no reason. */
static bool has_failed(const struct gt_limit *limit, const struct gt_results *results,
                       const struct gt_bundle *bundle, struct gt_outcomes *outcomes)
{
	bool failed = false;
	char warning[800];

	gt_array_each(struct gt_outcome, outcome, &outcomes->list) {
		char label[GT_OUTCOME_LABEL_BYTES];

		if (outcome->tuned)
			continue;
		gt_outcome_label(outcome, label);
		if (*outcome->failure) {
			gt_say("%s cannot be run: %s", label, outcome->failure);
			failed = true;
			continue;
		}
		if (gt_outcome_differs(outcome)) {
			gt_say("%s: %s", label,
			       outcome->sequence_mismatches
			               ? "the sequence did not give what was recorded"
			       : outcome->step_plus_one
			               ? "its outputs are not what they are in the sequence"
			               : "its outputs are not what was recorded");
			failed = true;
		}
		if (gt_apart_warn(outcome, bundle, warning, sizeof(warning)))
			gt_say("%s: %s", label, warning);
		failed |= is_unknown(limit, outcome, bundle);
		failed |= is_too_slow(limit, results, outcome, outcomes);
	}
	return failed;
}

/* Results that cannot be kept are still shown; one sentence is enough. */
static void keep(const char *folder, const struct gt_outcomes *outcomes)
{
	gt_array_each(const struct gt_outcome, outcome, &outcomes->list) {
		struct gt_error err = {0};

		if (gt_results_save(folder, outcome, &err) == 0)
			continue;
		gt_say("%s", err.text);
		return;
	}
}

/* ---- which step ---- */

static int choose_part(struct part *part, const struct args *args, const struct gt_bundle *bundle,
                       struct gt_error *err)
{
	uint32_t step = bundle->focus;
	int status = 0;

	*part = (struct part){0};
	if (args->step)
		status = gt_step_choose(bundle, args->step, &step, &part->matching, err);
	/* A single launch has the program's own outputs. */
	part->one =
		status == 0 && !args->whole && step != GT_BUNDLE_NONE && bundle->steps.count > 1;
	part->focused = part->one && !args->step;
	if (part->one)
		gt_excerpt_init(&part->excerpt, bundle, step);
	return status;
}

static void release_part(struct part *part)
{
	if (part->one)
		gt_excerpt_release(&part->excerpt);
}

static void remark_on_part(struct gt_result *result, const struct part *part)
{
	if (part->focused)
		gt_result_remark(result,
		                 "step %u was chosen when the bundle was captured; --whole "
		                 "runs all of its steps",
		                 part->excerpt.step);
	if (part->matching > 1)
		gt_result_remark(result,
		                 "%zu launches fit --step, of which the first is run; --list shows "
		                 "all steps",
		                 part->matching);
}

static int show_outcomes(const struct args *args, const struct gt_bundle *bundle,
                         const struct part *part, const struct gt_outcomes *outcomes,
                         struct gt_error *err)
{
	struct gt_result result;
	int status;

	gt_result_init(&result);
	gt_replay_fill(&result, part->one ? &part->excerpt.bundle : bundle, outcomes);
	remark_on_part(&result, part);
	status = show(args, &result, err);
	gt_result_release(&result);
	return status;
}

static int run_part(const struct args *args, const struct gt_replay_request *request,
                    const struct gt_limit *limit, const struct gt_bundle *bundle, struct part *part,
                    struct gt_error *err)
{
	struct gt_outcomes outcomes = {0};
	struct gt_results results = {0};
	bool failed = false;
	int status = gt_replay_session(request, bundle, part->one ? &part->excerpt : NULL,
	                               &outcomes, err);

	if (status == 0) {
		gt_results_load(&results, bundle->folder, complain);
		failed = has_failed(limit, &results, bundle, &outcomes);
		keep(bundle->folder, &outcomes);
		status = show_outcomes(args, bundle, part, &outcomes, err);
	}
	gt_outcomes_release(&outcomes);
	gt_results_release(&results);
	return status == 0 && failed ? GT_EXIT_LIMIT : status;
}

static int run_bundle(const struct args *args, const struct gt_replay_request *request,
                      const struct gt_limit *limit, const char *folder, struct gt_error *err)
{
	struct gt_bundle bundle;
	struct part part;
	int status = gt_bundle_open(&bundle, folder, err);

	if (status < 0)
		return status;
	status = choose_part(&part, args, &bundle, err);
	if (status == 0) {
		status = run_part(args, request, limit, &bundle, &part, err);
		release_part(&part);
	}
	gt_bundle_close(&bundle);
	return status;
}

static int show_steps(const struct args *args, const char *folder, struct gt_error *err)
{
	struct gt_bundle bundle;
	struct gt_result result;
	int status = gt_bundle_open(&bundle, folder, err);

	if (status < 0)
		return status;
	gt_result_init(&result);
	gt_steps_fill(&result, &bundle);
	status = show(args, &result, err);
	gt_result_release(&result);
	gt_bundle_close(&bundle);
	return status;
}

static int run_or_show(const struct args *args, const struct gt_limit *limit, const char *folder,
                       struct gt_error *err)
{
	struct gt_replay_request request;
	int status;

	if (args->history)
		return show_history(args, folder, err);
	if (args->list)
		return show_steps(args, folder, err);
	status = gt_replay_request_read(&request, &args->replay, err);
	if (status < 0)
		return status;
	status = run_bundle(args, &request, limit, folder, err);
	gt_replay_request_release(&request);
	return status;
}

static int check(const struct args *args, int left, char **words, struct gt_limit *limit,
                 struct gt_error *err)
{
	enum gt_style style;

	if (left > 1)
		return gt_fail(err, EINVAL,
		               "'%s' is too much: gputrace replay runs one bundle, or one launch "
		               "of a recording",
		               words[1]);
	if (args->history && args->fail_if)
		return gt_fail(err, EINVAL, "--history runs nothing: it excludes --fail-if");
	if (args->list && (args->history || args->fail_if || args->step))
		return gt_fail(err, EINVAL, "--list runs nothing: it excludes %s",
		               args->history   ? "--history"
		               : args->fail_if ? "--fail-if"
		                               : "--step");
	if (args->history && args->step)
		return gt_fail(err, EINVAL,
		               "--history shows the results of every step, by their conditions: it "
		               "excludes --step");
	if (args->step && args->whole)
		return gt_fail(err, EINVAL, "--step and --whole exclude each other");
	if (args->fail_if && gt_limit_parse(limit, args->fail_if, err) < 0)
		return -EINVAL;
	return gt_show_style(&args->show, &style, err);
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.show = GT_SHOW_ARGS_INIT, .replay = GT_REPLAY_ARGS_INIT};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct gt_limit limit = {.given = false};
	char *folder = NULL;
	int status;

	if (left < 0)
		return left;
	status = check(&args, left, argv, &limit, err);
	if (status == 0)
		status = gt_bundle_choose(left > 0 ? argv[0] : NULL, args.launch, &folder, err);
	if (status == 0)
		status = run_or_show(&args, &limit, folder, err);
	free(folder);
	return status;
}

static void make_tables(struct gt_result *result)
{
	gt_replay_fill(result, NULL, &(struct gt_outcomes){0});
	gt_history_fill(result, &(struct gt_results){0});
	gt_steps_fill(result, NULL);
}

const struct gt_command gt_command_replay = {
	.name = "replay",
	.operands = "[BUNDLE|RECORDING]",
	.summary = "Run a captured kernel again, by itself, timed and checked",
	.details =
		"BUNDLE is a folder that gputrace run --capture-kernels wrote: RECORDING.gputrace/"
		"launches/PID-NUMBER-NAME, which stands alone and may be moved. Of a RECORDING with "
		"one such launch, that is taken; without an operand, of the newest one here.\n\n"
		"Memory is restored at the addresses of the program, the launch is run until its "
		"median is stable, and what it wrote is compared with what it wrote in the program; "
		"what was there before already is found by runs over other contents. Of a sequence --step "
		"times one step alone, with what memory holds when those before it have run. Where a variant "
		"makes the GPU fail, the next one runs in another process. "
		"Only one gputrace measures on a GPU at a time; another waits. Results are kept in "
		"the bundle, the last ten of each variant.\n\n"
		"Exit status: 3 when outputs are not what was recorded, when a variant that was asked "
		"for cannot be run, or when --fail-if says so; what --tune and --form all try never "
		"fails it.",
	.tables = make_tables,
	.options = options,
	.run = run,
};
