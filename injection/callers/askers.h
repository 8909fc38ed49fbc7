/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLERS_ASKERS_H
#define GT_INJECTION_CALLERS_ASKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_session;

/*
 * Which shared object makes an API call, told from the stack of the thread that is in it: CUPTI's
 * callback carries the address of the call's parameters, which lie in the frame of the function of
 * CUDA that the program called. The first word above them that points into the code of an object
 * that is not CUDA's is where that function returns to. The runtime linked into an object counts
 * for that object.
 *
 * Possible mistake: a word of that frame that happens to point into code, such as a saved register
 * with the address of a function, may be taken for it. Code that lies in no file has no object: who
 * called it counts. Nor has an object that was loaded since the mappings were last read, at most a
 * second ago. Where the parameters are not on the stack nothing is known.
 *
 * The mappings are read on the writer thread, from the kernel: no lock of the loader's is needed.
 * Threads of the program look them up without a lock.
 */

#define GT_MOST_CODE   4096 /* mappings with code; more are left out */
#define GT_MOST_MEMORY 8192 /* mappings that can be written to, likewise */

struct gt_code {
	uintptr_t start;
	uintptr_t end;
	uint32_t object; /* string of its path; 0: CUDA's or ours */
};

struct gt_memory_range {
	uintptr_t start;
	uintptr_t end;
};

/* One reading of the mappings, in the order of their addresses. */
struct gt_mappings {
	_Atomic uint32_t version; /* odd: it is being written */
	uint32_t code_count;
	uint32_t memory_count;
	struct gt_code code[GT_MOST_CODE];
	struct gt_memory_range memory[GT_MOST_MEMORY];
};

struct gt_askers {
	struct gt_mappings mappings[2];
	_Atomic uint32_t current; /* which of them holds */
	bool known;               /* what follows is the writer thread's */
	char text[16384];
};

/* The writer thread, or the one that starts the session: reads the mappings. */
void gt_askers_read(struct gt_session *session, struct gt_askers *askers);

/*
 * Any thread: the string of the object that made the call with these parameters, which the thread
 * is in; 0: not known.
 */
uint32_t gt_askers_find(const struct gt_askers *askers, const void *parameters);

#endif
