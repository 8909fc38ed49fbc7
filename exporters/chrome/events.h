/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_CHROME_EVENTS_H
#define GT_EXPORTERS_CHROME_EVENTS_H

#include "exporters/chrome/out.h"
#include "exporters/chrome/places.h"
#include "exporters/exporter.h"
#include "exporters/timeline/ids.h"
#include "model/ranges/ranges.h"

struct gt_view;
struct gt_shape_words;

/* One export on its way. */
struct gt_chrome {
	struct gt_chrome_out out;
	const struct gt_view *view;
	const struct gt_trace *trace; /* of the view */
	struct gt_ids ids;
	struct gt_places places;
	struct gt_shape_words *shapes; /* by row of launch_shapes */
	struct gt_ranges ranges;
	struct gt_export_counts counts;
	gt_time base_ns; /* times are distances from it */
};

/* Everything before the first event, and behind the last one. */
void gt_chrome_write_head(struct gt_chrome *chrome);
void gt_chrome_write_foot(struct gt_chrome *chrome);

/* API calls. */
void gt_chrome_write_calls(struct gt_chrome *chrome);

/* NVTX ranges and marks, and ranges once more on streams. */
void gt_chrome_write_ranges(struct gt_chrome *chrome);

/* Work that ran on GPUs, with arrows from the calls. */
void gt_chrome_write_slices(struct gt_chrome *chrome);

/* GPU code that was loaded and compiled. */
void gt_chrome_write_modules(struct gt_chrome *chrome);

/* Events that kernels told of themselves. */
void gt_chrome_write_device_events(struct gt_chrome *chrome);

/* How much memory is in use; allocations and their ends. */
void gt_chrome_write_memory(struct gt_chrome *chrome);

/*
 * An event up to its name, which is in no event empty. id: tells asynchronous ones apart, 0 for
 * others.
 */
void gt_chrome_begin(struct gt_chrome *chrome, const char *phase, const char *category,
                     const char *name, uint64_t id);

/* Members of an object that begin with a comma. */
void gt_chrome_add_number(struct gt_chars *chars, const char *key, int64_t number);
void gt_chrome_add_text(struct gt_chars *chars, const char *key, const char *text);

/* The path of a range as a member; nothing where there is none. */
void gt_chrome_add_path(struct gt_chrome *chrome, const char *key, gt_id range);

/* The rest of an event behind its name: where, when and how long. INT64_MAX: it has no end. */
void gt_chrome_add_place(struct gt_chrome *chrome, struct gt_place place, gt_time start_ns,
                         gt_time end_ns);

/*
 * CUPTI's number that links a call with what it launched. Each of several processes in one file has
 * numbers of its own.
 */
int64_t gt_chrome_correlation(const struct gt_chrome *chrome, gt_id process, gt_count correlation);

#endif
