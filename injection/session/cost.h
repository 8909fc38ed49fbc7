/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_COST_H
#define GT_INJECTION_SESSION_COST_H

#include <stdint.h>

#include "injection/session/sources.h"

struct gt_session;

/* CPU time of gputrace's own threads in the program. Writer thread. */
struct gt_cost {
	uint64_t writer_ns;
	uint64_t flusher_ns;
	uint64_t sources_ns[GT_SOURCE_COUNT]; /* of their own threads */
};

/* Measures it; the sum in nanoseconds. A thread that has ended counts with its last measurement. */
uint64_t gt_cost_measure(struct gt_session *session);

#endif
