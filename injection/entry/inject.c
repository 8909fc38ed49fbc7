/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdatomic.h>

#include "injection/end/end.h"
#include "injection/session/begin.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

#define LAST_FETCH_NS 200000000u /* that _exit and exec may be held up */

static atomic_flag cuda_started = ATOMIC_FLAG_INIT;

/*
 * On any thread, maybe in a signal handler. The child of vfork or clone has the session before its
 * eyes that its parent goes on with.
 */
static void fetch_last(void)
{
	struct gt_session *session = gt_session_get();

	if (gt_session_is_running(session) && !gt_session_is_clone())
		gt_fetch(session, LAST_FETCH_NS);
}

/*
 * The CUDA driver calls this once, inside the program's first CUDA call, for the library that
 * CUDA_INJECTION64_PATH names. 1 means that all went well; the program never hears of trouble.
 */
/* NOLINTBEGIN(readability-identifier-naming): the driver looks for this name */
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	const int saved = errno;

	if (atomic_flag_test_and_set(&cuda_started))
		return 1;
	gt_session_must_begin(true);
	gt_session_start_cuda(gt_session_get());
	/* Before what CUDA itself does at the end. */
	gt_session_end_before();
	if (gputrace_end_register)
		gputrace_end_register(fetch_last);
	errno = saved;
	return 1;
}
/* NOLINTEND(readability-identifier-naming) */
