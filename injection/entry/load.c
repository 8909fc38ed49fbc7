/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/settings.h"
#include "injection/nvtx/nvtx.h"
#include "injection/process/process.h"
#include "injection/session/begin.h"
#include "injection/session/services.h"

/*
 * When this library is loaded, by CUDA or because the program is linked with it, NVTX is told of it
 * too, where the environment does not say so already: what calls NVTX for the first time from now
 * on finds it. gputrace run sets the variable itself.
 */

#define NVTX_PATH "NVTX_INJECTION64_PATH"
#define NVTX_NEXT "GPUTRACE_NVTX_NEXT"

static void ignore_complaint(void *context, const char *sentence)
{
	(void)context;
	(void)sentence;
}

static bool is_same_file(const char *path, const char *own)
{
	char real[PATH_MAX];

	return realpath(path, real) && strcmp(real, own) == 0;
}

static bool find_own_path(char own[PATH_MAX])
{
	Dl_info info;

	return dladdr(gt_session_get(), &info) && info.dli_fname && realpath(info.dli_fname, own);
}

/* The environment is the program's: it is changed before the program's own code runs, or, when
 * the driver loads the library, on the thread that started CUDA.
 */
/* NOLINTBEGIN(concurrency-mt-unsafe) */
__attribute__((constructor)) static void load(void)
{
	const char *before = getenv(NVTX_PATH);
	const int saved = errno;
	struct gt_settings settings;
	char own[PATH_MAX];

	if (gt_process_is_privileged())
		return;
	gt_settings_read(&settings, environ, ignore_complaint, NULL);
	if (!settings.disable && settings.nvtx && find_own_path(own) &&
	    !(before && is_same_file(before, own)) &&
	    !(before && *before && setenv(NVTX_NEXT, before, 1) != 0))
		gt_nvtx.named_late = setenv(NVTX_PATH, own, 1) == 0;
	errno = saved;
}
/* NOLINTEND(concurrency-mt-unsafe) */
