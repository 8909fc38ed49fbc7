/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/help.h"
#include "cli/command_line/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

static const char *const colours[] = {"red", "green", "blue", NULL};

struct args {
	bool quiet;
	uint64_t limit;
	uint64_t bytes;
	uint64_t ns;
	uint64_t interval_ns;
	const char *output;
	const char *colour;
	const char *extra;
	struct gt_sort sort;
};

static const struct gt_option options[] = {
	OPT_FLAG("quiet", 'q', struct args, quiet, "Say less"),
	OPT_COUNT("limit", 'n', struct args, limit, "ROWS", "Stop after so many rows"),
	OPT_SIZE("size", 0, struct args, bytes, "SIZE", 1024, 4096, "How large"),
	OPT_DURATION("wait", 0, struct args, ns, "TIME", 0, 0, "How long"),
	OPT_INTERVAL("sample", 0, struct args, interval_ns, "TIME", 10000000, 3600000000000,
                     "How often"),
	OPT_TEXT("output", 'o', struct args, output, "FILE", "Write here"),
	OPT_CHOICE("colour", 'c', struct args, colour, "COLOUR", colours,
                   "The colour of everything that is printed, which is worth more than one line"),
	OPT_MAYBE("extra", 'x', struct args, extra, "WHAT", "More"),
	OPT_SORT("sort", 's', struct args, sort, "COLUMN", "Sort by it"),
	OPT_END,
};

Test(option, fills_the_struct_and_leaves_operands)
{
	char *argv[] = {"-q", "a.gtc", "--limit=7", "-oout", "--", "-b", "--"};
	struct args args = {0};

	cr_assert(eq(int, gt_options_parse(options, &args, 7, argv, NULL), 3));
	cr_expect(args.quiet);
	cr_expect(eq(u64, args.limit, 7));
	expect_text(args.output, "out");
	expect_text(argv[0], "a.gtc");
	expect_text(argv[1], "-b");
	expect_text(argv[2], "--");
}

Test(option, may_leave_out_a_value)
{
	char *with[] = {"--extra=much", "operand"};
	char *without[] = {"--extra", "operand"};
	char *letter[] = {"-xq", "operand"};
	struct args args = {0};

	cr_assert(eq(int, gt_options_parse(options, &args, 2, with, NULL), 1));
	expect_text(args.extra, "much");
	cr_assert(eq(int, gt_options_parse(options, &args, 2, without, NULL), 1));
	expect_text(args.extra, "");
	expect_text(without[0], "operand");
	args = (struct args){0};
	cr_assert(eq(int, gt_options_parse(options, &args, 2, letter, NULL), 1));
	expect_text(args.extra, "");
	cr_expect(args.quiet);
}

Test(option, reads_every_kind)
{
	char *argv[] = {"--size", "2K", "--wait", "3ms", "-c", "green", "-o", "-"};
	struct args args = {0};

	cr_assert(eq(int, gt_options_parse(options, &args, 8, argv, NULL), 0));
	cr_expect(eq(u64, args.bytes, 2048));
	cr_expect(eq(u64, args.ns, 3000000));
	expect_text(args.colour, "green");
	expect_text(args.output, "-");
}

Test(option, reads_an_interval_or_off)
{
	char *argv[] = {"--sample", "20ms", "--sample=off"};
	struct args args = {0};

	cr_assert(eq(int, gt_options_parse(options, &args, 2, argv, NULL), 0));
	cr_expect(eq(u64, args.interval_ns, 20000000));
	cr_assert(eq(int, gt_options_parse(options, &args, 1, argv + 2, NULL), 0));
	cr_expect(eq(u64, args.interval_ns, GT_OPTION_OFF));
}

Test(option, takes_letters_behind_one_dash)
{
	char *argv[] = {"-qn7", "-qo", "out", "-c=red", "left"};
	struct args args = {0};

	cr_assert(eq(int, gt_options_parse(options, &args, 5, argv, NULL), 1));
	cr_expect(args.quiet);
	cr_expect(eq(u64, args.limit, 7));
	expect_text(args.output, "out");
	expect_text(args.colour, "red");
	expect_text(argv[0], "left");
}

Test(option, reads_flags_with_a_value)
{
	static char *words[] = {"--quiet=true", "--quiet=no", "--quiet=1", "--quiet=off"};

	for (size_t i = 0; i < 4; i++) {
		char *argv[] = {words[i]};
		struct args args = {.quiet = i % 2};

		cr_assert(eq(int, gt_options_parse(options, &args, 1, argv, NULL), 0));
		cr_expect(eq(int, args.quiet, i % 2 == 0), "%s", words[i]);
	}
}

Test(option, leaves_what_is_not_given)
{
	char *argv[] = {"-"};
	struct args args = {.limit = 42, .output = "before"};

	cr_assert(eq(int, gt_options_parse(options, &args, 1, argv, NULL), 1));
	cr_expect(eq(u64, args.limit, 42));
	expect_text(args.output, "before");
	expect_text(argv[0], "-");
}

Test(option, leaves_everything_after_the_program_alone)
{
	char *argv[] = {"-q", "./app", "-q", "--limit", "--", "--help", "-z"};
	struct args args = {0};

	cr_assert(eq(int, gt_options_parse_leading(options, &args, 7, argv, NULL), 6));
	expect_text(argv[0], "./app");
	expect_text(argv[1], "-q");
	expect_text(argv[3], "--");
	expect_text(argv[5], "-z");
}

Test(option, takes_a_program_after_two_dashes)
{
	char *argv[] = {"-q", "--", "-app", "--", "-z"};
	struct args args = {0};

	cr_assert(eq(int, gt_options_parse_leading(options, &args, 5, argv, NULL), 3));
	expect_text(argv[0], "-app");
	expect_text(argv[1], "--");
}

Test(option, splits_sort_keys)
{
	char *argv[] = {"--sort", "total,name:asc,calls:desc"};
	struct args args = {0};

	cr_assert(eq(int, gt_options_parse(options, &args, 2, argv, NULL), 0));
	cr_assert(eq(sz, args.sort.count, 3));
	expect_text(args.sort.keys[0].column, "total");
	cr_expect(eq(int, args.sort.keys[0].order, GT_SORT_NATURAL));
	expect_text(args.sort.keys[1].column, "name");
	cr_expect(eq(int, args.sort.keys[1].order, GT_SORT_ASCENDING));
	expect_text(args.sort.keys[2].column, "calls");
	cr_expect(eq(int, args.sort.keys[2].order, GT_SORT_DESCENDING));
}

Test(option, stops_at_help)
{
	char *words[] = {"--help", "-h"};

	for (size_t i = 0; i < 2; i++) {
		char *argv[] = {"operand", words[i], "--nonsense"};
		struct args args = {0};

		cr_expect(eq(int, gt_options_parse(options, &args, 3, argv, NULL), -ECANCELED));
	}
}

struct bad {
	char word[48];
	char complaint[96];
};

ParameterizedTestParameters(option, refuses)
{
	static struct bad bad[] = {
		{"--limit=-1", "--limit needs a number, not '-1'"},
		{"--limit=99999999999999999999", "--limit: 99999999999999999999 is too large"},
		{"--limit", "--limit needs a value"},
		{"--limit=", "--limit needs a number, not ''"},
		{"-o", "--output needs a value"},
		{"--quiet=2", "--quiet takes no value"},
		{"-qn", "--limit needs a value"},
		{"-qz", "unknown option '-z' in '-qz'; see --help"},
		{"-limit", "unknown option '-limit'; did you mean --limit?"},
		{"--help=1", "--help takes no value"},
		{"-z", "unknown option '-z'; see --help"},
		{"--", ""},
		{"--limt", "unknown option '--limt'; did you mean --limit?"},
		{"--limt=3", "unknown option '--limt'; did you mean --limit?"},
		{"--hepl", "unknown option '--hepl'; did you mean --help?"},
		{"--zzz", "unknown option '--zzz'; see --help"},
		{"--lim", "unknown option '--lim'; did you mean --limit?"},
		{"--s", "unknown option '--s'; see --help"},
		{"--size=5K", "--size: 5K is too large; it can be 1K to 4K"},
		{"--size=1", "--size: 1 is too small; it can be 1K to 4K"},
		{"--size=x", "--size needs a size such as 64K or 2M, not 'x'"},
		{"--wait=5", "--wait needs a duration such as 500us, 20ms or 1s, not '5'"},
		{"--sample=of", "--sample needs a duration such as 20ms or 1s, or off, not 'of'"},
		{"--sample=1ms", "--sample: 1ms is too small; it can be 10ms to 1h"},
		{"--colour=rad", "--colour does not know 'rad'; did you mean red?"},
		{"--colour=pink", "--colour does not know 'pink'; it can be red, green or blue"},
		{"--sort=a,,b", "--sort needs names of columns, not ''"},
		{"--sort=a:up", "--sort knows :asc and :desc, not ':up'"},
		{"--sort=a,b,c,d,e", "--sort takes at most 4 columns"},
	};

	return cr_make_param_array(struct bad, bad, sizeof(bad) / sizeof(bad[0]));
}

ParameterizedTest(struct bad *bad, option, refuses)
{
	char *argv[] = {bad->word};
	struct args args = {.limit = 42};
	struct gt_error err = {0};
	const int result = gt_options_parse(options, &args, 1, argv, &err);

	cr_expect(eq(int, result, bad->complaint[0] ? -EINVAL : 0), "%s", bad->word);
	expect_text(err.text, bad->complaint);
	cr_expect(eq(u64, args.limit, 42));
}

Test(option, help_names_everything_in_80_columns)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	size_t column = 0;

	gt_options_help(options, out);
	fclose(out);
	for (const char *at = text; *at; at++) {
		column = *at == '\n' ? 0 : column + 1;
		cr_assert(le(sz, column, 80));
	}
	for (const struct gt_option *option = options; option->name; option++)
		cr_expect(ne(ptr, strstr(text, option->name), NULL));
	cr_expect(ne(ptr, strstr(text, "(red, green, blue)"), NULL));
	cr_expect(ne(ptr, strstr(text, "-h, --help"), NULL));
	free(text);
}
