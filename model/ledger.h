/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_LEDGER_H
#define GT_MODEL_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Meanings of the classes of a ledger, and whether a recording lacks anything: said here once, so
 * that every report, export and sentence agrees.
 */

/* Kind of a class, as far as losses go. */
enum gt_ledger_trait {
	GT_CLASS_kept, /* no loss */
	GT_CLASS_time, /* nanoseconds, no loss */
	GT_CLASS_lost, /* not in the recording */
	/* In it without times. A kernel without times is also the launch without times. */
	GT_CLASS_without_times,
	GT_CLASS_kernels_without_times,
	/* Not in it, counted where it is missed and where it was lost: one thing from two sides. */
	GT_CLASS_missing,
	GT_CLASS_not_fetched,
	GT_CLASS_failed,     /* could not be recorded at all: how much that was is not known */
	GT_CLASS_unrecorded, /* processes of which nothing is recorded */
};

struct gt_ledger_class {
	const char *name;
	enum gt_ledger_trait trait;
	const char *one;  /* of a loss in a sentence, "" where sentences have other words */
	const char *many; /* the same for any other number */
	const char *help; /* one line, no full stop */
};

extern const struct gt_ledger_class gt_ledger_classes[];
extern const size_t gt_ledger_class_count;

/* NULL for a class this gputrace does not know: of a newer recording. */
const struct gt_ledger_class *gt_ledger_class_find(const char *name);

/* Whether what the class counts is missing from the recording, or has no times. */
static inline bool gt_ledger_class_is_loss(const struct gt_ledger_class *class)
{
	return class->trait != GT_CLASS_kept && class->trait != GT_CLASS_time;
}

/* How complete a recording is. */
struct gt_ledger_state {
	uint64_t processes;      /* those that could not be recorded included */
	uint64_t lost;           /* missing or without times; what two classes count counts once */
	uint64_t sources_failed; /* sources, or kinds of activity, that could not start */
	uint64_t cut_short;      /* processes whose file stops early: what they did last is lost */
	uint64_t unread;         /* processes whose file could not be read */
	uint64_t running;        /* processes that still ran */
	uint64_t imported; /* processes of another profiler's files: nobody knows what they lack */
	uint64_t unrecorded;   /* processes that used CUDA and are not in the recording */
	uint64_t not_balanced; /* launches that the classes of launches do not add up to */
	bool kept;             /* there is a ledger at all */
};

/*
 * Sum of each class over all processes, by string: as many as the trace has. The caller frees it.
 */
uint64_t *gt_ledger_sums(const struct gt_trace *trace);

struct gt_ledger_state gt_ledger_state(const struct gt_trace *trace);

/*
 * Nothing is missing, as far as the recording says so: every launch has its kernel with times or
 * none to have, no record was lost and the end of every process is known. One that died is clean
 * when all of it was salvaged.
 */
bool gt_ledger_is_clean(const struct gt_ledger_state *state);

#endif
