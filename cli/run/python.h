/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_PYTHON_H
#define GT_CLI_PYTHON_H

#include <stdbool.h>

struct gt_environment;
struct gt_error;

/*
 * Files that go along with Python programs that are to name what PyTorch does, or to tell the
 * figures of allocators: the files of python/, which are in this program, as an archive in the
 * recording's folder that PYTHONPATH leads to. They leave notes (GT_NOTES_SUFFIX of
 * format/recording.h) beside it.
 */
/* The words of each option, with commas between them; "": it was not given. */
struct gt_python {
	char pytorch[32];
	char allocators[32];
};

/*
 * Takes the list of --pytorch, or --allocators, as the settings have it; NULL and "" are none.
 * nsys's words become ours. -EINVAL: one is none of them, or does not fit.
 */
int gt_python_set_pytorch(struct gt_python *python, const char *list, struct gt_error *err);
int gt_python_set_allocators(struct gt_python *python, const char *list, struct gt_error *err);

bool gt_python_is_wanted(const struct gt_python *python);

/* Puts the archive into a folder, an absolute path, and the program's Python in its way. */
int gt_python_add(struct gt_environment *environment, const char *folder,
                  const struct gt_python *python, struct gt_error *err);

/* Removes the archive, if it is there. */
void gt_python_remove(const char *folder);

/*
 * Why an option found nothing to do, as a sentence; NULL: some process left notes in the folder,
 * which only Python's do that imported what the options are about.
 */
const char *gt_python_unheard(const struct gt_python *python, const char *folder);

#endif
