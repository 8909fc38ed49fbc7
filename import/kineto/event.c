/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/event.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "import/json/decimal.h"
#include "import/json/json.h"

enum { KEY_BYTES = 64 };

static const struct {
	const char *key;
	size_t offset;
} members[] = {
#define MEMBER(name, key) {key, offsetof(struct gt_kineto_event, name)},
#include "import/kineto/members.def"
};

static void clear(struct gt_kineto_event *event)
{
	event->phase = '\0';
	*event->category = *event->name = *event->label = *event->sync = *event->sizes = '\0';
	event->start_ns = event->duration_ns = event->pid = event->tid = GT_KINETO_NONE;
	for (int i = 0; i < 3; i++)
		event->grid[i] = event->block[i] = 0;
#define MEMBER(name, key) event->name = GT_KINETO_NONE;
#include "import/kineto/members.def"
}

/* Also of a text that is a number, as older files have some. */
static void take_number(const struct gt_json *json, int scale, int64_t *number)
{
	int64_t value;

	if (gt_decimal(json->text, scale, &value))
		*number = value;
}

static void take_text(const struct gt_json *json, char *text, size_t size)
{
	snprintf(text, size, "%.*s", (int)json->size, json->text);
}

/* An array of up to three numbers that was entered. */
static bool take_extent(struct gt_json *json, int64_t extent[3])
{
	for (int i = 0;;) {
		const enum gt_json_token token = gt_json_next(json);

		if (token == GT_TOKEN_ARRAY_END)
			return true;
		if (token == GT_TOKEN_NUMBER && i < 3)
			take_number(json, 0, &extent[i++]);
		else if (!gt_json_skip(json, token))
			return false;
	}
}

/* Adds to a text as long as it fits; false from then on. */
static bool append(char *text, size_t size, const char *more)
{
	const size_t length = strlen(text);

	if (length + strlen(more) + 1 > size)
		return false;
	memcpy(text + length, more, strlen(more) + 1);
	return true;
}

/* Sizes of operands, whose array was entered, as PyTorch writes them into ranges of NVTX. */
static bool take_sizes(struct gt_json *json, char *sizes)
{
	const unsigned depth = json->depth;
	bool fits = append(sizes, GT_KINETO_MOST_SIZES, "[");
	bool first = true;

	while (json->depth >= depth) {
		const enum gt_json_token token = gt_json_next(json);
		const bool closes = token == GT_TOKEN_ARRAY_END || token == GT_TOKEN_OBJECT_END;

		if (token == GT_TOKEN_BROKEN)
			return false;
		if (!closes && !first)
			fits = fits && append(sizes, GT_KINETO_MOST_SIZES, ", ");
		first = token == GT_TOKEN_ARRAY;
		if (token == GT_TOKEN_ARRAY)
			fits = fits && append(sizes, GT_KINETO_MOST_SIZES, "[");
		else if (token == GT_TOKEN_ARRAY_END)
			fits = fits && append(sizes, GT_KINETO_MOST_SIZES, "]");
		else if (token == GT_TOKEN_NUMBER)
			fits = fits && append(sizes, GT_KINETO_MOST_SIZES, json->text);
		else
			fits = false; /* sizes are numbers */
	}
	if (!fits)
		*sizes = '\0';
	return true;
}

static void take_member(const struct gt_json *json, const char *key, struct gt_kineto_event *event)
{
	for (size_t i = 0; i < GT_COUNT_OF(members); i++)
		if (strcmp(members[i].key, key) == 0)
			take_number(json, 0,
			            (int64_t *)(void *)((char *)event + members[i].offset));
}

static bool take_arg(struct gt_json *json, const char *key, enum gt_json_token token,
                     struct gt_kineto_event *event)
{
	if (token == GT_TOKEN_ARRAY && strcmp(key, "grid") == 0)
		return take_extent(json, event->grid);
	if (token == GT_TOKEN_ARRAY && strcmp(key, "block") == 0)
		return take_extent(json, event->block);
	if (token == GT_TOKEN_ARRAY && strcmp(key, "Input Dims") == 0)
		return take_sizes(json, event->sizes);
	if (token == GT_TOKEN_NUMBER)
		take_member(json, key, event);
	else if (token == GT_TOKEN_TEXT && strcmp(key, "name") == 0)
		take_text(json, event->label, sizeof(event->label));
	else if (token == GT_TOKEN_TEXT && strcmp(key, "cuda_sync_kind") == 0)
		take_text(json, event->sync, sizeof(event->sync));
	return gt_json_skip(json, token);
}

static bool take_args(struct gt_json *json, struct gt_kineto_event *event)
{
	for (;;) {
		char key[KEY_BYTES];
		const enum gt_json_token token = gt_json_member(json, key, sizeof(key));

		if (token == GT_TOKEN_OBJECT_END)
			return true;
		if (token == GT_TOKEN_BROKEN || !take_arg(json, key, token, event))
			return false;
	}
}

/* One of its own members; no "args". */
static void take_own(const struct gt_json *json, const char *key, enum gt_json_token token,
                     struct gt_kineto_event *event)
{
	if (token == GT_TOKEN_NUMBER) {
		if (strcmp(key, "ts") == 0)
			take_number(json, 3, &event->start_ns);
		else if (strcmp(key, "dur") == 0)
			take_number(json, 3, &event->duration_ns);
		else if (strcmp(key, "pid") == 0)
			take_number(json, 0, &event->pid);
		else if (strcmp(key, "tid") == 0)
			take_number(json, 0, &event->tid);
	} else if (token == GT_TOKEN_TEXT) {
		if (strcmp(key, "ph") == 0)
			event->phase = *json->text;
		else if (strcmp(key, "cat") == 0)
			take_text(json, event->category, sizeof(event->category));
		else if (strcmp(key, "name") == 0)
			take_text(json, event->name, sizeof(event->name));
	}
}

bool gt_kineto_read_event(struct gt_json *json, struct gt_kineto_event *event)
{
	clear(event);
	for (;;) {
		char key[KEY_BYTES];
		const enum gt_json_token token = gt_json_member(json, key, sizeof(key));
		bool whole = true;

		if (token == GT_TOKEN_OBJECT_END)
			return true;
		if (token == GT_TOKEN_OBJECT && strcmp(key, "args") == 0) {
			whole = take_args(json, event);
		} else {
			take_own(json, key, token, event);
			whole = gt_json_skip(json, token);
		}
		if (!whole)
			return false;
	}
}
