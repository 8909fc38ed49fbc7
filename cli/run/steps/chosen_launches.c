/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/steps/steps.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

#include "base/parse.h"

int gt_run_set_part(struct gt_environment *environment, const struct gt_run_part *part,
                    const char *text, struct gt_error *err)
{
	const char *colon = strchr(text, ':');
	char first[32] = "";
	uint64_t value = 0;

	if (colon && (size_t)(colon - text) < sizeof(first))
		memcpy(first, text, (size_t)(colon - text));
	if (!colon || gt_parse_count(first, &value) < 0 || value == 0 ||
	    gt_parse_count(colon + 1, &value) < 0 || value == 0)
		return gt_fail(err, EINVAL, "%s %s is not FIRST:COUNT, such as %s", part->option,
		               text, part->example);
	gt_environment_set(environment, part->first, first);
	gt_environment_set(environment, part->count, colon + 1);
	return 0;
}

static int set_launches(struct gt_environment *environment, const char *text, struct gt_error *err)
{
	static const struct gt_run_part part = {"--launches", "1:10 for the first ten",
	                                        "GPUTRACE_LAUNCHES_FIRST",
	                                        "GPUTRACE_LAUNCHES_COUNT"};

	return gt_run_set_part(environment, &part, text, err);
}

static int check_regex(const char *option, const char *pattern, struct gt_error *err)
{
	regex_t regex;
	const int result = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);

	if (result != 0) {
		char why[128];

		(void)regerror(result, &regex, why, sizeof(why));
		return gt_fail(err, EINVAL, "%s %s is no regular expression: %s", option, pattern,
		               why);
	}
	regfree(&regex);
	return 0;
}

static bool captures(const struct gt_run_args *args)
{
	return args->capture_kernels || args->capture_sequence || args->capture_graphs;
}

/* Options that choose launches go with one that does something with them. */
static int check_choice(const struct gt_run_args *args, struct gt_error *err)
{
	if (args->kernels && !args->kernel_counters)
		return gt_fail(err, EINVAL, "--kernels chooses launches for --kernel-counters");
	if (args->launches && !args->kernel_counters && !captures(args))
		return gt_fail(err, EINVAL,
		               "--launches chooses launches for --kernel-counters, "
		               "--capture-kernels or --capture-graphs, or occurrences for "
		               "--capture-sequence");
	if (args->range && !args->kernel_counters && !args->capture_kernels &&
	    !args->capture_graphs)
		return gt_fail(err, EINVAL,
		               "--range chooses launches for --kernel-counters, "
		               "--capture-kernels or --capture-graphs");
	if (args->max_bytes && !captures(args))
		return gt_fail(err, EINVAL,
		               "--max-bytes goes with --capture-kernels, --capture-sequence or "
		               "--capture-graphs");
	if ((args->range || args->capture_sequence) && args->no_nvtx)
		return gt_fail(err, EINVAL,
		               "%s and --no-nvtx exclude each other: the range is one of NVTX",
		               args->range ? "--range" : "--capture-sequence");
	return 0;
}

static int check_capture_sequence(const struct gt_run_args *args, struct gt_error *err)
{
	if (!args->capture_sequence)
		return 0;
	if (!*args->capture_sequence)
		return gt_fail(err, EINVAL, "--capture-sequence needs the name of a range");
	if (args->kernel_counters || args->capture_kernels)
		return gt_fail(err, EINVAL,
		               "--capture-sequence and %s exclude each other: a launch is captured "
		               "by itself, in its sequence, or run several times",
		               args->kernel_counters ? "--kernel-counters" : "--capture-kernels");
	return 0;
}

static int check_capture_graphs(const struct gt_run_args *args, struct gt_error *err)
{
	if (!args->capture_graphs ||
	    (!args->kernel_counters && !args->capture_kernels && !args->capture_sequence))
		return 0;
	return gt_fail(err, EINVAL,
	               "--capture-graphs and %s exclude each other: a launch is captured once, or "
	               "run several times",
	               args->kernel_counters   ? "--kernel-counters"
	               : args->capture_kernels ? "--capture-kernels"
	                                       : "--capture-sequence");
}

/* Options that go with --kernel-counters, and those that do not. */
static int check_kernel_counters(const struct gt_run_args *args, struct gt_error *err)
{
	if (args->kernel_counters && args->counters)
		return gt_fail(err, EINVAL,
		               "--counters and --kernel-counters exclude each other: CUPTI gives a "
		               "GPU's counters to sampling or to the replay of kernels");
	if (args->kernel_counters && args->capture_kernels)
		return gt_fail(err, EINVAL,
		               "--kernel-counters and --capture-kernels exclude each other: a "
		               "launch is run several times, or captured");
	return args->kernels ? check_regex("--kernels", args->kernels, err) : 0;
}

static void set_kernel_counters(struct gt_environment *environment, const struct gt_run_args *args)
{
	if (!args->kernel_counters)
		return;
	gt_environment_set(environment, "GPUTRACE_KERNEL_COUNTERS",
	                   *args->kernel_counters ? args->kernel_counters : "default");
	if (args->kernels)
		gt_environment_set(environment, "GPUTRACE_KERNELS", args->kernels);
}

static int set_captures(struct gt_environment *environment, const struct gt_run_args *args,
                        struct gt_error *err)
{
	const int result = args->capture_kernels
	                           ? check_regex("--capture-kernels", args->capture_kernels, err)
	                           : 0;

	if (result < 0 || !captures(args))
		return result;
	if (args->capture_kernels && !*args->capture_kernels)
		return gt_fail(err, EINVAL,
		               "--capture-kernels needs a regular expression, such as '.' for all");
	if (args->capture_graphs)
		gt_environment_set(environment, "GPUTRACE_CAPTURE_GRAPHS", "1");
	else if (args->capture_kernels)
		gt_environment_set(environment, "GPUTRACE_CAPTURE_KERNELS", args->capture_kernels);
	else
		gt_environment_set(environment, "GPUTRACE_CAPTURE_SEQUENCE",
		                   args->capture_sequence);
	gt_run_set_number(environment, "GPUTRACE_CAPTURE_BYTES", args->max_bytes, "");
	if (!args->launches)
		gt_environment_set(environment, "GPUTRACE_LAUNCHES_COUNT", "1");
	return 0;
}

int gt_run_set_chosen_launches(struct gt_environment *environment, const struct gt_run_args *args,
                               struct gt_error *err)
{
	int result = check_kernel_counters(args, err);

	if (result == 0)
		result = check_choice(args, err);
	if (result == 0)
		result = check_capture_graphs(args, err);
	if (result == 0)
		result = check_capture_sequence(args, err);
	if (result < 0)
		return result;
	set_kernel_counters(environment, args);
	if (args->range)
		gt_environment_set(environment, "GPUTRACE_LAUNCHES_RANGE", args->range);
	result = set_captures(environment, args, err);
	return result == 0 && args->launches ? set_launches(environment, args->launches, err)
	                                     : result;
}
