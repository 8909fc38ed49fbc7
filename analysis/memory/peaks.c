/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/peaks.h"

#include "analysis/memory/totals.h"
#include "base/array.h"
#include "base/search.h"
#include "model/memory/use.h"
#include "model/view/view.h"

/* Memory that a process has from a moment on. */
struct moment {
	gt_time time_ns; /* first: gt_by_i64 */
	uint64_t bytes;
};

struct gt_process_memory {
	uint64_t now; /* while it is made */
	gt_array(struct moment) moments;
	uint64_t *most; /* a tree: its inner nodes, from the root at 1, then the moments */
};

static void make_tree(struct gt_process_memory *memory)
{
	const size_t count = memory->moments.count;

	memory->most = gt_allocate_zeroed(2 * count + 1, sizeof(*memory->most));
	for (size_t i = 0; i < count; i++)
		memory->most[count + i] = memory->moments.rows[i].bytes;
	for (size_t i = count; i-- > 1;) {
		const uint64_t *below = &memory->most[2 * i];

		memory->most[i] = below[0] > below[1] ? below[0] : below[1];
	}
}

void gt_memory_peaks_init(struct gt_memory_peaks *peaks, const struct gt_view *view)
{
	struct gt_memory_use use;
	struct gt_memory_step step;

	peaks->count = view->trace->processes.count + 1;
	peaks->of = gt_allocate_zeroed(peaks->count, sizeof(*peaks->of));
	gt_memory_use_init(&use, view);
	while (gt_memory_use_next(&use, &step) == 1) {
		const struct gt_memory_holder *holder = &use.holders.rows[step.holder];
		const size_t process =
			holder->process < peaks->count ? holder->process : peaks->count - 1;
		struct gt_process_memory *memory = &peaks->of[process];

		if (!gt_memory_holder_is_on_device(holder))
			continue;
		memory->now += step.ends ? -step.size_bytes : step.size_bytes;
		*gt_array_push(&memory->moments) = (struct moment){step.time_ns, memory->now};
	}
	gt_memory_use_release(&use);
	for (size_t i = 0; i < peaks->count; i++)
		make_tree(&peaks->of[i]);
}

void gt_memory_peaks_release(struct gt_memory_peaks *peaks)
{
	for (size_t i = 0; i < peaks->count; i++) {
		gt_array_free(peaks->of[i].moments.rows);
		gt_array_free(peaks->of[i].most);
	}
	gt_array_free(peaks->of);
	*peaks = (struct gt_memory_peaks){0};
}

uint64_t gt_memory_peaks_between(const struct gt_memory_peaks *peaks, gt_id process,
                                 gt_time start_ns, gt_time end_ns)
{
	const struct gt_process_memory *memory =
		&peaks->of[process < peaks->count ? process : peaks->count - 1];
	const size_t count = memory->moments.count;
	const size_t before = gt_count_up_to(&memory->moments, &start_ns, gt_by_i64);
	uint64_t most = 0;

	/* The last moment before tells how much it had when the stretch began. */
	for (size_t begin = count + (before ? before - 1 : 0),
	            end = count + gt_count_up_to(&memory->moments, &end_ns, gt_by_i64);
	     begin < end; begin /= 2, end /= 2) {
		if (begin % 2 && memory->most[begin++] > most)
			most = memory->most[begin - 1];
		if (end % 2 && memory->most[--end] > most)
			most = memory->most[end];
	}
	return most;
}
