/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_STRESS_SESSION_H
#define GT_TESTS_STRESS_SESSION_H

#include <cuda.h>

#include "injection/session/session.h"
#include "stress/folder.h"
#include "stress/stress.h"

/* A session of this process on the fake libraries, and a kernel that its threads launch. */

struct stress_cuda {
	CUcontext context;
	CUfunction kernel;
};

/* Recording begins, into the folder. */
static inline void start_session(struct gt_session *session, const char *folder)
{
	char output[128];
	char cupti[] = "GPUTRACE_CUPTI=" FAKE_CUPTI_PATH;
	char interval[] = "GPUTRACE_FLUSH_INTERVAL=1ms";
	char *environment[] = {output, cupti, interval, NULL};

	snprintf(output, sizeof(output), "GPUTRACE_OUTPUT=%s", folder);
	gt_session_start(session, environment);
	MUST(gt_session_is(session, GT_SESSION_RECORDING));
}

static inline struct stress_cuda use_cuda(void)
{
	struct stress_cuda cuda;
	CUmodule module;

	MUST(cuInit(0) == CUDA_SUCCESS);
	MUST(cuCtxCreate_v4(&cuda.context, NULL, 0, 0) == CUDA_SUCCESS);
	MUST(cuModuleLoadData(&module, "fake image") == CUDA_SUCCESS);
	MUST(cuModuleGetFunction(&cuda.kernel, module, "work") == CUDA_SUCCESS);
	return cuda;
}

/* The calling thread has the context. */
static inline void launch_kernel(const struct stress_cuda *cuda)
{
	MUST(cuLaunchKernel(cuda->kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS);
}

/*
 * API calls recorded so far, but for those of the calling thread: once recording is off, the writer
 * has all of the other threads that have ended.
 */
static inline uint64_t calls_of_session(struct gt_session *session, uint64_t limit_ns)
{
	MUST(gt_session_disarm(session, GT_CAUSE_COMMAND, limit_ns));
	MUST(gt_session_arm(session, GT_CAUSE_COMMAND, limit_ns));
	return atomic_load(&session->arena.header->ledger[GT_LEDGER_api_calls]);
}

#endif
