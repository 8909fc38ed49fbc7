/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/collector.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/path.h"
#include "base/strings.h"
#include "base/watch.h"
#include "collector/calibrations.h"
#include "collector/kinds.h"
#include "collector/stage.h"
#include "format/arena/files.h"
#include "format/recording.h"

#define STAGE(name) extern const struct gt_stage gt_stage_##name;
#include "collector/stages.def"

#define STAGE(name) &gt_stage_##name,
static const struct gt_stage *const stages[] = {
#include "collector/stages.def"
};

void gt_collection_note(struct gt_collection *collection, gt_id process, const char *topic,
                        const char *fmt, ...)
{
	struct gt_trace *trace = collection->trace;
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	*gt_array_push(&trace->notes) = (struct gt_note){
		.process = process,
		.topic = gt_strings_add(trace->strings, topic),
		.text = gt_strings_add(trace->strings, text),
	};
}

size_t gt_capture_count(const struct gt_capture *capture, uint32_t kind)
{
	size_t count = 0;

	gt_array_each(const struct gt_segment, segment, &capture->segments)
		if (segment->kind == kind)
			count += segment->count;
	return count;
}

/* "folder/name" with another suffix; to be freed. */
static char *join(const char *folder, const char *name, size_t name_size, const char *suffix)
{
	const size_t size = strlen(folder) + name_size + strlen(suffix) + 2;
	char *path = gt_allocate(size);

	snprintf(path, size, "%s/%.*s%s", folder, (int)name_size, name, suffix);
	return path;
}

/* Where a recording's files are. */
struct place {
	const char *path;
	int fd; /* of the folder */
};

/*
 * A file whose name ends with suffix: a capture, or an arena, which makes a capture that may be
 * missing. Anything else with such a name is skipped.
 */
static void add_file(struct gt_collection *collection, const struct place *folder, const char *name,
                     const char *suffix)
{
	const size_t stem = strlen(name) - strlen(suffix);
	const bool is_arena = strcmp(suffix, GT_ARENA_SUFFIX) == 0;
	struct gt_capture *capture;
	struct gt_error why = {0};

	if (gt_check_file(folder->fd, name, &why) < 0) {
		gt_collection_note(collection, GT_NONE, "collect", "%s was skipped: %s", name,
		                   why.text);
		return;
	}
	capture = gt_array_push(&collection->captures);
	*capture = (struct gt_capture){
		.path = join(folder->path, name, stem, GT_CAPTURE_SUFFIX),
		.arena_path = is_arena ? join(folder->path, name, stem, suffix) : NULL,
		.missing = is_arena,
	};
	capture->name = strrchr(capture->path, '/') + 1;
}

/* One that cannot be read is noted: what it says would not be missed otherwise. */
static void add_roll(struct gt_collection *collection, const struct place *folder, const char *name)
{
	const size_t stem = strlen(name) - strlen(GT_ROLL_SUFFIX);
	char *path = join(folder->path, name, stem, GT_ROLL_SUFFIX);
	struct gt_host_roll roll = {.host = ""};
	struct gt_error why = {0};

	snprintf(roll.host, sizeof(roll.host), "%.*s", (int)stem, name);
	if (gt_roll_read(&roll.lines, path, &why) < 0) {
		gt_collection_note(collection, GT_NONE, "roll", "%s: %s", name, why.text);
		collection->rolls_unread++;
	} else if (roll.lines.count || roll.lines.more_processes || roll.lines.more_launches ||
	           roll.lines.more_calls) {
		*gt_array_push(&collection->rolls) = roll;
	}
	free(path);
}

/* The topology of a machine: a capture of no process. */
static void add_machine(struct gt_collection *collection, const struct place *folder,
                        const char *name)
{
	const size_t stem = strlen(name) - strlen(GT_TOPOLOGY_SUFFIX);
	struct gt_capture *machine;
	struct gt_error why = {0};

	if (gt_check_file(folder->fd, name, &why) < 0) {
		gt_collection_note(collection, GT_NONE, "topology", "%s was skipped: %s", name,
		                   why.text);
		return;
	}
	machine = gt_array_push(&collection->machines);
	*machine = (struct gt_capture){
		.path = join(folder->path, name, stem, GT_TOPOLOGY_SUFFIX),
		.process = GT_NONE,
	};
	machine->name = strrchr(machine->path, '/') + 1;
}

/* One that cannot be read is noted, too. */
static void add_calibrations(struct gt_collection *collection, const struct place *folder,
                             const char *name)
{
	struct gt_error why = {0};

	if (gt_calibrations_read(&collection->calibrations, folder->fd, name, &why) < 0)
		gt_collection_note(collection, GT_NONE, "calibration", "%s", why.text);
}

/* By name; the capture itself before what its arena stands for. */
static int by_name(const void *a, const void *b)
{
	const struct gt_capture *left = a;
	const struct gt_capture *right = b;
	const int order = strcmp(left->name, right->name);

	return order ? order : (int)left->missing - (int)right->missing;
}

/*
 * Sorts what was added and brings each arena to its capture. One without a capture stands for
 * itself, unless nothing was ever in it.
 */
static void join_arenas(struct gt_collection *collection)
{
	size_t kept = 0;

	if (collection->captures.count == 0)
		return;
	qsort(collection->captures.rows, collection->captures.count, sizeof(struct gt_capture),
	      by_name);
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		struct gt_capture *last = kept ? &collection->captures.rows[kept - 1] : NULL;

		if (!capture->missing) {
			collection->captures.rows[kept++] = *capture;
			continue;
		}
		if (last && !last->missing && strcmp(last->name, capture->name) == 0) {
			last->arena_path = capture->arena_path;
		} else if (!gt_arena_is_unused(capture->arena_path)) {
			collection->captures.rows[kept++] = *capture;
			continue;
		} else {
			free(capture->arena_path);
		}
		free(capture->path);
	}
	collection->captures.count = kept;
}

static int list_folder(struct gt_collection *collection, const char *path, struct gt_error *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return gt_fail(err, errno, "cannot read %s: %s", path, gt_errno_text(errno));

	const struct place folder = {path, dirfd(dir)};

	while ((entry = readdir(dir))) { // NOLINT(concurrency-mt-unsafe): the stream is our own
		if (gt_has_suffix(entry->d_name, GT_CAPTURE_SUFFIX))
			add_file(collection, &folder, entry->d_name, GT_CAPTURE_SUFFIX);
		else if (gt_has_suffix(entry->d_name, GT_ARENA_SUFFIX))
			add_file(collection, &folder, entry->d_name, GT_ARENA_SUFFIX);
		else if (gt_has_suffix(entry->d_name, GT_ROLL_SUFFIX))
			add_roll(collection, &folder, entry->d_name);
		else if (gt_has_suffix(entry->d_name, GT_NOTES_SUFFIX))
			gt_left_notes_read(&collection->left_notes, folder.fd, entry->d_name);
		else if (gt_has_suffix(entry->d_name, GT_KERNEL_LOG_SUFFIX))
			gt_left_notes_read_log(&collection->left_notes, folder.fd, entry->d_name);
		else if (gt_has_suffix(entry->d_name, GT_TOPOLOGY_SUFFIX))
			add_machine(collection, &folder, entry->d_name);
		else if (gt_has_suffix(entry->d_name, GT_CALIBRATION_SUFFIX))
			add_calibrations(collection, &folder, entry->d_name);
	}
	closedir(dir);
	join_arenas(collection);
	if (collection->machines.count > 1)
		qsort(collection->machines.rows, collection->machines.count,
		      sizeof(struct gt_capture), by_name);
	if (collection->captures.count > 0 || collection->rolls.count > 0)
		return 0;
	if (collection->trace->notes.count > 0)
		return gt_fail(err, EBADMSG, "%s holds no captures: %s", path,
		               gt_trace_text(collection->trace,
		                             collection->trace->notes.rows[0].text));
	return gt_fail(err, ENODATA,
	               "%s holds no captures: it is not a recording, or the recorded program "
	               "never used CUDA",
	               path);
}

/* A capture with the arena beside it, or the other way round. */
static int list_file(struct gt_collection *collection, const char *path, struct gt_error *err)
{
	static const char *const suffixes[] = {GT_CAPTURE_SUFFIX, GT_ARENA_SUFFIX};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const bool is_arena = gt_has_suffix(name, GT_ARENA_SUFFIX);
	const size_t stem = strlen(name) - strlen(suffixes[is_arena]);
	char text[PATH_MAX];
	struct stat status;
	struct gt_error why = {0};

	if (!gt_has_suffix(name, suffixes[is_arena]))
		return gt_fail(err, EBADMSG, GT_COLLECTOR_WANTS, path);
	if (gt_check_file(AT_FDCWD, path, &why) < 0)
		return gt_fail(err, why.code, "%s is not a recording: %s", path, why.text);
	snprintf(text, sizeof(text), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");

	const struct place folder = {*text ? text : "/",
	                             open(*text ? text : "/", O_PATH | O_DIRECTORY | O_CLOEXEC)};

	if (folder.fd < 0)
		return gt_fail(err, errno, "cannot open %s: %s", folder.path, gt_errno_text(errno));
	for (size_t i = 0; i < 2; i++) {
		char beside[NAME_MAX + sizeof(GT_CAPTURE_SUFFIX)];

		snprintf(beside, sizeof(beside), "%.*s%s", (int)stem, name, suffixes[i]);
		if (fstatat(folder.fd, beside, &status, 0) == 0)
			add_file(collection, &folder, beside, suffixes[i]);
	}
	close(folder.fd);
	join_arenas(collection);
	if (collection->captures.count == 0)
		return gt_fail(err, ENODATA, "%s holds nothing: the arena was never used", path);
	return 0;
}

static int list(struct gt_collection *collection, const char *path, struct gt_error *err)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return gt_fail(err, errno, "cannot open %s: %s", path, gt_errno_text(errno));
	return S_ISDIR(status.st_mode) ? list_folder(collection, path, err)
	                               : list_file(collection, path, err);
}

static bool is_here(const char *host, const struct gt_capture *capture)
{
	const size_t size = strlen(host);

	return strncmp(capture->name, host, size) == 0 && capture->name[size] == '-' &&
	       isdigit((unsigned char)capture->name[size + 1]);
}

static void release_capture(struct gt_capture *capture)
{
	free(capture->path);
	free(capture->arena_path);
#define KEPT(record, list) gt_array_release(&capture->list);
#include "collector/kept.def"
	gt_array_release(&capture->strings);
	gt_known_release(&capture->shapes);
	gt_array_release(&capture->raw_shapes);
	gt_array_release(&capture->raw_ledger);
	gt_array_release(&capture->clocks);
	gt_array_release(&capture->raw_series);
	gt_known_release(&capture->series_places);
	gt_known_release(&capture->series_numbers);
	gt_known_release(&capture->ledger_names);
	gt_known_release(&capture->devices);
	gt_known_release(&capture->contexts);
	gt_known_release(&capture->streams);
	gt_known_release(&capture->threads);
	gt_known_release(&capture->events);
	gt_known_release(&capture->pools);
	gt_array_release(&capture->handles);
	gt_known_release(&capture->handle_places);
	gt_array_release(&capture->segments);
	gt_array_release(&capture->own_kernels);
}

/*
 * A look is at processes of this machine, whose clock is the one that it goes by. Where there are
 * none, it is at all of a recording from elsewhere, as long as none of it runs.
 */
static int choose_machine(struct gt_collection *collection, const char *path, struct gt_error *err)
{
	char host[HOST_NAME_MAX + 1];
	size_t kept = 0;
	bool runs = false;

	gt_host_name(host, sizeof(host));
	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		kept += is_here(host, capture);
		runs |= capture->arena_path && gt_arena_is_live(capture->arena_path);
	}
	if (kept == 0)
		return runs ? gt_fail(err, ENODATA, "no process of this machine records into %s",
		                      path)
		            : 0;
	collection->look->elsewhere = collection->captures.count - kept;
	kept = 0;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		if (is_here(host, capture))
			collection->captures.rows[kept++] = *capture;
		else
			release_capture(capture);
	}
	collection->captures.count = kept;
	return 0;
}

static void release(struct gt_collection *collection)
{
	gt_array_each(struct gt_capture, capture, &collection->captures)
		release_capture(capture);
	gt_array_each(struct gt_capture, machine, &collection->machines)
		release_capture(machine);
	gt_array_release(&collection->captures);
	gt_array_release(&collection->machines);
	gt_array_release(&collection->rolls);
	gt_left_notes_release(&collection->left_notes);
	gt_calibrations_release(&collection->calibrations);
}

static int collect(struct gt_collection *collection, const char *path, struct gt_error *err)
{
	const size_t count = sizeof(stages) / sizeof(stages[0]);
	const struct gt_watch *watch = collection->watch;
	struct gt_trace *trace = collection->trace;
	struct gt_kinds *kinds = gt_allocate(sizeof(*kinds));
	int result;

	gt_kinds_init(kinds);
	collection->kinds = kinds;
	result = list(collection, path, err);
	if (result == 0 && collection->look)
		result = choose_machine(collection, path, err);

	for (size_t i = 0; result == 0 && i < count; i++) {
		if (i > 0)
			gt_watch_tell(watch, GT_SHARE_OF_DECODE + i * GT_SHARE_OF_REST / count,
			              GT_SHARE_OF_DECODE + GT_SHARE_OF_REST);
		result = stages[i]->run(collection, err);
	}
	release(collection);
	gt_array_free(kinds);
	if (result < 0) {
		gt_trace_release(trace);
		gt_trace_init(trace);
	}
	return result;
}

int gt_collect_watched(const char *path, struct gt_trace *trace, const struct gt_watch *watch,
                       struct gt_error *err)
{
	return collect(&(struct gt_collection){.trace = trace, .watch = watch}, path, err);
}

int gt_collect_live(const char *path, struct gt_trace *trace, struct gt_error *err)
{
	return collect(&(struct gt_collection){.trace = trace, .live = true}, path, err);
}

int gt_collect_look(const char *path, struct gt_look *look, struct gt_trace *trace,
                    struct gt_error *err)
{
	look->elsewhere = 0;
	return collect(&(struct gt_collection){.trace = trace, .live = true, .look = look}, path,
	               err);
}

int gt_collect(const char *path, struct gt_trace *trace, struct gt_error *err)
{
	return gt_collect_watched(path, trace, NULL, err);
}
