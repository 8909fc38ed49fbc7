/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FUZZ_RECIPE_H
#define GT_TESTS_FUZZ_RECIPE_H

#include <stddef.h>
#include <stdint.h>

struct capture;

/*
 * Adds chunks to a capture as any bytes say, since no fuzzer guesses a checksum: for each chunk
 * the header's fields from 8 bytes, then the payload.
 */
void add_recipe(struct capture *capture, const uint8_t *data, size_t size);

#endif
