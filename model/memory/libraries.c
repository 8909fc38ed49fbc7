/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/libraries.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

static const struct {
	const char *pattern;
	struct gt_memory_library library;
} libraries[] = {
#define LIBRARY(pattern, name, keeps) {pattern, {name, keeps}},
#include "format/kinds/memory_libraries.def"
};

struct gt_memory_library gt_memory_library_of(const char *file)
{
	const char *folder = strrchr(file, '/');
	const char *name = folder ? folder + 1 : file;

	for (size_t i = 0; i < GT_COUNT_OF(libraries); i++)
		if (strncmp(name, libraries[i].pattern, strlen(libraries[i].pattern)) == 0)
			return libraries[i].library;
	return (struct gt_memory_library){0};
}
