/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_mutants FIRST COUNT RECORDING...
 * Recordings that are damaged, each by its number: captures, arenas and manifests, made from good
 * recordings. All that gputrace does with a recording is done with each: it may neither crash nor
 * take long, nor more memory than what is there allows. A child does a batch; when it dies, the
 * number of the recording is said and the next child goes on behind it.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/recording.h"
#include "hostile/everything.h"
#include "hostile/memory.h"
#include "hostile/mutate.h"
#include "support/recording.h"

enum {
	BATCH = 50,
	MOST_SECONDS = 10,
	HANGS_AFTER = 60, /* seconds: then it is not slow but does not end */
	MOST_SEEDS = 64,
	SMALL_BYTES = 40000, /* recordings that take little time are damaged more often */
};

#define MOST_BYTES       ((size_t)64 << 20)
#define MOST_INPUT_TIMES 20

struct seed {
	uint8_t *capture;
	size_t capture_size;
	uint8_t *manifest;
	size_t manifest_size;
};

static struct seed seeds[MOST_SEEDS];
static size_t seed_count;

/* Figures that a child tells its parent. */
struct shared {
	_Atomic uint64_t at;
	_Atomic uint64_t failures;
	_Atomic uint64_t most_bytes;
	_Atomic uint64_t most_ms;
};

static void add_seed(const char *folder)
{
	struct seed *seed = &seeds[seed_count];
	struct gt_content content;
	char path[4096];
	glob_t found;

	snprintf(path, sizeof(path), "%s/*%s", folder, GT_CAPTURE_SUFFIX);
	if (seed_count == MOST_SEEDS || glob(path, 0, NULL, &found) != 0)
		return;
	if (gt_load_file(&content, found.gl_pathv[0], NULL) < 0)
		abort();
	globfree(&found);
	seed->capture = content.bytes;
	seed->capture_size = content.size;
	snprintf(path, sizeof(path), "%s/%s", folder, GT_MANIFEST_NAME);
	if (gt_load_file(&content, path, NULL) == 0) {
		seed->manifest = content.bytes;
		seed->manifest_size = content.size;
	}
	seed_count++;
}

static const struct seed *choose_seed(uint64_t *state)
{
	const struct seed *seed = &seeds[next_random(state) % seed_count];

	if (seed->capture_size > SMALL_BYTES && next_random(state) % 4)
		seed = &seeds[next_random(state) % seed_count];
	return seed;
}

static size_t add_capture(struct recording *recording, uint64_t *state)
{
	const struct seed *seed = choose_seed(state);

	mutate_capture(&recording->capture, seed->capture, seed->capture_size, state);
	return recording->capture.size;
}

/* Its pages that are not zero, so that it takes no longer than it must. */
static size_t write_sparse(const char *path, const uint8_t *bytes, size_t size)
{
	static const uint8_t zeros[4096];
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t written = 0;

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		abort();
	for (size_t at = 0; at < size; at += sizeof(zeros)) {
		const size_t some = size - at < sizeof(zeros) ? size - at : sizeof(zeros);

		if (memcmp(bytes + at, zeros, some) != 0) {
			written += some;
			(void)!pwrite(fd, bytes + at, some, (off_t)at);
		}
	}
	close(fd);
	return written;
}

static const struct test_arena *good_arena(void)
{
	static struct test_arena arena;
	struct gt_slot *slot;

	if (arena.memory)
		return &arena;
	test_arena_init(&arena, 4, 4096, "node-1-0" GT_CAPTURE_SUFFIX);
	add_name(&arena, 0x1000, "_Z5saxpyPfS_f");
	slot = gt_arena_take(&arena.arena, GT_SLOT_ACTIVITY);
	for (uint32_t id = 1; id < 9; id++)
		add_raw_kernel(&arena, slot, id, 0x1000);
	slot = gt_arena_take(&arena.arena, GT_SLOT_ACTIVITY);
	for (int activity = 0; activity < GT_ACTIVITY_COUNT; activity++)
		add_raw(&arena, slot, (enum gt_cupti_activity)activity);
	slot->state = GT_SLOT_FULL;
	slot = gt_arena_take(&arena.arena, GT_SLOT_RECORDS);
	slot->tid = 100;
	for (uint32_t id = 1; id < 9; id++)
		add_call(&arena, slot, id);
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (gt_record_info(kind))
			add_entry(&arena, slot, kind, (gt_record_info(kind)->size + 7) & ~7u);
	arena.arena.header->clocks[0] = (struct gt_record_clock){
		.host_ns = 1000, .boottime_ns = 1000, .realtime_ns = 1000, .cupti_ns = 1000};
	arena.arena.header->clock_count = 1;
	return &arena;
}

static size_t add_arena(const struct recording *recording, uint64_t *state)
{
	struct test_arena copy;
	char path[256];
	size_t written;

	test_arena_copy(good_arena(), &copy);
	mutate_arena(&copy, state);
	snprintf(path, sizeof(path), "%s/%s%s", recording->path, recording->name, GT_ARENA_SUFFIX);
	written = write_sparse(path, copy.memory, copy.size);
	test_arena_release(&copy);
	return written;
}

static size_t add_manifest(struct recording *recording, uint64_t *state)
{
	const struct seed *seed = choose_seed(state);
	uint8_t *manifest = malloc(seed->manifest_size + 1);
	size_t size = seed->manifest_size;

	memcpy(manifest, seed->manifest, size);
	size = mutate_bytes(manifest, size, state);
	recording_add_file(recording, GT_MANIFEST_NAME, manifest, size);
	free(manifest);
	return size;
}

/* Returns the bytes of its files. */
static size_t make_mutant(struct recording *recording, uint64_t number)
{
	uint64_t state = number * 0x9e3779b97f4a7c15u + 1;
	const uint64_t captures = next_random(&state) % 8 ? 1 : 2;
	size_t bytes = 0;

	for (uint64_t i = 0; i < captures; i++) {
		char name[32];

		snprintf(name, sizeof(name), "node-1-%u", (unsigned)i);
		recording_begin(recording, name);
		bytes += add_capture(recording, &state);
		recording_end(recording, next_random(&state) % 2);
		if (next_random(&state) % 4 == 0)
			bytes += add_arena(recording, &state);
	}
	if (next_random(&state) % 2)
		bytes += add_manifest(recording, &state);
	return bytes;
}

/* Processor time: a busy machine makes nothing slow. */
static uint64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void keep_larger(_Atomic uint64_t *most, uint64_t value)
{
	if (value > atomic_load(most))
		atomic_store(most, value);
}

static void try_mutant(uint64_t number, struct shared *shared)
{
	struct recording recording;
	size_t input;
	size_t before;
	size_t taken;
	uint64_t begin_ms;
	uint64_t took_ms;

	recording_init(&recording);
	input = make_mutant(&recording, number);
	begin_ms = now_ms();
	before = memory_before();
	(void)alarm(HANGS_AFTER);
	(void)read_everything(recording.path);
	(void)alarm(0);
	taken = memory_peak();
	taken = taken > before ? taken - before : 0;
	took_ms = now_ms() - begin_ms;
	keep_larger(&shared->most_bytes, taken);
	keep_larger(&shared->most_ms, took_ms);
	if (took_ms > 1000 * MOST_SECONDS || taken > MOST_BYTES + MOST_INPUT_TIMES * input) {
		printf("%llu: %llu ms, %zu bytes of memory for %zu of files\n",
		       (unsigned long long)number, (unsigned long long)took_ms, taken, input);
		(void)fflush(stdout);
		atomic_fetch_add(&shared->failures, 1);
	}
	recording_release(&recording);
}

/* Returns where to go on. */
static uint64_t try_batch(uint64_t first, uint64_t end, struct shared *shared)
{
	const pid_t child = fork();
	int status = 0;

	if (child < 0)
		abort();
	if (child == 0) {
		watch_memory();
		for (uint64_t i = first; i < end; i++) {
			atomic_store(&shared->at, i);
			try_mutant(i, shared);
		}
		exit(0);
	}
	(void)waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return end;
	printf("%llu: ended with status %#x\n", (unsigned long long)atomic_load(&shared->at),
	       (unsigned)status);
	(void)fflush(stdout);
	atomic_fetch_add(&shared->failures, 1);
	return atomic_load(&shared->at) + 1;
}

int main(int argc, char **argv)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t first;
	uint64_t end;

	if (argc < 4 || shared == MAP_FAILED) {
		(void)fputs("usage: hostile_mutants FIRST COUNT RECORDING...\n", stderr);
		return 2;
	}
	first = strtoull(argv[1], NULL, 10);
	end = first + strtoull(argv[2], NULL, 10);
	for (int i = 3; i < argc; i++)
		add_seed(argv[i]);
	for (uint64_t at = first; at < end;)
		at = try_batch(at, at + BATCH < end ? at + BATCH : end, shared);
	printf("%llu recordings, %llu failures, at most %llu ms and %.1f MB\n",
	       (unsigned long long)(end - first), (unsigned long long)shared->failures,
	       (unsigned long long)shared->most_ms, (double)shared->most_bytes / 1e6);
	return shared->failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
