/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/first_launches.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/index.h"
#include "model/naming/functions.h"
#include "model/work/timed.h"

struct key {
	uint32_t function;
	gt_id process;
	gt_id device;
};

void gt_first_launches_init(struct gt_first_launches *first, const struct gt_trace *trace,
                            const struct gt_functions *functions)
{
	struct gt_index *seen = gt_index_new(sizeof(struct key));

	first->count = trace->kernels.count;
	first->is_first = gt_allocate(first->count * sizeof(*first->is_first));
	for (size_t i = 0; i < first->count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		const struct key key = {
			.function = (uint32_t)gt_function_of(functions, kernel->shape),
			.process = gt_trace_stream_process(trace, kernel->stream),
			.device = kernel->device,
		};
		const size_t before = gt_index_count(seen);

		first->is_first[i] = gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns,
		                              kernel->end_ns) &&
		                     gt_index_add(seen, &key) == before;
	}
	gt_index_free(seen);
}

void gt_first_launches_release(struct gt_first_launches *first)
{
	free(first->is_first);
	*first = (struct gt_first_launches){0};
}
