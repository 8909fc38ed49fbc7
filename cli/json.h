/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_JSON_H
#define GT_CLI_JSON_H

#include <jansson.h>

/*
 * A JSON string of any text, null for NULL. Kernel names and command lines are bytes; what is
 * not UTF-8 in them becomes the replacement character, byte by byte.
 */
json_t *gt_json_text(const char *text);

#endif
