/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_TUNE_VARIANT_H
#define GT_REPLAY_TUNE_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/types/options.h"

struct gt_bundle_function;
struct gt_bundle_step;
struct gt_error;

/*
 * Launches that are changed: what shape they then have, and whether the function and the GPU allow
 * it. No GPU is needed: what it allows is passed in.
 */

/* Values where nothing is changed. */
enum { GT_CARVEOUT_RECORDED = -2, GT_CARVEOUT_DEFAULT = -1 };

/* Limits of the GPU, in the driver's words; 0: it did not say, and nothing is refused for it. */
struct gt_variant_limits {
	uint32_t cc_major;
	uint32_t threads;      /* of a block */
	uint32_t block[3];     /* threads along each axis */
	uint32_t grid[3];      /* blocks along each axis */
	uint32_t shared_bytes; /* of a block, static and dynamic, as functions can ask for */
	uint32_t cluster;      /* blocks of a cluster of the function, not portable ones included */
	uint64_t resident;     /* blocks of the changed launch that are on the GPU at one time */
};

/* Facts known of a function from its code. */
struct gt_variant_code {
	uint32_t block[3]; /* threads that it was compiled for, and no others; 0: any */
	bool ptx;          /* the module is PTX, or a PTX was given */
	bool python;       /* Triton's: its source is Python, and its name no C++ */
};

/*
 * Looks the function up in a cubin or in PTX, which need not be ended by a 0. Facts in neither are
 * unknown; contents that are damaged say nothing.
 */
void gt_variant_code_read(struct gt_variant_code *code, const void *image, size_t size,
                          const char *function);

/* A launch as it is to be made. */
struct gt_variant_launch {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t cluster[3]; /* 0: none */
	uint32_t shared_bytes;
	int32_t carveout;       /* percent, GT_CARVEOUT_DEFAULT: the driver's choice */
	uint32_t max_registers; /* 0: as compiled */
	uint64_t more_threads;  /* than recorded, since numbers of blocks were rounded up */
};

/* The launch to be made; none of its members is NULL. */
struct gt_variant_subject {
	const struct gt_bundle_function *function;
	const struct gt_variant_code *code;
	const struct gt_bundle_step *step;
	const struct gt_variant_limits *limits;
};

/*
 * The shape of one launch. Along each axis there are as many threads as recorded, rounded up to
 * whole blocks and, with a cluster that is changed, no further: blocks must then divide by it.
 * -EINVAL where the function does not allow it, -ENOTSUP where the GPU does not, in a sentence; the
 * launch is then left alone. Values as recorded are not refused.
 */
int gt_variant_launch(const struct gt_variant *variant, const struct gt_variant_subject *subject,
                      struct gt_variant_launch *launch, struct gt_error *err);

/* Nothing is changed. */
struct gt_variant gt_variant_recorded(void);
bool gt_variant_changes(const struct gt_variant *variant);

enum { GT_VARIANT_TEXT = 256 };

/* "block=256 shared=16384", in the order of struct gt_variant; "as recorded". */
void gt_variant_describe(const struct gt_variant *variant, char text[GT_VARIANT_TEXT]);

#endif
