/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells gputrace of blocks of a pool that is made up, each handed out and given back, and says what
 * time on a processor such a pair takes, the work between two of them counted in: the same whether
 * anybody records or not. One line of JSON. Usage: pool_loop SHAPE PAIRS STEPS BYTES
 *   SHAPE  plain: address and size; stream: all that can be told; none: no calls at all
 *   STEPS  of arithmetic between two pairs
 *   BYTES  of memory that is read between two pairs, so that caches are the program's
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/programs/loop_work.h"
#include "include/gputrace/gputrace.h"

#define WARM_PAIRS 1000

enum shape { NONE, PLAIN, STREAM };

static uint64_t pool;

static int64_t run(enum shape shape, uint64_t pairs, uint64_t steps)
{
	const int64_t start_ns = now_ns();

	for (uint64_t i = 0; i < pairs; i++) {
		const void *address = &memory[i % 16];

		if (shape == PLAIN)
			gputrace_block_alloc(pool, address, 512);
		else if (shape == STREAM)
			gputrace_block_alloc_on(pool, address, 512, 500, NULL);
		work(steps);
		if (shape == PLAIN)
			gputrace_block_free(pool, address);
		else if (shape == STREAM)
			gputrace_block_free_on(pool, address, NULL);
	}
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	const struct gputrace_pool what = {.struct_size = sizeof(what),
	                                   .name = "bench",
	                                   .place = GPUTRACE_POOL_HOST,
	                                   .device = -1};
	const char *const name = argc > 1 ? argv[1] : "plain";
	const uint64_t pairs = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	const uint64_t steps = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
	enum shape shape = strcmp(name, "plain") == 0 ? PLAIN : STREAM;

	if (strcmp(name, "none") == 0)
		shape = NONE;
	memory_bytes = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	memory = calloc(memory_bytes + 16, 1);
	if (!memory)
		return 1;
	pool = gputrace_pool_create(&what);
	(void)run(shape, WARM_PAIRS, steps);
	printf("{\"pairs\": %llu, \"ns\": %.2f}\n",
	       shape == NONE ? 0 : (unsigned long long)(pairs + WARM_PAIRS),
	       (double)run(shape, pairs, steps) / (double)pairs);
	free(memory);
	return 0;
}
