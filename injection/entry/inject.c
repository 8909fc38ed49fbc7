/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdatomic.h>

#include "injection/session/begin.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

static atomic_flag cuda_started = ATOMIC_FLAG_INIT;

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
	errno = saved;
	return 1;
}
/* NOLINTEND(readability-identifier-naming) */
