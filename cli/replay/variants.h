/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_VARIANTS_H
#define GT_CLI_REPLAY_VARIANTS_H

#include <stdbool.h>

#include "base/array.h"
#include "cli/option.h"
#include "replay/replay.h"

struct gt_error;

/*
 * What may be changed of a launch, as options name it, each with a list of values, and what --tune
 * takes: NAME=VALUE[,VALUE...] with blanks between. WORD(name, field, what a value is).
 */
#define GT_VARIANT_WORDS(WORD)                                                                     \
	WORD("block", block, "threads, as 256 or 16x16")                                           \
	WORD("cluster", cluster, "blocks, as 2 or 2x2")                                            \
	WORD("shared", shared, "bytes, as 48K")                                                    \
	WORD("carveout", carveout, "per cent from 0 to 100, or default")                           \
	WORD("max-registers", max_registers, "a number from 16 to 255")                            \
	WORD("module", module, "a file")

enum gt_variant_word {
#define WORD(name, field, help) GT_VARIANT_##field,
	GT_VARIANT_WORDS(WORD)
#undef WORD
		GT_VARIANT_WORD_COUNT,
};

enum { GT_VARIANTS_MOST = 256 };

/* Launches as recorded, and in each way that is to be tried beside that. */
struct gt_variants {
	gt_array(struct gt_variant_row {
		struct gt_variant variant;
		char text[160]; /* "block=256 shared=0" */
		bool tuned;     /* one of --tune */
	}) list;
	gt_array(char *) texts; /* that variants point to */
};

/* The launches as recorded, alone. */
void gt_variants_init(struct gt_variants *variants);
void gt_variants_release(struct gt_variants *variants);

/* Adds one for each combination of the options' values; none where no option has any. */
int gt_variants_add(struct gt_variants *variants,
                    const struct gt_option_list lists[GT_VARIANT_WORD_COUNT], struct gt_error *err);

/* The same of what --tune takes. */
int gt_variants_add_space(struct gt_variants *variants, const char *space, struct gt_error *err);

/* What changes nothing. */
struct gt_variant gt_variant_none(void);

#endif
