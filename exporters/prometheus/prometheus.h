/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PROMETHEUS_PROMETHEUS_H
#define GT_EXPORTERS_PROMETHEUS_PROMETHEUS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/advice/facts.h"
#include "exporters/prometheus/exposition.h"
#include "model/naming/job_rank.h"

struct gt_error;
struct gt_exporter;
struct gt_told;
struct gt_told_run;
struct gt_view;

/*
 * Figures of a recording as metrics. Each is the one of a report (docs/recording/metrics.md says of
 * which); one that is not known has no series.
 */
struct gt_prometheus {
	struct gt_exposition *exposition;
	const struct gt_told *told;
	const struct gt_view *view; /* NULL: the program runs, and only what is told is known */
	struct gt_facts facts;      /* of the view */
	const char *host;           /* of all processes; "": they ran on several */
	char job[GT_JOB_ID_BYTES];  /* of all processes; "": none, or several */
	bool *shown;                /* by device: something tells it from all others */
	uint64_t skipped;           /* GPUs of which nothing does */
};

/* Begins a series with the labels of the recording. */
void gt_prometheus_series(const struct gt_prometheus *prometheus);

/* The same with those of a GPU, a row of devices, as dcgm-exporter spells them; GT_NONE: of none. */
void gt_prometheus_gpu_series(const struct gt_prometheus *prometheus, gt_id device);

/* The job of a run, or of the recording where that does not say; "": none is known. */
const char *gt_prometheus_job(const struct gt_prometheus *prometheus,
                              const struct gt_told_run *run);

/* Labels of a process's rank, where it is known. */
void gt_prometheus_rank(const struct gt_prometheus *prometheus, struct gt_job_rank rank);

/* Whether a GPU, or GT_NONE, has series. */
bool gt_prometheus_shows(const struct gt_prometheus *prometheus, gt_id device);

/* Those of metrics.def: of the runs and the ledger, of the window, of each GPU, of all together. */
void gt_prometheus_write_told(const struct gt_prometheus *prometheus);
void gt_prometheus_write_window(const struct gt_prometheus *prometheus);
void gt_prometheus_write_gpus(const struct gt_prometheus *prometheus);
void gt_prometheus_write_recording(const struct gt_prometheus *prometheus);

/* While the program runs: what is told alone. 0, or a negative errno value with err set. */
int gt_prometheus_write_running(const struct gt_told *told, struct gt_sink sink,
                                struct gt_error *err);

#endif
