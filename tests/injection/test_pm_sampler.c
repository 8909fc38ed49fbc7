/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/pm_sampler.h"

#include <stddef.h>

#include "injection/cupti/cupti.h"
#include "support/check.h"

#if __has_include(<cupti_pmsampling.h>) /* from CUDA 12.6 on */
#include <cupti_pmsampling.h>

/* CUPTI's structs are declared once more in pm_structs.def: they must be those of its headers. */

static void check(const char *member, size_t ours, size_t theirs)
{
	cr_expect(eq(sz, ours, theirs), "%s", member);
}

Test(pm_sampler, has_the_structs_of_the_headers){
#define STRUCT(name, theirs)                                                                       \
	{                                                                                          \
		typedef theirs wanted;                                                             \
		check(#theirs, sizeof(struct gt_pm_##name), sizeof(wanted));
#define MEMBER(name, type, member, theirs)                                                         \
	check(#theirs, offsetof(struct gt_pm_##name, member), offsetof(wanted, theirs));           \
	check(#theirs, sizeof(((struct gt_pm_##name *)0)->member), sizeof(((wanted *)0)->theirs));
#define END(name, last) }
#include "injection/cupti/pm_structs.def"
}
#endif

Test(pm_sampler, needs_each_of_its_functions)
{
	struct gt_cupti cupti = {.handle = NULL};
	struct gt_pm pm;

	/* Nobody has linked the test to libcupti: nothing is found. */
	cr_expect(not(gt_pm_open(&pm, &cupti)));
	cr_expect(eq(ptr, (void *)(uintptr_t)pm.cuptiPmSamplingEnable, NULL));
}
