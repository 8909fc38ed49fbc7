/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/wire/texts.h"

#include "base/strings.h"

void gt_texts_init(struct gt_texts *texts, const struct gt_trace *trace)
{
	*texts = (struct gt_texts){.limit = gt_strings_count(trace->strings)};
	texts->numbers = gt_allocate_zeroed(texts->limit, sizeof(*texts->numbers));
}

void gt_texts_release(struct gt_texts *texts)
{
	gt_array_free(texts->numbers);
	gt_array_release(&texts->used);
	*texts = (struct gt_texts){0};
}

uint32_t gt_texts_add(struct gt_texts *texts, gt_string text)
{
	const gt_string known = text < texts->limit ? text : 0; /* 0 is "" in every trace */

	if (texts->numbers[known] == 0) {
		*gt_array_push(&texts->used) = known;
		texts->numbers[known] = (uint32_t)texts->used.count;
	}
	return texts->numbers[known];
}
