/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_SUMMARY_H
#define GT_CLI_RUN_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

struct gt_manifest;
struct gt_reading;

/* What "gputrace run" says after the program ended. */
struct gt_summary {
	const struct gt_manifest *manifest;
	const struct gt_reading *reading; /* of all of the recording */
	const char *folder;
	uint64_t folder_bytes;
	const char *exported; /* NULL: nothing was exported */
	uint64_t exported_bytes;
	bool at_length; /* with addresses in full */
};

/*
 * On standard error: how the program ended and after how long, files and their sizes, what report
 * summary shows and, as the last line, the ledger.
 */
void gt_summary_print(const struct gt_summary *summary);

/* Only the first of these: how the program ended. */
void gt_summary_say_ending(const struct gt_manifest *manifest);
/* The ledger alone, if a process that used CUDA could not be recorded: said even when quiet. */
void gt_summary_print_missing(const struct gt_reading *reading);

#endif
