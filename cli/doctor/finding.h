/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DOCTOR_FINDING_H
#define GT_CLI_DOCTOR_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

struct gt_world;

/*
 * Something that gputrace doctor found of a machine or a program: the fact, its cost to who wants
 * to record, and the step that mends it. findings.def lists who looks for them.
 */
enum gt_severity {
	GT_SEVERITY_ERROR,   /* nothing would be recorded */
	GT_SEVERITY_WARNING, /* something would be missing */
	GT_SEVERITY_OK,
};

struct gt_finding {
	const char *id; /* as in findings.def; constant */
	enum gt_severity severity;
	char *found; /* owned, as the next two: sentences without an end of line */
	char *costs; /* NULL when it is fine */
	char *mend;  /* likewise */
};

struct gt_findings {
	const char *id; /* of who looks at the moment */
	gt_array(struct gt_finding) list;
	size_t errors;
	size_t warnings;
};

/* Who looks for one thing. */
struct gt_finder {
	bool explains; /* it may be the reason why nothing is recorded: gputrace run says it then */
	/* Adds a finding or more, or none where it has nothing to say. */
	void (*find)(struct gt_findings *findings, const struct gt_world *world);
};

/* Adds a finding; the next two complete the one that was added last. */
__attribute__((format(printf, 3, 4))) void
gt_found(struct gt_findings *findings, enum gt_severity severity, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void gt_costs(struct gt_findings *findings, const char *fmt,
                                                    ...);
__attribute__((format(printf, 2, 3))) void gt_mend(struct gt_findings *findings, const char *fmt,
                                                   ...);

/* Looks for everything; the worst come first, of equals in the order of the list. */
void gt_findings_look(struct gt_findings *findings, const struct gt_world *world);

/* Only for reasons why nothing is recorded, and what is fine is left out. */
void gt_findings_explain(struct gt_findings *findings, const struct gt_world *world);

void gt_findings_release(struct gt_findings *findings);

#endif
