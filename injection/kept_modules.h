/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_KEPT_MODULES_H
#define GT_INJECTION_KEPT_MODULES_H

#include <stdatomic.h>
#include <stdint.h>

#include <cuda.h>

struct gt_session;

/*
 * The modules of the process whose cubins are in the recording, while launches are captured: which
 * file is the image of which module.
 */

enum { GT_KEPT_MODULES = 16384 };

enum gt_module_phase { GT_MODULE_UNSEEN, GT_MODULE_KEPT, GT_MODULE_UNLOADED };

struct gt_kept_module {
	_Atomic uint32_t phase; /* enum gt_module_phase: what follows holds unless it is UNSEEN */
	uint32_t cupti_id;
	uint64_t hash; /* its file is modules/HASH.cubin */
	uint64_t size;
	CUcontext context;
	_Atomic(CUmodule) handle; /* NULL: what it was loaded by did not tell */
};

/* In the order of their loading; any thread. */
const struct gt_kept_module *gt_kept_modules(struct gt_session *session, uint32_t *count);

#endif
