/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ENVIRONMENT_H
#define GT_FORMAT_ENVIRONMENT_H

#include <stddef.h>

/*
 * The part of a program's environment that its recording keeps: the variables of environment.def
 * and of launchers.def, as lines NAME=value.
 */
enum {
	GT_ENVIRONMENT_LINE = 256,   /* bytes of a line that are kept */
	GT_ENVIRONMENT_BYTES = 4096, /* enough for a text */
};

/*
 * Writes the lines, each ended by '\n', and returns their bytes; lines that do not fit are left
 * out. Bytes that are not printable ASCII become '?'. Takes no memory, may be called anywhere.
 */
size_t gt_environment_text(char *const *environment, char *text, size_t size);

#endif
