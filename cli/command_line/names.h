/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_NAMES_H
#define GT_CLI_COMMAND_LINE_NAMES_H

#include "cli/command_line/option.h"
#include "model/trace.h"

/* The option that says which names kernels are shown with, the same in every command that shows
 * any. */

extern const char *const gt_name_words[]; /* in the order of enum gt_name_form */

/* clang-format off */
#define GT_NAMES_OPTION(type, field) \
	OPT_CHOICE("names", 0, type, field, "FORM", gt_name_words, \
	           "Names of kernels: short (default, but full in Chrome traces), full as in C++, or " \
	           "mangled as in the program's file")
/* clang-format on */

/* The form that a word stands for, short when it is NULL. */
enum gt_name_form gt_names_form(const char *word);

#endif
