/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_COLLECTOR_H
#define GT_COLLECTOR_COLLECTOR_H

#include <stddef.h>

#include "model/trace.h"

struct gt_error;
struct gt_looks;
struct gt_watch;

/*
 * Reads a recording (a NAME.gputrace folder, or one .capture or .arena file of it) into an
 * initialised trace. Damage is not an error: everything before it is read and a row of the
 * table "notes" names the place; nor is a capture that cannot be read, as long as another one can:
 * its process ended as GT_END_UNREAD. The folder is only read, never written. Errors: -ENOENT no
 * such path, -ENODATA a folder without captures, -EBADMSG not a capture at all, -EPROTO
 * written by a newer gputrace, others as the system gave them; the trace is then empty.
 */
int gt_collect(const char *path, struct gt_trace *trace, struct gt_error *err);

/* The message for a path (%s) that cannot be a recording. */
#define GT_COLLECTOR_WANTS                                                                         \
	"%s is not a recording: give the NAME.gputrace folder or one of its .capture files"

/* The same for something that tells how far it is; watch may be NULL. */
int gt_collect_watched(const char *path, struct gt_trace *trace, const struct gt_watch *watch,
                       struct gt_error *err);

/*
 * The same at a moment of its processes that run: with what is in their arenas, calls that have not
 * returned and work that has not ended. Nothing of a process is touched.
 */
int gt_collect_live(const char *path, struct gt_trace *trace, struct gt_error *err);

/* One of several looks at a recording whose processes run. */
struct gt_look {
	struct gt_looks *looks; /* that it is one of (collector/decode/looks.h) */
	gt_time since_ns;       /* of the boot-time clock: work that ended before is not wanted */
	size_t elsewhere; /* set: captures of processes on other machines, which are left out */
};

/*
 * The same of the processes of this machine, without reading again what the look before has read.
 * Where some of the work, calls and samples that are wanted was too much, or was passed over
 * before, trace->known_from_ns says from when on all are there.
 */
int gt_collect_look(const char *path, struct gt_look *look, struct gt_trace *trace,
                    struct gt_error *err);

#endif
