/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "exporters/exporter.h"

#define FORMAT(name) extern const struct gt_exporter gt_exporter_##name;
#include "exporters/formats.def"

#define FORMAT(name) &gt_exporter_##name,
const struct gt_exporter *const gt_exporters[] = {
#include "exporters/formats.def"
};
const size_t gt_exporter_count = sizeof(gt_exporters) / sizeof(gt_exporters[0]);

const struct gt_exporter *gt_exporter_find(const char *name)
{
	for (size_t i = 0; i < gt_exporter_count; i++)
		if (strcmp(gt_exporters[i]->name, name) == 0)
			return gt_exporters[i];
	return NULL;
}

const struct gt_exporter *gt_exporter_for_file(const char *file_name)
{
	const char *dot = strrchr(file_name, '.');

	for (size_t i = 0; dot && i < gt_exporter_count; i++)
		if (strcmp(gt_exporters[i]->extension, dot) == 0)
			return gt_exporters[i];
	return NULL;
}
