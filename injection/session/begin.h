/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_BEGIN_H
#define GT_INJECTION_SESSION_BEGIN_H

#include <stdbool.h>

/*
 * Begins the session of the process if nothing has yet, and waits while another thread is at it:
 * CUDA (with_cuda) or NVTX has found this library, whichever is first.
 */
void gt_session_must_begin(bool with_cuda);

/* Whether a session began in the process that this one is a copy of, and no handler of fork ran. */
bool gt_session_is_clone(void);

/*
 * Has the recording end, at the end of the process, before whatever was registered for that until
 * now: libraries that do not bear to be at work then. Any thread.
 */
void gt_session_end_before(void);

#endif
