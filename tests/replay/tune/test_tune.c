/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tune/tune.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

/* A launch that is fastest with blocks of 256 and 16 KiB. */
struct bench {
	size_t measured;
	size_t ends_at; /* 0: never */
};

static int measure(void *context, const struct gt_variant *variant, double *ns, bool *verified,
                   struct gt_error *err)
{
	struct bench *bench = context;
	const double block = variant->block[0] ? variant->block[0] : 128;
	const double shared = variant->shared_bytes < 0 ? 0 : (double)variant->shared_bytes;

	if (++bench->measured == bench->ends_at)
		return gt_fail(err, EINTR, "interrupted");
	if (block == 1024)
		return gt_fail(err, EINVAL, "too many threads");
	*ns = 1000 + fabs(log2(block / 256)) * 100 + fabs(shared - 16384) / 100;
	*verified = block != 512;
	if (block == 512)
		*ns = 1; /* fast, and wrong */
	return 0;
}

static struct gt_tune_space space_of(const char *text)
{
	struct gt_tune_space space;

	cr_assert(eq(int, gt_tune_space_parse(&space, text, NULL), 0));
	return space;
}

static void expect_best(const struct gt_tune_result *result, const char *words)
{
	char text[GT_VARIANT_TEXT];

	cr_assert(lt(sz, result->best, result->rows.count));
	gt_variant_describe(&result->rows.rows[result->best].variant, text);
	expect_text(text, words);
}

Test(tune, finds_the_fastest_that_is_verified)
{
	struct gt_tune_space space = space_of("block=64..1024*2;shared=0,16K");
	struct bench bench = {0};
	const struct gt_tune_plan plan = {.space = &space, .measure = measure, .context = &bench};
	struct gt_tune_result result;

	cr_assert(eq(int, gt_tune_search(&plan, &result, NULL), 0));
	cr_expect(eq(sz, result.rows.count, 11), "ten, and as recorded");
	cr_expect(result.whole);
	expect_best(&result, "block=256 shared=16384");
	cr_expect(eq(dbl, result.rows.rows[result.best].ns, 1000));
	gt_tune_result_release(&result);
	gt_tune_space_release(&space);
}

Test(tune, takes_what_fails_as_a_row_and_goes_on)
{
	struct gt_tune_space space = space_of("block=1024,256");
	struct bench bench = {0};
	const struct gt_tune_plan plan = {.space = &space, .measure = measure, .context = &bench};
	struct gt_tune_result result;

	cr_assert(eq(int, gt_tune_search(&plan, &result, NULL), 0));
	cr_assert(eq(sz, result.rows.count, 3));
	expect_text(result.rows.rows[1].why, "too many threads");
	cr_expect(isnan(result.rows.rows[1].ns));
	cr_expect(not(result.rows.rows[1].verified));
	expect_text(result.rows.rows[2].why, "");
	expect_best(&result, "block=256");
	gt_tune_result_release(&result);
	gt_tune_space_release(&space);
}

Test(tune, prefers_the_recorded_launch_to_what_is_slower)
{
	struct gt_tune_space space = space_of("block=64,512");
	struct bench bench = {0};
	const struct gt_tune_plan plan = {.space = &space, .measure = measure, .context = &bench};
	struct gt_tune_result result;

	cr_assert(eq(int, gt_tune_search(&plan, &result, NULL), 0));
	expect_best(&result, "as recorded");
	gt_tune_result_release(&result);
	gt_tune_space_release(&space);
}

Test(tune, searches_one_word_after_the_other_where_there_are_many)
{
	struct gt_tune_space space =
		space_of("block=32..512*2;shared=0..200K/4K;carveout=0..100/10");
	struct bench bench = {0};
	const struct gt_tune_plan plan = {
		.space = &space, .most = 200, .measure = measure, .context = &bench};
	struct gt_tune_result result;

	cr_assert(eq(int, gt_tune_search(&plan, &result, NULL), 0));
	cr_expect(lt(sz, result.rows.count, 202));
	cr_expect(not(result.whole));
	cr_expect(eq(dbl, result.rows.rows[result.best].ns, 1000));
	cr_expect(eq(u32, result.rows.rows[result.best].variant.block[0], 256));
	cr_expect(eq(i64, result.rows.rows[result.best].variant.shared_bytes, 16384));
	cr_expect(eq(sz, bench.measured, result.rows.count), "none is measured twice");
	gt_tune_result_release(&result);
	gt_tune_space_release(&space);
}

Test(tune, measures_no_more_than_is_wanted)
{
	struct gt_tune_space space = space_of("block=32..512*2;shared=0..200K/4K");
	struct bench bench = {0};
	const struct gt_tune_plan plan = {
		.space = &space, .most = 3, .measure = measure, .context = &bench};
	struct gt_tune_result result;

	cr_assert(eq(int, gt_tune_search(&plan, &result, NULL), 0));
	cr_expect(eq(sz, result.rows.count, 4), "three, and as recorded");
	gt_tune_result_release(&result);
	gt_tune_space_release(&space);
}

Test(tune, keeps_what_was_measured_when_it_is_ended)
{
	struct gt_tune_space space = space_of("block=64..1024*2");
	struct bench bench = {.ends_at = 4};
	const struct gt_tune_plan plan = {.space = &space, .measure = measure, .context = &bench};
	struct gt_tune_result result;
	struct gt_error err = {0};

	cr_assert(eq(int, gt_tune_search(&plan, &result, &err), -EINTR));
	expect_text(err.text, "interrupted");
	cr_expect(eq(sz, result.rows.count, 3));
	cr_expect(not(result.whole));
	expect_best(&result, "as recorded");
	gt_tune_result_release(&result);
	gt_tune_space_release(&space);
}

Test(tune, finds_nothing_where_nothing_was_measured)
{
	struct gt_tune_space space = space_of("block=512,1024");
	struct bench bench = {.ends_at = 1};
	const struct gt_tune_plan plan = {.space = &space, .measure = measure, .context = &bench};
	struct gt_tune_result result;

	cr_assert(eq(int, gt_tune_search(&plan, &result, NULL), -EINTR));
	cr_expect(eq(sz, result.best, SIZE_MAX));
	gt_tune_result_release(&result);
	gt_tune_space_release(&space);
}
