/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_JSON_VALUES_H
#define GT_MODEL_JSON_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/*
 * Members of objects in files of JSON that anybody may have changed: what is missing or of another
 * type is not known, and what is not known is left out. object may be NULL when it is read. Where a
 * file is refused that says something else: json_fields.h.
 */

/* As many whole characters as fit; "": not known. */
void gt_json_get_text(const json_t *object, const char *key, char *text, size_t size);

/* 0: not known, or more than fits. */
uint32_t gt_json_get_count(const json_t *object, const char *key);

/* NAN for what is no number, or less than 0. */
double gt_json_get_real(const json_t *object, const char *key);

void gt_json_set_text(json_t *object, const char *key, const char *text);
void gt_json_set_count(json_t *object, const char *key, uint32_t count);
void gt_json_set_real(json_t *object, const char *key, double value);

/* The text of a file, which takes the root. The caller frees it. */
char *gt_json_file_text(json_t *root);

#endif
