/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tune/tuned.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/json/values.h"

void gt_tuned_size(const uint32_t grid[3], const uint32_t block[3], char text[GT_TUNED_SIZE])
{
	snprintf(text, GT_TUNED_SIZE, "%llux%llux%llu threads",
	         (unsigned long long)grid[0] * block[0], (unsigned long long)grid[1] * block[1],
	         (unsigned long long)grid[2] * block[2]);
}

static struct gt_tuned *find(const struct gt_tuned_list *list, const struct gt_tuned *like)
{
	gt_array_each(struct gt_tuned, tuned, &list->list)
		if (strcmp(tuned->function, like->function) == 0 &&
		    strcmp(tuned->size, like->size) == 0 &&
		    strcmp(tuned->device, like->device) == 0)
			return tuned;
	return NULL;
}

/* Key that is looked for, its texts cut as those that are kept. */
static struct gt_tuned key_of(const char *function, const char *size, const char *device)
{
	struct gt_tuned key = {.best = {.ns = NAN, .recorded_ns = NAN}};

	snprintf(key.function, sizeof(key.function), "%s", function);
	snprintf(key.size, sizeof(key.size), "%s", size);
	snprintf(key.device, sizeof(key.device), "%s", device);
	return key;
}

const struct gt_tuned *gt_tuned_find(const struct gt_tuned_list *list, const char *function,
                                     const char *size, const char *device)
{
	const struct gt_tuned key = key_of(function, size, device);

	return find(list, &key);
}

static void drop(struct gt_tuned_list *list, size_t number)
{
	gt_array_release(&list->list.rows[number].last);
	list->list.count--;
	memmove(&list->list.rows[number], &list->list.rows[number + 1],
	        (list->list.count - number) * sizeof(list->list.rows[0]));
}

static void add_result(struct gt_tuned *tuned, const struct gt_tuned_result *result)
{
	if (tuned->last.count == GT_TUNED_KEPT) {
		tuned->last.count--;
		memmove(&tuned->last.rows[0], &tuned->last.rows[1],
		        tuned->last.count * sizeof(tuned->last.rows[0]));
	}
	*gt_array_push(&tuned->last) = *result;
	if (isnan(tuned->best.ns) || result->ns < tuned->best.ns)
		tuned->best = *result;
}

void gt_tuned_add(struct gt_tuned_list *list, const char *function, const char *size,
                  const char *device, const struct gt_tuned_result *result)
{
	struct gt_tuned added = key_of(function, size, device);
	const struct gt_tuned *there = find(list, &added);

	if (there) {
		const size_t number = (size_t)(there - list->list.rows);

		added = *there;
		list->list.rows[number].last.rows = NULL;
		drop(list, number);
	}
	add_result(&added, result);
	*gt_array_push(&list->list) = added;
	if (list->list.count > GT_TUNED_MOST)
		drop(list, 0);
}

static bool get_result(const json_t *object, struct gt_tuned_result *result)
{
	*result = (struct gt_tuned_result){
		.ns = gt_json_get_real(object, "ns"),
		.recorded_ns = gt_json_get_real(object, "recorded_ns"),
	};
	gt_json_get_text(object, "variant", result->variant, sizeof(result->variant));
	gt_json_get_text(object, "date", result->date, sizeof(result->date));
	return result->ns > 0 && *result->variant;
}

static void get_tuned(struct gt_tuned_list *list, const json_t *object)
{
	const json_t *last = json_object_get(object, "last");
	struct gt_tuned tuned = key_of("", "", "");

	gt_json_get_text(object, "function", tuned.function, sizeof(tuned.function));
	gt_json_get_text(object, "size", tuned.size, sizeof(tuned.size));
	gt_json_get_text(object, "device", tuned.device, sizeof(tuned.device));
	if (!get_result(json_object_get(object, "best"), &tuned.best) || find(list, &tuned))
		return;
	for (size_t i = 0; i < json_array_size(last); i++) {
		struct gt_tuned_result result;

		if (get_result(json_array_get(last, i), &result))
			add_result(&tuned, &result);
	}
	*gt_array_push(&list->list) = tuned;
}

int gt_tuned_parse(struct gt_tuned_list *list, const char *text, size_t size, const char *what,
                   struct gt_error *err)
{
	json_error_t problem;
	json_t *root = json_loadb(text, size, 0, &problem);
	const json_t *tuned = json_object_get(root, "tuned");
	int result = 0;

	*list = (struct gt_tuned_list){0};
	if (!root)
		result = gt_fail(err, EBADMSG, "%s is damaged at line %d: %s", what, problem.line,
		                 problem.text);
	else if (!json_is_array(tuned))
		result = gt_fail(err, EBADMSG, "%s is not what gputrace replay --tune keeps", what);
	else if (json_integer_value(json_object_get(root, "version")) > GT_TUNED_VERSION)
		result = gt_fail(err, EBADMSG, "%s was written by a newer gputrace", what);
	for (size_t i = 0; result == 0 && i < json_array_size(tuned) && i < GT_TUNED_MOST; i++)
		get_tuned(list, json_array_get(tuned, i));
	json_decref(root);
	return result;
}

static json_t *json_of_result(const struct gt_tuned_result *result)
{
	json_t *object = json_object();

	gt_json_set_text(object, "variant", result->variant);
	gt_json_set_text(object, "date", result->date);
	gt_json_set_real(object, "ns", result->ns);
	gt_json_set_real(object, "recorded_ns", result->recorded_ns);
	return object;
}

static json_t *json_of_tuned(const struct gt_tuned *tuned)
{
	json_t *object = json_object();
	json_t *last = json_array();

	gt_json_set_text(object, "function", tuned->function);
	gt_json_set_text(object, "size", tuned->size);
	gt_json_set_text(object, "device", tuned->device);
	(void)json_object_set_new(object, "best", json_of_result(&tuned->best));
	gt_array_each(const struct gt_tuned_result, result, &tuned->last)
		(void)json_array_append_new(last, json_of_result(result));
	(void)json_object_set_new(object, "last", last);
	return object;
}

char *gt_tuned_text(const struct gt_tuned_list *list)
{
	json_t *root = json_object();
	json_t *tuned = json_array();

	(void)json_object_set_new(root, "version", json_integer(GT_TUNED_VERSION));
	gt_array_each(const struct gt_tuned, row, &list->list)
		(void)json_array_append_new(tuned, json_of_tuned(row));
	(void)json_object_set_new(root, "tuned", tuned);
	return gt_json_file_text(root);
}

void gt_tuned_release(struct gt_tuned_list *list)
{
	gt_array_each(struct gt_tuned, tuned, &list->list)
		gt_array_release(&tuned->last);
	gt_array_release(&list->list);
}
