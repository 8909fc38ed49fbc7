/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/variables.h"

#include <stdlib.h>
#include <string.h>

#include "model/naming/job_rank.h"
#include "model/trace.h"

static int by_text(const void *a, const void *b)
{
	const struct gt_variable *left = a;
	const struct gt_variable *right = b;
	const size_t common = left->length < right->length ? left->length : right->length;
	const int order = memcmp(left->text, right->text, common);

	return order ? order : (left->length > right->length) - (left->length < right->length);
}

/*
 * A rank is each process's own. Images of containers set NCCL_VERSION, which NCCL does not read;
 * PyTorch sets the folder of its compiler's cache itself.
 */
static bool is_no_setting(const char *line)
{
	static const char *const names[] = {"NCCL_VERSION=", "TORCHINDUCTOR_CACHE_DIR="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(line, names[i], strlen(names[i])) == 0)
			return true;
	return gt_job_rank_is_line(line);
}

void gt_variables_init(struct gt_variables *variables, const struct gt_trace *trace)
{
	size_t kept = 0;

	*variables = (struct gt_variables){0};
	gt_array_each(const struct gt_process, process, &trace->processes) {
		const char *line = gt_trace_text(trace, process->environment);

		while (*line) {
			const size_t length = strcspn(line, "\n");

			if (length > 0 && !is_no_setting(line))
				*gt_array_push(&variables->list) =
					(struct gt_variable){line, length, 1};
			line += length + (line[length] == '\n');
		}
	}
	if (variables->list.count > 1)
		qsort(variables->list.rows, variables->list.count, sizeof(*variables->list.rows),
		      by_text);
	gt_array_each(const struct gt_variable, variable, &variables->list) {
		if (kept > 0 && by_text(variable, &variables->list.rows[kept - 1]) == 0)
			variables->list.rows[kept - 1].processes++;
		else
			variables->list.rows[kept++] = *variable;
	}
	variables->list.count = kept;
}

void gt_variables_release(struct gt_variables *variables)
{
	gt_array_release(&variables->list);
}

bool gt_variables_have(const struct gt_variables *variables, const char *text)
{
	gt_array_each(const struct gt_variable, variable, &variables->list)
		if (variable->length == strlen(text) &&
		    memcmp(variable->text, text, variable->length) == 0)
			return true;
	return false;
}
