/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ADVICE_ADVICE_H
#define GT_ANALYSIS_ADVICE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/statistics/shares.h"
#include "base/array.h"
#include "base/units.h"
#include "model/trace.h"

/*
 * Findings in a recording and what could be done about them. A rule looks at the facts of a
 * recording and, where its threshold is passed, says one sentence with figures that other reports
 * show, and what following it would bring, as far as that can be worked out. To add one: see
 * advice/advice.def. A false accusation is worse than silence.
 */

struct gt_advice;
struct gt_facts;
struct gt_view;

enum gt_advice_kind {
	GT_ADVICE_WRONG,   /* something failed: said before all that is about time */
	GT_ADVICE_CHANGE,  /* something to do otherwise */
	GT_ADVICE_KNOW,    /* nothing to do otherwise: what figures mean, what cannot be had */
	GT_ADVICE_MEASURE, /* whether there is anything to do takes what was not recorded */
};

/* For people: "wrong", "change", "know", "measure". Constant. */
const char *gt_advice_kind_name(enum gt_advice_kind kind);

/* How sure an estimate is. */
enum gt_gain_bound {
	GT_GAIN_UNKNOWN, /* none is honest */
	GT_GAIN_AT_MOST, /* it cannot be more */
	GT_GAIN_ABOUT,   /* from rates or times that were measured */
};

/* "at most", "about"; "" for GT_GAIN_UNKNOWN. Constant. */
const char *gt_gain_bound_name(enum gt_gain_bound bound);

/*
 * Wall time of the window that would not be spent. A change saves no more than the time in which at
 * least one thread, process or GPU does what is changed: all else of the program goes on meanwhile,
 * whatever waits for what. A sum over threads or GPUs is no such time.
 */
struct gt_gain {
	enum gt_gain_bound bound;
	struct gt_share saved;
	const char *how; /* it was computed; constant */
};

/* A figure, and where another report has it. All texts are constant but the value. */
struct gt_evidence {
	const char *report;
	const char *table;
	const char *column;
	double figure; /* in the unit of the column; NAN: it is no number */
	char *value;   /* for people; owned */
};

struct gt_advice_row {
	const struct gt_advice_rule *rule;
	enum gt_advice_kind kind;
	const char *report; /* that says more: the rule's, unless it says otherwise; constant */
	gt_id device;       /* GT_NONE: the recording */
	char *text;         /* owned */
	const char *hint;   /* what to do, where report summary has no room for it; NULL: none */
	/* The stretch that it is about, unless the rule says otherwise the time in which the GPU
	 * was in use, or the window. */
	struct gt_interval when;
	struct gt_gain gain;
	size_t asked; /* how many rows were there before it */
	gt_array(struct gt_evidence) evidence;
};

/* A rule that could not be asked, and what would have to be recorded. */
struct gt_unasked {
	const struct gt_advice_rule *rule;
	const char *why; /* constant */
};

struct gt_advice_rule {
	const char *name;
	const char *summary; /* what it looks for, one line without a full stop */
	const char *report;  /* that says more */
	bool apart;          /* report summary leaves it to report advice */
	/* It goes by how time passes, which launches that are run several times for counters
	 * change. */
	bool undisturbed;
	/* One of the two: asked once, or for each device. */
	void (*of_recording)(const struct gt_facts *facts, struct gt_advice *advice);
	void (*of_device)(const struct gt_facts *facts, gt_id device, struct gt_advice *advice);
};

extern const struct gt_advice_rule *const gt_advice_rules[];
extern const size_t gt_advice_rule_count;

/*
 * All that the rules say: what is wrong first, then what would bring most, then what brings nothing
 * that could be estimated, in the order of advice.def.
 */
struct gt_advice {
	const struct gt_facts *facts;
	gt_array(struct gt_advice_row) rows;
	gt_array(struct gt_unasked) unasked;
	const struct gt_advice_rule *rule; /* that is being asked */
	gt_id device;                      /* for which it is asked */
};

/* The facts must outlive it. */
void gt_advice_init(struct gt_advice *advice, const struct gt_facts *facts);
void gt_advice_release(struct gt_advice *advice);

/* The finding without its details and what to do: its text up to the first stop. */
struct gt_advice_brief {
	char text[200];
};
struct gt_advice_brief gt_advice_brief(const struct gt_advice_row *row);

/* "at most 12 ms (4.5%)"; "" where no estimate is honest. */
struct gt_advice_worth {
	char text[160];
};
struct gt_advice_worth gt_advice_worth(const struct gt_advice_row *row);

/* ---- for rules ---- */

/* Adds a row of the rule and the device that is being asked. Valid until the next one. */
__attribute__((format(printf, 3, 4))) struct gt_advice_row *
gt_advise(struct gt_advice *advice, enum gt_advice_kind kind, const char *fmt, ...);

/* figure: in the unit of the column, NAN for a text; fmt: the same for people. */
__attribute__((format(printf, 6, 7))) void gt_advice_cite(struct gt_advice_row *row,
                                                          const char *report, const char *table,
                                                          const char *column, double figure,
                                                          const char *fmt, ...);

/* A stretch that the finding is about; one that is not known changes nothing. */
void gt_advice_when(struct gt_advice_row *row, gt_time start_ns, gt_time end_ns);

/* how: a constant. */
void gt_advice_gain(struct gt_advice_row *row, enum gt_gain_bound bound, struct gt_share saved,
                    const char *how);

/* The same, of a sum of times of one GPU that lie apart. */
void gt_advice_gain_apart(struct gt_advice_row *row, const struct gt_facts *facts, uint64_t ns,
                          const char *how);

/* The rule has nothing to go by; why is a constant. Said once for a rule. */
void gt_advice_unasked(struct gt_advice *advice, const char *why);

/*
 * Whether a part is at least so many percent of the whole; false of nothing. The part must be one
 * of the whole: shares of wall time are struct gt_share.
 */
bool gt_is_share(uint64_t part, uint64_t whole, unsigned percent);

struct gt_figure gt_advice_ns(uint64_t duration_ns);
struct gt_figure gt_advice_share(uint64_t part, uint64_t whole);
struct gt_figure gt_advice_percent(const struct gt_share *share);

/*
 * Behind the time of the unit that had most: " of process app (100)", where several had some; ""
 * where there is but one. And behind its share: ", most of 8 processes".
 */
struct gt_unit_name gt_advice_whose(const struct gt_facts *facts, const struct gt_unit_times *times,
                                    const struct gt_share *most);
struct gt_unit_name gt_advice_most_of(const struct gt_unit_times *times);

/* The number people know a GPU by, of a row of devices. */
long long gt_advice_gpu(const struct gt_facts *facts, gt_id device);

/* "copy" or "copies" and the like. */
static inline const char *gt_plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

#endif
