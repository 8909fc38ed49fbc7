/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/reader.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#define MOST_ENTRY   ((size_t)1 << 22) /* bytes of text; a number of 2 takes 32 in memory */
#define MOST_OBJECTS ((size_t)1 << 21)
#define MOST_MEMBERS 1000 /* of the whole */

static const struct {
	const char *key;
	const char *one; /* what an entry is called in messages */
} lists[GT_BUNDLE_LIST_COUNT] = {
#define LIST(key, one) [GT_BUNDLE_LIST_##key] = {#key, #one},
	GT_BUNDLE_LISTS(LIST)
#undef LIST
};

typedef void add_entry(struct gt_bundle_reader *reader, const json_t *object);

char *gt_bundle_empty_text(void)
{
	char *text = gt_allocate(1);

	*text = '\0';
	return text;
}

void gt_bundle_read_blob(struct gt_bundle_reader *reader, const json_t *object, const char *key,
                         int64_t most, struct gt_blob *blob)
{
	const json_t *value = json_object_get(object, key);
	const char *hash = json_string_value(json_object_get(value, "hash"));
	const json_t *size = json_object_get(value, "size");

	if (!value)
		return;
	if (!hash || !gt_blob_is_hash(hash)) {
		gt_bundle_refuse(reader, "%s has no hash of 32 digits", key);
		return;
	}
	if (!json_is_integer(size) || json_integer_value(size) < 0 ||
	    json_integer_value(size) > most) {
		gt_bundle_refuse(reader, "%s has no size from 0 to %lld", key, (long long)most);
		return;
	}
	blob->size = (uint64_t)json_integer_value(size);
	memcpy(blob->hash, hash, sizeof(blob->hash));
}

static void refuse_size(struct gt_bundle_reader *reader, unsigned line)
{
	(void)gt_json_refuse(&reader->reading,
	                     "line %u, nothing that gputrace captures is as large", line);
}

/* Without the place in a list: what is no JSON is named by its line. */
static json_t *parse_entry(struct gt_bundle_reader *reader, const struct gt_json_slice *slice)
{
	const char *list = reader->reading.list;
	json_t *entry = NULL;

	reader->reading.list = NULL;
	if (slice->size > MOST_ENTRY)
		refuse_size(reader, slice->line);
	else
		entry = gt_json_parse(&reader->reading, slice);
	reader->reading.list = list;
	return entry;
}

static void read_entry(struct gt_bundle_reader *reader, const struct gt_json_slice *slice,
                       add_entry *add)
{
	json_t *entry = parse_entry(reader, slice);

	if (json_is_object(entry) || json_is_string(entry))
		add(reader, entry);
	else if (entry)
		gt_bundle_refuse(reader, "it is not an object");
	json_decref(entry);
}

static void read_list(struct gt_bundle_reader *reader, enum gt_bundle_list which, add_entry *add)
{
	const struct gt_json_slice *list = &reader->lists[which];
	struct gt_json_slice entry;
	struct gt_json_walk walk;

	if (reader->reading.result < 0 || list->size == 0)
		return;
	if (*list->text != '[' || !gt_json_walk_begin(&walk, list))
		gt_bundle_refuse(reader, "%s is not a list", lists[which].key);
	for (size_t i = 0; gt_json_walk_next(&walk, &reader->reading, NULL, &entry); i++) {
		reader->reading.list = lists[which].one;
		reader->reading.number = i;
		read_entry(reader, &entry, add);
		reader->reading.list = NULL;
	}
}

#define ORIGIN(name) GT_JSON_OTHER(struct gt_bundle_origin, name, CHARS)
#define ORIGIN_NUMBER(name, kind, low, high)                                                       \
	GT_JSON_NUMBER(struct gt_bundle_origin, name, kind, low, high)

static const struct gt_json_field origin_fields[] = {
	ORIGIN(gputrace),
	ORIGIN(date),
	ORIGIN(host),
	ORIGIN(program),
	ORIGIN(device),
	ORIGIN(uuid),
	ORIGIN(driver),
	ORIGIN_NUMBER(pid, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(correlation, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(cc_major, U32, 0, 1000),
	ORIGIN_NUMBER(cc_minor, U32, 0, 1000),
	ORIGIN_NUMBER(sm_count, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(memory_bytes, U64, 0, GT_BUNDLE_MOST_BYTES),
	ORIGIN_NUMBER(sm_clock_mhz, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(job_ns, U64, 0, INT64_MAX),
	ORIGIN_NUMBER(job_launches, U32, 0, UINT32_MAX),
	ORIGIN_NUMBER(local_bytes, I64, -1, GT_BUNDLE_MOST_BYTES),
	ORIGIN_NUMBER(workspace_bytes, I64, -1, GT_BUNDLE_MOST_BYTES),
};

static void read_origin(struct gt_bundle_reader *reader, const json_t *root)
{
	const json_t *object = json_object_get(root, "origin");

	reader->bundle->origin.local_bytes = -1;
	reader->bundle->origin.workspace_bytes = -1;
	if (object && !json_is_object(object))
		gt_bundle_refuse(reader, "origin is not an object");
	GT_BUNDLE_FIELDS(reader, object, origin_fields, &reader->bundle->origin);
}

void gt_bundle_add_missing(struct gt_bundle_reader *reader, const json_t *entry)
{
	const char *text = json_string_value(entry);
	char *copy;

	if (!text) {
		gt_bundle_refuse(reader, "it is not a text");
		return;
	}
	copy = gt_allocate(strlen(text) + 1);
	memcpy(copy, text, strlen(text) + 1);
	*gt_array_push(&reader->bundle->missing) = copy;
}

static void read_root(struct gt_bundle_reader *reader, const json_t *root)
{
	read_origin(reader, root);
#define LIST(key, one) read_list(reader, GT_BUNDLE_LIST_##key, gt_bundle_add_##one);
	GT_BUNDLE_LISTS(LIST)
#undef LIST
	gt_bundle_check_events(reader);
	gt_bundle_check_graphs(reader);
	gt_bundle_read_focus(reader, root);
	if (reader->bundle->steps.count == 0)
		gt_bundle_refuse(reader, "it has no steps");
}

static bool has_too_much(const char *text, size_t size)
{
	size_t objects = 0;

	for (size_t i = 0; i < size; i++)
		objects += text[i] == '{' || text[i] == '[';
	return size > GT_BUNDLE_MOST_MANIFEST || objects > MOST_OBJECTS;
}

static struct gt_json_slice *list_of(struct gt_bundle_reader *reader, const char *key)
{
	for (int i = 0; i < GT_BUNDLE_LIST_COUNT; i++)
		if (strcmp(lists[i].key, key) == 0)
			return &reader->lists[i];
	return NULL;
}

static void add_member(struct gt_bundle_reader *reader, json_t *root, const char *key,
                       const struct gt_json_slice *value)
{
	struct gt_json_slice *list = list_of(reader, key);
	json_t *parsed = list ? json_null() : parse_entry(reader, value);

	if (json_object_get(root, key))
		gt_bundle_refuse(reader, "line %u, duplicate object key near '\"%.40s\"'",
		                 value->line, key);
	else if (list)
		*list = *value;
	(void)json_object_set_new(root, key, parsed);
}

/* All but the lists, which are kept in mind. */
static json_t *read_members(struct gt_bundle_reader *reader, const struct gt_json_slice *text)
{
	struct gt_json_walk walk;
	struct gt_json_slice key;
	struct gt_json_slice value;
	json_t *root;

	if (!gt_json_walk_begin(&walk, text) || walk.closing == ']')
		return parse_entry(reader, text);
	root = json_object();
	while (gt_json_walk_next(&walk, &reader->reading, &key, &value)) {
		if (json_object_size(root) == MOST_MEMBERS) {
			refuse_size(reader, key.line);
			break;
		}
		json_t *name = parse_entry(reader, &key);

		if (name)
			add_member(reader, root, json_string_value(name), &value);
		json_decref(name);
	}
	return root;
}

int gt_bundle_read_manifest(struct gt_bundle_reader *reader, const char *text, size_t size)
{
	struct gt_json_reading *reading = &reader->reading;
	const json_t *version;
	json_t *root;

	if (size == 0)
		return gt_json_refuse(reading, "it is empty");
	if (has_too_much(text, size))
		return gt_json_refuse(reading, "nothing that gputrace captures is as large");
	root = read_members(reader, &(struct gt_json_slice){text, size, 1});
	version = json_object_get(root, "version");
	if (!json_is_integer(version) || json_integer_value(version) < 1)
		gt_bundle_refuse(reader,
		                 "it has no version"); /* says nothing where it is no JSON */
	else if (json_integer_value(version) > GT_BUNDLE_VERSION)
		reading->result = gt_fail(reading->err, ENOTSUP,
		                          "%s was written by a newer gputrace", reading->file);
	else
		read_root(reader, root);
	json_decref(root);
	return reading->result;
}
