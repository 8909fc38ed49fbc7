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

/* "x.json.gz" is a ".json" file of a format that can be compressed so. */
static size_t without_gz(const char *file_name)
{
	const size_t size = strlen(file_name);

	return size > 3 && strcmp(file_name + size - 3, ".gz") == 0 ? size - 3 : size;
}

const struct gt_exporter *gt_exporter_for_file(const char *file_name)
{
	const size_t whole = strlen(file_name);
	const size_t size = without_gz(file_name);

	for (size_t i = 0; i < gt_exporter_count; i++) {
		const struct gt_exporter *exporter = gt_exporters[i];
		const size_t length = strlen(exporter->extension);

		if (size >= length &&
		    strncmp(file_name + size - length, exporter->extension, length) == 0 &&
		    (size == whole || exporter->compressions & 1u << GT_COMPRESSION_GZIP))
			return exporter;
	}
	return NULL;
}
