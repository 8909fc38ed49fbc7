/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_JSON_H
#define GT_CLI_OUTPUT_JSON_H

#include <stdio.h>

#include <jansson.h>

/*
 * A JSON string of any text, null for NULL. Kernel names and command lines are bytes; what is
 * not UTF-8 in them becomes the replacement character, byte by byte.
 */
json_t *gt_json_text(const char *text);

/*
 * Writes it as jansson's flags say, and a line end. Characters of texts that a terminal obeys, or
 * that turn others around, are escapes: "\u202e".
 */
void gt_json_print(const json_t *root, size_t flags, FILE *out);

#endif
