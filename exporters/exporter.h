/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_EXPORTER_H
#define GT_EXPORTERS_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sink/sink.h"
#include "model/trace.h"

struct gt_error;
struct gt_steps;
struct gt_view;

/* Where to write. The file is the caller's to open, to check and to name when it is complete. */
struct gt_target {
	struct gt_sink sink;
	const char *path; /* of the file behind the sink; NULL: it has none, as a pipe */
};

/* How what is written is compressed. */
enum gt_compression {
	GT_COMPRESSION_DEFAULT, /* the format's own choice */
	GT_COMPRESSION_NONE,
	GT_COMPRESSION_ZLIB,
	GT_COMPRESSION_GZIP,
	GT_COMPRESSION_ZSTD,
};

/* A run of gputrace that recorded, as its manifest tells it. Texts may be empty: not known. */
struct gt_told_run {
	const char *version; /* of gputrace */
	const char *host;
	const char *job;    /* NULL: that of the trace's processes */
	unsigned number;    /* in its recording, from 1 */
	int64_t elapsed_ns; /* since the program was started, or in all; -1: not known */
	int exit_status;    /* as a shell has it, if it ended */
	bool ended;
	bool running;
};

/* Value of a class of the ledger that was read while the program ran. */
struct gt_told_class {
	const char *name;
	uint64_t value;
};

/* Facts beside the trace, for exporters of figures. */
struct gt_told {
	const char *recording; /* its name */
	const struct gt_told_run *runs;
	size_t run_count;
	const struct gt_told_class *classes; /* no counter falls below these */
	size_t class_count;
	bool counts_processes; /* and these are known: */
	unsigned recorded;     /* processes that are being recorded now, */
	unsigned paused;       /* and those of them that are paused */
};

/* How to write; zero-initialised means the defaults. */
struct gt_export_options {
	enum gt_compression compression;
	bool without_calls;           /* leave out API calls; waits and failed calls stay */
	const struct gt_steps *steps; /* of the view, for who has found them; NULL: they are found */
	const char *opening;        /* how viewers are to open it, for exporters with keeps_opening;
	                               NULL: nothing is said */
	const struct gt_told *told; /* NULL: nothing of it is known */
};

/* Counts of what was written, for users and for tests that compare them with an importer's. */
struct gt_export_counts {
	uint64_t gpu_slices;    /* kernels, copies, fills on GPU tracks */
	uint64_t api_slices;    /* API calls on thread tracks */
	uint64_t range_slices;  /* NVTX's ranges and marks, and ranges once more above GPUs */
	uint64_t memory_marks;  /* where memory was allocated and freed, failures and peaks */
	uint64_t memory_values; /* of the lines that say how much is in use */
	uint64_t device_slices; /* ranges, marks and values that kernels told of themselves */
	uint64_t arrows;      /* from a call to what it launched, from work to what waited for it */
	uint64_t host_arrows; /* between slices of the host: from an allocation to its end */
	uint64_t bytes;       /* of the file */
	uint64_t raw_bytes;   /* before compression */
	uint64_t skipped;     /* rows that could not be placed in time */
	uint64_t texts_cut;   /* long texts that are there in part, as all would be too much */
	uint64_t series;      /* of exporters of metrics: lines with a value */
};

/* One file format that what a view shows can be written as. To add one: see formats.def. */
struct gt_exporter {
	const char *name;      /* gputrace export --format NAME */
	const char *extension; /* with the dot; picks the format when none is named */
	const char *summary;   /* one line, no full stop */
	const char *readers;   /* programs besides Perfetto's UI that show it; NULL: none */
	bool is_database;      /* tables to be asked, no timeline to be looked at */
	bool is_metrics;       /* figures for a monitoring system, no timeline either */
	bool keeps_opening;    /* how viewers are to open it, as options say */
	bool needs_path;       /* writes the path by itself, not into the sink: never to a pipe */
	unsigned compressions; /* that it can write: 1 << GT_COMPRESSION_... */
	enum gt_name_form
		names; /* of kernels, where none are asked for: as its readers expect them */
	/* counts may be NULL. Returns 0 or a negative errno value with err set. */
	int (*write)(const struct gt_view *view, const struct gt_export_options *options,
	             const struct gt_target *target, struct gt_export_counts *counts,
	             struct gt_error *err);
};

extern const struct gt_exporter *const gt_exporters[];
extern const size_t gt_exporter_count;

/* By name ("perfetto") or by the extension of a file name. NULL when nothing fits. */
const struct gt_exporter *gt_exporter_find(const char *name);
const struct gt_exporter *gt_exporter_for_file(const char *file_name);

#endif
