/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "base/strings.h"
#include "cli/output/process.h"
#include "cli/output/say.h"
#include "cli/output/words.h"
#include "cli/recording/manifest.h"
#include "cli/recording/recording.h"
#include "collector/collector.h"
#include "format/recording.h"
#include "format/roll.h"

/* Contents of a folder, as far as they say which recording is meant. */
struct folder {
	bool is_recording;      /* captures lie in it */
	struct gt_words inside; /* names of the recordings in it */
};

/* NAME.old-1.gputrace is what "run --force" has put aside; NAME.old-1st.gputrace is not. */
static bool is_put_aside(const char *name)
{
	static const char old[] = ".old-";

	for (const char *at = name; (at = strstr(at, old)) != NULL;) {
		at += strlen(old);

		const size_t digits = strspn(at, "0123456789");

		if (digits > 0 && strcmp(at + digits, GT_RECORDING_SUFFIX) == 0)
			return true;
	}
	return false;
}

static void add_inside(struct folder *folder, DIR *dir, const char *name)
{
	struct stat status;

	if (!is_put_aside(name) && fstatat(dirfd(dir), name, &status, 0) == 0 &&
	    S_ISDIR(status.st_mode))
		gt_words_add(&folder->inside, name, strlen(name));
}

static bool is_of_recording(const char *name)
{
	return gt_has_suffix(name, GT_CAPTURE_SUFFIX) || gt_has_suffix(name, GT_ARENA_SUFFIX) ||
	       gt_has_suffix(name, GT_ROLL_SUFFIX);
}

/* A folder that cannot be read holds nothing. */
static struct folder look(const char *path)
{
	struct folder folder = {0};
	DIR *dir = opendir(path);
	const struct dirent *entry;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else reads this stream */
	while (dir && (entry = readdir(dir))) {
		if (is_of_recording(entry->d_name))
			folder.is_recording = true;
		else if (gt_has_suffix(entry->d_name, GT_RECORDING_SUFFIX))
			add_inside(&folder, dir, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return folder;
}

static void folder_release(struct folder *folder)
{
	gt_words_release(&folder->inside);
}

static bool holds_captures(const char *path)
{
	struct folder folder = look(path);
	const bool result = folder.is_recording;

	folder_release(&folder);
	return result;
}

static char *without_slashes(const char *word)
{
	char *path = gt_recording_path(word, "");
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	return path;
}

char *gt_recording_find(const char *word)
{
	char *path = without_slashes(word);
	char *longer = gt_recording_path(path, GT_RECORDING_SUFFIX);
	char *found = NULL;

	if (gt_has_suffix(path, GT_RECORDING_SUFFIX) ? gt_path_is_folder(path)
	    : gt_has_suffix(path, GT_CAPTURE_SUFFIX) || gt_has_suffix(path, GT_ARENA_SUFFIX)
	            ? access(path, F_OK) == 0
	            : holds_captures(path))
		found = path;
	else if (*path && gt_path_is_folder(longer))
		found = longer;
	if (found != path)
		free(path);
	if (found != longer)
		free(longer);
	return found;
}

static const char *const traces[] = {".perfetto", ".pftrace", ".perfetto-trace"};

struct ending {
	const char *suffix;
	const char *what;
};

#define NSYS_REPORT                                                                                \
	"a report of Nsight Systems, which gputrace does not read; nsys export --type sqlite "     \
	"makes a database of it, which gputrace import reads"

int gt_recording_is_foreign(const char *word, struct gt_error *err)
{
	static const struct ending importable[] = {
		{".sqlite", "a database"},
		{".pt.trace.json", "a trace of PyTorch"},
		{".pt.trace.json.gz", "a trace of PyTorch"},
		{".json.gz", "a trace"},
	};
	static const struct ending endings[] = {
		{".nsys-rep", NSYS_REPORT},
		{".qdrep", NSYS_REPORT},
		{".qdstrm", "a stream of Nsight Systems, which gputrace does not read"},
		{".ncu-rep", "a report of Nsight Compute, which gputrace does not read"},
		{".nvprof", "a profile of nvprof, which gputrace does not read"},
		{".nvvp", "a profile of nvprof, which gputrace does not read"},
		{"perf.data", "a recording of perf, which gputrace does not read"},
	};

	for (size_t i = 0; i < sizeof(importable) / sizeof(importable[0]); i++)
		if (gt_has_suffix(word, importable[i].suffix))
			return gt_fail(err, EINVAL,
			               "%s is %s, not a recording; to make one of it: gputrace "
			               "import %s",
			               word, importable[i].what, word);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (gt_has_suffix(word, endings[i].suffix) || strcmp(word, endings[i].suffix) == 0)
			return gt_fail(err, EINVAL, "%s is %s", word, endings[i].what);
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		if (gt_has_suffix(word, traces[i]))
			return gt_fail(err, EINVAL,
			               "%s is a trace for https://ui.perfetto.dev; reports are "
			               "made of the recording it was made of, %.*s.gputrace",
			               word, (int)(strlen(word) - strlen(traces[i])), word);
	return 0;
}

bool gt_recording_is_trace(const char *word)
{
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		if (gt_has_suffix(word, traces[i]))
			return true;
	return false;
}

bool gt_recording_is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & S_IXUSR);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void gt_recording_inside(const char *path, struct gt_words *paths)
{
	struct folder folder = look(path);

	if (folder.inside.list.count > 0)
		qsort(folder.inside.list.rows, folder.inside.list.count,
		      sizeof(*folder.inside.list.rows), compare);
	gt_array_each(char *const, name, &folder.inside.list) {
		char *slash = gt_recording_path(path, "/");
		char *inside = gt_recording_path(slash, *name);

		gt_words_add(paths, inside, strlen(inside));
		free(inside);
		free(slash);
	}
	folder_release(&folder);
}

/* "a.gputrace, b.gputrace and 3 more", or "". */
static void name_some(struct gt_words *words, char *text, size_t size)
{
	const size_t most = 3;
	size_t length = 0;

	text[0] = '\0';
	if (words->list.count > 0)
		qsort(words->list.rows, words->list.count, sizeof(*words->list.rows), compare);
	for (size_t i = 0; i < words->list.count && i < most && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "",
		                           words->list.rows[i]);
	if (words->list.count > most && length < size)
		snprintf(text + length, size - length, " and %zu more", words->list.count - most);
}

/* Those whose names hold the word, however it is written; with a slash it is a path, and no part. */
static void add_alike(struct gt_words *alike, const struct gt_words *inside, const char *word)
{
	gt_array_each(char *const, name, &inside->list) {
		char *stem = gt_recording_stem(*name);

		if (strlen(word) > 1 && strcasestr(stem, word))
			gt_words_add(alike, *name, strlen(*name));
		free(stem);
	}
}

void gt_recording_namesakes(const char *word, const char *chosen, char *text, size_t size)
{
	struct folder here = look(".");
	struct gt_words alike = {0};
	bool is_chosen = false;

	add_alike(&alike, &here.inside, word);
	gt_array_each(char *const, name, &alike.list)
		is_chosen = is_chosen || strcmp(*name, chosen) == 0;
	*text = '\0';
	if (!is_chosen)
		name_some(&alike, text, size);
	gt_words_release(&alike);
	folder_release(&here);
}

/* The name that a slip may have been for. */
static char *nearest(const struct gt_wanted *wanted, const struct gt_words *inside,
                     const char *word)
{
	struct gt_words names = {0};
	const char *name;
	char *copy;

	for (size_t i = 0; wanted->names && wanted->names[i]; i++)
		gt_words_add(&names, wanted->names[i], strlen(wanted->names[i]));
	gt_array_each(char *const, inner, &inside->list)
		gt_words_add(&names, *inner,
		             strlen(*inner) -
		                     (strchr(word, '.') ? 0 : strlen(GT_RECORDING_SUFFIX)));
	name = gt_words_nearest(&names, word);
	copy = name ? gt_recording_path(name, "") : NULL;
	gt_words_release(&names);
	return copy;
}

/* Says what there is instead: nothing like the word is known. */
static int say_what_is_here(const char *word, const struct gt_wanted *wanted,
                            struct gt_words *inside, struct gt_error *err)
{
	const char *see = wanted->see ? wanted->see : "";
	const char *also = wanted->see ? "; see " : "";
	char some[256];

	name_some(inside, some, sizeof(some));
	if (strchr(word, '/'))
		return gt_fail(err, wanted->code, "no %s '%s'%s%s", wanted->what, word, also, see);
	if (*some)
		return gt_fail(err, wanted->code, "no %s '%s'; this folder has %s%s%s",
		               wanted->what, word, some, also, see);
	return gt_fail(
		err, wanted->code,
		"no %s '%s', and no recording in this folder: gputrace run ./app makes one%s%s",
		wanted->what, word, also, see);
}

int gt_recording_missing(const char *word, const struct gt_wanted *wanted, struct gt_error *err)
{
	struct folder here = look(".");
	struct gt_words alike = {0};
	char *slip = nearest(wanted, &here.inside, word);
	char some[256];
	int result;

	add_alike(&alike, &here.inside, word);
	name_some(&alike, some, sizeof(some));
	if (slip || *some)
		result = gt_fail(err, wanted->code, "no %s '%s'; did you mean %s%s?", wanted->what,
		                 word, slip || alike.list.count == 1 ? "" : "one of ",
		                 slip ? slip : some);
	else if (!strchr(word, '/') && gt_process_find(word, NULL) == 0)
		result = gt_fail(err, wanted->code,
		                 "no %s '%s'; to record the program of that name: gputrace run %s",
		                 wanted->what, word, word);
	else
		result = say_what_is_here(word, wanted, &here.inside, err);
	free(slip);
	gt_words_release(&alike);
	folder_release(&here);
	return result;
}

/* A file that is there and cannot be a recording. */
static int check_file(const char *word, struct gt_error *err)
{
	if (gt_recording_is_program(word))
		return gt_fail(err, EINVAL,
		               "%s is a program, not a recording; to record it: gputrace run %s%s",
		               word, strchr(word, '/') ? "" : "./", word);
	if (gt_path_is_folder(word) || gt_has_suffix(word, GT_CAPTURE_SUFFIX) ||
	    gt_has_suffix(word, GT_ARENA_SUFFIX))
		return 0;
	return gt_fail(err, EBADMSG, GT_COLLECTOR_WANTS, word);
}

int gt_recording_second(const char *word, struct gt_error *err)
{
	return gt_fail(err, EINVAL, "one recording at a time, not also '%s'", word);
}

int gt_recording_one(int count, char **words, struct gt_error *err)
{
	return count > 1 ? gt_recording_second(words[1], err) : 0;
}

/* In a place: its path. The caller frees it. */
static char *path_in(const char *place, const char *name)
{
	const bool here = strcmp(place, ".") == 0;
	const size_t size = strlen(place) + strlen(name) + sizeof("/");
	char *path = gt_allocate(size);

	snprintf(path, size, "%s%s%s", here ? "" : place, here ? "" : "/", name);
	return path;
}

/* As manifests say: a copy's files have other times. Without one, when its folder changed. */
static struct gt_instant begun_at(const char *path)
{
	struct gt_instant begun = {0};
	struct stat status;

	if (!gt_manifests_begun(path, &begun) && stat(path, &status) == 0)
		gt_instant_of_day(&begun, &status.st_mtim);
	return begun;
}

/* The last by name of several that were begun at the same moment: always the same one. */
static void choose_newest(const char *place, struct gt_words *inside, char **path)
{
	struct gt_instant newest = {0};

	if (inside->list.count > 0)
		qsort(inside->list.rows, inside->list.count, sizeof(*inside->list.rows), compare);
	gt_array_each(char *const, name, &inside->list) {
		char *other = path_in(place, *name);
		const struct gt_instant begun = begun_at(other);
		const bool newer = !*path || strcmp(begun.utc, newest.utc) >= 0;

		free(newer ? *path : other);
		*path = newer ? other : *path;
		newest = newer ? begun : newest;
	}
}

/* The recording in a folder, the newest of several. *path stays NULL when there is none. */
static void choose_inside(const char *place, char **path)
{
	struct folder folder = look(place);

	choose_newest(place, &folder.inside, path);
	if (folder.inside.list.count > 1)
		gt_say("using %s, the newest of %zu recordings", *path, folder.inside.list.count);
	folder_release(&folder);
}

int gt_recording_choose(const char *word, char **path, struct gt_error *err)
{
	static const struct gt_wanted wanted = {.what = "recording", .code = ENOENT};
	int result = 0;

	*path = NULL;
	if (word && !*word)
		return gt_fail(err, EINVAL, "which recording? '' names none");
	*path = word                  ? gt_recording_find(word)
	        : holds_captures(".") ? gt_recording_path(".", "")
	                              : NULL;
	if (*path)
		return 0;
	if (!word || gt_path_is_folder(word)) {
		char *place = without_slashes(word ? word : ".");

		choose_inside(place, path);
		free(place);
	}
	if (*path)
		return 0;
	if (!word)
		return gt_fail(err, EINVAL,
		               "which recording? there is none in this folder; gputrace run "
		               "./app makes one");
	result = gt_recording_is_foreign(word, err);
	if (result == 0)
		result = access(word, F_OK) < 0 ? gt_recording_missing(word, &wanted, err)
		                                : check_file(word, err);
	if (result == 0)
		*path = gt_recording_path(word, "");
	return result;
}
