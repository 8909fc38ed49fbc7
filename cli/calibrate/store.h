/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_STORE_H
#define GT_CLI_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/gpu/calibration.h"

struct gt_error;

/*
 * Where calibrations are kept: a file for each GPU, by its UUID, in gputrace/calibrations of the
 * user's data folder, which XDG_DATA_HOME names, else .local/share of HOME (XDG Base Directory
 * Specification).
 */

/* Writes that folder's path; -ENOENT: neither variable names a folder. */
int gt_store_folder(char *path, size_t size, struct gt_error *err);

/* Writes the path of another file beside that folder, which is made where it is not there yet. */
int gt_store_file(const char *name, char *path, size_t size, struct gt_error *err);

/* Keeps a calibration in place of what there is of its GPU, and writes the file's path. */
int gt_store_save(const struct gt_calibration *calibration, char *path, size_t size,
                  struct gt_error *err);

/* Writes them as one file, which a file of that name is replaced by. */
int gt_store_write(const struct gt_calibrations *calibrations, const char *path,
                   struct gt_error *err);

/*
 * Adds all that are kept, by name of their files. A file that cannot be read is told to complain,
 * if that is not NULL, in a sentence. Nothing kept, and no folder, is fine.
 */
void gt_store_load(struct gt_calibrations *calibrations, void (*complain)(const char *sentence));

#endif
