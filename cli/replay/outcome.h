/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_OUTCOME_H
#define GT_CLI_REPLAY_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/traffic/roofs.h"
#include "base/array.h"
#include "replay/replay.h"

enum { GT_REPLAY_CONDITIONS_BYTES = 256, GT_REPLAY_FORM_BYTES = 160 };

struct gt_error;

/*
 * Outcome of running the launches of a bundle again, in one variant: it is shown, and kept in
 * the bundle. Texts: "" is not known; reals: NAN.
 */

/* A buffer that the launches change, or should. Not kept. */
struct gt_outcome_buffer {
	struct gt_replay_buffer found;
	const char *element; /* constant */
	uint64_t address;
	uint64_t bytes;
	char name[96];
};

struct gt_outcome {
	char variant[256]; /* "as recorded", or what was changed: "block=256 shared=0" */
	char conditions[GT_REPLAY_CONDITIONS_BYTES]; /* what else the times depend on: "l2=cold
	                                                inputs=recorded" */
	char date[40];                               /* RFC 3339, UTC */
	char host[72];
	char gputrace[24];
	char device[96];
	char uuid[48];
	char driver[32];
	char clock[16];    /* what timed it */
	char failure[512]; /* why there are no figures */
	double median_ns;
	double least_ns;
	double most_ns;
	double p05_ns;
	double p95_ns;
	double error; /* standard error of the median, relative */
	double events_ns;
	double sm_mhz;
	double job_ns; /* in the program */
	double bytes;  /* that it moves at least */
	uint64_t runs;
	uint64_t thrown_out;      /* with throttled clocks */
	uint64_t other_mode;      /* runs whose time is that of other work, or that were held up */
	uint64_t others_plus_one; /* processes that used the GPU as well; 0: not known */
	uint64_t mismatches;      /* of all buffers, as the next three */
	uint64_t unwritten;
	uint64_t outside;
	uint64_t varying;
	bool stable;
	bool checked; /* its outputs were compared */
	bool verified;
	bool too_slow;   /* for --fail-if */
	char doubt[200]; /* why it is not known that all runs did the same work */
	char fits[16];   /* state of the cache whose time is nearest to that in the program */
	/* For one step of a sequence, alone. */
	uint64_t step_plus_one;       /* 0: of all steps */
	uint64_t sequence_mismatches; /* elements, when all steps were run once */
	/* Not kept. */
	bool tuned; /* one of --tune or --form all: whatever comes of it is no failure */
	char form[GT_REPLAY_FORM_BYTES]; /* "": as recorded */
	gt_array(struct gt_outcome_buffer) buffers;
	struct gt_roof roof;     /* of device memory */
	bool unchanged;          /* nothing is known to be written: nothing to compare */
	double by_state[3];      /* medians in each state of the cache, by enum gt_l2_state */
	double fits_ns;          /* that of fits */
	uint64_t restored_bytes; /* right before each run with a warm cache */
	uint64_t left_bytes;     /* that change and need not be restored then */
	uint32_t first_bad_step; /* wrote the first NaN or Inf; UINT32_MAX: none */
	bool moved;              /* at other addresses than in the program */
	uint32_t layouts;
	uint32_t sequence_first; /* memory of the first of these */
	bool sequence_compared;
	uint32_t job_launches; /* whose median that is; 0: it is of the captured one itself */
	char no_cupti[256];    /* why CUPTI did not time it */
	char guessed[256];     /* what is not sure of memory that was moved */
	char handles[256];     /* the same of handles that are other numbers here */
	char no_poison[160];   /* why it is not known what was written */
	uint32_t roles[GT_ROLE_COUNT]; /* of memory that is afterwards as before, how many have it */
	char no_roles[160];            /* why those that are not known are not */
};

struct gt_outcomes {
	gt_array(struct gt_outcome) list; /* the first is as recorded */
};

void gt_outcomes_release(struct gt_outcomes *outcomes);

#define GT_OUTCOME_AS_RECORDED "as recorded"

enum { GT_OUTCOME_MOST_SIZE = 1 << 16 }; /* of a file */

/* All that is not known. */
void gt_outcome_init(struct gt_outcome *outcome);
void gt_outcome_release(struct gt_outcome *outcome);

enum { GT_OUTCOME_LABEL_BYTES = 420 };

/* Its name beside others: its variant, and its form where that is not the first one's. */
void gt_outcome_label(const struct gt_outcome *outcome, char text[GT_OUTCOME_LABEL_BYTES]);

/* The one as recorded in the form of that one, among outcomes run together; NULL: none. */
const struct gt_outcome *gt_outcome_recorded(const struct gt_outcomes *outcomes,
                                             const struct gt_outcome *outcome);

/* Percent by which its time in the state that fits best is longer than in the program; NAN. */
double gt_outcome_off(const struct gt_outcome *outcome);

/* Whether its outputs, or those of the sequence that it is a step of, are known to be others. */
bool gt_outcome_differs(const struct gt_outcome *outcome);

/* Whether two differ in what was measured on nothing but time. */
bool gt_outcome_same(const struct gt_outcome *one, const struct gt_outcome *other);

/* The text of a file. The caller frees it. */
char *gt_outcome_text(const struct gt_outcome *outcome);

/* -EBADMSG for what is no such file, in a sentence that calls it what. */
int gt_outcome_parse(struct gt_outcome *outcome, const char *text, size_t size, const char *what,
                     struct gt_error *err);

#endif
