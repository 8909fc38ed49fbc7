/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/python.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "cli/output/output.h"
#include "cli/recording/recording.h"
#include "cli/run/archive.h"
#include "cli/run/environment.h"
#include "cli/run/gputrace_allocators.h"
#include "cli/run/gputrace_imports.h"
#include "cli/run/gputrace_jax_memory.h"
#include "cli/run/gputrace_notes.h"
#include "cli/run/gputrace_pytorch.h"
#include "cli/run/gputrace_pytorch_memory.h"
#include "cli/run/sitecustomize.h"
#include "format/recording.h"

#define FILE_OF(name)                                                                              \
	{                                                                                          \
#name ".py", gt_##name, sizeof(gt_##name) - 1                                      \
	}

static const struct gt_archive_file files[] = {
	FILE_OF(sitecustomize),           FILE_OF(gputrace_allocators), FILE_OF(gputrace_imports),
	FILE_OF(gputrace_jax_memory),     FILE_OF(gputrace_notes),      FILE_OF(gputrace_pytorch),
	FILE_OF(gputrace_pytorch_memory),
};

/* A word that may be typed, and the word that the files know it by. */
struct word {
	const char *typed;
	const char *word;
};

/* Ours, and nsys's for the same. */
static const struct word pytorch_words[] = {
	{"ops", "ops"},
	{"shapes", "shapes"},
	{"modules", "modules"},
	{"autograd-nvtx", "ops"},
	{"autograd-shapes-nvtx", "shapes"},
	{NULL, NULL},
};

static const struct word allocator_words[] = {
	{"pytorch", "pytorch"},
	{"pytorch-blocks", "pytorch-blocks"},
	{"jax", "jax"},
	{NULL, NULL},
};

static const char *find_word(const struct word *words, const char *typed, size_t length)
{
	for (const struct word *word = words; word->typed; word++)
		if (strlen(word->typed) == length && strncmp(word->typed, typed, length) == 0)
			return word->word;
	return NULL;
}

/* -EINVAL, and what it was about in *wrong: a word is none of them, or does not fit. */
static int take_words(const struct word *known, const char *list, char *text, size_t size,
                      const char **wrong)
{
	size_t used = 0;

	if (!list || !*list)
		return 0;
	for (*wrong = list;; *wrong = ++list) {
		const size_t length = strcspn(list, ",");
		const char *word = find_word(known, list, length);

		if (!word || used + 1 + strlen(word) >= size)
			return -EINVAL;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", word);
		list += length;
		if (!*list)
			return 0;
	}
}

int gt_python_set_pytorch(struct gt_python *python, const char *list, struct gt_error *err)
{
	const char *wrong;

	if (take_words(pytorch_words, list, python->pytorch, sizeof(python->pytorch), &wrong) == 0)
		return 0;
	return gt_fail(err, EINVAL,
	               "--pytorch takes ops, shapes and modules, or several with commas between "
	               "them, not '%.*s'",
	               (int)strcspn(wrong, ","), wrong);
}

int gt_python_set_allocators(struct gt_python *python, const char *list, struct gt_error *err)
{
	const char *wrong;

	if (take_words(allocator_words, list, python->allocators, sizeof(python->allocators),
	               &wrong) == 0)
		return 0;
	return gt_fail(err, EINVAL,
	               "--allocators takes pytorch, pytorch-blocks and jax, or several with commas "
	               "between them, not '%.*s'",
	               (int)strcspn(wrong, ","), wrong);
}

bool gt_python_is_wanted(const struct gt_python *python)
{
	return *python->pytorch || *python->allocators;
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

static void set_words(struct gt_environment *environment, const char *name, const char *words)
{
	if (*words)
		gt_environment_set(environment, name, words);
}

int gt_python_add(struct gt_environment *environment, const char *folder,
                  const struct gt_python *python, struct gt_error *err)
{
	char *path;
	int result;

	if (strchr(folder, ':'))
		return gt_fail(err, EINVAL,
		               "%s cannot record into %s: PYTHONPATH has no way to write a colon; "
		               "choose another name with --output",
		               *python->pytorch ? "--pytorch" : "--allocators", folder);
	path = gt_recording_path(folder, "/" GT_PYTHON_ARCHIVE);
	result = write_archive(path, err);
	if (result == 0) {
		lead_to(environment, path);
		set_words(environment, "GPUTRACE_PYTORCH", python->pytorch);
		set_words(environment, "GPUTRACE_ALLOCATORS", python->allocators);
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

const char *gt_python_unheard(const struct gt_python *python, const char *folder)
{
	struct gt_recording_files found = {0};
	bool heard = false;

	(void)gt_recording_list(&found, folder, NULL);
	gt_array_each(const struct gt_recording_file, file, &found.list)
		heard = heard || gt_has_suffix(file->name, GT_NOTES_SUFFIX);
	gt_recording_files_release(&found);
	if (heard)
		return NULL;
#define WHY                                                                                        \
	" where gputrace could see it: either none did, or it ran as python -I, -E or -S, or "     \
	"without PYTHONPATH"
	return *python->pytorch ? "--pytorch: no process imported torch" WHY
	                        : "--allocators: no process imported torch or jax" WHY;
#undef WHY
}
