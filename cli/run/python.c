/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/python.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "cli/gputrace_pytorch.h"
#include "cli/output.h"
#include "cli/recording.h"
#include "cli/run/archive.h"
#include "cli/run/environment.h"
#include "cli/sitecustomize.h"
#include "format/recording.h"

static const struct gt_archive_file files[] = {
	{"sitecustomize.py", gt_sitecustomize, sizeof(gt_sitecustomize) - 1},
	{"gputrace_pytorch.py", gt_gputrace_pytorch, sizeof(gt_gputrace_pytorch) - 1},
};

/* Ours, and nsys's for the same. */
static const struct {
	const char *typed;
	const char *word;
} words_of[] = {
	{"ops", "ops"},
	{"shapes", "shapes"},
	{"modules", "modules"},
	{"autograd-nvtx", "ops"},
	{"autograd-shapes-nvtx", "shapes"},
};

static const char *find_word(const char *typed, size_t length)
{
	for (size_t i = 0; i < sizeof(words_of) / sizeof(words_of[0]); i++)
		if (strlen(words_of[i].typed) == length &&
		    strncmp(words_of[i].typed, typed, length) == 0)
			return words_of[i].word;
	return NULL;
}

int gt_python_words(const char *list, char *words, int size, struct gt_error *err)
{
	int used = 0;

	for (;;) {
		const size_t length = strcspn(list, ",");
		const char *word = find_word(list, length);

		if (!word || used >= size)
			return gt_fail(err, EINVAL,
			               "--pytorch takes ops, shapes and modules, or several with "
			               "commas between them, not '%.*s'",
			               (int)length, list);
		used += snprintf(words + used, (size_t)(size - used), "%s%s", used ? "," : "",
		                 word);
		if (!list[length])
			return 0;
		list += length + 1;
	}
}

static int write_archive(const char *path, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, path, true, err);

	if (result == 0)
		result = gt_archive_write(output.file, path, files,
		                          sizeof(files) / sizeof(files[0]), err);
	if (result == 0)
		result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result;
}

/* Before what the program has, so that it is the first sitecustomize that is found. */
static void lead_to(struct gt_environment *environment, const char *path)
{
	const char *before = gt_environment_find(environment, "PYTHONPATH");
	const bool more = before && *before;
	const size_t size = strlen(path) + (more ? strlen(before) : 0) + 2;
	char *text = gt_allocate(size);

	snprintf(text, size, "%s%s%s", path, more ? ":" : "", more ? before : "");
	gt_environment_set(environment, "PYTHONPATH", text);
	free(text);
}

int gt_python_add(struct gt_environment *environment, const char *folder, const char *words,
                  struct gt_error *err)
{
	char *path;
	int result;

	if (strchr(folder, ':'))
		return gt_fail(err, EINVAL,
		               "--pytorch cannot record into %s: PYTHONPATH has no way to write a "
		               "colon; choose another name with --output",
		               folder);
	path = gt_recording_path(folder, "/" GT_PYTHON_ARCHIVE);
	result = write_archive(path, err);
	if (result == 0) {
		lead_to(environment, path);
		gt_environment_set(environment, "GPUTRACE_PYTORCH", words);
	}
	free(path);
	return result;
}

void gt_python_remove(const char *folder)
{
	char *path = gt_recording_path(folder, "/" GT_PYTHON_ARCHIVE);

	(void)unlink(path);
	free(path);
}

bool gt_python_was_heard(const char *folder)
{
	struct gt_recording_files found = {0};
	bool heard = false;

	(void)gt_recording_list(&found, folder, NULL);
	gt_array_each(const struct gt_recording_file, file, &found.list)
		heard = heard || gt_has_suffix(file->name, GT_NOTES_SUFFIX);
	gt_recording_files_release(&found);
	return heard;
}
