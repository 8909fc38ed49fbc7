/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_VERIFY_VERIFYING_H
#define GT_REPLAY_VERIFY_VERIFYING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/memory/restored.h"
#include "replay/steps/steps.h"
#include "replay/types/result.h"
#include "replay/verify/roles.h"

/* Steps that are being verified: what verify.c, poison.c and roles.c share. */

/* Facts known of one memory meanwhile. */
struct gt_seen {
	uint8_t *first;  /* contents after the first run; NULL: it changes nothing of it */
	uint8_t *inside; /* of each byte, whether it is poisoned; NULL: none is */
	uint8_t *poison;
	bool read; /* over other bytes something else came out: it is never poisoned again */
};

struct gt_verifying {
	struct gt_steps *steps;
	struct gt_restored *restored;
	const struct gt_replay_options *options;
	struct gt_replay_result *result;
	const struct gt_bundle *bundle;
	struct gt_seen *seen; /* by memory */
	struct gt_roles *roles;
	int64_t most_ns; /* that a run over other bytes may take */
};

size_t gt_verifying_size(const struct gt_verifying *verifying, size_t number);

/* NULL: nothing is said of that memory yet. */
struct gt_replay_buffer *gt_verifying_find(const struct gt_verifying *verifying, size_t number);

/* The same, which is then said of. */
struct gt_replay_buffer *gt_verifying_buffer(const struct gt_verifying *verifying, size_t number);

/* wanted: the bytes that are wanted, or NULL. got: those that a run gave. */
void gt_verifying_compare(const struct gt_verifying *verifying, size_t number,
                          const uint8_t *wanted, const uint8_t *got);

/* Contents that the program had afterwards; NULL: they are not known. The caller frees them. */
int gt_verifying_wanted(const struct gt_verifying *verifying, size_t number, uint8_t **wanted,
                        struct gt_error *err);

/* The type of a memory's elements, where it is guessed from these contents. */
enum gt_element gt_verifying_element(const struct gt_verifying *verifying, size_t number,
                                     const uint8_t *bytes, enum gt_element_source *source);

/*
 * Over other bytes: what of buffers is written, and which memory is written that holds the same
 * afterwards. Sets what is said of buffers, and no_poison and no_roles where a run failed, after
 * which the GPU is abandoned.
 */
void gt_verifying_poison(struct gt_verifying *verifying);

/* The steps, for most_ns at most; memory is as it is. */
int gt_verifying_run(const struct gt_verifying *verifying, struct gt_error *err);

#endif
