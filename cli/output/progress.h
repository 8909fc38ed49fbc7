/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_PROGRESS_H
#define GT_CLI_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/sink/sink.h"
#include "base/watch.h"

/*
 * One line on standard error that says what is being done and how far it is: on a terminal only,
 * from one second after the first begin on, and gone at the end and when a signal ends the
 * program. A later begin takes the line over. Zero-initialised shows nothing, ever.
 */
struct gt_progress {
	bool wanted;
	bool shown;
	char what[128];
	struct timespec start;
	struct timespec last; /* drawn */
	struct gt_watch watch;
	struct gt_sink sink; /* of whom written is counted */
	uint64_t written;
};

/* Begins a thing: "reading app.gputrace". quiet: nothing is to be shown. */
__attribute__((format(printf, 3, 4))) void gt_progress_begin(struct gt_progress *progress,
                                                             bool quiet, const char *fmt, ...);

/* Who is told how far it is; the progress must stay where it is. */
const struct gt_watch *gt_progress_watch(struct gt_progress *progress);

/* The sink with everything counted that goes through it, of which nobody knows how much it will be.
 */
struct gt_sink gt_progress_sink(struct gt_progress *progress, struct gt_sink sink);

/* Erases the line. May be called twice. */
void gt_progress_end(struct gt_progress *progress);

#endif
