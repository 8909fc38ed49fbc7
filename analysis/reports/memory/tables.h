/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_MEMORY_TABLES_H
#define GT_ANALYSIS_REPORTS_MEMORY_TABLES_H

#include <stdint.h>

#include "analysis/memory/failures.h"
#include "analysis/memory/origins.h"
#include "analysis/memory/totals.h"
#include "analysis/result.h"
#include "model/ranges/folds.h"
#include "model/trace.h"
#include "model/view/view.h"

/* The tables of the report memory. Each is a section of the page's result. */

/* Everything that tables are made from. */
struct gt_memory_page {
	const struct gt_view *view;
	const struct gt_trace *trace;
	struct gt_result *result;
	enum gt_memory_by by;
	uint64_t top;
	struct gt_range_folds folds;
	struct gt_ranges ranges;
	struct gt_memory_totals totals;
	struct gt_memory_failures failures;
	gt_id *carriers;
};

/* A cell: "device memory", or the name of a pool. */
void gt_memory_add_name(struct gt_result *result, const struct gt_trace *trace, gt_id pool,
                        gt_count kind);

/* GPUs on which memory was allocated, or was to be. */
void gt_memory_add_devices(const struct gt_memory_page *page);

/* Memory by its kind. */
void gt_memory_add_kinds(struct gt_memory_page *page);

/* Calls that failed. */
void gt_memory_add_failures(const struct gt_memory_page *page);

/* Memory that was there when the first call on each device failed. */
void gt_memory_add_at_failures(const struct gt_memory_page *page);

/* Memory that was there at the peak of each GPU. */
void gt_memory_add_peaks(const struct gt_memory_page *page);

/* All that the program never freed, whenever the window ends. */
void gt_memory_add_leaks(const struct gt_memory_page *page);

void gt_memory_add_pools(const struct gt_memory_page *page);
void gt_memory_add_executables(const struct gt_memory_page *page);

/* Whose the memory was when most was in use, and at the end. */
void gt_memory_add_account(const struct gt_memory_page *page);

#endif
