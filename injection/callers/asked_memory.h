/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLERS_ASKED_MEMORY_H
#define GT_INJECTION_CALLERS_ASKED_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/session/router.h"
#include "injection/session/services.h"

/*
 * Memory that the program has, with what may tell who asked for it: of the stack above the call's
 * parameters the words that can be addresses of code (see injection/callers/askers.h, which says
 * why, and what that can get wrong). Whose code it is is looked up when somebody wants to know: so
 * a library that asks as soon as it is loaded is known. Threads of the program write it without a
 * lock.
 */

enum { GT_ASKED_ROOM = 1 << 15, GT_ASKED_WORDS = 64 };

struct gt_asked {
	_Atomic uint64_t address;                /* 0: free; 1: it is being written */
	_Atomic uintptr_t words[GT_ASKED_WORDS]; /* the nearest to the call first; 0: no more */
};

struct gt_asked_memory {
	struct gt_asked rows[GT_ASKED_ROOM];
};

/* That of the process, while launches are captured; NULL: it is not kept. */
static inline const struct gt_asked_memory *gt_asked_memory_of(struct gt_session *session)
{
	return gt_shared(session, GT_SHARED_ASKED_MEMORY);
}

/* Calls that get or give back memory that kernels can reach: for gt_want_known. */
bool gt_asked_call_is(bool driver, CUpti_CallbackId id);

/* At the return of such a call, on the thread that made it. */
void gt_asked_memory_follow(struct gt_asked_memory *asked, struct gt_call call);

/* The words kept with the memory that begins there; false: nothing is known of it. */
bool gt_asked_memory_find(const struct gt_asked_memory *asked, uint64_t address,
                          uintptr_t words[GT_ASKED_WORDS]);

#endif
