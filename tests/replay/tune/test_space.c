/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "replay/tune/tune.h"
#include "support/check.h"

/* All configurations of a space, with " | " between; or why it is none. */
static const char *configurations(const char *text)
{
	static char all[8192];
	struct gt_tune_space space;
	struct gt_error err = {0};
	size_t used = 0;

	all[0] = '\0';
	if (gt_tune_space_parse(&space, text, &err) < 0) {
		cr_expect(eq(int, err.code, EINVAL));
		cr_expect(eq(sz, space.axis_count, 0), "what failed is empty");
		snprintf(all, sizeof(all), "%s", err.text);
		return all;
	}
	for (size_t i = 0; i < gt_tune_count(&space); i++) {
		const struct gt_variant variant = gt_tune_configuration(&space, i);
		char words[GT_VARIANT_TEXT];

		gt_variant_describe(&variant, words);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? " | " : "",
		                         words);
	}
	gt_tune_space_release(&space);
	return all;
}

Test(tune_space, is_each_value_with_each_of_the_others)
{
	expect_text(configurations("block=64,128;shared=0,16K"),
	            "block=64 shared=0 | block=64 shared=16384 | block=128 shared=0 | "
	            "block=128 shared=16384");
}

Test(tune_space, keeps_the_order_of_words_and_takes_blanks_between)
{
	expect_text(configurations(" carveout=default,50  block=16x16,8x8x4;"),
	            "block=16x16 carveout=default | block=8x8x4 carveout=default | "
	            "block=16x16 carveout=50 | block=8x8x4 carveout=50");
}

Test(tune_space, has_ranges_with_a_step_and_with_a_factor)
{
	expect_text(configurations("carveout=0..100/25"),
	            "carveout=0 | carveout=25 | carveout=50 | carveout=75 | carveout=100");
	expect_text(configurations("block=64..1024*2"),
	            "block=64 | block=128 | block=256 | block=512 | block=1024");
	expect_text(configurations("shared=0..48K/20K"), "shared=0 | shared=20480 | shared=40960");
}

Test(tune_space, takes_a_value_once)
{
	expect_text(configurations("block=128,64..256*2,64"), "block=128 | block=64 | block=256");
	expect_text(configurations("block=128,128x1"), "block=128");
}

Test(tune_space, has_files)
{
	expect_text(configurations("module=../a.cubin,b.cubin max-registers=32,64"),
	            "max-registers=32 module=a.cubin | max-registers=64 module=a.cubin | "
	            "max-registers=32 module=b.cubin | max-registers=64 module=b.cubin");
}

Test(tune_space, that_makes_no_sense_is_refused_in_a_sentence)
{
	expect_text(configurations(""), "there is nothing to tune: name it as block=64,128");
	expect_text(configurations("block"), "'block' is not as block=64,128,256");
	expect_text(configurations("grid=1"),
	            "'grid' cannot be tuned: block, cluster, shared, carveout, max-registers and "
	            "module can");
	expect_text(configurations("block=1;block=2"), "block is named twice");
	expect_text(configurations("block=0"),
	            "block takes threads, as 256 or 16x16, or a range as 64..1024*2 or 0..100/25, "
	            "not '0'");
	expect_text(configurations("carveout=50,101"),
	            "carveout takes percent from 0 to 100, or default, or a range as 64..1024*2 or "
	            "0..100/25, not '101'");
	expect_text(configurations("carveout=50..0/10"), "carveout: '50..0/10' has no value");
	expect_text(configurations("block=512..2048*2"),
	            "block takes threads, as 256 or 16x16: '512..2048*2' has 2048");
	expect_text(configurations("shared=0..1M/1"), "shared has more than 256 values");
	expect_text(configurations("block=1..256/1;carveout=0..100/1;cluster=1..16/1"),
	            "these are more than 65536 configurations");
}

Test(tune_space, refuses_what_is_no_value)
{
	static const char *const values[] = {"block=",         "block=,",      "block=16x",
	                                     "block=1x1x1x1",  "block=64x64",  "block=a",
	                                     "block=1..2",     "block=1..2/0", "block=1..8*1",
	                                     "shared=0..8*2",  "module=",      "cluster=32",
	                                     "max-registers=8"};

	for (size_t i = 0; i < GT_COUNT_OF(values); i++) {
		struct gt_tune_space space;

		cr_expect(eq(int, gt_tune_space_parse(&space, values[i], NULL), -EINVAL), "%s",
		          values[i]);
	}
}
