/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that records into an arena and drains it into its capture is killed at a random
 * moment, again and again. Records published until then are in the salvaged capture exactly
 * once; of the record it was about to publish nothing is asked.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "format/arena/files.h"
#include "format/recording.h"
#include "stress/stress.h"
#include "support/capture.h"

enum {
	ROUNDS = 30,
	MOST_US = 60000,        /* that a process lives */
	PATIENCE_US = 20000000, /* for its first records */
	MOST_IDS = 4000000,
	ACTIVITY_SLOTS = 4,
	ACTIVITY_BYTES = 2 << 20, /* several chunks: some written, some not, when it is killed */
	CALL_BYTES = sizeof(struct gt_entry) + sizeof(struct gt_record_api_call),
};

/* Shared with the process that dies: the last record of each kind that is complete. */
struct published {
	_Atomic uint32_t calls;
	_Atomic uint32_t kernels;
};

struct child {
	struct test_arena arena;
	struct published *published;
	struct gt_drain *drain;
	int capture;
};

static int append(void *context, const void *data, size_t size)
{
	return gt_write_all(*(const int *)context, data, size);
}

static struct gt_slot *take(struct child *child, enum gt_slot_kind kind)
{
	struct gt_slot *slot;

	while (!(slot = gt_arena_take(&child->arena.arena, kind)))
		sched_yield();
	return slot;
}

/* As a thread of a traced program: each record is published by what is used of the slot. */
static void *make_calls(void *context)
{
	struct child *child = context;
	uint32_t id = 0;

	for (;;) {
		struct gt_slot *slot = take(child, GT_SLOT_RECORDS);
		uint8_t *bytes = gt_slot_memory(&child->arena.arena, slot);
		uint32_t used = 0;

		slot->tid = 7;
		for (; used + CALL_BYTES <= slot->size && id < MOST_IDS; used += CALL_BYTES) {
			const struct gt_record_api_call record = {
				.start_ns = id + 1, .end_ns = id + 2, .correlation = id + 1};

			put_call(bytes + used, &record);
			atomic_store_explicit(&slot->used, used + CALL_BYTES, memory_order_release);
			atomic_store_explicit(&child->published->calls, ++id, memory_order_release);
		}
		gt_slot_hand_over(slot, used);
	}
	return NULL;
}

/* As CUPTI: raw records in a buffer whose filling nobody is told before it comes back. */
static void *make_kernels(void *context)
{
	struct child *child = context;
	const uint32_t size = child->arena.arena.header->layout.sizes[GT_ACTIVITY_kernel];
	uint32_t id = 0;

	for (;;) {
		struct gt_slot *slot = take(child, GT_SLOT_ACTIVITY);
		uint32_t used = 0;

		for (; used + size <= slot->size && id < MOST_IDS; used += size) {
			add_raw_kernel(&child->arena, slot, ++id, 0);
			atomic_store_explicit(&child->published->kernels, id, memory_order_release);
		}
		gt_slot_hand_over(slot, used);
	}
	return NULL;
}

static void *map(int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                    fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	MUST(memory != MAP_FAILED);
	return memory;
}

static int open_in(const char *folder, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	MUST(fd >= 0);
	return fd;
}

/* The arena as a file that outlives the process, held by a lock that does not. */
static void make_arena(struct child *child, const char *folder)
{
	const struct gt_arena_config config = {.activity_slots = ACTIVITY_SLOTS,
	                                       .activity_bytes = ACTIVITY_BYTES,
	                                       .capture = "node-1-1.capture"};
	const int fd = open_in(folder, "node-1-1.arena", O_RDWR | O_CREAT);
	struct test_arena layout;

	test_arena_init(&layout, ACTIVITY_SLOTS, ACTIVITY_BYTES, config.capture);
	child->arena.size = gt_arena_bytes(&config);
	MUST(gt_file_lock(fd, GT_HOLD_ALONE) == 0 && ftruncate(fd, (off_t)child->arena.size) == 0);
	child->arena.memory = map(fd, child->arena.size);
	gt_arena_format(&child->arena.arena, child->arena.memory, &config);
	child->arena.arena.header->layout = layout.arena.header->layout;
	test_arena_release(&layout);
	gt_arena_publish(&child->arena.arena);
}

static void live(const char *folder, struct published *published)
{
	struct child child = {.published = published};
	struct gt_writer writer;
	pthread_t calls;
	pthread_t kernels;

	child.capture = open_in(folder, "node-1-1.capture", O_WRONLY | O_CREAT | O_APPEND);
	MUST(gt_writer_init(&writer, (struct gt_sink){append, &child.capture},
	                    aligned_memory(gt_writer_memory()), gt_writer_memory()) == 0);
	MUST(gt_writer_file_header(&writer) == 0);
	make_arena(&child, folder);
	child.drain = new_drain(&child.arena.arena, &writer);
	MUST(pthread_create(&calls, NULL, make_calls, &child) == 0);
	MUST(pthread_create(&kernels, NULL, make_kernels, &child) == 0);
	for (;;)
		if (drain_full(child.drain, &child.arena.arena) == 0)
			sched_yield();
}

/* All up to the last published are there once; the next one may be, being half made. */
static void check(const struct gt_content *capture, uint32_t kind, uint32_t published)
{
	uint32_t *counts = calloc(MOST_IDS + 2, sizeof(*counts));

	MUST(counts);
	count_ids(capture->bytes, capture->size, kind, counts, MOST_IDS + 1);
	for (uint32_t id = 1; id <= published; id++) {
		if (counts[id] == 1)
			continue;
		fprintf(stderr, "record %u of %u of kind %u: %u times\n", id, published, kind,
		        counts[id]);
		abort();
	}
	MUST(counts[published + 1] <= 1);
	for (uint32_t id = published + 2; id <= MOST_IDS; id++)
		MUST(counts[id] == 0);
	free(counts);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Until there are records of both kinds: what follows is then a check of something. */
static void wait_for_records(const struct published *published)
{
	const uint64_t until = now_us() + PATIENCE_US;

	while (atomic_load(&published->calls) == 0 || atomic_load(&published->kernels) == 0) {
		MUST(now_us() < until);
		sched_yield();
	}
}

/* Lets a process live so long, from its first records on or from its beginning, and kills it. */
static void run_and_kill(const char *folder, struct published *published, uint64_t life_us,
                         bool from_records)
{
	const struct timespec life = {.tv_nsec = (long)life_us * 1000};
	const pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		live(folder, published);
		_exit(1);
	}
	if (from_records)
		wait_for_records(published);
	nanosleep(&life, NULL);
	MUST(kill(pid, SIGKILL) == 0);
	/* Nothing else may end it: a crash of our own code is no kill. */
	MUST(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Returns how many records there were. */
static uint64_t one_round(const char *folder, struct published *published, uint64_t life_us,
                          bool from_records)
{
	char path[256];
	struct gt_salvage salvage;
	struct gt_error err = {0};
	struct gt_content capture;
	uint64_t sum;

	atomic_store(&published->calls, 0);
	atomic_store(&published->kernels, 0);
	run_and_kill(folder, published, life_us, from_records);
	sum = (uint64_t)published->calls + published->kernels;
	if (gt_salvage_folder(folder, &salvage, &err) < 0) {
		fprintf(stderr, "salvage: %s\n", err.text);
		abort();
	}
	MUST(salvage.running == 0);
	snprintf(path, sizeof(path), "%s/node-1-1.capture", folder);
	MUST(sum == 0 || access(path, F_OK) == 0);
	if (access(path, F_OK) == 0) {
		MUST(gt_load_file(&capture, path, &err) == 0);
		if (capture.size > 0) {
			check(&capture, GT_RECORD_api_call, published->calls);
			check(&capture, GT_RECORD_kernel, published->kernels);
		}
		/* Only a process that died before it wrote its file's header leaves it empty. */
		MUST(capture.size > 0 || sum == 0);
		gt_unload(&capture);
		MUST(unlink(path) == 0);
	}
	snprintf(path, sizeof(path), "%s/node-1-1.arena", folder);
	MUST(access(path, F_OK) < 0);
	return sum;
}

int main(void)
{
	char folder[] = "/tmp/gputrace-crash-XXXXXX";
	struct published *published = map(-1, sizeof(*published));
	uint64_t random = now_us();
	uint64_t records = 0;

	MUST(mkdtemp(folder));
	printf("first random number: %llu\n", (unsigned long long)random);
	fflush(stdout);
	/* Every other one dies young, perhaps before it has an arena; the others have records. */
	for (int round = 0; round < ROUNDS; round++) {
		const bool from_records = round % 2 != 0;
		const uint64_t found =
			one_round(folder, published, next_random(&random) % MOST_US, from_records);

		MUST(found > 0 || !from_records);
		records += found;
	}
	printf("%d processes killed, %llu records, each there once\n", ROUNDS,
	       (unsigned long long)records);
	MUST(rmdir(folder) == 0);
	return 0;
}
