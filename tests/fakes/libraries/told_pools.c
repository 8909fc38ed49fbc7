/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GPUTRACE_DISABLE /* types alone: this is what the functions call */
#include "include/gputrace/gputrace.h"

/*
 * In place of the injection library: what a program tells it, a line for each call in the file that
 * TOLD_POOLS names. TOLD_POOLS_REFUSES: no pool is recorded, as by a library that has ended.
 * TOLD_POOLS_LATER: nothing is, as long as there is no file of that name.
 */

const struct gputrace_api *gputrace_get_api(uint32_t version);

static void say(const char *line)
{
	const char *name = getenv("TOLD_POOLS");
	FILE *file = name ? fopen(name, "a") : NULL;

	if (!file)
		return;
	fputs(line, file);
	fclose(file);
}

static uint64_t pool_create(const struct gputrace_pool *pool)
{
	static uint64_t pools;
	char line[256];

	if (getenv("TOLD_POOLS_REFUSES"))
		return 0;
	snprintf(line, sizeof(line), "pool %" PRIu64 " %d %u %d %u %s\n", ++pools,
	         pool->struct_size == sizeof(*pool), pool->place, pool->device, pool->teller,
	         pool->name);
	say(line);
	return pools;
}

static void pool_stats(uint64_t pool, const struct gputrace_pool_stats *stats)
{
	const uint64_t *figures = &stats->num_allocs;
	char line[512];
	int used = snprintf(line, sizeof(line), "stats %" PRIu64 " %d", pool,
	                    stats->struct_size == sizeof(*stats));

	for (size_t i = 0; i < (sizeof(*stats) - offsetof(struct gputrace_pool_stats, num_allocs)) /
	                               sizeof(*figures);
	     i++)
		used += snprintf(line + used, sizeof(line) - (size_t)used, " %" PRId64,
		                 (int64_t)figures[i]);
	snprintf(line + used, sizeof(line) - (size_t)used, "\n");
	say(line);
}

static void executable(const struct gputrace_executable *told)
{
	char line[256];

	snprintf(line, sizeof(line),
	         "executable %d %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
	         " %s\n",
	         told->struct_size == sizeof(*told), told->device, (int64_t)told->argument_bytes,
	         (int64_t)told->output_bytes, (int64_t)told->temporary_bytes,
	         (int64_t)told->alias_bytes, (int64_t)told->code_bytes, told->name);
	say(line);
}

static void block_alloc_at(uint64_t pool, const void *address, uint64_t bytes, uint64_t requested,
                           void *stream, uint64_t time_ns)
{
	char line[256];

	snprintf(line, sizeof(line),
	         "alloc %" PRIu64 " %" PRIuPTR " %" PRIu64 " %" PRIu64 " %" PRIuPTR " %" PRIu64
	         "\n",
	         pool, (uintptr_t)address, bytes, requested, (uintptr_t)stream, time_ns);
	say(line);
}

static void block_free_at(uint64_t pool, const void *address, void *stream, uint64_t time_ns)
{
	char line[256];

	snprintf(line, sizeof(line), "free %" PRIu64 " %" PRIuPTR " %" PRIuPTR " %" PRIu64 "\n",
	         pool, (uintptr_t)address, (uintptr_t)stream, time_ns);
	say(line);
}

const struct gputrace_api *gputrace_get_api(uint32_t version)
{
	static const struct gputrace_api api = {
		.struct_size = sizeof(api),
		.pool_create = pool_create,
		.pool_stats = pool_stats,
		.executable = executable,
		.block_alloc_at = block_alloc_at,
		.block_free_at = block_free_at,
	};
	const char *later = getenv("TOLD_POOLS_LATER");

	if (later && access(later, F_OK) < 0)
		return NULL;
	return version == GPUTRACE_API_VERSION ? &api : NULL;
}
