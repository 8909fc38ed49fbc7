/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/calibration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

static struct gt_calibrations all;

static void drop(void)
{
	gt_calibrations_release(&all);
}

TestSuite(calibration, .fini = drop);

static int parse(const char *text, struct gt_error *err)
{
	return gt_calibrations_parse(&all, text, strlen(text), "x.json", err);
}

Test(calibration, comes_back_as_it_was_written)
{
	struct gt_calibrations written = {0};
	struct gt_calibration *one = gt_array_push(&written.list);
	char *text;

	*one = (struct gt_calibration){.device = "NVIDIA H200",
	                               .uuid = "GPU-1",
	                               .driver = "580.1",
	                               .date = "2026-01-02T03:04:05.6Z",
	                               .cc_major = 9,
	                               .sm_count = 132,
	                               .sm_clock_khz = 1980000};
	*gt_array_push(&one->list) = (struct gt_calibrated){.name = GT_CEILING_peer_copy,
	                                                    .peer = "GPU-2",
	                                                    .value = 4.5e11,
	                                                    .spread = 0.01,
	                                                    .sm_mhz = 1755,
	                                                    .how = "cuMemcpyPeerAsync"};
	*gt_array_push(&one->list) = (struct gt_calibrated){.name = GT_CEILING_tensor_fp8,
	                                                    .value = NAN,
	                                                    .spread = NAN,
	                                                    .sm_mhz = NAN,
	                                                    .how = "it cannot"};
	text = gt_calibrations_text(&written);
	gt_calibrations_release(&written);
	cr_assert(eq(int, parse(text, NULL), 0));
	free(text);
	cr_assert(eq(sz, all.list.count, 1));
	one = &all.list.rows[0];
	expect_text(one->device, "NVIDIA H200");
	expect_text(one->driver, "580.1");
	cr_expect(eq(u32, one->cc_major, 9));
	cr_expect(eq(u32, one->cc_minor, 0));
	cr_expect(eq(u32, one->sm_clock_khz, 1980000));
	cr_assert(eq(sz, one->list.count, 2));
	cr_expect(eq(int, one->list.rows[0].name, GT_CEILING_peer_copy));
	expect_text(one->list.rows[0].peer, "GPU-2");
	cr_expect(eq(dbl, one->list.rows[0].value, 4.5e11));
	cr_expect(eq(dbl, one->list.rows[0].sm_mhz, 1755));
	cr_expect(isnan(one->list.rows[1].value));
	expect_text(one->list.rows[1].how, "it cannot");
}

Test(calibration, of_a_newer_gputrace_loses_what_is_not_known_here_alone)
{
	cr_assert(eq(int,
	             parse("{\"version\":1,\"calibrations\":[{\"uuid\":\"GPU-1\",\"new\":{},"
	                   "\"ceilings\":[{\"name\":\"warp_drive\",\"value\":9},"
	                   "{\"name\":\"fp32\",\"value\":5},{\"value\":1},7]}]}",
	                   NULL),
	             0));
	cr_assert(eq(sz, all.list.rows[0].list.count, 1));
	cr_expect(eq(dbl, all.list.rows[0].list.rows[0].value, 5));
	cr_expect(isnan(all.list.rows[0].list.rows[0].spread));
}

Test(calibration, does_not_take_nonsense_for_figures)
{
	cr_assert(eq(int,
	             parse("{\"version\":1,\"calibrations\":[{\"sm_count\":-3,\"cc_major\":1e99,"
	                   "\"device\":7,\"ceilings\":[{\"name\":\"fp32\",\"value\":-1},"
	                   "{\"name\":\"fp64\",\"value\":\"1\"},{\"name\":\"fp16\",\"value\":0}]}"
	                   ",5]}",
	                   NULL),
	             0));
	cr_expect(eq(u32, all.list.rows[0].sm_count, 0));
	cr_expect(eq(u32, all.list.rows[0].cc_major, 0));
	expect_text(all.list.rows[0].device, "");
	gt_array_each(const struct gt_calibrated, ceiling, &all.list.rows[0].list)
		cr_expect(isnan(ceiling->value));
}

static void expect_refused(const char *text, const char *why)
{
	struct gt_error err = {0};

	cr_expect(eq(int, parse(text, &err), -EBADMSG), "%s", text);
	cr_expect(strstr(err.text, why) != NULL, "%s", err.text);
	cr_expect(eq(sz, all.list.count, 0));
}

Test(calibration, says_what_is_wrong_with_another_file)
{
	expect_refused("", "x.json is damaged at line");
	expect_refused("[1", "x.json is damaged at line");
	expect_refused("{\"calibrations\":7}", "x.json is not what gputrace calibrate writes");
	expect_refused("{\"version\":2,\"calibrations\":[{}]}", "written by a newer gputrace");
}

Test(calibration, of_a_gpu_is_the_last_one)
{
	cr_assert(eq(int,
	             parse("{\"version\":1,\"calibrations\":[{\"uuid\":\"GPU-1\",\"driver\":\"a\"},"
	                   "{\"uuid\":\"GPU-1\",\"driver\":\"b\"},{}]}",
	                   NULL),
	             0));
	expect_text(gt_calibrations_find(&all, "GPU-1")->driver, "b");
	cr_expect(gt_calibrations_find(&all, "GPU-2") == NULL);
	cr_expect(gt_calibrations_find(&all, "") == NULL, "no UUID is nobody's");
}

Test(calibration, that_gputrace_brings_along_is_whole)
{
	gt_calibrations_add_shipped(&all);
	gt_array_each(const struct gt_calibration, calibration, &all.list) {
		cr_expect(calibration->device[0] && calibration->driver[0] && calibration->date[0]);
		cr_expect(gt(u32, calibration->sm_count, 0));
		cr_expect(eq(sz, calibration->list.count, GT_CEILINGS), "%s", calibration->device);
	}
}

Test(calibration, says_how_and_when)
{
	const struct gt_calibration calibration = {.date = "2026-01-02T03:04:05.6Z",
	                                           .driver = "580.1"};
	const struct gt_calibrated ceiling = {.sm_mhz = 1755.2, .how = "fma.f32"};
	char text[GT_MEASURED_BYTES];

	gt_calibrated_describe(&calibration, &ceiling, text);
	expect_text(text, "fma.f32; 2026-01-02, driver 580.1, SM at 1755 MHz");
}
