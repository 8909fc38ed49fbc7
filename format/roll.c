/* SPDX-License-Identifier: Apache-2.0 */
#include "format/roll.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sums.h"
#include "format/recording.h"

_Static_assert(sizeof(struct gt_roll) <= GT_ROLL_BYTES - 1, "the last byte makes the file long");

/*
 * Makes the file as long as it is to be, on the disk: several processes may do so at once, so
 * nothing but the last byte, which nobody uses, is written.
 */
static int make_long(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADMSG;
	if (status.st_size >= GT_ROLL_BYTES)
		return 0;
	return pwrite(fd, "", 1, GT_ROLL_BYTES - 1) == 1 ? 0 : -errno;
}

static int map(int fd, struct gt_roll **roll)
{
	const int result = make_long(fd);
	void *memory;

	if (result < 0)
		return result;
	memory = mmap(NULL, GT_ROLL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*roll = memory;
	atomic_store_explicit(&(*roll)->magic, GT_ROLL_MAGIC, memory_order_relaxed);
	return 0;
}

struct gt_roll *gt_roll_open(const char *folder, const char *host, struct gt_error *err)
{
	struct gt_roll *roll = NULL;
	char path[PATH_MAX + NAME_MAX];
	int result;
	int fd;

	snprintf(path, sizeof(path), "%s/%s" GT_ROLL_SUFFIX, folder, host);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	result = fd < 0 ? -errno : map(fd, &roll);
	if (fd >= 0)
		close(fd);
	if (result < 0)
		(void)gt_fail(err, -result, "cannot make %s: %s", path, gt_errno_text(-result));
	return roll;
}

struct gt_roll_entry *gt_roll_claim(struct gt_roll *roll, const struct gt_roll_facts *facts)
{
	for (int i = 0; i < GT_ROLL_ENTRIES; i++) {
		struct gt_roll_entry *entry = &roll->entries[i];
		uint32_t free = GT_ROLL_FREE;

		if (!atomic_compare_exchange_strong_explicit(&entry->kind, &free, GT_ROLL_CLAIMED,
		                                             memory_order_acquire,
		                                             memory_order_relaxed))
			continue;
		entry->facts = *facts;
		return entry;
	}
	return NULL;
}

void gt_roll_publish(struct gt_roll_entry *entry, enum gt_roll_kind kind)
{
	atomic_store_explicit(&entry->kind, kind, memory_order_release);
}

void gt_roll_free(struct gt_roll_entry *entry)
{
	atomic_store_explicit(&entry->kind, GT_ROLL_FREE, memory_order_release);
}

void gt_roll_refuse(struct gt_roll *roll, const struct gt_roll_facts *facts)
{
	struct gt_roll_entry *entry = gt_roll_claim(roll, facts);

	if (entry)
		gt_roll_publish(entry, GT_ROLL_REFUSED);
	else
		atomic_fetch_add_explicit(&roll->more_processes, 1, memory_order_relaxed);
}

void gt_roll_count(struct gt_roll *roll, struct gt_roll_entry *entry, int launch)
{
	_Atomic uint64_t *launches = entry ? &entry->launches : &roll->more_launches;
	_Atomic uint64_t *calls = entry ? &entry->calls : &roll->more_calls;

	atomic_fetch_add_explicit(launch ? launches : calls, 1, memory_order_relaxed);
}

size_t gt_roll_address(const char *run, uint64_t *token)
{
	const char *colon = strchr(run, ':');
	char *end;

	if (!colon || !colon[1])
		return 0;
	*token = strtoull(colon + 1, &end, 16);
	return *end ? 0 : (size_t)(colon - run);
}

static void clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

void gt_roll_clean(struct gt_roll_facts *facts)
{
	clean(facts->program, sizeof(facts->program));
	clean(facts->text, sizeof(facts->text));
}

static bool can_be_right(uint64_t launches, uint64_t calls)
{
	return launches <= GT_MOST_COUNTED && calls <= GT_MOST_COUNTED;
}

static bool is_sensible(const struct gt_roll_lines *lines)
{
	if (lines->more_processes > GT_MOST_COUNTED ||
	    !can_be_right(lines->more_launches, lines->more_calls))
		return false;
	for (uint32_t i = 0; i < lines->count; i++)
		if (!can_be_right(lines->lines[i].launches, lines->lines[i].calls))
			return false;
	return true;
}

static void take(struct gt_roll_lines *lines, const struct gt_roll_entry *entry)
{
	struct gt_roll_line *line = &lines->lines[lines->count];
	const uint32_t kind = entry->kind;

	if (kind != GT_ROLL_REFUSED && kind != GT_ROLL_FORKED && kind != GT_ROLL_LATE)
		return;
	line->kind = (enum gt_roll_kind)kind;
	line->launches = entry->launches;
	line->calls = entry->calls;
	line->facts = entry->facts;
	gt_roll_clean(&line->facts);
	lines->count++;
}

int gt_roll_parse(struct gt_roll_lines *lines, const void *bytes, size_t size, struct gt_error *err)
{
	struct gt_roll roll;

	*lines = (struct gt_roll_lines){0};
	if (size < sizeof(roll))
		return gt_fail(err, EBADMSG, "it is too short for a roll");
	memcpy(&roll, bytes, sizeof(roll));
	if (roll.magic == 0)
		return 0; /* made, and never used */
	if (roll.magic != GT_ROLL_MAGIC)
		return gt_fail(err, EBADMSG, "it is not a roll of gputrace");
	for (int i = 0; i < GT_ROLL_ENTRIES; i++)
		take(lines, &roll.entries[i]);
	lines->more_processes = roll.more_processes;
	lines->more_launches = roll.more_launches;
	lines->more_calls = roll.more_calls;
	if (is_sensible(lines))
		return 0;
	*lines = (struct gt_roll_lines){0};
	return gt_fail(err, EBADMSG, "it counts more than processes can have done");
}

int gt_roll_read(struct gt_roll_lines *lines, const char *path, struct gt_error *err)
{
	const int fd = gt_open_file(AT_FDCWD, path, O_RDONLY, err);
	uint8_t bytes[GT_ROLL_BYTES];
	ssize_t size;
	int code;

	*lines = (struct gt_roll_lines){0};
	if (fd < 0)
		return fd;
	size = pread(fd, bytes, sizeof(bytes), 0);
	code = errno;
	close(fd);
	if (size < 0)
		return gt_fail(err, code, "cannot read it: %s", gt_errno_text(code));
	return gt_roll_parse(lines, bytes, (size_t)size, err);
}
