/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_FILTER_H
#define GT_CLI_FILTER_H

#include "cli/option.h"

struct gt_error;
struct gt_filter;

/*
 * The options that choose a part of a recording, the same in every command that reads one: a
 * field of this type in the command's arguments, GT_FILTER_OPTIONS among its options, and
 * gt_filter_read once they are parsed.
 */
struct gt_filter_args {
	const char *from;
	const char *to;
	struct gt_option_list processes;
	struct gt_option_list devices;
	struct gt_option_list streams;
	struct gt_option_list kernels;
	struct gt_option_list ranges;
	const char *skip;
};

/* clang-format off */
#define GT_FILTER_OPTIONS(type, field) \
	OPT_TEXT("from", 0, type, field.from, "TIME", \
	         "Leave out what starts before TIME: 2.5s counts from the start of the recording, " \
	         "-500ms from its end"), \
	OPT_TEXT("to", 0, type, field.to, "TIME", \
	         "Leave out what starts at TIME or later, which counts in the same way"), \
	OPT_LIST("process", 0, type, field.processes, "PROCESS", \
	         "Show these processes only: ids or names of programs, with commas between them"), \
	OPT_LIST("device", 0, type, field.devices, "GPU", \
	         "Show work on these GPUs only: numbers as reports show them, the beginning of a UUID " \
	         "or a part of a name, with commas between them"), \
	OPT_LIST("stream", 0, type, field.streams, "NUMBER", \
	         "Show work on these streams only: numbers as reports show them, with commas between " \
	         "them"), \
	OPT_LIST("kernel", 0, type, field.kernels, "REGEX", \
	         "Show kernels only whose short, full or mangled name matches this regular expression " \
	         "(POSIX extended); may be given again, to match either"), \
	OPT_LIST("range", 0, type, field.ranges, "PATH", \
	         "Show what was asked for inside these NVTX ranges only: a path as train/step, a name, " \
	         "or a regular expression (POSIX extended) that matches in a path; may be given again"), \
	OPT_TEXT("skip", 0, type, field.skip, "N", \
	         "Leave out the first N of the ranges, of each path on each thread")
/* clang-format on */

/* Makes the filter, which must be empty, of what was given. */
int gt_filter_read(const struct gt_filter_args *args, struct gt_filter *filter,
                   struct gt_error *err);

#endif
