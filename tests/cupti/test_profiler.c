/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti/profiler.h"

#include <dlfcn.h>
#include <stddef.h>

#include "support/check.h"

#if __has_include(<cupti_pmsampling.h>) /* from CUDA 12.6 on */
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

/* CUPTI's structs are declared once more in structs.def: they must be those of its headers. */

static void check(const char *member, size_t ours, size_t theirs)
{
	cr_expect(eq(sz, ours, theirs), "%s", member);
}

Test(profiler, has_the_structs_of_the_headers){
#define STRUCT(name, theirs)                                                                       \
	{                                                                                          \
		typedef theirs wanted;                                                             \
		check(#theirs, sizeof(struct gt_profiler_##name), sizeof(wanted));
#define MEMBER(name, type, member, theirs)                                                         \
	check(#theirs, offsetof(struct gt_profiler_##name, member), offsetof(wanted, theirs));     \
	check(#theirs, sizeof(((struct gt_profiler_##name *)0)->member),                           \
	      sizeof(((wanted *)0)->theirs));
#define END(name, last) }
#include "cupti/structs.def"
}
#endif

Test(profiler, needs_each_of_its_functions)
{
	struct gt_profiler profiler;

	/* Nobody has linked the test to libcupti: nothing is found. */
	cr_expect(not(gt_profiler_open(&profiler, NULL)));
	cr_expect(eq(ptr, (void *)(uintptr_t)profiler.cuptiProfilerHostInitialize, NULL));
}

Test(profiler, needs_the_one_function_that_a_library_lacks)
{
	void *library = dlopen(LACKING_CUPTI_PATH, RTLD_NOW | RTLD_LOCAL);
	struct gt_profiler profiler;

	cr_assert(ne(ptr, library, NULL), "%s", dlerror());
	cr_expect(not(gt_profiler_open(&profiler, library)));
	cr_expect(eq(ptr, (void *)(uintptr_t)profiler.cuptiProfilerHostInitialize, NULL));
	cr_expect(ne(ptr, (void *)(uintptr_t)profiler.cuptiProfilerInitialize, NULL));
	cr_expect(ne(ptr, (void *)(uintptr_t)profiler.cuptiPmSamplingGetCounterAvailability, NULL));
	dlclose(library);
}

static unsigned asked;
static int answer;

static int initialise(struct gt_profiler_initialize *params)
{
	cr_expect(eq(sz, params->size, GT_PROFILER_SIZE_OF_initialize));
	asked++;
	return answer;
}

Test(profiler, begins_once_in_a_process)
{
	struct gt_profiler profiler = {.cuptiProfilerInitialize = initialise};

	cr_expect(eq(int, gt_profiler_initialise(&profiler), 0));
	cr_expect(profiler.initialised);
	cr_expect(eq(int, gt_profiler_initialise(&profiler), 0));
	cr_expect(eq(uint, asked, 1));
}

/* Whoever comes second is told as well, and may be luckier. */
Test(profiler, has_not_begun_where_it_was_refused)
{
	enum { BUSY = 39 };
	struct gt_profiler profiler = {.cuptiProfilerInitialize = initialise};

	answer = BUSY;
	cr_expect(eq(int, gt_profiler_initialise(&profiler), BUSY));
	cr_expect(not(profiler.initialised));
	cr_expect(eq(int, gt_profiler_initialise(&profiler), BUSY));
	cr_expect(eq(uint, asked, 2));
	answer = 0;
	cr_expect(eq(int, gt_profiler_initialise(&profiler), 0));
	cr_expect(profiler.initialised);
	cr_expect(eq(uint, asked, 3));
}
