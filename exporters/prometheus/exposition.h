/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PROMETHEUS_EXPOSITION_H
#define GT_EXPORTERS_PROMETHEUS_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/timeline/written.h"

/*
 * Prometheus' text format, version 0.0.4: the one that node_exporter's textfile collector reads.
 * HELP and TYPE of a metric stand once, before its first series, and all its series together. A
 * series is begun, labelled and ended with its value:
 *
 *   gt_exposition_metric(exposition, GT_METRIC_kernels_total);
 *   gt_exposition_series(exposition);
 *   gt_exposition_label(exposition, "family", "gemm");
 *   gt_exposition_count(exposition, 12);
 *
 * Metrics without a series are not written at all.
 */
enum gt_metric_id {
#define METRIC(name, type, help) GT_METRIC_##name,
#include "exporters/prometheus/metrics.def"
	GT_METRIC_COUNT
};

struct gt_exposition {
	struct gt_written written; /* its sink is set, all else zero */
	enum gt_metric_id metric;
	bool described; /* HELP and TYPE of it are written */
	bool labelled;  /* the series has a label */
	uint64_t series;
};

/* The series that follow are of this one; each metric once, in the order of metrics.def. */
void gt_exposition_metric(struct gt_exposition *exposition, enum gt_metric_id metric);

void gt_exposition_series(struct gt_exposition *exposition);

/* A value is bytes: they become UTF-8, and are escaped. NULL or "": not known, and no label. */
void gt_exposition_label(struct gt_exposition *exposition, const char *name, const char *value);

/* One of these ends a series. */
void gt_exposition_count(struct gt_exposition *exposition, uint64_t count);
void gt_exposition_seconds(struct gt_exposition *exposition, uint64_t ns);
void gt_exposition_real(struct gt_exposition *exposition, double value);

#endif
