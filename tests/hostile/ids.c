/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_ids FIRST COUNT
 * Recordings of records of every kind whose fields hold few numbers alone: 0, those of the rows
 * that are there, that of one past the last, the largest there is, and where a sign begins. So all
 * that is joined by a number is joined, with what fits it and with what does not. Each recording is
 * made by its number and read by everything in a process of its own: none of it may crash or be
 * undefined, and no report may have a cell that does not fit its column.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile/everything.h"
#include "support/recording.h"

enum {
	ROWS = 6, /* of a kind; so their numbers are below */
	BATCH = 20,
	HANGS_AFTER = 60, /* seconds */
};

/* How the fields of a recording are chosen. */
enum way {
	ALL_ALIKE,   /* one number for all of them */
	ANY_SMALL,   /* 0 to one past the last */
	ANY_SPECIAL, /* these, the largest and where a sign begins */
	WAYS,
};

static uint64_t special_number(uint64_t choice)
{
	static const uint64_t numbers[] = {
		0,          1,          2,        ROWS - 1,   ROWS,      ROWS + 1,
		UINT32_MAX, UINT64_MAX, 1u << 31, 1ull << 63, INT32_MAX, INT64_MAX,
	};

	return numbers[choice % (sizeof(numbers) / sizeof(numbers[0]))];
}

static uint64_t choose(enum way way, uint64_t number, uint64_t *state)
{
	switch (way) {
	case ALL_ALIKE:
		return special_number(number / WAYS);
	case ANY_SMALL:
		return next_random(state) % (ROWS + 2);
	case ANY_SPECIAL:
	case WAYS:
		break;
	}
	return next_random(state) % 4 ? next_random(state) % (ROWS + 2)
	                              : special_number(next_random(state));
}

/* Half of the records that have times have some that fit: the others are not joined by them. */
static void set_times(const struct gt_record_info *info, uint8_t *record, uint64_t *state)
{
	const uint64_t start_ns = 2000 + 100 * (next_random(state) % ROWS);
	const uint64_t end_ns = start_ns + next_random(state) % 200;

	if (!gt_record_has_times(info) || next_random(state) % 2)
		return;
	memcpy(record + info->fields[0].offset, &start_ns, sizeof(start_ns));
	memcpy(record + info->fields[1].offset, &end_ns, sizeof(end_ns));
}

static void add_kind(struct recording *recording, uint32_t kind, enum way way, uint64_t number,
                     uint64_t *state)
{
	const struct gt_record_info *info = gt_record_info(kind);
	uint8_t rows[ROWS * GT_RECORD_MAX_SIZE] = {0};
	const size_t count = way == ALL_ALIKE ? 1 : 1 + next_random(state) % ROWS;

	for (size_t i = 0; i < count; i++) {
		uint8_t *record = rows + i * info->size;

		for (uint32_t f = 0; f < info->field_count; f++) {
			const uint64_t value = choose(way, number, state);

			memcpy(record + info->fields[f].offset, &value, info->fields[f].width);
		}
		set_times(info, record, state);
	}
	recording_add_records(recording, kind, rows, count);
}

/* Most hold all kinds; without some of them, others are all that is known. */
static void make(struct recording *recording, uint64_t number)
{
	uint64_t state = number * 0x9e3779b97f4a7c15u + 1;
	const enum way way = (enum way)(number % WAYS);
	const uint64_t left_out = next_random(&state) % 4;

	recording_begin(recording, "node-1-1");
	recording_add_basics(recording, 1);
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (gt_record_info(kind) && next_random(&state) % 8 >= left_out)
			add_kind(recording, kind, way, number, &state);
	recording_end(recording, 1);
}

static void read_numbered(uint64_t number)
{
	struct recording recording;

	recording_init(&recording);
	make(&recording, number);
	(void)alarm(HANGS_AFTER);
	(void)read_everything(recording.path);
	(void)alarm(0);
	recording_release(&recording);
}

/* Returns where to go on; a number that is not survived is said, and counted. */
static uint64_t read_batch(uint64_t first, uint64_t end, uint64_t *failures)
{
	int at[2];
	uint64_t last = first;
	int status = 0;
	pid_t child;

	if (pipe(at) < 0 || (child = fork()) < 0)
		abort();
	if (child == 0) {
		for (uint64_t i = first; i < end; i++)
			if (write(at[1], &i, sizeof(i)) == sizeof(i))
				read_numbered(i);
		exit(0);
	}
	close(at[1]);
	while (read(at[0], &last, sizeof(last)) == sizeof(last))
		continue;
	close(at[0]);
	(void)waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return end;
	printf("%llu: ended with status %#x\n", (unsigned long long)last, (unsigned)status);
	++*failures;
	return last + 1;
}

int main(int argc, char **argv)
{
	uint64_t failures = 0;
	uint64_t first;
	uint64_t end;

	if (argc != 3) {
		(void)fputs("usage: hostile_ids FIRST COUNT\n", stderr);
		return 2;
	}
	first = strtoull(argv[1], NULL, 10);
	end = first + strtoull(argv[2], NULL, 10);
	for (uint64_t at = first; at < end;) {
		(void)fflush(stdout);
		at = read_batch(at, at + BATCH < end ? at + BATCH : end, &failures);
	}
	printf("%llu recordings, %llu failures\n", (unsigned long long)(end - first),
	       (unsigned long long)failures);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
