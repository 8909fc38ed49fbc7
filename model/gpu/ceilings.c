/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/ceilings.h"

#include <string.h>

const char *const gt_ceiling_names[GT_CEILINGS] = {
#define CEILING(name, unit, group, help) #name,
#include "model/gpu/ceilings.def"
};

/* The better of two, either may be NULL. */
static const struct gt_ceiling *prefer(const struct gt_ceiling *held,
                                       const struct gt_ceiling *other)
{
	return held && held->source <= other->source ? held : other;
}

struct gt_ceiling_pair gt_ceilings_of(const struct gt_trace *trace, gt_id device,
                                      enum gt_ceiling_name name)
{
	struct gt_ceiling_pair pair = {0};

	for (size_t i = 0; i < trace->ceilings.count; i++) {
		const struct gt_ceiling *ceiling = &trace->ceilings.rows[i];

		if (ceiling->device != device || ceiling->peer != GT_NONE ||
		    strcmp(gt_trace_text(trace, ceiling->name), gt_ceiling_names[name]) != 0)
			continue;
		if (ceiling->source == GT_CEILING_DATA_SHEET)
			pair.theoretical = ceiling;
		else
			pair.measured = prefer(pair.measured, ceiling);
	}
	return pair;
}

const char *gt_ceiling_source_name(unsigned source)
{
	static const char *const names[] = {
		[GT_CEILING_HERE] = "measured here",
		[GT_CEILING_SAME_MODEL] = "measured on the same model",
		[GT_CEILING_DATA_SHEET] = "data sheet",
	};

	return source < sizeof(names) / sizeof(names[0]) ? names[source] : "unknown";
}
