/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/roll.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "injection/now.h"
#include "injection/process.h"
#include "injection/session.h"

static struct gt_roll_facts facts_of(const char *text)
{
	struct gt_roll_facts facts = {
		.pid = (uint32_t)getpid(),
		.parent_pid = (uint32_t)getppid(),
		.user = (uint32_t)geteuid(),
		.started_ticks = gt_process_started(),
		.time_ns = gt_read_clock(CLOCK_BOOTTIME),
	};
	char program[NAME_MAX];

	gt_process_program(program, sizeof(program));
	snprintf(facts.program, sizeof(facts.program), "%.*s", (int)sizeof(facts.program) - 1,
	         program);
	snprintf(facts.text, sizeof(facts.text), "%s", text);
	return facts;
}

void gt_roll_join(struct gt_session *session)
{
	char host[HOST_NAME_MAX + 1];

	gt_roll_forget(session);
	gt_host_name(host, sizeof(host));
	session->roll.roll = gt_roll_open(session->folder, host, NULL);
}

/*
 * gputrace run listens under a name that is in no file system, so that it can be told by a process
 * of any user, chrooted or without a descriptor left. A word that is sent waits there for it.
 */
static void tell_run(const struct gt_session *session, const struct gt_roll_facts *facts)
{
	struct gt_roll_word word = {.facts = *facts};
	const size_t length = gt_roll_address(session->settings.run, &word.token);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (length == 0 || length + 1 > sizeof(address.sun_path))
		return;
	memcpy(address.sun_path + 1, session->settings.run, length);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address,
	            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0)
		(void)!send(fd, &word, sizeof(word), MSG_NOSIGNAL);
	close(fd);
}

void gt_roll_enter(struct gt_session *session, const char *why)
{
	const struct gt_roll_facts facts = facts_of(why);

	if (session->roll.roll)
		gt_roll_refuse(session->roll.roll, &facts);
	else
		tell_run(session, &facts);
}

/* The entry of this process; NULL: none is left. The first thread that has one gives it to all. */
static struct gt_roll_entry *own_entry(struct gt_session *session, enum gt_roll_kind kind)
{
	struct gt_roll_share *share = &session->roll;
	/* Pairs with the exchange below. */
	struct gt_roll_entry *entry = atomic_load_explicit(&share->entry, memory_order_acquire);
	struct gt_roll_entry *none = NULL;
	struct gt_roll_facts facts;

	if (entry || atomic_load_explicit(&share->full, memory_order_relaxed))
		return entry;
	facts = facts_of(kind == GT_ROLL_LATE ? session->capture_name : "");
	entry = gt_roll_claim(share->roll, &facts);
	if (!entry) {
		atomic_store_explicit(&share->full, true, memory_order_relaxed);
		if (kind == GT_ROLL_FORKED)
			atomic_fetch_add_explicit(&share->roll->more_processes, 1,
			                          memory_order_relaxed);
		return NULL;
	}
	/* Before anything is counted in it, as the process may die at any moment. */
	gt_roll_publish(entry, kind);
	if (atomic_compare_exchange_strong_explicit(&share->entry, &none, entry,
	                                            memory_order_acq_rel, memory_order_acquire))
		return entry;
	gt_roll_free(entry);
	return none;
}

void gt_roll_add(struct gt_session *session, bool launch)
{
	const enum gt_roll_kind kind =
		gt_session_has_arena(session) ? GT_ROLL_LATE : GT_ROLL_FORKED;
	const int saved = errno;

	if (session->roll.roll)
		gt_roll_count(session->roll.roll, own_entry(session, kind), launch);
	errno = saved;
}

void gt_roll_forget(struct gt_session *session)
{
	atomic_store_explicit(&session->roll.entry, NULL, memory_order_relaxed);
	atomic_store_explicit(&session->roll.full, false, memory_order_relaxed);
}
