/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_FOREIGN_CALLS_H
#define GT_INJECTION_FOREIGN_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "injection/cupti/router.h"

struct gt_session;

/*
 * Values that the program got from calls, and that nothing can be captured with: textures, surfaces
 * and memory of other processes. Those that are made after recording began; any thread.
 */

enum { GT_FOREIGN_VALUES = 512 };

enum gt_foreign_kind { GT_FOREIGN_NONE, GT_FOREIGN_IPC, GT_FOREIGN_TEXTURE, GT_FOREIGN_SURFACE };

struct gt_foreign {
	_Atomic bool full;
	struct {
		_Atomic uint64_t value;
		_Atomic uint32_t kind; /* enum gt_foreign_kind */
	} values[GT_FOREIGN_VALUES];
};

/* In start: the calls that make and end such values. */
void gt_foreign_want(struct gt_session *session);
bool gt_foreign_is_call(struct gt_call call);

/* At the return of one of them. */
void gt_foreign_follow(struct gt_session *session, struct gt_foreign *foreign, struct gt_call call);

/* GT_FOREIGN_NONE: it is none. */
enum gt_foreign_kind gt_foreign_find(const struct gt_foreign *foreign, uint64_t value);

/* Whether memory of another process begins in that range: small memory comes with its block. */
bool gt_foreign_is_lent(const struct gt_foreign *foreign, uint64_t base, uint64_t size);

#endif
