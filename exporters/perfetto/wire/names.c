/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/wire/names.h"

#include "base/array.h"
#include "base/strings.h"
#include "exporters/perfetto/wire/texts.h"

void gt_names_init(struct gt_names *names, const struct gt_trace *trace)
{
	*names = (struct gt_names){.trace = trace, .limit = gt_strings_count(trace->strings)};
	names->texts = gt_strings_new();
	names->by_text = gt_allocate_zeroed(names->limit, sizeof(*names->by_text));
}

void gt_names_release(struct gt_names *names)
{
	gt_strings_free(names->texts);
	gt_array_free(names->by_text);
	*names = (struct gt_names){0};
}

uint32_t gt_names_add(struct gt_names *names, const char *text)
{
	return gt_strings_add(names->texts, gt_name_or(text, "(no name)"));
}

uint32_t gt_names_of(struct gt_names *names, gt_string text)
{
	const gt_string known = text < names->limit ? text : 0; /* 0 is "" in every trace */

	if (names->by_text[known] == 0)
		names->by_text[known] = gt_names_add(names, gt_trace_text(names->trace, known));
	return names->by_text[known];
}

const char *gt_names_text(const struct gt_names *names, uint32_t number)
{
	return gt_strings_get(names->texts, number);
}
