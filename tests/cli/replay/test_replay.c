/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/result.h"
#include "base/error.h"
#include "cli/gpus/lock.h"
#include "cli/replay/apart.h"
#include "cli/replay/bundle_choice.h"
#include "cli/replay/forms.h"
#include "cli/replay/left.h"
#include "cli/replay/limit.h"
#include "cli/replay/outcome.h"
#include "cli/replay/request.h"
#include "cli/replay/results.h"
#include "cli/replay/tables/table.h"
#include "model/bundle/bundle.h"
#include "replay/tune/variant.h"
#include "support/check.h"
#include "support/folder.h"

static struct gt_option_list one(const char *text)
{
	return (struct gt_option_list){.texts = {text}, .count = 1};
}

static struct gt_option_list two(const char *text, const char *other)
{
	return (struct gt_option_list){.texts = {text, other}, .count = 2};
}

/* ---- what was typed ---- */

Test(request, has_defaults)
{
	const struct gt_replay_args args = GT_REPLAY_ARGS_INIT;
	struct gt_replay_request request;
	char conditions[GT_REPLAY_CONDITIONS_BYTES];

	cr_assert(eq(int, gt_replay_request_read(&request, &args, NULL), 0));
	cr_expect(request.options.verify);
	cr_expect(eq(int, request.options.l2, GT_L2_cold));
	cr_expect(ge(u32, request.options.warm_ups, 3));
	cr_expect(ge(u32, request.options.least_runs, 10));
	cr_expect(eq(i64, request.options.most_ns, 2000000000));
	cr_expect(eq(i32, request.options.variant.carveout, GT_CARVEOUT_RECORDED));
	gt_replay_conditions(&request.options, UINT32_MAX, conditions);
	expect_text(conditions, "l2=cold inputs=recorded form=recorded");
	gt_replay_request_release(&request);
}

Test(request, takes_what_was_typed)
{
	struct gt_replay_args args = GT_REPLAY_ARGS_INIT;
	struct gt_replay_request request;
	char conditions[GT_REPLAY_CONDITIONS_BYTES];

	args.l2 = "as-is";
	args.inputs = "random";
	args.forms = one("graph");
	args.within = "0.5%";
	args.rtol = "1e-3";
	args.atol = ".5";
	args.runs = 40;
	args.no_verify = true;
	args.relocate = true;
	cr_assert(eq(int, gt_replay_request_read(&request, &args, NULL), 0));
	cr_expect(eq(int, request.options.l2, GT_L2_as_is));
	cr_expect(eq(int, request.options.inputs, GT_INPUTS_random));
	cr_assert(eq(sz, request.form_count, 1));
	cr_expect(eq(int, request.options.form, GT_SEQUENCE_graph));
	cr_expect(eq(dbl, request.options.within, 0.005));
	cr_expect(eq(dbl, request.options.tolerance.rtol, 1e-3));
	cr_expect(eq(dbl, request.options.tolerance.atol, 0.5));
	cr_expect(eq(u32, request.options.least_runs, 40));
	cr_expect(eq(u32, request.options.most_runs, 40));
	cr_expect(not(request.options.verify));
	gt_replay_conditions(&request.options, UINT32_MAX, conditions);
	expect_text(conditions, "l2=as-is inputs=random form=graph relocated");
	gt_replay_request_release(&request);
}

Test(request, has_each_form_once)
{
	struct gt_replay_args args = GT_REPLAY_ARGS_INIT;
	struct gt_replay_request request;

	args.forms = two("graph", "graph");
	args.forms.texts[args.forms.count++] = "recorded";
	cr_assert(eq(int, gt_replay_request_read(&request, &args, NULL), 0));
	cr_assert(eq(sz, request.form_count, 2));
	cr_expect(eq(int, request.forms[0], GT_SEQUENCE_graph));
	cr_expect(eq(int, request.forms[1], GT_SEQUENCE_recorded));
	cr_expect(not(request.all_forms));
	gt_replay_request_release(&request);
	args.forms = two("graph", "all");
	cr_assert(eq(int, gt_replay_request_read(&request, &args, NULL), 0));
	cr_assert(eq(sz, request.form_count, GT_REPLAY_FORMS));
	cr_expect(eq(int, request.forms[0], GT_SEQUENCE_recorded));
	cr_expect(request.all_forms);
	gt_replay_request_release(&request);
}

Test(request, names_priorities_in_the_conditions)
{
	struct gt_replay_args args = GT_REPLAY_ARGS_INIT;
	struct gt_stream_priority many[64];
	char conditions[GT_REPLAY_CONDITIONS_BYTES];
	struct gt_replay_request request;

	args.forms = one("priorities");
	args.priorities = two("13=-5", "7=0");
	cr_assert(eq(int, gt_replay_request_read(&request, &args, NULL), 0));
	cr_assert(eq(sz, request.priority_count, 2));
	request.options.priorities = request.priorities;
	request.options.priority_count = 2;
	gt_replay_conditions(&request.options, UINT32_MAX, conditions);
	expect_text(conditions, "l2=cold inputs=recorded form=priorities(13=-5,7=0)");
	for (uint32_t i = 0; i < 64; i++)
		many[i] = (struct gt_stream_priority){UINT32_MAX - i,
		                                      i ? GT_PRIORITY_LAST : GT_PRIORITY_FIRST};
	request.options.priorities = many;
	request.options.priority_count = 64;
	gt_replay_conditions(&request.options, UINT32_MAX, conditions);
	cr_expect(eq(int,
	             strncmp(conditions,
	                     "l2=cold inputs=recorded form=priorities(4294967295=first,"
	                     "4294967294=last,",
	                     71),
	             0));
	cr_expect(eq(chr, conditions[strlen(conditions) - 1], ')'), "%s", conditions);
	gt_replay_request_release(&request);
}

static void expect_refused(struct gt_replay_args args, const char *sentence)
{
	struct gt_replay_request request;
	struct gt_error err = {0};

	cr_expect(eq(int, gt_replay_request_read(&request, &args, &err), -EINVAL));
	expect_text(err.text, sentence);
}

Test(request, is_refused_in_a_sentence)
{
	const struct gt_replay_args args = GT_REPLAY_ARGS_INIT;
	struct gt_replay_args wrong = args;

	wrong.within = "0.5";
	expect_refused(wrong, "--within takes a share of the median, as 0.5%, and not '0.5'");
	wrong = args;
	wrong.rtol = "nan";
	expect_refused(wrong, "--rtol takes a number as 0.001 or 1e-3, and not 'nan'");
	wrong = args;
	wrong.atol = "-1";
	expect_refused(wrong, "--atol takes a number as 0.001 or 1e-3, and not '-1'");
	wrong = args;
	wrong.verify = wrong.no_verify = true;
	expect_refused(wrong, "--verify and --no-verify exclude each other");
	wrong = args;
	wrong.variants[GT_TUNE_block] = one("64,128");
	expect_refused(wrong, "--block takes one value, and may be given again; it is '64,128'");
	wrong = args;
	wrong.priorities = one("13=-5");
	expect_refused(wrong, "--priority says what --form priorities tries: give that as well");
	wrong.forms = one("priorities");
	for (const char *const *text = (const char *const[]){"13", "13=", "=1", "13=--1", "13=1001",
	                                                     "4294967296=1", NULL};
	     *text; text++) {
		char sentence[160];

		wrong.priorities = one(*text);
		snprintf(sentence, sizeof(sentence),
		         "--priority takes a stream's number in the program and a priority, as "
		         "13=-5, and not '%s'",
		         *text);
		expect_refused(wrong, sentence);
	}
}

Test(request, has_all_combinations_of_variants)
{
	struct gt_replay_args args = GT_REPLAY_ARGS_INIT;
	struct gt_replay_request request;
	char text[GT_VARIANT_TEXT];
	struct gt_variant last;

	args.variants[GT_TUNE_block] = two("256", "16x8");
	args.variants[GT_TUNE_shared_bytes] = two("0", "48K");
	args.variants[GT_TUNE_module] = one("build/new, and other.cubin");
	args.tune = "block=64,128";
	cr_assert(eq(int, gt_replay_request_read(&request, &args, NULL), 0));
	cr_assert(eq(sz, gt_tune_count(&request.asked), 4));
	cr_assert(eq(sz, gt_tune_count(&request.tuned), 2));
	last = gt_tune_configuration(&request.asked, 3);
	cr_expect(eq(u32, last.block[0], 16));
	cr_expect(eq(u32, last.block[1], 8));
	cr_expect(eq(i64, last.shared_bytes, 49152));
	expect_text(last.module, "build/new, and other.cubin");
	gt_variant_describe(&last, text);
	cr_expect(ne(ptr, strstr(text, "block=16x8"), NULL), "%s", text);
	gt_replay_request_release(&request);
}

Test(request, has_no_more_variants_than_can_be_waited_for)
{
	struct gt_replay_args args = GT_REPLAY_ARGS_INIT;
	struct gt_replay_request request;

	args.variants[GT_TUNE_module].count = 32;
	args.variants[GT_TUNE_shared_bytes].count = 32;
	for (size_t i = 0; i < 32; i++) {
		args.variants[GT_TUNE_module].texts[i] = "a.cubin";
		args.variants[GT_TUNE_shared_bytes].texts[i] = "0";
	}
	cr_expect(eq(int, gt_replay_request_read(&request, &args, NULL), -EINVAL));
}

/* ---- forms ---- */

static void add_step(struct gt_bundle *bundle, enum gt_bundle_step_kind kind, uint32_t stream,
                     uint32_t graph)
{
	*gt_array_push(&bundle->steps) =
		(struct gt_bundle_step){.kind = kind, .stream = stream, .graph = graph};
}

/*
 * A launch of a graph in the first stream, with a branch in another, and one more in the third;
 * none in the last.
 */
static void add_launches_of_a_graph(struct gt_bundle *bundle)
{
	for (uint32_t number = 7; number < 11; number++)
		*gt_array_push(&bundle->streams) = (struct gt_bundle_stream){.number = number};
	add_step(bundle, GT_BUNDLE_STEP_launch, 0, 1);
	add_step(bundle, GT_BUNDLE_STEP_launch, 1, 1);
	add_step(bundle, GT_BUNDLE_STEP_record, 0, 0);
	add_step(bundle, GT_BUNDLE_STEP_wait, 2, 0);
	add_step(bundle, GT_BUNDLE_STEP_launch, 2, 2);
	add_step(bundle, GT_BUNDLE_STEP_launch, 1, 2);
}

Test(forms, put_streams_first_in_which_graphs_are_launched)
{
	static const uint32_t wanted[2][2] = {{7, 9}, {9, 7}};
	struct gt_replay_request request = {.forms = {GT_SEQUENCE_priorities}, .form_count = 1};
	struct gt_bundle bundle = {0};
	struct gt_forms forms;
	struct gt_error err;

	add_launches_of_a_graph(&bundle);
	cr_assert(eq(int, gt_forms_choose(&forms, &request, &bundle, &err), 0), "%s", err.text);
	cr_assert(eq(sz, forms.list.count, 2));
	for (size_t i = 0; i < 2; i++) {
		const struct gt_form *form = &forms.list.rows[i];

		cr_assert(eq(sz, form->priorities.count, 2),
		          "none of the branch's stream, or of the idle one");
		for (size_t j = 0; j < 2; j++)
			cr_expect(eq(u32, form->priorities.rows[j].stream, wanted[i][j]));
	}
	gt_forms_release(&forms);
	gt_array_release(&bundle.steps);
	gt_array_release(&bundle.streams);
}

/* ---- --fail-if ---- */

static struct gt_outcome outcome_of(double median_ns, double job_ns)
{
	struct gt_outcome outcome;

	gt_outcome_init(&outcome);
	snprintf(outcome.variant, sizeof(outcome.variant), GT_OUTCOME_AS_RECORDED);
	snprintf(outcome.conditions, sizeof(outcome.conditions), "l2=cold");
	snprintf(outcome.device, sizeof(outcome.device), "NVIDIA H200");
	snprintf(outcome.uuid, sizeof(outcome.uuid), "GPU-1");
	snprintf(outcome.date, sizeof(outcome.date), "2026-01-02T03:04:05.000000006Z");
	outcome.median_ns = median_ns;
	outcome.job_ns = job_ns;
	return outcome;
}

Test(limit, is_read)
{
	struct gt_limit limit = {.given = false};

	cr_assert(eq(int, gt_limit_parse(&limit, "slower:5%", NULL), 0));
	cr_expect(limit.given && !limit.of_job);
	cr_expect(eq(dbl, limit.share, 0.05));
	cr_assert(eq(int, gt_limit_parse(&limit, "slower-than-job:0.5%", NULL), 0));
	cr_expect(limit.of_job);
	for (const char *const *text = (const char *const[]){"slower", "slower:", "slower:5",
	                                                     "slower:%", "slower:-5%", "faster:5%",
	                                                     "slower:nan%", "slower:5000%", NULL};
	     *text; text++)
		cr_expect(eq(int, gt_limit_parse(&limit, *text, NULL), -EINVAL), "%s", *text);
}

Test(limit, compares_with_the_newest_result_else_with_the_program)
{
	const struct gt_limit limit = {.given = true, .share = 0.05};
	const struct gt_limit of_job = {.given = true, .share = 0.05, .of_job = true};
	const struct gt_outcome outcome = outcome_of(10600, 9000);
	const struct gt_outcome slow = outcome_of(10100, NAN);
	const struct gt_outcome fast = outcome_of(10000, NAN);
	char sentence[512] = "";

	cr_expect(not(gt_limit_is_crossed(&limit, &outcome, &slow, sentence, sizeof(sentence))));
	cr_expect(gt_limit_is_crossed(&limit, &outcome, &fast, sentence, sizeof(sentence)));
	expect_text(sentence, "as recorded: 10.6 us, which is 6.0% slower than the result of "
	                      "2026-01-02T03:04:05 (10.0 us); --fail-if allows 5%");
	cr_expect(gt_limit_is_crossed(&limit, &outcome, NULL, sentence, sizeof(sentence)));
	cr_expect(gt_limit_is_crossed(&of_job, &outcome, &slow, sentence, sizeof(sentence)));
	expect_text(sentence, "as recorded: 10.6 us, which is 17.8% slower than in the program "
	                      "(9.00 us); --fail-if allows 5%");
}

Test(limit, is_crossed_by_what_cannot_be_compared)
{
	const struct gt_limit limit = {.given = true, .share = 0.05};
	const struct gt_outcome outcome = outcome_of(10600, NAN);
	const struct gt_outcome untimed = outcome_of(NAN, 9000);
	char sentence[512] = "";

	cr_expect(gt_limit_is_crossed(&limit, &outcome, NULL, sentence, sizeof(sentence)));
	expect_text(sentence, "as recorded: its time in the program is not known, and no result is "
	                      "kept, so that --fail-if compares nothing");
	cr_expect(gt_limit_is_crossed(&limit, &untimed, NULL, sentence, sizeof(sentence)));
	cr_expect(not(gt_limit_is_crossed(&(struct gt_limit){.given = false}, &outcome, NULL,
	                                  sentence, sizeof(sentence))));
}

/* ---- what is kept ---- */

static char folder[64];

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/gputrace-test-replay-XXXXXX");
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
}

static void remove_folder(void)
{
	cr_expect(folder_remove(folder));
}

/* ---- how far it is from the time in the program ---- */

static struct gt_outcome timed_by_state(double cold_ns, double warm_ns, double as_is_ns)
{
	struct gt_outcome outcome = outcome_of(cold_ns, 10000);

	outcome.by_state[GT_L2_cold] = cold_ns;
	outcome.by_state[GT_L2_warm] = warm_ns;
	outcome.by_state[GT_L2_as_is] = as_is_ns;
	outcome.job_launches = 7;
	outcome.sm_mhz = 1980;
	snprintf(outcome.conditions, sizeof(outcome.conditions), "%s",
	         "l2=cold inputs=recorded form=recorded");
	return outcome;
}

Test(apart, names_the_state_that_fits_best)
{
	struct gt_outcome outcome = timed_by_state(13000, 10100, NAN);

	gt_apart_choose(&outcome, GT_L2_cold);
	expect_text(outcome.fits, "warm");
	cr_expect(not(gt_apart_is_far(&outcome)));
	/* Half of it is as far away as twice of it: the one that was asked for. */
	outcome = timed_by_state(20000, 5000, NAN);
	gt_apart_choose(&outcome, GT_L2_cold);
	expect_text(outcome.fits, "cold");
	cr_expect(gt_apart_is_far(&outcome));
	outcome = timed_by_state(1500, NAN, 8400);
	gt_apart_choose(&outcome, GT_L2_cold);
	expect_text(outcome.fits, "as-is");
	cr_expect(gt_apart_is_far(&outcome), "16 %% less");
	outcome = timed_by_state(10000, 10000, 10000);
	outcome.job_ns = NAN;
	gt_apart_choose(&outcome, GT_L2_cold);
	expect_text(outcome.fits, "");
	cr_expect(not(gt_apart_is_far(&outcome)));
}

Test(apart, says_what_is_known_of_the_reason)
{
	struct gt_outcome outcome = timed_by_state(15000, NAN, NAN);
	struct gt_bundle bundle = {.origin = {.device = "NVIDIA H100", .uuid = "GPU-2"}};
	char text[800];

	gt_apart_choose(&outcome, GT_L2_cold);
	snprintf(bundle.origin.uuid, sizeof(bundle.origin.uuid), "%s", outcome.uuid);
	cr_expect(not(gt_apart_reason(&outcome, &bundle, text, sizeof(text))));
	cr_expect(gt_apart_warn(&outcome, &bundle, text, sizeof(text)));
	expect_text(text,
	            "with cold caches, which fit best, it takes 15.0 us: 50% more than in the "
	            "program; nothing is known of the reason, which may be work beside it in "
	            "the program");
	bundle.origin.sm_clock_mhz = 1200;
	cr_expect(not(gt_apart_reason(&outcome, &bundle, text, sizeof(text))),
	          "a higher clock makes nothing longer");
	outcome.sm_mhz = 800;
	cr_expect(gt_apart_reason(&outcome, &bundle, text, sizeof(text)));
	expect_text(text, "the SM clock was 1200 MHz in the program and is 800 here");
	bundle.origin.sm_clock_mhz = 0;
	snprintf(bundle.origin.uuid, sizeof(bundle.origin.uuid), "GPU-2");
	outcome.job_launches = 0;
	cr_expect(gt_apart_reason(&outcome, &bundle, text, sizeof(text)));
	expect_text(text,
	            "it was recorded on another GPU (NVIDIA H100); its time in the program is "
	            "of the captured launch itself, which ran after a pause of the GPU");
}

TestSuite(results, .init = make_folder, .fini = remove_folder);
TestSuite(choice, .init = make_folder, .fini = remove_folder);
TestSuite(lock, .init = make_folder, .fini = remove_folder);

Test(results, are_read_as_they_were_written)
{
	struct gt_outcome outcome = outcome_of(12345.5, 12000);
	struct gt_outcome read;
	char *text;

	outcome.runs = 77;
	outcome.thrown_out = 2;
	outcome.other_mode = 3;
	snprintf(outcome.doubt, sizeof(outcome.doubt), "it wrote less");
	snprintf(outcome.fits, sizeof(outcome.fits), "as-is");
	outcome.others_plus_one = 1;
	outcome.stable = outcome.checked = true;
	outcome.mismatches = UINT64_C(1) << 40;
	text = gt_outcome_text(&outcome);
	cr_assert(eq(int, gt_outcome_parse(&read, text, strlen(text), "x.json", NULL), 0));
	cr_expect(gt_outcome_same(&outcome, &read));
	expect_text(read.date, outcome.date);
	cr_expect(eq(dbl, read.median_ns, 12345.5));
	cr_expect(isnan(read.events_ns), "what was not measured is not 0");
	cr_expect(eq(u64, read.runs, 77));
	cr_expect(eq(u64, read.other_mode, 3));
	expect_text(read.doubt, "it wrote less");
	expect_text(read.fits, "as-is");
	cr_expect(eq(u64, read.mismatches, UINT64_C(1) << 40));
	cr_expect(read.stable && read.checked && !read.verified);
	free(text);
}

Test(results, that_are_damaged_are_refused)
{
	static const struct {
		const char *text;
		const char *sentence;
	} wrong[] = {
		{"{", "x.json is damaged at line 1: string or '}' expected near end of file"},
		{"[]", "x.json is not what gputrace replay writes"},
		{"{\"variant\": 5}", "x.json is not what gputrace replay writes"},
		{"{\"variant\": \"a\", \"version\": 2}", "x.json was written by a newer gputrace"},
	};
	struct gt_outcome outcome;

	for (size_t i = 0; i < GT_COUNT_OF(wrong); i++) {
		struct gt_error err = {0};

		cr_expect(eq(int,
		             gt_outcome_parse(&outcome, wrong[i].text, strlen(wrong[i].text),
		                              "x.json", &err),
		             -EBADMSG));
		expect_text(err.text, wrong[i].sentence);
	}
}

static void save(double median_ns, const char *variant, int day)
{
	struct gt_outcome outcome = outcome_of(median_ns, NAN);
	struct gt_error err = {0};

	snprintf(outcome.variant, sizeof(outcome.variant), "%s", variant);
	snprintf(outcome.date, sizeof(outcome.date), "2026-01-%02dT03:04:05.000000006Z", day);
	cr_assert(eq(int, gt_results_save(folder, &outcome, &err), 0), "%s", err.text);
}

Test(results, are_the_last_ten_of_each_variant)
{
	struct gt_results results;
	struct gt_outcome like = outcome_of(1, NAN);

	save(500, "block=64", 1);
	for (int day = 2; day < 16; day++)
		save(1000 + day, GT_OUTCOME_AS_RECORDED, day);
	gt_results_load(&results, folder, NULL);
	cr_assert(eq(sz, results.list.count, 1 + GT_RESULTS_KEPT));
	expect_text(results.list.rows[0].outcome.variant, "block=64");
	cr_expect(eq(dbl, results.list.rows[1].outcome.median_ns, 1006));
	cr_expect(eq(dbl, gt_results_newest(&results, &like)->median_ns, 1015));
	snprintf(like.uuid, sizeof(like.uuid), "GPU-2");
	cr_expect(eq(ptr, (void *)gt_results_newest(&results, &like), NULL), "another GPU");
	gt_results_release(&results);
}

Test(results, are_compared_with_what_was_right)
{
	struct gt_outcome outcome = outcome_of(1000, NAN);
	struct gt_results results;

	save(1100, GT_OUTCOME_AS_RECORDED, 1);
	outcome.too_slow = true;
	snprintf(outcome.date, sizeof(outcome.date), "2026-01-02T03:04:05.000000006Z");
	cr_assert(eq(int, gt_results_save(folder, &outcome, NULL), 0));
	outcome.too_slow = false;
	outcome.checked = true;
	snprintf(outcome.date, sizeof(outcome.date), "2026-01-03T03:04:05.000000006Z");
	cr_assert(eq(int, gt_results_save(folder, &outcome, NULL), 0));
	gt_results_load(&results, folder, NULL);
	cr_assert(eq(sz, results.list.count, 3));
	cr_expect(eq(dbl, gt_results_newest(&results, &outcome)->median_ns, 1100));
	gt_results_release(&results);
}

static unsigned complaints;

static void complain(const char *sentence)
{
	complaints += sentence != NULL;
}

Test(results, pass_over_what_is_none)
{
	struct gt_results results;
	char path[128];
	FILE *file;

	save(500, "block=64", 1);
	snprintf(path, sizeof(path), "%s/results/broken.json", folder);
	file = fopen(path, "w");
	cr_assert(ne(ptr, file, NULL));
	fputs("{", file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/results/pipe.json", folder);
	cr_assert(eq(int, mkfifo(path, 0600), 0));
	snprintf(path, sizeof(path), "%s/results/notes.txt", folder);
	cr_assert(eq(int, mkdir(path, 0700), 0));
	gt_results_load(&results, folder, complain);
	cr_expect(eq(sz, results.list.count, 1));
	cr_expect(eq(uint, complaints, 2));
	gt_results_release(&results);
}

Test(results, are_shown_newest_first_beside_the_one_before)
{
	struct gt_results results;
	struct gt_result result;
	const struct gt_section *history;

	save(1000, GT_OUTCOME_AS_RECORDED, 1);
	save(1100, GT_OUTCOME_AS_RECORDED, 2);
	gt_results_load(&results, folder, NULL);
	gt_result_init(&result);
	gt_history_fill(&result, &results);
	cr_assert(eq(int, gt_result_check(&result, NULL), 0));
	history = gt_result_find(&result, "history");
	cr_assert(eq(sz, gt_section_row_count(history), 2));
	cr_expect(eq(i64, gt_section_cell(history, 0, "median_ns")->count, 1100));
	cr_expect(epsilon_eq(dbl, gt_section_cell(history, 0, "change_percent")->real, 10, 1e-9));
	cr_expect(ne(int, gt_section_cell(history, 1, "change_percent")->unknown, 0));
	gt_result_release(&result);
	gt_results_release(&results);
}

/* A run that did less may well be faster. */
Test(results, whose_work_is_in_doubt_are_not_the_best)
{
	struct gt_outcome outcome = outcome_of(500, NAN);
	struct gt_results results;
	struct gt_result result;
	const struct gt_section *best;

	outcome.verified = true;
	snprintf(outcome.variant, sizeof(outcome.variant), "block=64");
	cr_assert(eq(int, gt_results_save(folder, &outcome, NULL), 0));
	outcome.median_ns = 400;
	snprintf(outcome.variant, sizeof(outcome.variant), "block=32");
	snprintf(outcome.doubt, sizeof(outcome.doubt), "a tenth was not written");
	snprintf(outcome.date, sizeof(outcome.date), "2026-01-03T03:04:05.000000006Z");
	cr_assert(eq(int, gt_results_save(folder, &outcome, NULL), 0));
	gt_results_load(&results, folder, NULL);
	gt_result_init(&result);
	gt_history_fill(&result, &results);
	best = gt_result_find(&result, "best");
	cr_assert(eq(sz, gt_section_row_count(best), 1));
	expect_text(gt_section_cell(best, 0, "variant")->text, "block=64");
	cr_expect(eq(i64, gt_section_cell(best, 0, "median_ns")->count, 500));
	gt_result_release(&result);
	gt_results_release(&results);
}

/* ---- what one process leaves to the next ---- */

static struct gt_left left_of_two(void)
{
	struct gt_left left = {.relocate = true};
	struct gt_outcome outcome = outcome_of(10000, NAN);

	*gt_array_push(&outcome.buffers) = (struct gt_outcome_buffer){
		.found = {.memory = 3, .comparison = {.element = GT_ELEMENT_bf16}},
		.bytes = 77,
		.name = "y",
	};
	*gt_array_push(&outcome.buffers) = (struct gt_outcome_buffer){
		.found = {.memory = 4, .comparison = {.element = GT_ELEMENT_COUNT}}};
	*gt_array_push(&left.outcomes.list) = outcome;
	outcome = outcome_of(NAN, NAN);
	snprintf(outcome.failure, sizeof(outcome.failure), "the launch failed");
	*gt_array_push(&left.outcomes.list) = outcome;
	return left;
}

Test(left, is_taken_over_whole)
{
	struct gt_left left = left_of_two();
	struct gt_left taken;
	const struct gt_outcome *outcome;
	size_t size = 0;
	void *bytes = gt_left_pack(&left, &size);

	cr_assert(eq(int, gt_left_unpack(&taken, bytes, size, NULL), 0));
	cr_expect(taken.relocate);
	cr_assert(eq(sz, taken.outcomes.list.count, 2));
	outcome = &taken.outcomes.list.rows[0];
	cr_expect(gt_outcome_same(outcome, &left.outcomes.list.rows[0]));
	cr_expect(eq(dbl, outcome->median_ns, 10000));
	cr_assert(eq(sz, outcome->buffers.count, 2));
	expect_text(outcome->buffers.rows[0].element, "bf16");
	expect_text(outcome->buffers.rows[0].name, "y");
	cr_expect(eq(u64, outcome->buffers.rows[0].bytes, 77));
	expect_text(outcome->buffers.rows[1].element, "unknown");
	expect_text(taken.outcomes.list.rows[1].failure, "the launch failed");
	cr_expect(eq(sz, taken.outcomes.list.rows[1].buffers.count, 0));
	gt_left_release(&taken);
	gt_left_release(&left);
	free(bytes);
}

Test(left, is_refused_where_it_is_cut)
{
	struct gt_left left = left_of_two();
	struct gt_left taken;
	struct gt_error err = {0};
	size_t size = 0;
	uint8_t *bytes = gt_left_pack(&left, &size);

	for (size_t cut = 0; cut < size; cut += cut < 100 ? 1 : 97)
		cr_expect(eq(int, gt_left_unpack(&taken, bytes, cut, &err), -EBADMSG));
	expect_text(err.text, "what the process before this one left is not whole");
	cr_expect(eq(sz, taken.outcomes.list.count, 0));
	bytes[0] ^= 1;
	cr_expect(eq(int, gt_left_unpack(&taken, bytes, size, &err), -EBADMSG));
	gt_left_release(&left);
	free(bytes);
}

/* ---- which bundle ---- */

static void make(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *at = strchr(path + strlen(folder) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	cr_assert(ge(int, close(open(path, O_CREAT | O_WRONLY, 0600)), 0));
}

static void expect_choice(const char *launch, int code, const char *end)
{
	struct gt_error err = {0};
	char word[128];
	char *found = NULL;
	const char *text;

	snprintf(word, sizeof(word), "%s/app.gputrace", folder);
	cr_expect(eq(int, gt_bundle_choose(word, launch, &found, &err), code), "%s", err.text);
	text = code ? err.text : found;
	cr_expect(text && strlen(text) >= strlen(end) &&
	                  strcmp(text + strlen(text) - strlen(end), end) == 0,
	          "%s", text);
	free(found);
}

Test(choice, is_by_number_or_name)
{
	make("app.gputrace/node-1-1.capture");
	expect_choice(NULL, -ENODATA, "says which it can");
	make("app.gputrace/launches/71-5-saxpy/bundle.json");
	make("app.gputrace/launches/71-6-cut/blobs/x");
	expect_choice(NULL, 0, "/app.gputrace/launches/71-5-saxpy");
	make("app.gputrace/launches/71-50-gemm/bundle.json");
	expect_choice(NULL, -EINVAL,
	              "holds 2 launches to run again: choose one with --launch: 71-5-saxpy, "
	              "71-50-gemm");
	expect_choice("5", 0, "/71-5-saxpy");
	expect_choice("ge.m", 0, "/71-50-gemm");
	expect_choice("71", -EINVAL, "holds 2 launches to run again, none of which is 71");
	expect_choice("(", -EINVAL, "'(' is neither: Unmatched ( or \\(");
}

Test(choice, of_a_bundle_needs_no_recording)
{
	struct gt_error err = {0};
	char word[128];
	char *found = NULL;

	make("moved/bundle.json");
	snprintf(word, sizeof(word), "%s/moved", folder);
	cr_assert(eq(int, gt_bundle_choose(word, NULL, &found, &err), 0));
	expect_text(found, word);
	free(found);
	cr_expect(eq(int, gt_bundle_choose(word, "5", &found, &err), -EINVAL));
}

/* ---- the lock ---- */

Test(lock, is_held_by_one_process)
{
	char path[128];
	int lock;
	int held;

	cr_assert(eq(int, setenv("XDG_RUNTIME_DIR", folder, 1), 0));
	lock = gt_gpu_lock("GPU-1/../x", NULL);
	cr_assert(ge(int, lock, 0));
	snprintf(path, sizeof(path), "%s/gputrace/GPU-1_.._x.lock", folder);
	held = open(path, O_RDWR | O_CLOEXEC);
	cr_assert(ge(int, held, 0), "it has a file of its name, and no other");
	if (fork() == 0) {
		const int other = gt_gpu_lock("GPU-2", NULL); /* another GPU */

		_exit(other >= 0 ? 0 : 1);
	} else {
		int status = 0;

		(void)wait(&status);
		cr_expect(eq(int, status, 0));
	}
	close(held);
	gt_gpu_unlock(lock);
	cr_expect(ge(int, gt_gpu_lock("GPU-1/../x", NULL), 0), "it was given back");
}

Test(lock, is_not_made_in_the_folder_of_another)
{
	struct gt_error err = {0};
	char path[128];

	cr_assert(eq(int, setenv("XDG_RUNTIME_DIR", folder, 1), 0));
	snprintf(path, sizeof(path), "%s/gputrace", folder);
	cr_assert(eq(int, mkdir(path, 0700), 0));
	cr_assert(eq(int, chmod(path, 0777), 0));
	cr_expect(eq(int, gt_gpu_lock("GPU-1", &err), -EACCES));
}
