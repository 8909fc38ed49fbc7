/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_bounds [NAME...]
 * Recordings that were made to cost much: each is read by everything in a process of its own, which
 * may take only so much memory, and so many times the bytes that are there, and write no more than
 * so many times as much.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/ranges.h"
#include "hostile/everything.h"
#include "hostile/memory.h"
#include "support/recording.h"

enum { HANGS_AFTER = 120 /* seconds */ };

#define MEMORY_BASE  ((size_t)192 << 20)
#define WRITTEN_BASE ((size_t)800 << 20)

struct bound {
	const char *name;
	void (*add)(struct recording *recording);
	size_t hole;  /* bytes of a hole at the end of the capture */
	bool zeros;   /* they are written */
	size_t times; /* bytes of memory for each that is there */
};

#define ADD_MANY(recording, name, count, ...)                                                      \
	do {                                                                                       \
		struct gt_record_##name *rows = calloc((count), sizeof(*rows));                    \
                                                                                                   \
		for (uint32_t i = 0; i < (count); i++)                                             \
			rows[i] = (struct gt_record_##name){__VA_ARGS__};                          \
		recording_add_records((recording), GT_RECORD_##name, rows, (count));               \
		free(rows);                                                                        \
	} while (0)

/* Rows that compress to next to nothing, for which a hole behind them was to make room. */
static void add_dense_rows(struct recording *recording)
{
	ADD_MANY(recording, kernel, 8u << 20, .start_ns = 2000 + i, .end_ns = 2001 + i,
	         .correlation = i, .shape = SHAPE, .context = CONTEXT, .stream = STREAM);
}

static void add_nothing(struct recording *recording)
{
	(void)recording;
}

static void add_open_ranges(struct recording *recording)
{
	recording_add_string(recording, STRING_NEXT, "range");
	ADD_MANY(recording, range_begin, 1u << 20, .time_ns = 2000 + 10 * i, .order = i + 1,
	         .level = i, .text = STRING_NEXT, .thread = 100);
	recording_add_call(recording, 2000000000, 1);
	recording_add_kernel(recording, 2000001000, 1);
}

enum { NAMES = 30, NAME_BYTES = 1 << 20, EVENTS = 20000 };

/* Texts as long as a chunk takes, of which many make few bytes of a file; all are different. */
static void add_long_names(struct recording *recording)
{
	uint8_t *bytes = malloc(NAME_BYTES + 32);

	for (uint32_t i = 0; i < NAMES; i++) {
		uint8_t *at = gt_put_varint(gt_put_varint(bytes, STRING_NEXT + i), NAME_BYTES);

		memset(at, '"', NAME_BYTES);
		at[0] = (uint8_t)('A' + i);
		if (gt_writer_payload(&recording->capture.writer, GT_RECORD_STRINGS, bytes,
		                      (size_t)(at - bytes) + NAME_BYTES, 1) < 0)
			abort();
	}
	free(bytes);
}

/* Many rows of all that has a name. */
static void add_named(struct recording *recording)
{
	add_long_names(recording);
	ADD_MANY(recording, shape, EVENTS, .id = 2 + i, .name = STRING_NEXT + i % NAMES,
	         .grid_x = 1 + i, .grid_y = 1, .grid_z = 1, .block_x = 32, .block_y = 1,
	         .block_z = 1);
	ADD_MANY(recording, kernel, EVENTS, .start_ns = 2000 + 100ull * i,
	         .end_ns = 2050 + 100ull * i, .correlation = i + 1, .shape = 2 + i,
	         .context = CONTEXT, .stream = STREAM);
	ADD_MANY(recording, api_call, EVENTS, .start_ns = 1500 + 100ull * i,
	         .end_ns = 1550 + 100ull * i, .correlation = i + 1,
	         .function = STRING_NEXT + i % NAMES, .thread = 100);
	ADD_MANY(recording, range_begin, EVENTS, .time_ns = 1490 + 100ull * i, .order = 2 * i + 1,
	         .text = STRING_NEXT + i % NAMES, .thread = 100);
	ADD_MANY(recording, range_end, EVENTS, .time_ns = 1560 + 100ull * i, .order = 2 * i + 2,
	         .thread = 100);
	ADD_MANY(recording, range_begin, EVENTS, .time_ns = 1490 + 100ull * i, .order = i + 1,
	         .kind = GT_RANGE_STEP_MARK, .text = STRING_NEXT + i % NAMES, .thread = 101);
	ADD_MANY(recording, thread, NAMES, .tid = 200 + i, .name = STRING_NEXT + i);
}

/* Each payload would have a text as long as one may be, of its own. */
static void add_schema_in_itself(struct recording *recording)
{
	enum { MARKS = 50000, MEMBERS = 1000 };

	for (uint32_t i = 0; i < MARKS; i++) {
		char digits[16];

		snprintf(digits, sizeof(digits), "%08x", i);
		recording_add_string(recording, STRING_NEXT + i, digits);
	}
	recording_add(recording, payload_schema, .id = 1000, .type = 1, .bytes = 4);
	ADD_MANY(recording, payload_entry, MEMBERS, .schema = 1000, .place = i, .type = 1000);
	ADD_MANY(recording, range_begin, MARKS, .time_ns = 2000 + i, .order = i + 1,
	         .kind = GT_RANGE_STEP_MARK, .level = GT_LEVEL_UNKNOWN, .thread = 100);
	ADD_MANY(recording, range_data, MARKS, .time_ns = 2000 + i, .order = i + 1, .schema = 1000,
	         .bytes = 4, .place = GT_PLACE_PAYLOAD, .content = STRING_NEXT + i, .thread = 100);
}

static const struct bound bounds[] = {
	{"hole", add_dense_rows, 100u << 20, false, 400},
	{"zeros", add_dense_rows, 100u << 20, true, 400},
	{"stretched", add_nothing, (size_t)8 << 30, false, 400},
	{"open ranges", add_open_ranges, 0, false, 400},
	{"long names", add_named, 0, false, 400},
	{"schema in itself", add_schema_in_itself, 0, false, 400},
};

static void add_hole(const struct recording *recording, const struct bound *bound)
{
	static const uint8_t zeros[1 << 20];
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/node-1-1.capture", recording->path);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		abort();
	for (size_t left = bound->zeros ? bound->hole : 0; left > 0; left -= sizeof(zeros))
		if (write(fd, zeros, sizeof(zeros)) != sizeof(zeros))
			abort();
	if (!bound->zeros && ftruncate(fd, (off_t)(recording->capture.size + bound->hole)) < 0)
		abort();
	close(fd);
}

static double now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In a child. Whether it was within its bounds. */
static bool keeps(const struct bound *bound)
{
	struct recording recording;
	size_t there;
	size_t before;
	size_t taken;
	size_t written;
	double begin_s;
	bool kept;

	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	bound->add(&recording);
	recording_end(&recording, true);
	there = recording.capture.size;
	if (bound->hole)
		add_hole(&recording, bound);
	capture_release(&recording.capture);
	watch_memory();
	before = memory_before();
	begin_s = now_s();
	(void)alarm(HANGS_AFTER);
	written = read_everything(recording.path);
	(void)alarm(0);
	taken = memory_peak();
	taken = taken > before ? taken - before : 0;
	kept = taken <= MEMORY_BASE + bound->times * there &&
	       written <= WRITTEN_BASE + bound->times * there;
	printf("%-20s %9zu bytes: %6.1f MB of memory, %6.1f MB written, %6.2f s%s\n", bound->name,
	       there, (double)taken / 1e6, (double)written / 1e6, now_s() - begin_s,
	       kept ? "" : "  TOO MUCH");
	recording_release(&recording);
	return kept;
}

static bool keeps_in_child(const struct bound *bound)
{
	int status = 0;
	pid_t child;

	(void)fflush(stdout);
	child = fork();
	if (child < 0)
		abort();
	if (child == 0)
		exit(keeps(bound) ? EXIT_SUCCESS : EXIT_FAILURE);
	(void)waitpid(child, &status, 0);
	if (!WIFEXITED(status))
		printf("%s: ended with status %#x\n", bound->name, (unsigned)status);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Without arguments all of them, else those that are named. */
static bool is_wanted(const struct bound *bound, int argc, char **argv)
{
	bool wanted = argc < 2;

	for (int i = 1; i < argc; i++)
		wanted |= strcmp(argv[i], bound->name) == 0;
	return wanted;
}

int main(int argc, char **argv)
{
	int failures = 0;

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		if (is_wanted(&bounds[i], argc, argv))
			failures += !keeps_in_child(&bounds[i]);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
