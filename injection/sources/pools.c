/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/pools/pools.h"

#include "injection/pools/statistics.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Pools of memory that the program tells of: its calls come to injection/pools/, whether CUDA is
 * there or not. Those that registered a function for it are asked how they are
 * filled, on a thread of its own.
 */

#define END_NS 100000000u /* the program's functions can hang */

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	if (gt_settings_of(session)->pools)
		gt_pools_start(session);
	return 0;
}

/* Not at the end of the program once more: it may have taken apart what it would be asked about. */
/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	uint64_t wait_ns = 0;

	(void)state;
	while (gt_wait_next(waiter, wait_ns))
		wait_ns = gt_pools_pull(session);
}

const struct gt_source gt_source_pools = {
	.name = "pools",
	.goes_on = true,
	.alone = true,
	.start = start,
	.run = run,
	.runs_when_asked = true,
	.end_ns = END_NS,
	.forget = gt_pools_forget,
};
