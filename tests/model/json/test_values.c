/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static json_t *object_of(const char *text)
{
	json_t *object = json_loads(text, 0, NULL);

	cr_assert(object != NULL);
	return object;
}

Test(json_values, that_are_missing_or_of_another_type_are_not_known)
{
	json_t *object = object_of("{\"text\": 5, \"count\": \"x\", \"real\": true}");
	char text[8] = "before";

	gt_json_get_text(object, "text", text, sizeof(text));
	expect_text(text, "");
	gt_json_get_text(NULL, "text", text, sizeof(text));
	expect_text(text, "");
	cr_expect(eq(u32, gt_json_get_count(object, "count"), 0));
	cr_expect(eq(u32, gt_json_get_count(object, "none"), 0));
	cr_expect(isnan(gt_json_get_real(object, "real")));
	cr_expect(isnan(gt_json_get_real(NULL, "real")));
	json_decref(object);
}

Test(json_values, that_do_not_fit_are_cut_between_characters_or_not_known)
{
	json_t *object =
		object_of("{\"text\": \"ab\\u20accd\", \"count\": 4294967296, \"real\": -1}");
	char text[5];

	gt_json_get_text(object, "text", text, sizeof(text));
	expect_text(text, "ab");
	cr_expect(eq(u32, gt_json_get_count(object, "count"), 0));
	cr_expect(isnan(gt_json_get_real(object, "real")));
	json_decref(object);
}

Test(json_values, that_are_not_known_are_left_out)
{
	json_t *object = json_object();
	char *text;

	gt_json_set_text(object, "empty", "");
	gt_json_set_text(object, "text", "a");
	gt_json_set_count(object, "none", 0);
	gt_json_set_count(object, "count", 7);
	gt_json_set_real(object, "nan", NAN);
	gt_json_set_real(object, "real", 0.5);
	text = gt_json_file_text(object);
	expect_text(text, "{\n \"text\": \"a\",\n \"count\": 7,\n \"real\": 0.5\n}\n");
	free(text);
}
