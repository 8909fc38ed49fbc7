/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/askers.h"

#include <stdio.h>
#include <string.h>

#include "injection/process/mapping_lines.h"

struct lookup {
	struct gt_capture_askers *askers;
	uint32_t count; /* of memory */
};

/* The number of the name + 1; 0: there is no room. */
static uint16_t number_of(struct gt_capture_askers *askers, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *kept = askers->names[askers->count % GT_CAPTURE_ASKERS];

	for (uint32_t i = 0; i < askers->count; i++)
		if (strncmp(askers->names[i], name, GT_CAPTURE_ASKER_BYTES - 1) == 0)
			return (uint16_t)(i + 1);
	if (askers->count == GT_CAPTURE_ASKERS)
		return 0;
	(void)snprintf(kept, GT_CAPTURE_ASKER_BYTES, "%s", name);
	return (uint16_t)++askers->count;
}

/* The word nearest to the call is taken, of those that are in code of files. */
static void use_line(void *context, const struct gt_mapping_line *line)
{
	const struct lookup *lookup = context;
	struct gt_capture_askers *askers = lookup->askers;

	if (!line->is_code || line->path[0] != '/' || gt_is_passed_over(line->path))
		return;
	for (uint32_t i = 0; i < lookup->count; i++)
		for (uint8_t at = 0; at < askers->found[i] && askers->words[i][at]; at++)
			if (askers->words[i][at] >= line->start &&
			    askers->words[i][at] < line->end) {
				askers->found[i] = at;
				askers->whose[i] = number_of(askers, line->path);
			}
}

static const struct {
	const char *pattern;
	bool keeps;
} libraries[] = {
#define LIBRARY(pattern, name, keeps) {pattern, keeps},
#include "format/kinds/memory_libraries.def"
};

enum whose { PROGRAM, LIBRARY, ALLOCATOR };

static enum whose whose_is(const char *name)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strncmp(name, libraries[i].pattern, strlen(libraries[i].pattern)) == 0)
			return libraries[i].keeps ? ALLOCATOR : LIBRARY;
	return PROGRAM;
}

static void look_up(struct gt_capture_askers *askers, const struct gt_asked_memory *asked,
                    const struct gt_reach *reach)
{
	struct lookup lookup = {askers, reach->count};

	askers->count = 0;
	for (uint32_t i = 0; i < reach->count; i++) {
		askers->found[i] = GT_ASKED_WORDS;
		askers->whose[i] = 0;
		if (!asked ||
		    !gt_asked_memory_find(asked, reach->memory[i].address, askers->words[i]))
			askers->words[i][0] = 0;
	}
	/* Where not all can be read, code that was not seen may be nearer. */
	if (!gt_mapping_lines_each(askers->text, sizeof(askers->text), use_line, &lookup))
		memset(askers->whose, 0, reach->count * sizeof(askers->whose[0]));
}

int64_t gt_capture_askers_name(struct gt_capture_askers *askers,
                               const struct gt_asked_memory *asked, struct gt_reach *reach)
{
	bool known = true;
	int64_t bytes = 0;

	look_up(askers, asked, reach);
	for (uint32_t i = 0; i < reach->count; i++) {
		struct gt_reached *memory = &reach->memory[i];
		enum whose whose;

		if (memory->kind == GT_BUNDLE_MEMORY_variable)
			continue;
		memory->name = askers->whose[i] ? askers->names[askers->whose[i] - 1] : "";
		whose = whose_is(memory->name);
		known = known && askers->whose[i] && whose != ALLOCATOR;
		if (whose == LIBRARY)
			bytes += (int64_t)memory->size;
	}
	return known ? bytes : -1;
}
