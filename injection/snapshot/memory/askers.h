/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_MEMORY_ASKERS_H
#define GT_INJECTION_SNAPSHOT_MEMORY_ASKERS_H

#include <stdint.h>

#include "injection/callers/asked_memory.h"
#include "injection/snapshot/memory/reach.h"

/*
 * Who asked for the memory that a launch reaches: the file of the shared object, as the process has
 * it mapped when it is looked up. For one thread.
 */

enum { GT_CAPTURE_ASKERS = 256, GT_CAPTURE_ASKER_BYTES = 64 };

struct gt_capture_askers {
	uint32_t count;
	char names[GT_CAPTURE_ASKERS][GT_CAPTURE_ASKER_BYTES];
	/* For each memory: the words, which of them is in code that was found, and whose. */
	uintptr_t words[GT_REACH_MEMORY][GT_ASKED_WORDS];
	uint8_t found[GT_REACH_MEMORY];
	uint16_t whose[GT_REACH_MEMORY]; /* number of the name + 1; 0: not known */
	char text[16384];
};

/*
 * Names all memory but variables, for as long as the askers are not asked again. Returns how many
 * bytes of it libraries asked for; -1: not known, as nobody knows who asked for some of it, or it
 * is an allocator's, which hands out pieces to whoever wants some.
 */
int64_t gt_capture_askers_name(struct gt_capture_askers *askers,
                               const struct gt_asked_memory *asked, struct gt_reach *reach);

#endif
