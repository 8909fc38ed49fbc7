/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_ARCHIVE_H
#define GT_CLI_ARCHIVE_H

#include <stddef.h>
#include <stdio.h>

struct gt_error;

/* One file of an archive. */
struct gt_archive_file {
	const char *name;
	const char *bytes;
	size_t size; /* less than 4 GiB */
};

/*
 * Writes a zip archive in which files lie as they are, uncompressed: what Python imports from
 * without more than its own zipimport. path is what to call the file in a sentence.
 */
int gt_archive_write(FILE *file, const char *path, const struct gt_archive_file *files,
                     size_t count, struct gt_error *err);

#endif
