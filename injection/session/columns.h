/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_COLUMNS_H
#define GT_INJECTION_SESSION_COLUMNS_H

#include <stdint.h>

struct gt_session;

/*
 * The numbers that the series of a process have, by who samples them: each from its first one up to
 * the next one's. They mean nothing outside of a capture.
 */
enum gt_series_first {
	GT_SERIES_TELEMETRY = 1,  /* and the ordinal of a GPU */
	GT_SERIES_COUNTERS = 256, /* hardware counters: likewise */
	GT_SERIES_CUDA_POOLS = 512,
	GT_SERIES_NVTX = 1024,
	GT_SERIES_POOLS = 32768, /* that the program tells of */
	GT_SERIES_END = 65536,
};

/* Description of a column of a series. Texts are copied. */
struct gt_column_words {
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
struct gt_column_place {
	uint32_t series;
	uint32_t place;
	uint32_t device; /* ordinal plus one, 0: it is about none */
	uint32_t pool;   /* number of a pool that the program told of, 0: likewise */
};

/* Emits the record of one column: before the first sample of its series. */
void gt_column_announce(struct gt_session *session, const struct gt_column_words *words,
                        struct gt_column_place place);

#endif
