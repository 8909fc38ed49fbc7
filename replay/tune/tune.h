/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_TUNE_TUNE_H
#define GT_REPLAY_TUNE_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "replay/tune/variant.h"

struct gt_error;

/*
 * Trying variants of a launch for the fastest one. No GPU is needed: figures come from a function
 * of the caller's.
 */

/* Properties that can be varied: word of a space, field, what its values are. */
#define GT_TUNE_WORDS(WORD)                                                                        \
	WORD("block", block, "threads, as 256 or 16x16")                                           \
	WORD("cluster", cluster, "blocks, as 2 or 2x2")                                            \
	WORD("shared", shared_bytes, "bytes, as 16K")                                              \
	WORD("carveout", carveout, "percent from 0 to 100, or default")                            \
	WORD("max-registers", max_registers, "a number from 16 to 255")                            \
	WORD("module", module, "a file")

enum gt_tune_word {
#define WORD(name, field, help) GT_TUNE_##field,
	GT_TUNE_WORDS(WORD)
#undef WORD
		GT_TUNE_WORD_COUNT,
};

enum { GT_TUNE_MOST_VALUES = 256, GT_TUNE_MOST = 65536 /* configurations of a space */ };

/* One of the words, with the values it takes. */
struct gt_tune_axis {
	enum gt_tune_word word;
	gt_array(struct gt_variant) values; /* with this field alone changed */
};

struct gt_tune_space {
	struct gt_tune_axis axes[GT_TUNE_WORD_COUNT]; /* as they were named */
	size_t axis_count;
	char *text; /* that names of files are in */
};

/*
 * Reads "block=64,128,256;shared=0,16K;carveout=0..100/25": words with values between commas, each
 * word once, ";" or blanks between words, so that names of files have none of these.
 * FIRST..LAST/STEP stands for FIRST, FIRST + STEP and so on up to LAST, FIRST..LAST*FACTOR for
 * FIRST, FIRST * FACTOR and so on; both for values of one number. A value that is named twice is
 * taken once. -EINVAL in a sentence; the space is then empty.
 */
int gt_tune_space_parse(struct gt_tune_space *space, const char *text, struct gt_error *err);
void gt_tune_space_release(struct gt_tune_space *space);

/* How many configurations it has: each value of each word with each of the others. */
size_t gt_tune_count(const struct gt_tune_space *space);

/* Sets the axis's field to its value of that number, and no other field. */
void gt_tune_set(struct gt_variant *variant, const struct gt_tune_axis *axis, size_t number);

/* One of them: the last word's values follow each other, as in nested loops. */
struct gt_variant gt_tune_configuration(const struct gt_tune_space *space, size_t number);

/* Outcome of one configuration. */
struct gt_tune_row {
	struct gt_variant variant; /* module points into the space */
	double ns;                 /* median; NAN: it failed, for why */
	bool verified;             /* its outputs are right, or were not compared */
	char why[512];
};

struct gt_tune_plan {
	const struct gt_tune_space *space;
	size_t most; /* configurations to measure beside the recorded one; 0: all of them */
	/*
	 * Measures one: ns and verified. Negative with err set where it cannot be measured, which
	 * is that configuration's row and not the end, but for -EINTR: the user wants it to end.
	 */
	int (*measure)(void *context, const struct gt_variant *variant, double *ns, bool *verified,
	               struct gt_error *err);
	void *context;
};

struct gt_tune_result {
	gt_array(struct gt_tune_row) rows; /* by when they were measured, the first as recorded */
	size_t best;                       /* row of the least time that is verified; SIZE_MAX */
	bool whole;                        /* every configuration was measured */
};

/*
 * Measures the launch as recorded, then all configurations in their order. Where there are more
 * than plan->most, one word after the other takes the value that is the fastest beside the values
 * that the others have by then, as recorded at first, in rounds until none brings anything more or
 * plan->most were measured; none is measured twice. Fails with -EINTR alone; what was measured
 * until then is in the result.
 */
int gt_tune_search(const struct gt_tune_plan *plan, struct gt_tune_result *result,
                   struct gt_error *err);
void gt_tune_result_release(struct gt_tune_result *result);

#endif
