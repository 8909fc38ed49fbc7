/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/name_stems.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

static const char *const stems[] = {
#define RULE(name, form)
#define STEM(ending) ending,
#include "model/naming/short_names.def"
};

static const char *const leads[] = {
#define RULE(name, form)
#define LEAD(beginning) beginning,
#include "model/naming/short_names.def"
};

struct gt_name_part gt_name_stem(const struct gt_name *name, struct gt_name_part base)
{
	const char *text = name->text;

	for (size_t i = 0; i < GT_COUNT_OF(leads); i++) {
		const size_t length = strlen(leads[i]);

		if (base.end - base.first > length &&
		    memcmp(text + base.first, leads[i], length) == 0) {
			base.first += length;
			break;
		}
	}
	for (size_t i = 0; i < GT_COUNT_OF(stems); i++) {
		const size_t length = strlen(stems[i]);

		if (base.end - base.first > length &&
		    memcmp(text + base.end - length, stems[i], length) == 0) {
			base.end -= length;
			break;
		}
	}
	return base;
}
