/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/counters/range_profiler.h"

#include <stddef.h>

#include "injection/cupti/cupti.h"
#include "support/check.h"

#if __has_include(<cupti_range_profiler.h>) /* from CUDA 12.6 on */
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

/* CUPTI's structs are declared once more in range_structs.def: they must be those of its headers.
 */

static void check(const char *member, size_t ours, size_t theirs)
{
	cr_expect(eq(sz, ours, theirs), "%s", member);
}

Test(range_profiler, has_the_structs_of_the_headers){
#define STRUCT(name, theirs)                                                                       \
	{                                                                                          \
		typedef theirs wanted;                                                             \
		check(#theirs, sizeof(struct gt_range_##name), sizeof(wanted));
#define MEMBER(name, type, member, theirs)                                                         \
	check(#theirs, offsetof(struct gt_range_##name, member), offsetof(wanted, theirs));        \
	check(#theirs, sizeof(((struct gt_range_##name *)0)->member),                              \
	      sizeof(((wanted *)0)->theirs));
#define END(name, last) }
#include "injection/counters/range_structs.def"
}
#endif

Test(range_profiler, needs_each_of_its_functions)
{
	struct gt_cupti cupti = {.handle = NULL};
	struct gt_ranges ranges;

	/* Nobody has linked the test to libcupti: nothing is found. */
	cr_expect(not(gt_ranges_open(&ranges, &cupti)));
	cr_expect(eq(ptr, (void *)(uintptr_t)ranges.cuptiRangeProfilerEnable, NULL));
}
