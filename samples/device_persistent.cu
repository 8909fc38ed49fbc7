/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel that stays on the GPU and takes tasks which the host puts into memory that both see.
 * Each block tells of each task, with its number as a value, and of the time in between. To be
 * recorded with `gputrace run --device-events`. Usage: device_persistent [TASKS] [BLOCKS]
 * [MILLISECONDS BETWEEN TASKS]
 */
#include <time.h>

#include "include/gputrace/device.cuh"
#include "samples/check.h"
#include "samples/spend.cuh"

enum { WORK_NS = 200000 };

GPUTRACE_DEVICE_NAME(idle, "wait for a task");
GPUTRACE_DEVICE_NAME(task_range, "task");
GPUTRACE_DEVICE_NAME(task_number, "number of the task");

/* In memory of the host's that the GPU sees. */
struct board {
	volatile unsigned given; /* tasks so far */
	volatile unsigned over;  /* there will be no more */
};

/* One thread a block. */
__global__ void stay(const struct board *board, unsigned long long *done)
{
	gputrace::writer events(gputrace::leader::block);
	unsigned taken = 0;

	for (;;) {
		unsigned given;

		{
			gputrace::range waiting(events, idle);

			/* over is set after the last task was given: read the other way round */
			for (;;) {
				const unsigned over = board->over;

				__threadfence_system();
				given = board->given;
				if (given != taken || over)
					break;
			}
		}
		if (given == taken)
			break;
		gputrace::range doing(events, task_range);

		events.value(task_number, taken);
		spend(WORK_NS);
		taken++;
		atomicAdd(done, 1ull);
	}
}

int main(int argc, char **argv)
{
	const size_t tasks = argument(argc, argv, 1, 200);
	const size_t blocks = argument(argc, argv, 2, 16);
	const size_t between_ms = argument(argc, argv, 3, 5);
	const struct timespec pause = {(time_t)(between_ms / 1000),
	                               (long)(between_ms % 1000) * 1000000};
	struct board *board;
	struct board *seen; /* the same, by the GPU's address */
	unsigned long long *done;
	unsigned long long result;

	CHECK(cudaHostAlloc((void **)&board, sizeof(*board), cudaHostAllocMapped));
	board->given = board->over = 0;
	CHECK(cudaHostGetDevicePointer((void **)&seen, board, 0));
	CHECK(cudaMalloc((void **)&done, sizeof(*done)));
	CHECK(cudaMemset(done, 0, sizeof(*done)));
	CHECK(cudaDeviceSynchronize());
	stay<<<(unsigned)blocks, 1>>>(seen, done);
	CHECK(cudaGetLastError());
	for (size_t i = 0; i < tasks; i++) {
		nanosleep(&pause, NULL);
		board->given = (unsigned)i + 1;
	}
	__sync_synchronize();
	board->over = 1;
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&result, done, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(done));
	CHECK(cudaFreeHost(board));
	printf("tasks=%zu\nblocks=%zu\ndone=%llu\nwork_ns=%d\n", tasks, blocks, result, WORK_NS);
	/* a task, its number and the wait before it, and the last wait of each block */
	printf("rows=%zu\nevents=%zu\n", blocks * (3 * tasks + 1), blocks * (5 * tasks + 2));
	return result != tasks * blocks;
}
