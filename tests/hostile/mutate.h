/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_HOSTILE_MUTATE_H
#define GT_TESTS_HOSTILE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"
#include "support/capture.h"

/*
 * Damage that is the same in every run, by the state of a sequence of random numbers. Most
 * damage to captures is inside of chunks, whose checksums are made again: random bytes alone
 * never get past those.
 */

/* A capture made from a good one; begun and released by the caller. */
void mutate_capture(struct capture *to, const uint8_t *from, size_t size, uint64_t *state);

/* A few bytes anywhere, or the end cut off: of a manifest, or of a whole file. Returns its size. */
size_t mutate_bytes(uint8_t *bytes, size_t size, uint64_t *state);

/* Scribbles on the parts of an arena that say what is in it, and on some of what is. */
void mutate_arena(const struct test_arena *arena, uint64_t *state);

#endif
