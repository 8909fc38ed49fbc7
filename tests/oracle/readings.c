/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/world.h"

#include <stdlib.h>

#include "support/capture.h"

/*
 * Reads the power of the GPUs of a world, as telemetry does: each process those that it uses, at an
 * interval of its own, with pauses, and with readings that give nothing. It draws from numbers of
 * its own: the rest of a world is the same without it. Two worlds of three have none.
 */

struct reader {
	struct world *world;
	uint64_t random;
};

static uint64_t draw(struct reader *reader, uint64_t below)
{
	return next_random(&reader->random) % below;
}

static bool uses(const struct world *world, int process, int gpu)
{
	for (int i = 0; i < world->stream_count; i++)
		if (world->streams[i].process == process && world->streams[i].gpu == gpu)
			return true;
	return false;
}

static void read_gpu(struct reader *reader, int number, int gpu)
{
	struct world *world = reader->world;
	const struct process *process = &world->processes[number];
	const uint64_t end = process->death ? process->death : process->end;
	const uint64_t interval = 1 + (end - process->begin) / (3 + draw(reader, 40));
	uint64_t at = process->begin + draw(reader, interval);

	while (at < end) {
		if (world->reading_count == MOST_READINGS)
			abort();
		world->readings[world->reading_count++] = (struct reading){
			.process = number,
			.gpu = gpu,
			.at = at,
			.power_mw = draw(reader, 8) ? 80000 + draw(reader, 600000) : 0,
		};
		at += interval + draw(reader, 1 + interval / 4);
		if (draw(reader, 16) == 0)
			at += 12 * interval;
	}
}

void read_power(struct world *world)
{
	struct reader reader = {world, world->seed ^ UINT64_C(0x9e3779b97f4a7c15)};

	if (draw(&reader, 3) > 0)
		return;
	for (int i = 0; i < world->process_count; i++)
		for (int gpu = 0; gpu < world->gpu_count; gpu++)
			if (uses(world, i, gpu))
				read_gpu(&reader, i, gpu);
}
