/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/job_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/error.h"
#include "base/strings.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/scene.h"

static char recording[] = "/tmp/gputrace-test-XXXXXX";

static void make(void)
{
	char launches[64];

	cr_assert(mkdtemp(recording) != NULL);
	(void)snprintf(launches, sizeof(launches), "%s/launches", recording);
	cr_assert(eq(int, mkdir(launches, 0700), 0));
	scene_begin(1000000);
}

static void drop(void)
{
	gt_trace_release(&trace);
	(void)folder_remove(recording);
}

TestSuite(job_times, .init = make, .fini = drop);

static void path_of(const char *name, char path[128], const char *file)
{
	(void)snprintf(path, 128, "%s/launches/%s%s", recording, name, file);
}

/* A bundle of that launch, with so many steps, as it is before the records of CUPTI are read. */
static void add_captured(const char *name, gt_id kernel, size_t steps)
{
	json_t *root = json_pack("{s:{s:i},s:[{}]}", "origin", "pid", 100, "steps");
	char path[128];

	for (size_t i = 1; i < steps; i++)
		cr_assert(eq(int,
		             json_array_append_new(json_object_get(root, "steps"), json_object()),
		             0));
	path_of(name, path, "");
	cr_assert(eq(int, mkdir(path, 0700), 0));
	path_of(name, path, "/bundle.json");
	cr_assert(eq(int, json_dump_file(root, path, 0), 0));
	json_decref(root);
	*gt_array_push(&trace.captured_launches) = (struct gt_captured_launch){
		.kernel = kernel, .bundle = gt_strings_add(trace.strings, name)};
}

/* A launch of that shape; ns 0: it has no times. */
static gt_id add_launch(gt_id of, gt_time ns)
{
	static gt_time at;
	struct gt_kernel *kernel;

	at += 1000;
	kernel = trace_kernel(&trace, stream, of, at, at + ns);
	if (ns == 0) {
		kernel->end_ns = 0;
		kernel->flags |= GT_UNFINISHED;
	}
	return (gt_id)trace.kernels.count - 1;
}

static void expect_number(const json_t *object, const char *key, int64_t expected, const char *name)
{
	const json_t *value = json_object_get(object, key);

	cr_expect(eq(int, value != NULL, expected >= 0), "%s of %s", key, name);
	if (value)
		cr_expect(eq(i64, json_integer_value(value), expected), "%s of %s", key, name);
}

/* Values of a bundle; negative: it says nothing of that. */
static void expect(const char *name, int64_t own_ns, int64_t median_ns, int64_t launches)
{
	char path[128];
	json_t *root;

	path_of(name, path, "/bundle.json");
	root = json_load_file(path, 0, NULL);
	cr_assert(root != NULL, "%s", name);
	expect_number(json_array_get(json_object_get(root, "steps"), 0), "end_ns", own_ns, name);
	expect_number(json_array_get(json_object_get(root, "steps"), 0), "start_ns",
	              own_ns < 0 ? -1 : 0, name);
	expect_number(json_object_get(root, "origin"), "job_ns", median_ns, name);
	expect_number(json_object_get(root, "origin"), "job_launches", launches, name);
	expect_number(json_object_get(root, "origin"), "pid", 100, name);
	json_decref(root);
}

static void write_all(void)
{
	struct gt_error err = {0};

	cr_assert(eq(int, gt_job_times_write(recording, &trace, &err), 0), "%s", err.text);
}

/* Either is there without the other. */
Test(job_times, are_the_launch_s_own_and_the_median_of_the_others_of_its_shape)
{
	const gt_id alone = trace_shape(&trace, "alone", 1, 32);
	const gt_id other = trace_shape(&trace, "other", 1, 32);

	for (gt_time ns = 100; ns <= 500; ns += 100)
		add_launch(shape, ns);
	add_launch(other, 7);
	add_captured("both", add_launch(shape, 50), 1);
	add_captured("others-alone", add_launch(shape, 0), 1);
	add_captured("own-alone", add_launch(alone, 60), 1);
	add_captured("neither", add_launch(trace_shape(&trace, "last", 1, 32), 0), 1);
	add_captured("sequence", add_launch(shape, 70), 2);
	add_captured("missing", GT_NONE, 1);
	write_all();
	expect("both", 50, 300, 5);
	expect("others-alone", -1, 300, 5);
	expect("own-alone", 60, -1, -1);
	expect("neither", -1, -1, -1);
	expect("sequence", -1, -1, -1);
	expect("missing", -1, -1, -1);
}

Test(job_times, of_a_bundle_that_has_one_stay)
{
	add_captured("one", add_launch(shape, 50), 1);
	write_all();
	add_launch(shape, 100);
	trace.kernels.rows[0].end_ns += 10;
	write_all();
	expect("one", 50, -1, -1);
}
