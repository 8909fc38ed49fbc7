/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "base/error.h"
#include "exporters/exporter.h"
#include "exporters/perfetto/writer.h"
#include "model/view/view.h"

static int write_view(const struct gt_view *view, const struct gt_export_options *options,
                      const struct gt_target *target, struct gt_export_counts *counts,
                      struct gt_error *err)
{
	struct gt_perfetto perfetto = {.view = view, .trace = view->trace};
	const enum gt_compression compression = options->compression == GT_COMPRESSION_DEFAULT
	                                                ? GT_COMPRESSION_ZLIB
	                                                : options->compression;
	int result = gt_packets_open(&perfetto.packets, &target->sink, compression, err);

	if (result < 0)
		return result;
	gt_perfetto_write(&perfetto, options);
	result = gt_packets_close(&perfetto.packets, err);

	perfetto.counts.bytes = perfetto.packets.written.bytes;
	perfetto.counts.raw_bytes = perfetto.packets.raw_bytes;
	if (result == 0 && counts)
		*counts = perfetto.counts;
	return result;
}

const struct gt_exporter gt_exporter_perfetto = {
	.name = "perfetto",
	.extension = ".perfetto",
	.summary = "Perfetto trace, to be opened in ui.perfetto.dev",
	.keeps_opening = true,
	.compressions =
		1u << GT_COMPRESSION_NONE | 1u << GT_COMPRESSION_ZLIB | 1u << GT_COMPRESSION_ZSTD,
	.write = write_view,
};
