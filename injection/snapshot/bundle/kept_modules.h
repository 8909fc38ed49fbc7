/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_KEPT_MODULES_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_KEPT_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

struct gt_session;

/*
 * The modules of the process whose cubins are in the recording, while launches are captured: which
 * file is the image of which module.
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

/* The last loaded one before a number, UINT32_MAX: of all. False: there is none. Any thread. */
bool gt_kept_module_before(struct gt_session *session, uint32_t number,
                           struct gt_kept_module *module);

#endif
