/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "cli/command_line/command.h"
#include "model/bundle/excerpt.h"
#include "replay/replay.h"
#include "replay/verify/rehearsal.h"
#include "support/bundle.h"
#include "support/check.h"

/*
 * The command on an engine that plays: what it is asked for is kept, and what it answers is here.
 * The driver is the fake one.
 */

extern const struct gt_command gt_command_replay;

static struct {
	struct gt_replay_options asked[16];
	struct gt_stream_priority priorities[16][2];
	unsigned runs;
	double medians[16]; /* 0: that of the one before; negative: it cannot be run */
	bool wrong[16];     /* outputs */
	bool unchanged;     /* all memory */
	size_t steps[16];   /* of the bundle */
	char kernels[16][64];
	int64_t rehearsed; /* step; -1: none was */
	uint64_t astray;   /* elements that the sequence makes otherwise */
} engine = {.rehearsed = -1};

int gt_rehearse(struct gt_excerpt *excerpt, const struct gt_cuda *cuda,
                const struct gt_replay_options *options, struct gt_rehearsal *rehearsal,
                struct gt_error *err)
{
	(void)err;
	cr_assert(ne(ptr, (void *)cuda, NULL));
	cr_expect(eq(uint, engine.runs, 0), "first of all");
	engine.rehearsed = excerpt->step;
	*rehearsal = (struct gt_rehearsal){
		.compared = options->verify,
		.mismatches = engine.astray,
		.first = engine.astray ? BUNDLE_Y : UINT32_MAX,
	};
	return 0;
}

int gt_replay_run(const struct gt_bundle *bundle, const struct gt_cuda *cuda,
                  const struct gt_replay_options *options, struct gt_replay_result *result,
                  struct gt_error *err)
{
	const unsigned run = engine.runs < 16 ? engine.runs++ : 15;
	static double median = 10000;

	cr_assert(ne(ptr, (void *)cuda, NULL));
	cr_assert(ge(sz, bundle->steps.count, 1));
	engine.asked[run] = *options;
	engine.steps[run] = bundle->steps.count;
	if (bundle->steps.rows[0].kind == GT_BUNDLE_STEP_launch)
		snprintf(engine.kernels[run], sizeof(engine.kernels[run]), "%s",
		         bundle->functions.rows[bundle->steps.rows[0].function].name);
	for (size_t i = 0; i < options->priority_count && i < 2; i++)
		engine.priorities[run][i] = options->priorities[i];
	if (engine.medians[run] < 0)
		return gt_fail(err, ENOTSUP, "the function was compiled for blocks of 128");
	if (engine.medians[run] > 0)
		median = engine.medians[run];
	options->progress(options->context, 0.5, "timing");
	cr_expect(not(options->throttled(options->context)));
	cr_expect(ne(dbl, options->sm_mhz(options->context), 0), "not known is no number");
	*result = (struct gt_replay_result){
		.times = {.median = median,
	                  .least = median - 100,
	                  .most = median + 300,
	                  .p05 = median - 50,
	                  .p95 = median + 50,
	                  .error = 0.001,
	                  .stable = true,
	                  .events_median = NAN,
	                  .sm_mhz = 1980,
	                  .clock = "CUPTI"},
		.job_ns = 10000,
		.bytes = 3072,
		.first_bad_step = UINT32_MAX,
		.proven = options->verify && !engine.unchanged,
		.wrong = engine.wrong[run],
		.verified = options->verify && !engine.wrong[run],
		.at_addresses = true,
		.layouts = 1,
	};
	for (int i = 0; i < 12; i++)
		*gt_array_push(&result->times.ns) = median;
	if (engine.unchanged)
		return 0;
	*gt_array_push(&result->buffers) = (struct gt_replay_buffer){
		.memory = BUNDLE_Y,
		.source = GT_ELEMENT_GUESSED,
		.wanted_known = true,
		.written_known = true,
		.zone_bytes = 4096,
		.comparison = {.element = GT_ELEMENT_f32,
	                       .elements = 256,
	                       .mismatches = engine.wrong[run] ? 3 : 0,
	                       .first_count = engine.wrong[run] ? 1 : 0,
	                       .first = {{12, 7, 8}}},
	};
	return 0;
}

void gt_replay_result_release(struct gt_replay_result *result)
{
	gt_array_release(&result->times.ns);
	gt_array_release(&result->buffers);
}

static struct test_bundle made;
static char output[300];
static struct gt_error problem;

/* Writes the described bundle. */
static void write_it(void)
{
	test_bundle_end(&made);
	snprintf(output, sizeof(output), "%s/out.json", made.folder);
	cr_assert(eq(int, setenv("XDG_DATA_HOME", made.folder, 1), 0));
	cr_assert(eq(int, setenv("XDG_RUNTIME_DIR", made.folder, 1), 0));
}

static void make(void)
{
	test_bundle_begin(&made);
	test_bundle_add_launch(&made);
	write_it();
	cr_assert(eq(int, setenv("CUDA_INJECTION64_PATH", "/nowhere/profiler.so", 1), 0));
}

static void make_sequence(void)
{
	test_bundle_begin(&made);
	test_bundle_add_sequence(&made);
	write_it();
}

static void make_graph(void)
{
	test_bundle_begin(&made);
	test_bundle_add_graph(&made);
	made.bundle.focus = BUNDLE_GRAPH_SCALE;
	write_it();
}

static void drop(void)
{
	test_bundle_release(&made);
}

TestSuite(replay, .init = make, .fini = drop);
TestSuite(forms, .init = make_sequence, .fini = drop);
TestSuite(steps, .init = make_sequence, .fini = drop);
TestSuite(graphs, .init = make_graph, .fini = drop);

/* gputrace replay FOLDER WORD... -f -o OUTPUT; what it ends with. */
static int replay(const char *word, ...)
{
	char texts[40][160];
	char *words[44];
	int count = 0;
	va_list more;

	words[count++] = made.folder;
	va_start(more, word);
	for (; word; word = va_arg(more, const char *)) {
		snprintf(texts[count], sizeof(texts[count]), "%s", word);
		words[count] = texts[count];
		count++;
	}
	va_end(more);
	words[count++] = (char[]){"-f"};
	words[count++] = (char[]){"-o"};
	words[count++] = output;
	words[count] = NULL;
	problem = (struct gt_error){0};
	return gt_command_replay.run(count, words, &problem);
}

static json_t *shown(const char *table)
{
	json_t *root = json_load_file(output, 0, NULL);
	json_t *rows = json_incref(json_object_get(root, table));

	cr_assert(ne(ptr, rows, NULL), "%s has no table %s", output, table);
	json_decref(root);
	return rows;
}

static double real_of(const json_t *rows, size_t row, const char *key)
{
	return json_number_value(json_object_get(json_array_get(rows, row), key));
}

static bool is_unknown(const json_t *rows, size_t row, const char *key)
{
	return json_is_null(json_object_get(json_array_get(rows, row), key));
}

static const char *text_of(const json_t *rows, size_t row, const char *key)
{
	return json_string_value(json_object_get(json_array_get(rows, row), key));
}

Test(replay, shows_times_beside_the_job)
{
	json_t *times;
	json_t *launch;

	engine.medians[0] = 10200;
	cr_assert(eq(int, replay(NULL), GT_EXIT_OK), "%s", problem.text);
	times = shown("times");
	cr_expect(eq(sz, json_array_size(times), 1));
	expect_text(text_of(times, 0, "variant"), "as recorded");
	cr_expect(eq(dbl, real_of(times, 0, "median_ns"), 10200));
	cr_expect(epsilon_eq(dbl, real_of(times, 0, "job_percent"), 2, 1e-9));
	cr_expect(epsilon_eq(dbl, real_of(times, 0, "bytes_per_second"), 3072 / 10200e-9, 1));
	cr_expect(eq(dbl, real_of(times, 0, "runs"), 12));
	expect_text(text_of(times, 0, "verdict"), "outputs as recorded");
	json_decref(times);
	launch = shown("launch");
	expect_text(text_of(launch, 0, "block"), "128 x 1 x 1");
	cr_expect(eq(dbl, real_of(launch, 0, "launches"), 1));
	json_decref(launch);
	cr_expect(eq(ptr, getenv("CUDA_INJECTION64_PATH"), NULL), "it would be traced itself");
}

Test(replay, says_so_where_launches_change_nothing)
{
	bool told = false;
	json_t *rows;

	engine.unchanged = true;
	cr_assert(eq(int, replay("--tune", "block=64,256", NULL), GT_EXIT_OK), "%s", problem.text);
	rows = shown("times");
	expect_text(text_of(rows, 0, "verdict"), "outputs not compared");
	json_decref(rows);
	rows = shown("remarks");
	for (size_t i = 0; i < json_array_size(rows); i++)
		told |= strstr(json_string_value(json_array_get(rows, i)), "capture the first") !=
		        NULL;
	cr_expect(told);
	json_decref(rows);
}

Test(replay, passes_on_what_was_typed)
{
	cr_assert(eq(int,
	             replay("--l2", "warm", "--inputs", "zero", "--form", "graph", "--within", "1%",
	                    "--time", "3s", "--warm-ups", "7", "--no-verify", "--rtol", "0.5",
	                    "--element", "bf16", "--element", "1=f32", "--red-zone", "512",
	                    "--relocate", "--runs", "33", NULL),
	             GT_EXIT_OK),
	          "%s", problem.text);
	cr_assert(eq(uint, engine.runs, 1));
	cr_expect(eq(int, engine.asked[0].l2, GT_L2_warm));
	cr_expect(eq(int, engine.asked[0].inputs, GT_INPUTS_zero));
	cr_expect(eq(int, engine.asked[0].form, GT_SEQUENCE_graph));
	cr_expect(eq(dbl, engine.asked[0].within, 0.01));
	cr_expect(eq(i64, engine.asked[0].most_ns, 3000000000));
	cr_expect(eq(u32, engine.asked[0].warm_ups, 7));
	cr_expect(eq(u32, engine.asked[0].most_runs, 33));
	cr_expect(not(engine.asked[0].verify));
	cr_expect(eq(u64, engine.asked[0].zone_bytes, 512));
	cr_expect(engine.asked[0].relocate);
	cr_expect(eq(sz, engine.asked[0].element_count, 2));
}

Test(replay, refuses_elements_that_there_are_not)
{
	cr_expect(eq(int, replay("--element", "f33", NULL), -EINVAL));
	expect_text(problem.text,
	            "--element does not know 'f33'; it takes bytes i8 u8 i16 u16 i32 u32 i64 u64 "
	            "f16 bf16 f32 f64 f8e4m3 f8e5m2");
	cr_expect(eq(int, replay("--element", "2=f32", NULL), -EINVAL));
	expect_text(problem.text, "--element 2=f32: the bundle's memory is numbered from 0 to 1");
	cr_expect(eq(int, replay("--device", "7", NULL), -EINVAL));
	cr_expect(eq(uint, engine.runs, 0));
}

Test(replay, ends_with_3_where_outputs_differ)
{
	json_t *rows;

	engine.wrong[0] = true;
	cr_expect(eq(int, replay(NULL), GT_EXIT_LIMIT));
	rows = shown("buffers");
	cr_expect(eq(dbl, real_of(rows, 0, "memory"), BUNDLE_Y));
	expect_text(text_of(rows, 0, "element"), "f32");
	expect_text(text_of(rows, 0, "type_from"), "guessed");
	cr_expect(eq(dbl, real_of(rows, 0, "mismatches"), 3));
	json_decref(rows);
	rows = shown("mismatches");
	cr_expect(eq(dbl, real_of(rows, 0, "offset_bytes"), 12));
	json_decref(rows);
	cr_expect(eq(int, replay("--no-verify", NULL), GT_EXIT_OK));
}

Test(replay, puts_variants_beside_the_launch_as_recorded)
{
	json_t *times;

	engine.medians[0] = 10000;
	engine.medians[1] = 8000;
	engine.medians[2] = -1;
	cr_expect(eq(int, replay("--block", "64", "--block", "256", NULL), GT_EXIT_LIMIT));
	cr_assert(eq(uint, engine.runs, 3));
	cr_expect(eq(u32, engine.asked[0].variant.block[0], 0));
	cr_expect(eq(u32, engine.asked[1].variant.block[0], 64));
	times = shown("times");
	cr_assert(eq(sz, json_array_size(times), 3));
	expect_text(text_of(times, 1, "variant"), "block=64");
	cr_expect(eq(dbl, real_of(times, 1, "speed_up"), 1.25));
	expect_text(text_of(times, 1, "verdict"), "faster, outputs as recorded");
	expect_text(text_of(times, 2, "verdict"),
	            "cannot be run: the function was compiled for blocks of 128");
	json_decref(times);
}

Test(replay, tunes_without_failing)
{
	char path[300];
	json_t *times;
	json_t *best;

	engine.medians[0] = 10000;
	engine.medians[1] = -1;
	engine.medians[2] = 5000;
	engine.medians[3] = 4000;
	engine.wrong[3] = true;
	cr_expect(eq(int, replay("--tune", "block=64,128,256", NULL), GT_EXIT_OK), "%s",
	          problem.text);
	times = shown("times");
	cr_expect(eq(sz, json_array_size(times), 4));
	json_decref(times);
	snprintf(path, sizeof(path), "%s/gputrace/tuned.json", made.folder);
	best = json_load_file(path, 0, NULL);
	cr_assert(ne(ptr, best, NULL), "it is kept, whatever bundle it is of");
	json_decref(best);
	cr_expect(eq(int, replay("--history", NULL), GT_EXIT_OK));
	best = shown("best");
	cr_assert(eq(sz, json_array_size(best), 1));
	expect_text(text_of(best, 0, "variant"), "block=128");
	cr_expect(eq(dbl, real_of(best, 0, "speed_up"), 2));
	json_decref(best);
}

Test(replay, fails_as_the_engine_does)
{
	engine.medians[0] = -1;
	cr_expect(eq(int, replay(NULL), -ENOTSUP));
	expect_text(problem.text, "the function was compiled for blocks of 128");
}

Test(replay, guards_a_launch_against_its_past)
{
	json_t *history;

	engine.medians[0] = 10000;
	engine.medians[1] = 10400;
	engine.medians[2] = 11200;
	engine.medians[3] = 11200;
	engine.medians[4] = 11200;
	cr_expect(eq(int, replay("--fail-if", "slower:5%", NULL), GT_EXIT_OK));
	cr_expect(eq(int, replay("--fail-if", "slower:5%", NULL), GT_EXIT_OK));
	cr_expect(eq(int, replay("--fail-if", "slower:5%", NULL), GT_EXIT_LIMIT));
	cr_expect(eq(int, replay("--fail-if", "slower:5%", NULL), GT_EXIT_LIMIT),
	          "what was too slow is no measure for the next");
	cr_expect(eq(int, replay("--fail-if", "slower:5%", "--l2", "warm", NULL), GT_EXIT_LIMIT),
	          "under other conditions it is compared with the program");
	cr_expect(eq(int, replay("--history", NULL), GT_EXIT_OK));
	cr_expect(eq(uint, engine.runs, 5), "--history runs nothing");
	history = shown("history");
	cr_assert(eq(sz, json_array_size(history), 5));
	cr_expect(eq(dbl, real_of(history, 2, "median_ns"), 11200));
	cr_expect(
		epsilon_eq(dbl, real_of(history, 2, "change_percent"), 100 * 800 / 10400.0, 1e-6));
	expect_text(text_of(history, 2, "verdict"), "outputs as recorded; too slow for --fail-if");
	json_decref(history);
}

Test(replay, guards_a_module_against_the_recorded_one)
{
	engine.medians[0] = 10000;
	engine.medians[1] = 11000;
	cr_expect(eq(int, replay("--module", "new.cubin", "--fail-if", "slower:5%", NULL),
	             GT_EXIT_LIMIT));
	expect_text(engine.asked[1].variant.module, "new.cubin");
}

Test(replay, runs_the_only_step_of_a_bundle_as_it_was_recorded)
{
	json_t *rows;

	cr_assert(eq(int, replay("--step", "saxpy", NULL), GT_EXIT_OK), "%s", problem.text);
	cr_expect(eq(i64, engine.rehearsed, -1));
	rows = shown("times");
	expect_text(text_of(rows, 0, "verdict"), "outputs as recorded");
	json_decref(rows);
	cr_expect(eq(int, replay("--step", "1", NULL), -EINVAL));
}

Test(replay, says_when_nothing_was_kept)
{
	cr_expect(eq(int, replay("--history", NULL), -ENODATA));
	cr_expect(eq(int, replay("--history", "--fail-if", "slower:5%", NULL), -EINVAL));
	cr_expect(eq(int, replay("more", NULL), -EINVAL));
}

/* ---- forms ---- */

Test(forms, are_rows_beside_each_other)
{
	static const char *const labels[] = {
		"as recorded",
		"form=back-to-back",
		"form=one-stream",
		"form=graph",
		"form=priorities(7=first,13=last)",
		"form=priorities(13=first,7=last)",
	};
	json_t *rows;

	engine.medians[0] = 10000;
	engine.medians[1] = 8000;
	engine.medians[2] = -1;
	engine.medians[3] = 5000;
	engine.wrong[4] = true;
	cr_expect(eq(int, replay("--form", "all", NULL), GT_EXIT_OK), "any of them may fail: %s",
	          problem.text);
	cr_assert(eq(uint, engine.runs, GT_COUNT_OF(labels)));
	for (int i = 0; i <= GT_SEQUENCE_priorities; i++)
		cr_expect(eq(int, engine.asked[i].form, i));
	cr_expect(eq(int, engine.asked[5].form, GT_SEQUENCE_priorities));
	cr_expect(eq(u32, engine.priorities[5][0].stream, 13));
	cr_expect(eq(i32, engine.priorities[5][0].priority, GT_PRIORITY_FIRST));
	cr_expect(eq(u32, engine.priorities[5][1].stream, 7));
	cr_expect(eq(i32, engine.priorities[5][1].priority, GT_PRIORITY_LAST));
	rows = shown("times");
	cr_assert(eq(sz, json_array_size(rows), GT_COUNT_OF(labels)));
	for (size_t i = 0; i < GT_COUNT_OF(labels); i++)
		expect_text(text_of(rows, i, "variant"), labels[i]);
	cr_expect(eq(dbl, real_of(rows, 3, "speed_up"), 2));
	expect_text(text_of(rows, 3, "verdict"), "faster, outputs as recorded");
	json_decref(rows);
}

Test(forms, that_are_named_must_run)
{
	engine.medians[1] = -1;
	cr_expect(eq(int, replay("--form", "recorded", "--form", "graph", NULL), GT_EXIT_LIMIT));
}

Test(forms, are_combined_with_variants)
{
	json_t *rows;

	cr_expect(eq(int, replay("--form", "graph", "--form", "recorded", "--block", "64", NULL),
	             GT_EXIT_OK));
	rows = shown("times");
	cr_assert(eq(sz, json_array_size(rows), 4));
	expect_text(text_of(rows, 0, "variant"), "form=graph");
	expect_text(text_of(rows, 1, "variant"), "form=graph block=64");
	expect_text(text_of(rows, 2, "variant"), "as recorded");
	expect_text(text_of(rows, 3, "variant"), "block=64");
	json_decref(rows);
	rows = shown("launch");
	expect_text(text_of(rows, 0, "conditions"), "l2=cold inputs=recorded form=graph");
	json_decref(rows);
}

Test(forms, are_each_guarded_against_its_own_past)
{
	engine.medians[0] = 10000;
	engine.medians[1] = 20000;
	engine.medians[2] = 10000;
	engine.medians[3] = 20000;
	engine.medians[4] = 10000;
	engine.medians[5] = 22000;
	cr_expect(eq(int, replay("--form", "recorded", "--form", "one-stream", NULL), GT_EXIT_OK));
	cr_expect(eq(int,
	             replay("--form", "recorded", "--form", "one-stream", "--fail-if", "slower:5%",
	                    NULL),
	             GT_EXIT_OK),
	          "it was so before");
	cr_expect(eq(int,
	             replay("--form", "recorded", "--form", "one-stream", "--fail-if", "slower:5%",
	                    NULL),
	             GT_EXIT_LIMIT));
}

Test(forms, take_priorities_of_streams_that_there_are)
{
	cr_expect(eq(int, replay("--form", "priorities", "--priority", "13=-5", NULL), GT_EXIT_OK));
	cr_assert(eq(uint, engine.runs, 1));
	cr_expect(eq(sz, engine.asked[0].priority_count, 1));
	cr_expect(eq(i32, engine.priorities[0][0].priority, -5));
	cr_expect(eq(int, replay("--form", "priorities", "--priority", "14=-5", NULL), -EINVAL));
	expect_text(problem.text, "--priority: the bundle has no stream 14; bundle.json lists "
	                          "those that it has");
}

Test(replay, has_no_priorities_in_one_stream)
{
	cr_expect(eq(int, replay("--form", "priorities", NULL), -EINVAL));
	expect_text(problem.text, "--form priorities: all work of the bundle is in one stream, "
	                          "which no other can go before");
	cr_expect(eq(int, replay("--form", "all", NULL), GT_EXIT_OK));
	cr_expect(eq(uint, engine.runs, 4), "all that there are");
}

static const json_t *cell_of(const json_t *rows, const char *key)
{
	return json_object_get(json_array_get(rows, 0), key);
}

Test(replay, shows_what_the_capture_knows_of_memory)
{
	json_t *rows;

	cr_assert(eq(int, replay(NULL), GT_EXIT_OK));
	rows = shown("launch");
	cr_expect(ne(int, json_is_null(cell_of(rows, "workspace_bytes")), 0));
	cr_expect(ne(int, json_is_null(cell_of(rows, "local_bytes")), 0));
	json_decref(rows);
	drop();
	test_bundle_begin(&made);
	test_bundle_add_launch(&made);
	made.bundle.origin.workspace_bytes = 4096;
	made.bundle.origin.local_bytes = 0;
	write_it();
	cr_assert(eq(int, replay(NULL), GT_EXIT_OK));
	rows = shown("launch");
	cr_expect(eq(dbl, real_of(rows, 0, "workspace_bytes"), 4096));
	cr_expect(ne(int, json_is_integer(cell_of(rows, "local_bytes")), 0));
	json_decref(rows);
}

/* ---- one step ---- */

static bool is_told(const char *words)
{
	json_t *rows = shown("remarks");
	bool told = false;

	for (size_t i = 0; i < json_array_size(rows); i++)
		told |= strstr(json_string_value(json_array_get(rows, i)), words) != NULL;
	json_decref(rows);
	return told;
}

Test(steps, are_run_alone_by_number)
{
	json_t *rows;

	engine.medians[0] = 6000;
	cr_assert(eq(int, replay("--step", "5", "--block", "64", NULL), GT_EXIT_OK), "%s",
	          problem.text);
	cr_expect(eq(i64, engine.rehearsed, 5));
	cr_assert(eq(uint, engine.runs, 2));
	for (int i = 0; i < 2; i++) {
		cr_expect(eq(sz, engine.steps[i], 1));
		expect_text(engine.kernels[i], "_Z5scalePKPfi");
	}
	rows = shown("launch");
	cr_expect(eq(dbl, real_of(rows, 0, "step"), 5));
	cr_expect(eq(dbl, real_of(rows, 0, "launches"), 1));
	expect_text(text_of(rows, 0, "block"), "256 x 1 x 1");
	expect_text(text_of(rows, 0, "conditions"), "l2=cold inputs=recorded form=recorded step=5");
	json_decref(rows);
	rows = shown("times");
	expect_text(text_of(rows, 0, "verdict"), "outputs as in the sequence");
	expect_text(text_of(rows, 1, "verdict"), "as fast, outputs as in the sequence");
	json_decref(rows);
	rows = shown("buffers");
	expect_text(text_of(rows, 0, "verdict"), "as in the sequence; f32, guessed");
	json_decref(rows);
	cr_expect(is_told("step 5 alone: the steps before it were run once"));
	cr_expect(is_told("gave what was recorded; outputs are compared with what the step left"));
}

Test(steps, are_run_alone_by_the_kernels_name)
{
	cr_assert(eq(int, replay("--step", "^scale\\(float", NULL), GT_EXIT_OK), "%s",
	          problem.text);
	cr_expect(eq(i64, engine.rehearsed, 5));
	cr_expect(not(is_told("launches fit")));
	engine.runs = 0;
	cr_assert(eq(int, replay("--step", "_Z5sca", NULL), GT_EXIT_OK), "%s", problem.text);
	cr_expect(eq(i64, engine.rehearsed, 5));
}

Test(steps, that_fit_are_told_where_there_are_several)
{
	cr_assert(eq(int, replay("--step", "s.*al?", NULL), GT_EXIT_OK), "%s", problem.text);
	cr_expect(eq(i64, engine.rehearsed, 2));
	cr_expect(is_told("2 launches fit --step, of which the first is run"));
}

Test(steps, that_there_are_not_are_refused)
{
	cr_expect(eq(int, replay("--step", "7", NULL), -EINVAL));
	expect_text(problem.text,
	            "--step 7: the bundle's steps are numbered from 0 to 6; --list shows them");
	cr_expect(eq(int, replay("--step", "3", NULL), -EINVAL));
	expect_text(problem.text,
	            "--step 3 is a record, which is no work of the GPU's; --list shows all steps");
	cr_expect(eq(int, replay("--step", "gemm", NULL), -EINVAL));
	expect_text(problem.text,
	            "--step gemm: no kernel of the bundle is called so; --list shows all steps");
	cr_expect(eq(int, replay("--step", "(", NULL), -EINVAL));
	cr_expect(strstr(problem.text, "--step takes a number or a regular expression") != NULL);
	cr_expect(eq(int, replay("--step", "5", "--whole", NULL), -EINVAL));
	cr_expect(eq(int, replay("--step", "5", "--list", NULL), -EINVAL));
	cr_expect(eq(int, replay("--step", "5", "--history", NULL), -EINVAL));
	cr_expect(eq(int, replay("--step", "5", "--form", "nodes", NULL), -EINVAL));
	cr_expect(eq(uint, engine.runs, 0));
	cr_expect(eq(i64, engine.rehearsed, -1));
}

Test(steps, fail_where_the_sequence_does_something_else)
{
	json_t *rows;

	engine.astray = 17;
	cr_expect(eq(int, replay("--step", "5", NULL), GT_EXIT_LIMIT));
	rows = shown("times");
	expect_text(text_of(rows, 0, "verdict"), "the sequence did not give what was recorded");
	json_decref(rows);
	cr_expect(is_told("17 elements differ, the first in memory 1"));
	engine.unchanged = true;
	cr_expect(eq(int, replay("--step", "5", "--history", NULL), -EINVAL));
	engine.runs = 0;
	cr_expect(eq(int, replay("--step", "5", NULL), GT_EXIT_LIMIT),
	          "also where it changes nothing");
	engine.astray = 0;
	engine.runs = 0;
	cr_expect(eq(int, replay("--step", "5", "--no-verify", NULL), GT_EXIT_OK));
	cr_expect(is_told("whether the sequence gives what was recorded was not compared"));
}

Test(steps, whose_outputs_are_others_are_told_apart)
{
	json_t *rows;

	engine.wrong[0] = true;
	cr_expect(eq(int, replay("--step", "5", NULL), GT_EXIT_LIMIT));
	rows = shown("times");
	expect_text(text_of(rows, 0, "verdict"), "outputs differ");
	json_decref(rows);
}

Test(steps, keep_results_of_their_own)
{
	json_t *rows;

	engine.medians[0] = 10000;
	cr_expect(eq(int, replay(NULL), GT_EXIT_OK));
	engine.runs = 0;
	engine.medians[0] = 5000;
	cr_expect(eq(int, replay("--step", "5", NULL), GT_EXIT_OK));
	engine.runs = 0;
	engine.medians[0] = 5100;
	cr_expect(eq(int, replay("--step", "5", NULL), GT_EXIT_OK));
	cr_expect(eq(int, replay("--history", NULL), GT_EXIT_OK));
	rows = shown("history");
	cr_assert(eq(sz, json_array_size(rows), 3));
	cr_expect(epsilon_eq(dbl, real_of(rows, 0, "change_percent"), 2, 1e-9));
	expect_text(text_of(rows, 0, "verdict"), "outputs as in the sequence");
	cr_expect(is_unknown(rows, 1, "change_percent"));
	expect_text(text_of(rows, 2, "verdict"), "outputs as recorded");
	json_decref(rows);
	rows = shown("best");
	cr_expect(eq(sz, json_array_size(rows), 2));
	json_decref(rows);
}

/* ---- launches of graphs ---- */

Test(graphs, are_listed)
{
	json_t *rows;

	cr_assert(eq(int, replay("--list", NULL), GT_EXIT_OK), "%s", problem.text);
	cr_expect(eq(uint, engine.runs, 0));
	rows = shown("steps");
	cr_assert(eq(sz, json_array_size(rows), 11));
	expect_text(text_of(rows, 0, "kind"), "copy");
	cr_expect(is_unknown(rows, 0, "graph"));
	cr_expect(eq(dbl, real_of(rows, 0, "bytes"), 1024));
	expect_text(text_of(rows, 7, "kernel"), "scale(float* const*, int)");
	expect_text(text_of(rows, 7, "grid"), "1 x 1 x 1");
	expect_text(text_of(rows, 7, "chosen"), "yes");
	cr_expect(eq(dbl, real_of(rows, 7, "step"), 7));
	cr_expect(eq(dbl, real_of(rows, 7, "graph"), 1));
	cr_expect(eq(dbl, real_of(rows, 7, "stream"), 13));
	cr_expect(eq(dbl, real_of(rows, 7, "duration_ns"), 5000));
	expect_text(text_of(rows, 7, "range"), "step/forward");
	cr_expect(eq(dbl, real_of(rows, 9, "event"), 2));
	json_decref(rows);
	cr_expect(eq(int, replay("--list", "--history", NULL), -EINVAL));
	cr_expect(eq(int, replay("--list", "--fail-if", "slower:5%", NULL), -EINVAL));
}

Test(graphs, are_run_as_the_node_that_was_chosen)
{
	cr_assert(eq(int, replay(NULL), GT_EXIT_OK), "%s", problem.text);
	cr_expect(eq(i64, engine.rehearsed, BUNDLE_GRAPH_SCALE));
	cr_expect(eq(sz, engine.steps[0], 1));
	cr_expect(is_told("step 7 was chosen when the bundle was captured; --whole runs all"));
	engine.runs = 0;
	cr_assert(eq(int, replay("--step", "saxpy", NULL), GT_EXIT_OK), "%s", problem.text);
	cr_expect(eq(i64, engine.rehearsed, BUNDLE_GRAPH_SAXPY));
	cr_expect(not(is_told("was chosen")));
	engine.runs = 0;
	engine.rehearsed = -1;
	cr_assert(eq(int, replay("--whole", NULL), GT_EXIT_OK), "%s", problem.text);
	cr_expect(eq(i64, engine.rehearsed, -1));
	cr_expect(eq(sz, engine.steps[0], 11));
}

Test(graphs, are_no_streams_to_put_first_and_can_be_taken_apart)
{
	json_t *rows;

	cr_assert(eq(int, replay("--whole", "--form", "all", NULL), GT_EXIT_OK), "%s",
	          problem.text);
	rows = shown("times");
	cr_assert(eq(sz, json_array_size(rows), 5), "one stream has calls: none is put first");
	expect_text(text_of(rows, 4, "variant"), "form=nodes");
	json_decref(rows);
	cr_expect(eq(int, engine.asked[4].form, GT_SEQUENCE_nodes));
	cr_expect(eq(int, replay("--whole", "--form", "priorities", NULL), -EINVAL));
}

Test(forms, of_graphs_need_some)
{
	cr_expect(eq(int, replay("--form", "nodes", NULL), -EINVAL));
	expect_text(problem.text, "--form nodes: nothing that is run here launches a graph");
}
