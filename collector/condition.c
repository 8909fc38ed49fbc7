/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/condition.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "format/file/meta.h"
#include "format/file/reader.h"
#include "format/recording.h"
#include "format/records.h"

void gt_condition_take(struct gt_condition *condition, const struct gt_reader *reader)
{
	condition->size = reader->size;
	condition->good_bytes = reader->good_bytes;
	condition->damage_at = reader->damage_at;
	condition->skipped = reader->skipped;
	condition->torn = reader->torn;
}

/* How the file ends; "" when it ends well. */
static void end_text(const struct gt_condition *condition, char *text, size_t size)
{
	text[0] = '\0';
	if (condition->running)
		return;
	if (condition->size == 0)
		snprintf(text, size, "is empty");
	else if (condition->size < GT_FILE_HEADER_SIZE)
		snprintf(text, size, "ends inside its header");
	else if (condition->torn)
		snprintf(text, size, "ends inside a chunk: its last %zu bytes could not be read",
		         condition->size - condition->good_bytes);
	else if (!condition->has_end && condition->size == GT_FILE_HEADER_SIZE)
		snprintf(text, size, "holds nothing but its header");
	else if (!condition->has_end)
		snprintf(text, size, "has no end: what its process did last is not known");
}

bool gt_condition_text(const struct gt_condition *condition, char *text, size_t size)
{
	const char *name = condition->name;
	char end[128];

	text[0] = '\0';
	if (condition->missing)
		snprintf(text, size, "%s is missing: only what its arena holds can be read", name);
	else if (condition->problem)
		snprintf(text, size, "%s was left out: %s", name, condition->problem);
	if (*text)
		return true;
	end_text(condition, end, sizeof(end));
	if (condition->skipped)
		snprintf(text, size,
		         "%s is damaged: %llu bytes from byte %zu on could not be read%s%s", name,
		         (unsigned long long)condition->skipped, condition->damage_at,
		         *end ? ", and it " : "", end);
	else if (*end)
		snprintf(text, size, "%s %s", name, end);
	return *text;
}

void gt_recording_condition_add(struct gt_recording_condition *recording,
                                const struct gt_condition *condition)
{
	char text[GT_CONDITION_BYTES];

	recording->running += condition->running;
	if (!gt_condition_text(condition, text, sizeof(text)))
		return;
	if (recording->damaged++ == 0)
		memcpy(recording->first, text, sizeof(text));
}

static int add_damaged(const struct gt_recording_condition *recording, char *text, size_t size)
{
	char more[64] = "";

	if (recording->damaged > 1)
		snprintf(more, sizeof(more), "; %u more %s not complete either",
		         recording->damaged - 1, recording->damaged == 2 ? "file is" : "files are");
	return snprintf(text, size, "is not complete: %s%s; figures are of what could be read",
	                recording->first, more);
}

bool gt_recording_condition_text(const struct gt_recording_condition *recording, char *text,
                                 size_t size)
{
	const unsigned running = recording->running;
	int length = 0;

	text[0] = '\0';
	if (recording->damaged)
		length = add_damaged(recording, text, size);
	if (running && (size_t)length < size)
		snprintf(text + length, size - (size_t)length,
		         "%sis still being written by %u %s: what %s not written yet is not in it",
		         length ? "; it " : "", running, running == 1 ? "process" : "processes",
		         running == 1 ? "that has" : "they have");
	return *text;
}

int gt_fail_unread(struct gt_error *err, size_t captures, const char *path,
                   const struct gt_error *why)
{
	if (captures == 1)
		return gt_fail(err, why->code, "cannot read %s: %s", path, why->text);
	return gt_fail(err, why->code, "cannot read any of %zu captures; %s: %s", captures, path,
	               why->text);
}

/* ---- files that nobody writes any more ---- */

/* Memory that is used for one file after the other. */
struct look {
	const char *folder;
	uint8_t *scratch;
	void *decompressor;
};

static bool says_end(const struct gt_chunk *chunk)
{
	static const char end[] = GT_META_END;
	struct gt_text key;
	struct gt_text value;
	size_t offset = 0;

	while (gt_chunk_next_pair(chunk, &offset, &key, &value) > 0)
		if (key.size == sizeof(end) - 1 && memcmp(key.bytes, end, sizeof(end) - 1) == 0)
			return true;
	return false;
}

/* The condition's name is that of the file. */
static int look_at(const struct look *look, struct gt_condition *condition, struct gt_error *why)
{
	char path[PATH_MAX];
	struct gt_content content;
	struct gt_reader reader;
	struct gt_chunk chunk;
	int result;

	snprintf(path, sizeof(path), "%s/%s", look->folder, condition->name);
	result = gt_load_file(&content, path, why);
	if (result == 0)
		result = gt_reader_init(&reader, content.bytes, content.size, look->scratch, why);
	if (result == 0) {
		gt_reader_use(&reader, look->decompressor);
		gt_reader_skip_holes(&reader, &content);
		while (gt_reader_next(&reader, &chunk) > 0)
			if (chunk.header.kind == GT_RECORD_META && says_end(&chunk))
				condition->has_end = true;
		gt_condition_take(condition, &reader);
	}
	gt_unload(&content);
	return result;
}

struct name {
	char text[NAME_MAX + 1];
};

struct names {
	gt_array(struct name) list;
};

/* In the order in which they are read: captures by name, then what machines are made of. */
static int by_kind_and_name(const void *a, const void *b)
{
	const char *left = ((const struct name *)a)->text;
	const char *right = ((const struct name *)b)->text;
	const int order =
		gt_has_suffix(left, GT_TOPOLOGY_SUFFIX) - gt_has_suffix(right, GT_TOPOLOGY_SUFFIX);

	return order ? order : strcmp(left, right);
}

static int list(struct names *names, const char *folder, struct gt_error *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	if (!dir)
		return gt_fail(err, errno, "cannot read %s: %s", folder, gt_errno_text(errno));
	while ((entry = readdir(dir))) { // NOLINT(concurrency-mt-unsafe): the stream is our own
		if (!gt_has_suffix(entry->d_name, GT_CAPTURE_SUFFIX) &&
		    !gt_has_suffix(entry->d_name, GT_TOPOLOGY_SUFFIX))
			continue;
		/* Anything else with the name of such a file is skipped, as in reading. */
		if (gt_check_file(dirfd(dir), entry->d_name, NULL) < 0)
			continue;
		snprintf(gt_array_push(&names->list)->text, sizeof(struct name), "%s",
		         entry->d_name);
	}
	closedir(dir);
	if (names->list.count)
		qsort(names->list.rows, names->list.count, sizeof(*names->list.rows),
		      by_kind_and_name);
	return 0;
}

/* The captures that there are, and those that cannot be read. */
struct captures {
	size_t count;
	size_t unread;
	const char *path_of_first;
	struct gt_error first;
};

static void look_at_capture(struct gt_recording_condition *recording, const struct look *look,
                            const char *name, struct captures *captures)
{
	struct gt_condition condition = {
		.name = name,
		.has_end = gt_has_suffix(name, GT_TOPOLOGY_SUFFIX),
	};
	const bool is_capture = gt_has_suffix(name, GT_CAPTURE_SUFFIX);
	struct gt_error why = {0};

	captures->count += is_capture;
	if (look_at(look, &condition, &why) < 0) {
		condition.problem = why.text;
		if (is_capture && captures->unread++ == 0) {
			captures->first = why;
			captures->path_of_first = name;
		}
	}
	gt_recording_condition_add(recording, &condition);
}

int gt_recording_condition_read(struct gt_recording_condition *recording, const char *folder,
                                struct gt_error *err)
{
	const struct look look = {folder, gt_allocate(GT_CHUNK_MAX_RAW),
	                          gt_allocate(gt_reader_memory())};
	struct captures captures = {0};
	struct names names = {0};
	int result = list(&names, folder, err);

	*recording = (struct gt_recording_condition){0};
	gt_array_each(const struct name, name, &names.list)
		look_at_capture(recording, &look, name->text, &captures);
	if (result == 0 && captures.count && captures.unread == captures.count) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, captures.path_of_first);
		result = gt_fail_unread(err, captures.count, path, &captures.first);
	}
	gt_array_release(&names.list);
	gt_array_free(look.scratch);
	gt_array_free(look.decompressor);
	return result;
}
