/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/cubins/cubin.h"

/* A cubin as a recording may hold it: whatever stands in it, all that is found lies inside of it. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

/* Reads every byte, so that a sanitizer sees one that is not there. */
static void check(struct gt_cubin_text text, const struct gt_cubin *cubin)
{
	const char *begin = (const char *)cubin->bytes;

	if (text.size)
		must(text.text >= begin && text.size <= (size_t)(begin + cubin->size - text.text));
	for (size_t i = 0; i < text.size; i++)
		must(text.text[i] != '\0');
}

static void check_variables(const struct gt_cubin *cubin)
{
	struct gt_cubin_section section;
	struct gt_cubin_variable variable;

	for (uint32_t i = 0; i < cubin->section_count; i++) {
		uint64_t next = 0;

		if (!gt_cubin_section(cubin, i, &section) || section.type != GT_ELF_SYMTAB)
			continue;
		while (gt_cubin_next_variable(cubin, &section, &next, &variable)) {
			must(variable.size > 0);
			check((struct gt_cubin_text){variable.name, strlen(variable.name)}, cubin);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_cubin_facts facts;
	struct gt_cubin cubin;

	if (gt_cubin_open(&cubin, data, size, NULL) < 0)
		return 0;
	gt_cubin_facts_read(&facts, &cubin);
	must(facts.functions.count <= cubin.section_count);
	check(facts.compiler, &cubin);
	check(facts.options, &cubin);
	gt_array_each(const struct gt_cubin_function, function, &facts.functions) {
		must(function->name.size > 0);
		check(function->name, &cubin);
		check(function->file, &cubin);
		check(function->folder, &cubin);
		must((function->line == 0) == (function->file.size == 0));
	}
	gt_cubin_facts_release(&facts);
	check_variables(&cubin);
	return 0;
}
