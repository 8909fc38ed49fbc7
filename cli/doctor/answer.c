/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/answer.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/output/process.h"
#include "cupti/library.h"

struct question {
	struct gt_answer *answer; /* shared by both processes */
	const char *wanted;
};

static void ask_cupti(struct gt_answer *answer, const char *wanted)
{
	void *library = gt_cupti_library_open(answer->gpus.driver_version, wanted, answer->cupti,
	                                      &answer->no_cupti);
	int (*version)(uint32_t * version) = NULL;

	if (library)
		*(void **)&version = dlsym(library, "cuptiGetVersion");
	if (version && version(&answer->cupti_version) != 0)
		answer->cupti_version = 0;
}

/* Ends without the handlers of libraries: the driver's may wait. */
static int ask(void *context)
{
	const struct question *question = context;
	struct gt_answer *answer = question->answer;

	(void)signal(SIGALRM, SIG_DFL);
	(void)alarm(GT_ANSWER_SECONDS);
	/* NOLINTBEGIN(concurrency-mt-unsafe): the process has one thread */
	(void)unsetenv("CUDA_INJECTION64_PATH"); /* the driver would load that */
	if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
		const char *reason = dlerror();

		snprintf(answer->no_driver, sizeof(answer->no_driver), "%s",
		         reason ? reason : "it cannot be opened");
	} else {
		(void)gt_gpus_find(&answer->gpus, &answer->no_gpus);
		ask_cupti(answer, question->wanted);
	}
	/* NOLINTEND(concurrency-mt-unsafe) */
	answer->complete = true;
	_exit(0);
}

void gt_answer_get(struct gt_answer *answer, const char *wanted)
{
	struct gt_ending ending;
	struct gt_answer *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct question question = {shared, wanted};

	memset(answer, 0, sizeof(*answer));
	if (shared == MAP_FAILED)
		return;
	(void)gt_process_apart(ask, &question, &ending);
	*answer = *shared;
	(void)munmap(shared, sizeof(*shared));
}

int gt_answer_driver_major(const struct gt_answer *answer)
{
	return answer->gpus.driver_version / 1000;
}

/* 130000 is CUDA 13.0; up to 12.9 versions were small numbers. */
int gt_answer_cupti_major(const struct gt_answer *answer)
{
	if (answer->cupti_version < GT_CUPTI_OLDEST_VERSION)
		return 0;
	return answer->cupti_version < 10000 ? 12 : (int)(answer->cupti_version / 10000);
}
