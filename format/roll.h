/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ROLL_H
#define GT_FORMAT_ROLL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct gt_error;

/*
 * The roll of a recording, HOST.roll in its folder: who of a machine's processes lacks in the
 * captures, and what. It is one page, on the disk before anything needs it, that the processes of
 * the machine map and share: a process that cannot make its capture, a child of a fork, and calls
 * that come when the capture is complete already are counted there, by a few stores. Orders to
 * pause recording stand there too.
 *
 * Whoever has something to say claims an entry for good. When all are taken the totals behind the
 * entries count. A reader takes none of it on trust (gt_roll_parse).
 */

#define GT_ROLL_SUFFIX  ".roll"
#define GT_ROLL_BYTES   4096
#define GT_ROLL_ENTRIES 15
#define GT_ROLL_MAGIC   0x314c4c4f52545047u /* "GPTROLL1", little endian */

enum gt_roll_kind {
	GT_ROLL_FREE,
	GT_ROLL_CLAIMED, /* being filled in */
	GT_ROLL_REFUSED, /* a process that could not make its files */
	GT_ROLL_FORKED,  /* a child of a recorded process that called CUDA */
	GT_ROLL_LATE,    /* calls of a recorded process after its exit had begun */
	GT_ROLL_KINDS,
};

/* Facts of an entry, numbers and texts; texts end with a zero byte. */
struct gt_roll_facts {
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t user;
	uint32_t padding;
	uint64_t started_ticks; /* as gt_process_started */
	uint64_t time_ns;       /* CLOCK_BOOTTIME, of the first that is counted */
	char program[48];
	char text[144]; /* REFUSED: why; LATE: the name of the capture */
};

struct gt_roll_entry {
	_Atomic uint32_t kind; /* enum gt_roll_kind */
	uint32_t padding;
	_Atomic uint64_t launches; /* that succeeded and are in no capture */
	_Atomic uint64_t calls;    /* other calls, likewise */
	struct gt_roll_facts facts;
};

struct gt_roll {
	_Atomic uint64_t magic;
	_Atomic uint64_t more_processes; /* for which there was no entry */
	_Atomic uint64_t more_launches;
	_Atomic uint64_t more_calls;
	struct gt_roll_entry entries[GT_ROLL_ENTRIES];
	_Atomic uint64_t order; /* to record, or to pause: format/control/control.h */
};

/*
 * Maps the roll of a host in a folder and makes it when there is none. NULL, with a sentence: it
 * cannot be opened, or there is no room for it. It stays mapped as long as the process lives.
 */
struct gt_roll *gt_roll_open(const char *folder, const char *host, struct gt_error *err);

/*
 * A free entry with these facts, not yet of any kind; NULL: all are taken. Any thread of any
 * process that has the roll mapped; so are the others.
 */
struct gt_roll_entry *gt_roll_claim(struct gt_roll *roll, const struct gt_roll_facts *facts);

/* From now on a reader sees it. */
void gt_roll_publish(struct gt_roll_entry *entry, enum gt_roll_kind kind);

/* Gives a claimed entry back. */
void gt_roll_free(struct gt_roll_entry *entry);

/* Enters a process that could not be recorded. */
void gt_roll_refuse(struct gt_roll *roll, const struct gt_roll_facts *facts);

/* Counts a call in an entry, or, with NULL, in the totals. */
void gt_roll_count(struct gt_roll *roll, struct gt_roll_entry *entry, int launch);

/* One entry as told to a reader. Control characters of the texts are '?'. */
struct gt_roll_line {
	enum gt_roll_kind kind;
	uint64_t launches;
	uint64_t calls;
	struct gt_roll_facts facts;
};

struct gt_roll_lines {
	struct gt_roll_line lines[GT_ROLL_ENTRIES];
	uint32_t count;
	uint64_t more_processes;
	uint64_t more_launches;
	uint64_t more_calls;
};

/*
 * The message of a process that cannot map the roll. The token shows that it was started by the
 * run: everybody sees the address, and only the run's own processes its environment.
 */
struct gt_roll_word {
	uint64_t token;
	struct gt_roll_facts facts;
};

/*
 * The two parts of GPUTRACE_RUN, ADDRESS:TOKEN, token in hexadecimal digits. Returns the bytes of
 * the address, 0: it is none.
 */
size_t gt_roll_address(const char *run, uint64_t *token);

/* Reads the bytes of a roll; -EBADMSG: it is none, or counts what no process can have done. */
int gt_roll_parse(struct gt_roll_lines *lines, const void *bytes, size_t size,
                  struct gt_error *err);

/* Reads a file, which may be anything by that name. */
int gt_roll_read(struct gt_roll_lines *lines, const char *path, struct gt_error *err);

/* Ends the texts and takes control characters out of them. */
void gt_roll_clean(struct gt_roll_facts *facts);

#endif
