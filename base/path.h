/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_PATH_H
#define GT_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Paths of files, and how names end. Nothing here allocates: injected code may use it. */

/* The part after the last slash, in the path itself: "" for a path that ends with a slash. */
const char *gt_path_name(const char *path);

/* Ending of a file's name, in the path itself: from its last dot on, "" for none. */
const char *gt_path_ending(const char *path);

/* Whether there is a folder of that path, or a link to one. */
bool gt_path_is_folder(const char *path);

/*
 * Why no file can be made at a path, for a sentence: what the system calls code, or, where that is
 * ENOENT, the folder that is not there. Returns text, or a constant.
 */
const char *gt_path_problem(const char *path, int code, char *text, size_t size);

/* Whether a name ends with the suffix and has something before it. */
bool gt_has_suffix(const char *name, const char *suffix);

#endif
