/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/collector.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/strings.h"
#include "collector/kinds.h"
#include "collector/stage.h"
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

/* name ends with suffix: that of a capture, or of the arena beside it. */
static void add_capture(struct gt_collection *collection, const char *folder, const char *name,
                        const char *suffix)
{
	const size_t stem = strlen(name) - strlen(suffix);
	struct gt_capture *capture = gt_array_push(&collection->captures);
	char *arena = join(folder, name, stem, GT_ARENA_SUFFIX);
	struct stat status;

	*capture = (struct gt_capture){.path = join(folder, name, stem, GT_CAPTURE_SUFFIX)};
	capture->name = strrchr(capture->path, '/') + 1;
	if (stat(arena, &status) == 0)
		capture->arena_path = arena;
	else
		free(arena);
}

/* One that cannot be read is noted: what it says would not be missed otherwise. */
static void add_roll(struct gt_collection *collection, const char *folder, const char *name)
{
	const size_t stem = strlen(name) - strlen(GT_ROLL_SUFFIX);
	char *path = join(folder, name, stem, GT_ROLL_SUFFIX);
	struct gt_host_roll roll = {.host = ""};
	struct gt_error why = {0};

	snprintf(roll.host, sizeof(roll.host), "%.*s", (int)stem, name);
	if (gt_roll_read(&roll.lines, path, &why) < 0)
		gt_collection_note(collection, GT_NONE, "roll", "%s: %s", name, why.text);
	else if (roll.lines.count || roll.lines.more_processes || roll.lines.more_launches ||
	         roll.lines.more_calls)
		*gt_array_push(&collection->rolls) = roll;
	free(path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct gt_capture *)a)->name, ((const struct gt_capture *)b)->name);
}

static int list_folder(struct gt_collection *collection, const char *path, struct gt_error *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return gt_fail(err, errno, "cannot read %s: %s", path, gt_errno_text(errno));
	while ((entry = readdir(dir))) // NOLINT(concurrency-mt-unsafe): the stream is our own
		if (gt_has_suffix(entry->d_name, GT_CAPTURE_SUFFIX))
			add_capture(collection, path, entry->d_name, GT_CAPTURE_SUFFIX);
		else if (gt_has_suffix(entry->d_name, GT_ROLL_SUFFIX))
			add_roll(collection, path, entry->d_name);
	closedir(dir);
	if (collection->captures.count == 0 && collection->rolls.count == 0)
		return gt_fail(
			err, ENODATA,
			"%s holds no captures: it is not a recording, or the recorded program "
			"never used CUDA",
			path);
	if (collection->captures.count > 0)
		qsort(collection->captures.rows, collection->captures.count,
		      sizeof(struct gt_capture), by_name);
	return 0;
}

static int list_file(struct gt_collection *collection, const char *path, struct gt_error *err)
{
	const char *slash = strrchr(path, '/');
	const char *suffix =
		gt_has_suffix(path, GT_ARENA_SUFFIX) ? GT_ARENA_SUFFIX : GT_CAPTURE_SUFFIX;
	char folder[PATH_MAX];

	if (!gt_has_suffix(path, suffix))
		return gt_fail(err, EBADMSG,
		               "%s is not a recording: give the NAME.gputrace folder or one of its "
		               ".capture files",
		               path);
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
	         slash ? path : ".");
	add_capture(collection, *folder ? folder : "/", slash ? slash + 1 : path, suffix);
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

static void release(struct gt_collection *collection)
{
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		free(capture->path);
		free(capture->arena_path);
		gt_array_release(&capture->strings);
		gt_known_release(&capture->shapes);
		gt_array_release(&capture->raw_shapes);
		gt_array_release(&capture->raw_threads);
		gt_array_release(&capture->raw_notes);
		gt_array_release(&capture->raw_devices);
		gt_array_release(&capture->raw_ledger);
		gt_array_release(&capture->clocks);
		gt_array_release(&capture->raw_handles);
		gt_array_release(&capture->raw_counters);
		gt_array_release(&capture->raw_series);
		gt_known_release(&capture->series_places);
		gt_known_release(&capture->series_numbers);
		gt_known_release(&capture->ledger_names);
		gt_array_release(&capture->raw_own_calls);
		gt_known_release(&capture->devices);
		gt_known_release(&capture->contexts);
		gt_known_release(&capture->streams);
		gt_known_release(&capture->threads);
		gt_known_release(&capture->events);
		gt_array_release(&capture->handles);
		gt_known_release(&capture->handle_places);
		gt_array_release(&capture->segments);
	}
	gt_array_release(&collection->captures);
	gt_array_release(&collection->rolls);
}

int gt_collect(const char *path, struct gt_trace *trace, struct gt_error *err)
{
	struct gt_kinds kinds;
	struct gt_collection collection = {.trace = trace, .kinds = &kinds};
	int result;

	gt_kinds_init(&kinds);
	result = list(&collection, path, err);

	for (size_t i = 0; result == 0 && i < sizeof(stages) / sizeof(stages[0]); i++)
		result = stages[i]->run(&collection, err);
	release(&collection);
	if (result < 0) {
		gt_trace_release(trace);
		gt_trace_init(trace);
	}
	return result;
}
