/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/parameter.h"

#include <errno.h>

#include "base/error.h"
#include "support/check.h"

static const char *const colours[] = {"red", "green", NULL};

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_COUNT, "10", "Rows"},
	{"least", GT_PARAMETER_DURATION, "1.5ms", "Shortest"},
	{"name", GT_PARAMETER_TEXT, "", "Name"},
	{"colour", GT_PARAMETER_CHOICE, "red", "Colour", colours},
	{0},
};

enum { TOP, LEAST, NAME, COLOUR };

Test(parameters, have_a_value_when_none_is_given)
{
	struct gt_arguments arguments;

	gt_arguments_init(&arguments, parameters);
	cr_expect(eq(u64, arguments.values[TOP].number, 10));
	cr_expect(eq(u64, arguments.values[LEAST].number, 1500000));
	expect_text(arguments.values[NAME].text, "");
	expect_text(arguments.values[COLOUR].text, "red");
	gt_arguments_init(&arguments, NULL);
	cr_expect(eq(u64, arguments.values[TOP].number, 0));
}

Test(parameters, take_what_is_set)
{
	struct gt_arguments arguments;

	gt_arguments_init(&arguments, parameters);
	cr_expect(eq(int, gt_arguments_set(&arguments, parameters, "top=3", NULL), 0));
	cr_expect(eq(int, gt_arguments_set(&arguments, parameters, "least=2us", NULL), 0));
	cr_expect(eq(int, gt_arguments_set(&arguments, parameters, "name=a=b", NULL), 0));
	cr_expect(eq(int, gt_arguments_set(&arguments, parameters, "colour=green", NULL), 0));
	cr_expect(eq(u64, arguments.values[TOP].number, 3));
	cr_expect(eq(u64, arguments.values[LEAST].number, 2000));
	expect_text(arguments.values[NAME].text, "a=b");
	expect_text(arguments.values[COLOUR].text, "green");
}

Test(parameters, that_are_rows_of_a_table_follow_a_limit)
{
	static const struct gt_parameter rows[] = {
		{"calls", GT_PARAMETER_COUNT, "10", "No rows of anything", NULL},
		{"top", GT_PARAMETER_ROWS, "20", "Rows that are listed", NULL},
		{0},
	};
	struct gt_arguments arguments;

	gt_arguments_init(&arguments, rows);
	gt_arguments_limit(&arguments, rows, 50);
	cr_expect(eq(u64, arguments.values[0].number, 10));
	cr_expect(eq(u64, arguments.values[1].number, 50));
	cr_expect(eq(int, gt_arguments_set(&arguments, rows, "top=7", NULL), 0));
	cr_expect(eq(u64, arguments.values[1].number, 7));
}

static void expect_refused(const char *setting, int code, const char *expected)
{
	struct gt_arguments arguments;
	struct gt_error err = {0};

	gt_arguments_init(&arguments, parameters);
	cr_expect(eq(int, gt_arguments_set(&arguments, parameters, setting, &err), -code), "%s",
	          setting);
	expect_text(err.text, expected);
	cr_expect(eq(u64, arguments.values[TOP].number, 10));
	cr_expect(eq(u64, arguments.values[LEAST].number, 1500000));
	expect_text(arguments.values[COLOUR].text, "red");
}

Test(parameters, refuse_values_they_cannot_have)
{
	expect_refused("top=-1", EINVAL, "top needs a number, not '-1'");
	expect_refused("least=2", EINVAL,
	               "least needs a duration such as 500us, 20ms or 1s, not '2'");
	expect_refused("colour=gren", EINVAL, "colour cannot be 'gren'; did you mean green?");
	expect_refused("colour=", EINVAL, "colour cannot be ''; it can be red or green");
	expect_refused("top", EINVAL, "a setting is written NAME=VALUE, not 'top'");
	expect_refused("topp=1", ENOENT, "");
	expect_refused("to=1", ENOENT, "");
}
