/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_COUNTERS_H
#define GT_INJECTION_COUNTERS_H

#include <stdint.h>

struct gt_session;

/* What a column of a series is, for those that sources sample themselves. */
struct gt_counter_words {
	const char *name;
	const char *unit;
	const char *help;
	uint32_t kind; /* as counter records have it */
};

/* Units. */
#define GT_MILLIWATT        "mW"
#define GT_MILLIJOULE       "mJ"
#define GT_MEGAHERTZ        "MHz"
#define GT_CELSIUS          "C"
#define GT_PERCENT          "%"
#define GT_BYTES            "bytes"
#define GT_BYTES_PER_SECOND "bytes/s"

/* Which column it is, and of what. */
struct gt_counter_place {
	uint32_t series;
	uint32_t place;
	uint32_t device; /* ordinal plus one, 0: it is about none */
	uint32_t pool;   /* number of a pool that the program told of, 0: likewise */
};

/* Emits the record of one column. */
void gt_counter_announce(struct gt_session *session, const struct gt_counter_words *words,
                         struct gt_counter_place place);

#endif
