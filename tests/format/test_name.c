/* SPDX-License-Identifier: Apache-2.0 */
#include "format/name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

static char *environment[] = {"RANKS=8", "RANK=3", "EMPTY=", "PATTERN=%p", NULL};

static const struct gt_name_facts facts = {
	.pid = 4711,
	.host = "node-7",
	.environment = environment,
	.number = 12,
};

static void expect_name(const char *pattern, const char *expected)
{
	char name[64];

	cr_expect(eq(int, gt_name_expand(pattern, &facts, name, sizeof(name), NULL), 0), "%s",
	          pattern);
	expect_text(name, expected);
}

static void expect_refusal(const char *pattern, const char *why)
{
	struct gt_error err = {0};
	char name[64];

	cr_expect(eq(int, gt_name_expand(pattern, &facts, name, sizeof(name), &err), -EINVAL), "%s",
	          pattern);
	cr_expect(ne(ptr, strstr(err.text, why), NULL), "%s: %s", pattern, err.text);
}

Test(name, stands_for_process_host_variable_and_number)
{
	expect_name("app", "app");
	expect_name("", "");
	expect_name("%p", "4711");
	expect_name("results/%h/app-%q{RANK}.%n", "results/node-7/app-3.12");
	expect_name("%q{EMPTY}x", "x");
	expect_name("100%%", "100%");
	expect_name("%%p%%%%n", "%p%%n");
}

Test(name, takes_values_as_they_are)
{
	expect_name("%q{PATTERN}", "%p");
}

Test(name, says_which_variable_is_not_set)
{
	expect_refusal("%q{RAN}", "the environment has no RAN");
	expect_refusal("a-%q{NOT_SET}-b", "the environment has no NOT_SET");
	expect_refusal("%q{}", "the environment has no ");
}

Test(name, refuses_what_means_nothing)
{
	expect_refusal("%x", "%x in the name of a recording means nothing");
	expect_refusal("app%", "% in the name of a recording means nothing");
	expect_refusal("%%%", "means nothing");
	expect_refusal("%q", "%q{VAR}");
	expect_refusal("%qRANK", "%q{VAR}");
	expect_refusal("%q{RANK", "%q{VAR}");
}

Test(name, is_whole_or_refused)
{
	char name[8];

	cr_expect(eq(int, gt_name_expand("%h-", &facts, name, sizeof(name), NULL), 0));
	expect_text(name, "node-7-");
	cr_expect(eq(int, gt_name_expand("%h--", &facts, name, sizeof(name), NULL), -ENAMETOOLONG));
	cr_expect(eq(int, gt_name_expand("12345678", &facts, name, sizeof(name), NULL),
	             -ENAMETOOLONG));
}

Test(name, knows_whether_it_is_numbered)
{
	cr_expect(gt_name_is_numbered("%n"));
	cr_expect(gt_name_is_numbered("a%%%n"));
	cr_expect(not(gt_name_is_numbered("a%%n")));
	cr_expect(not(gt_name_is_numbered("%p%")));
	cr_expect(not(gt_name_is_numbered("n")));
}
