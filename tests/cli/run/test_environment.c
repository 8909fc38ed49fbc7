/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/environment.h"

#include <stdlib.h>

#include "support/check.h"

static struct gt_environment environment;

static void make(void)
{
	setenv("GPUTRACE_TEST_LONGER", "long", 1);
	setenv("GPUTRACE_TEST", "short", 1);
	unsetenv("GPUTRACE_TEST_LONG");
	gt_environment_init(&environment);
}

static void drop(void)
{
	gt_environment_release(&environment);
}

TestSuite(environment, .init = make, .fini = drop);

Test(environment, is_a_copy_in_which_variables_change)
{
	expect_text(gt_environment_find(&environment, "GPUTRACE_TEST"), "short");
	gt_environment_set(&environment, "GPUTRACE_TEST", "other");
	expect_text(gt_environment_find(&environment, "GPUTRACE_TEST"), "other");
	expect_text(getenv("GPUTRACE_TEST"), "short");
	gt_environment_unset(&environment, "GPUTRACE_TEST");
	cr_expect(eq(ptr, (void *)(uintptr_t)gt_environment_find(&environment, "GPUTRACE_TEST"),
	             NULL));
}

Test(environment, tells_names_apart_that_begin_alike)
{
	gt_environment_set(&environment, "GPUTRACE_TEST_LONG", "new");
	gt_environment_unset(&environment, "GPUTRACE_TEST");
	expect_text(gt_environment_find(&environment, "GPUTRACE_TEST_LONG"), "new");
	expect_text(gt_environment_find(&environment, "GPUTRACE_TEST_LONGER"), "long");
	cr_expect(eq(ptr, (void *)(uintptr_t)gt_environment_find(&environment, "GPUTRACE_TEST_"),
	             NULL));
}
