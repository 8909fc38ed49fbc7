/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle/demangle.h"
#include "model/naming/distinct_names.h"
#include "model/naming/kernel_names.h"
#include "model/naming/short_gemm.h"
#include "model/naming/short_name.h"

/* Names of kernels, one a line: each has a short name, and no two names have the same. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void add_name(struct gt_distinct_names *names, const char *line)
{
	char *full = gt_demangle(line);
	char text[GT_SHORT_NAME_MOST];
	char tile[GT_SHORT_NAME_MOST];

	must(gt_short_name(full ? full : line, text, sizeof(text)) == strlen(text));
	must(gt_family_of(text) < GT_FAMILY_COUNT);
	must(gt_origin_of(full ? full : line) < GT_ORIGIN_COUNT);
	must(!gt_gemm_tile(full ? full : line, tile, sizeof(tile)) || strchr(tile, 'x'));
	free(full);
	gt_array_each(const struct gt_distinct_name, name, names)
		if (strcmp(name->full, line) == 0)
			return;
	*gt_array_push(names) = (struct gt_distinct_name){.full = line, .text = strdup(text)};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_distinct_names names = {0};
	char *const lines = malloc(size + 1);
	char *rest = lines;

	memcpy(lines, data, size);
	lines[size] = '\0';
	for (char *line = strsep(&rest, "\n"); line && names.count < 64; line = strsep(&rest, "\n"))
		add_name(&names, line);
	gt_distinct_names(&names);
	for (size_t i = 0; i < names.count; i++)
		for (size_t j = 0; j < i; j++)
			must(strcmp(names.rows[i].text, names.rows[j].text) != 0);
	gt_array_each(struct gt_distinct_name, name, &names)
		free(name->text);
	gt_array_release(&names);
	free(lines);
	return 0;
}
