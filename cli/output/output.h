/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_OUTPUT_H
#define GT_CLI_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gt_error;

/*
 * Where a command's result goes: standard output, or a file that appears under its name only
 * when it is complete. Until then it has a temporary name beside it, and whatever stood there
 * before is untouched.
 */
struct gt_output {
	FILE *file;
	const char *path; /* what to call it in a sentence; the caller's */
	char *temporary;  /* NULL: written in place (standard output, a device, a pipe) */
	bool replace;     /* whether an existing file may be replaced */
	uint64_t bytes;   /* of the file, once it was committed */
};

#define GT_OUTPUT_INIT                                                                             \
	{                                                                                          \
		0                                                                                  \
	}

/* path NULL or "-" is standard output; path must outlive the output. */
int gt_output_open(struct gt_output *output, const char *path, bool replace, struct gt_error *err);

/* Gives the file its name. Fails, leaving nothing, when any write to it has failed. */
int gt_output_commit(struct gt_output *output, struct gt_error *err);

/* Says on standard error "wrote FILE (SIZE): WHAT", what may be NULL; of standard output nothing. */
void gt_output_say(const struct gt_output *output, const char *what);

/* Removes what was not committed. May be called twice. */
void gt_output_release(struct gt_output *output);

#endif
