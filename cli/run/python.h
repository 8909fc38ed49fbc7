/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_PYTHON_H
#define GT_CLI_PYTHON_H

#include <stdbool.h>

struct gt_environment;
struct gt_error;

/*
 * What goes along with programs in Python that are to name what PyTorch does: the two files of
 * python/, which are in this program, as an archive in the recording's folder that PYTHONPATH
 * leads to. They leave notes (GT_NOTES_SUFFIX of format/recording.h) beside it.
 */
#define GT_PYTHON_ARCHIVE "python.zip"

/*
 * Writes the words of a list for --pytorch as the settings have them, into size bytes: nsys's
 * words become ours. -EINVAL: one is none of them, or does not fit.
 */
int gt_python_words(const char *list, char *words, int size, struct gt_error *err);

/* Puts the archive into a folder, an absolute path, and the program's Python in its way. */
int gt_python_add(struct gt_environment *environment, const char *folder, const char *words,
                  struct gt_error *err);

/* Removes the archive, if it is there. */
void gt_python_remove(const char *folder);

/* Whether some process left notes in a folder: only Python's that imported torch do. */
bool gt_python_was_heard(const char *folder);

#endif
