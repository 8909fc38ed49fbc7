/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_KEPT_MODULES_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_KEPT_MODULES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "injection/session/services.h"

/*
 * The modules of the process whose cubins are in the recording, while launches are captured: which
 * file is the image of which module. Any thread may use them.
 */

enum { GT_KEPT_MODULES = 16384 }; /* that are loaded at a time */

struct gt_kept_module {
	uint32_t number; /* in the order of their loading, from 1 */
	uint32_t cupti_id;
	uint64_t hash; /* its file is modules/HASH.cubin */
	uint64_t size;
	CUcontext context;
	CUmodule handle; /* NULL: what it was loaded by did not tell */
};

struct gt_kept_modules {
	pthread_mutex_t lock; /* of those that follow */
	struct gt_kept_module rows[GT_KEPT_MODULES];
	uint32_t count;
	uint32_t numbers; /* that were given out */
};

/* In zeroed memory. */
void gt_kept_modules_init(struct gt_kept_modules *modules);

/* Gives it a number, whatever it has in it, and returns that; 0: there is no place for it. */
uint32_t gt_kept_modules_add(struct gt_kept_modules *modules, struct gt_kept_module module);

/* The handle of the module of that number, if it is still there. */
void gt_kept_modules_name(struct gt_kept_modules *modules, uint32_t number, CUmodule handle);

/* All of the context with CUPTI's id are unloaded. */
void gt_kept_modules_remove(struct gt_kept_modules *modules, CUcontext context, uint32_t cupti_id);

/* Those of the process, while launches are captured; else NULL. */
static inline struct gt_kept_modules *gt_kept_modules_of(struct gt_session *session)
{
	return gt_shared(session, GT_SHARED_KEPT_MODULES);
}

/* The last loaded one before a number, UINT32_MAX: of all. False: there is none, or modules is
 * NULL. */
bool gt_kept_module_before(struct gt_kept_modules *modules, uint32_t number,
                           struct gt_kept_module *module);

#endif
