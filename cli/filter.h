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
	         "Only what starts so long after the recording began, as 2.5s, or, as -500ms, " \
	         "before it ended"), \
	OPT_TEXT("to", 0, type, field.to, "TIME", "Only what starts before this time"), \
	OPT_LIST("process", 0, type, field.processes, "PROCESS", \
	         "Only processes of this id or name; commas separate several, as for all of these"), \
	OPT_LIST("device", 0, type, field.devices, "GPU", \
	         "Only work on this GPU: its number, the beginning of its UUID or a part of its " \
	         "name"), \
	OPT_LIST("stream", 0, type, field.streams, "NUMBER", \
	         "Only work on streams with this number of CUPTI's"), \
	OPT_LIST("kernel", 0, type, field.kernels, "REGEX", \
	         "Only kernels whose short, full or mangled name this extended regular expression " \
	         "fits; " \
	         "may be given again"), \
	OPT_LIST("range", 0, type, field.ranges, "PATH", \
	         "Only what was asked for inside this NVTX range: a path as train/step, a name, or " \
	         "an extended regular expression that fits in a path; may be given again"), \
	OPT_TEXT("skip", 0, type, field.skip, "N", \
	         "Leave out the first so many of the ranges, of each path on each thread")
/* clang-format on */

/* Makes the filter, which must be empty, of what was given. */
int gt_filter_read(const struct gt_filter_args *args, struct gt_filter *filter,
                   struct gt_error *err);

#endif
