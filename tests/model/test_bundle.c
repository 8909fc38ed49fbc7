/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/bundle.h"
#include "support/check.h"

static struct test_bundle made;
static struct gt_bundle bundle;

static void drop(void)
{
	gt_bundle_close(&bundle);
	test_bundle_release(&made);
}

TestSuite(bundle, .fini = drop);

static void open_made(void)
{
	struct gt_error err = {0};

	test_bundle_end(&made);
	cr_assert(eq(int, gt_bundle_open(&bundle, made.folder, &err), 0), "%s", err.text);
}

Test(bundle, of_a_launch_comes_back_as_it_was_written)
{
	size_t blobs = 0;

	test_bundle_begin(&made);
	test_bundle_add_launch(&made);
	open_made();
	expect_text(bundle.origin.device, "NVIDIA H200");
	cr_expect(eq(sz, bundle.steps.count, 1));
	cr_expect(eq(int, gt_bundle_check(&bundle, &blobs, NULL), 0));
	cr_expect(eq(sz, blobs, 5), "x, y before and after, the image and the parameters");
}
