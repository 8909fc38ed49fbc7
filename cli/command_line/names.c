/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/names.h"

#include <stddef.h>
#include <string.h>

const char *const gt_name_words[] = {"short", "full", "mangled", NULL};

enum gt_name_form gt_names_form(const char *word)
{
	for (size_t i = GT_NAMES_SHORT; word && gt_name_words[i]; i++)
		if (strcmp(word, gt_name_words[i]) == 0)
			return (enum gt_name_form)i;
	return GT_NAMES_SHORT;
}
