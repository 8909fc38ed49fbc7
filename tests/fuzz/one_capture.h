/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FUZZ_ONE_CAPTURE_H
#define GT_TESTS_FUZZ_ONE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

/* Whether bytes begin as a capture. */
bool is_one_capture(const uint8_t *data, size_t size);

/*
 * A recording of one capture out of any bytes. An input that begins as a capture is one; from any
 * other a capture is built (fuzz/recipe.h) behind what most captures hold, so that its records find
 * a clock, a device and a stream.
 */
void record_one_capture(struct recording *recording, const uint8_t *data, size_t size);

#endif
