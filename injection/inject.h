/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_INJECT_H
#define GT_INJECTION_INJECT_H

/*
 * Begins the session of the process if nothing has yet, and waits while another thread is at it:
 * CUDA or NVTX has found this library, whichever is first.
 */
void gt_session_must_begin(void);

#endif
