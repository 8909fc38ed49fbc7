/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of all sizes through threads that compress them: what comes out, decompressed, is what
 * went in, in its order, whoever was faster.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/error.h"
#include "exporters/crew.h"

enum { BLOCK_SIZE = 20000, BLOCKS = 3000, ROUNDS = 3 };

struct check {
	unsigned next; /* block that must come now */
	unsigned failures;
};

static size_t size_of(unsigned number)
{
	return 1 + number * 7919u % BLOCK_SIZE;
}

static unsigned char byte_of(unsigned number, size_t at)
{
	return (unsigned char)(number * 31u + at % (3 + number % 50));
}

static void fill(uint8_t *block, unsigned number)
{
	for (size_t i = 0; i < size_of(number); i++)
		block[i] = byte_of(number, i);
}

static void take(void *context, const uint8_t *packed, int64_t size)
{
	struct check *check = context;
	static unsigned char plain[BLOCK_SIZE];
	static unsigned char expected[BLOCK_SIZE];
	uLongf length = sizeof(plain);

	fill(expected, check->next);
	if (size <= 0 || uncompress(plain, &length, packed, (uLong)size) != Z_OK ||
	    length != size_of(check->next) || memcmp(plain, expected, length) != 0)
		check->failures++;
	check->next++;
}

/* Now and then everything is wanted at once, as before a packet that is larger than a block. */
static void run(struct check *check)
{
	const struct gt_packed_sink sink = {take, check};
	struct gt_crew crew;
	struct gt_error err = {0};

	if (gt_crew_init(&crew, GT_COMPRESSION_ZLIB, BLOCK_SIZE, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(EXIT_FAILURE);
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		fill(gt_crew_block(&crew), i);
		if (i % 97 == 0 || i + 1 == BLOCKS)
			gt_crew_finish(&crew, size_of(i), &sink);
		else
			gt_crew_hand_over(&crew, size_of(i), &sink);
		if ((i % 97 == 0 || i + 1 == BLOCKS) && check->next != i + 1)
			check->failures++;
	}
	gt_crew_release(&crew);
}

int main(void)
{
	unsigned failures = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct check check = {0};

		run(&check);
		failures += check.failures + (check.next != BLOCKS);
	}
	printf("%u rounds of %u blocks, %u failures\n", ROUNDS, BLOCKS, failures);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
