/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushes and pops ranges of NVTX and says what time on a processor a pair takes, the work between
 * them counted in: the same whether a tool is attached or not. One line of JSON.
 * Usage: nvtx_loop SHAPE PAIRS STEPS BYTES
 *   SHAPE  narrow: a text in the default domain
 *          attributes: a text, a category, a color and a number in a domain
 *          registered: a registered string in a domain
 *   STEPS  of arithmetic between two pairs
 *   BYTES  of memory that is read between two pairs, so that caches are the program's
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

#include "bench/programs/loop_work.h"

#define WARM_PAIRS 1000

static nvtxDomainHandle_t domain;
static nvtxEventAttributes_t event;

static int64_t run(int narrow, uint64_t pairs, uint64_t steps)
{
	const int64_t start_ns = now_ns();

	for (uint64_t i = 0; i < pairs; i++) {
		if (narrow)
			nvtxRangePushA("a range of the program");
		else
			nvtxDomainRangePushEx(domain, &event);
		work(steps);
		if (narrow)
			nvtxRangePop();
		else
			nvtxDomainRangePop(domain);
	}
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	const int narrow = argc > 1 && strcmp(argv[1], "narrow") == 0;
	const uint64_t pairs = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	const uint64_t steps = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;

	memory_bytes = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	memory = calloc(memory_bytes + 1, 1);
	if (!memory)
		return 1;
	domain = nvtxDomainCreateA("bench");
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = "a range of the program";
	if (argc > 1 && strcmp(argv[1], "registered") == 0) {
		event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
		event.message.registered = nvtxDomainRegisterStringA(domain, "a range");
	} else {
		event.category = 1;
		event.colorType = NVTX_COLOR_ARGB;
		event.color = 0xff00ff00;
		event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
		event.payload.ullValue = 42;
	}
	(void)run(narrow, WARM_PAIRS, steps);
	printf("{\"pairs\": %llu, \"ns\": %.2f}\n", (unsigned long long)(pairs + WARM_PAIRS),
	       (double)run(narrow, pairs, steps) / (double)pairs);
	return 0;
}
