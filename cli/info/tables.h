/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_INFO_TABLES_H
#define GT_CLI_INFO_TABLES_H

#include "analysis/result.h"
#include "cli/recording/manifest.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "model/trace.h"

/* Tables of gputrace info. Each is a section of the result. */

/* Everything that is known of a recording. */
struct gt_info_facts {
	struct gt_manifests runs; /* those whose manifest can be read */
	struct gt_manifest sum;   /* of them: what the table recording says */
	struct gt_recording_files files;
	struct gt_reading reading;
};

/* "" is what is not known. */
void gt_info_add_text(struct gt_result *result, const char *text);

/*
 * All runs as if they were the first: from its start to the end of the last, as far as all have
 * ended, and the first ending that was no success. The texts stay those of the runs.
 */
struct gt_manifest gt_info_sum(const struct gt_manifests *runs);
void gt_info_add_recording(struct gt_result *result, const struct gt_info_facts *facts);
void gt_info_add_runs(struct gt_result *result, const struct gt_manifests *runs);

/* Memory that was made, by its kind and by who asked for it, and events of managed memory. */
void gt_info_add_memory(struct gt_result *result, const struct gt_trace *trace);
void gt_info_add_libraries(struct gt_result *result, const struct gt_trace *trace);
void gt_info_add_unified(struct gt_result *result, const struct gt_trace *trace);

/* All tables. */
void gt_info_fill(struct gt_result *result, const struct gt_info_facts *facts);

#endif
