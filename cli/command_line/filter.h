/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_FILTER_H
#define GT_CLI_COMMAND_LINE_FILTER_H

#include "cli/command_line/option.h"

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
	const char *take;
	const char *instance;
};

/* clang-format off */
#define GT_FILTER_OPTIONS(type, field) \
	{OPT("from", 0, TEXT, type, field.from, "TIME", \
	     "What starts at TIME or later: 2.5s after its start, or -500ms, from its end"), .group = "Only a part of the recording"}, \
	OPT_TEXT("to", 0, type, field.to, "TIME", \
	         "What starts before TIME"), \
	OPT_LIST("process", 0, type, field.processes, "PROCESS", \
	         "These processes: ids or names of programs, with commas between"), \
	OPT_LIST("device", 0, type, field.devices, "GPU", \
	         "These GPUs: numbers, beginnings of UUIDs or parts of names, with commas between"), \
	OPT_LIST("stream", 0, type, field.streams, "NUMBER", \
	         "These streams: numbers, with commas between"), \
	OPT_LIST("kernel", 0, type, field.kernels, "REGEX", \
	         "Kernels whose short, full or mangled name matches (POSIX extended); may be given " \
	         "again, to match either"), \
	OPT_LIST("range", 0, type, field.ranges, "PATH", \
	         "What was asked for in such NVTX ranges: a path as train/step, a name, or a " \
	         "regular expression for paths; may be given again"), \
	OPT_TEXT("skip", 0, type, field.skip, "N", \
	         "Without the first N of these ranges, of each path on each thread"), \
	OPT_TEXT("take", 0, type, field.take, "N", \
	         "N of these ranges, of each path on each thread: the first, or those behind --skip"), \
	OPT_TEXT("instance", 0, type, field.instance, "N", \
	         "The Nth of these ranges alone, of each path on each thread")
/* clang-format on */

/* Makes the filter, which must be empty, of what was given. */
int gt_filter_read(const struct gt_filter_args *args, struct gt_filter *filter,
                   struct gt_error *err);

#endif
