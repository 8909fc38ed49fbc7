/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_PARTIAL_H
#define GT_CLI_OUTPUT_PARTIAL_H

#include <stdbool.h>

/*
 * Files that are being written under a temporary name: a signal that ends the program (SIGINT,
 * SIGTERM and their like) removes them first. Signals that are ignored stay ignored. For programs
 * of one thread.
 */

/*
 * Makes the file, which must not exist, and minds it: a descriptor to write to, or a negative
 * errno value. path must live until it is forgotten.
 */
int gt_partial_create(const char *path);

/* The file has its name, or is gone. */
void gt_partial_forget(const char *path);

/* Whether a line on the terminal (standard error) is to go in the same way: see
 * cli/output/progress.h. */
void gt_partial_line(bool shown);

#endif
