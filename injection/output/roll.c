/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/roll.h"

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
#include "format/settings.h"
#include "injection/output/output.h"
#include "injection/process/now.h"
#include "injection/process/process.h"

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

void gt_roll_join(struct gt_output *output)
{
	char host[HOST_NAME_MAX + 1];

	gt_roll_forget(output);
	gt_host_name(host, sizeof(host));
	output->roll.roll = gt_roll_open(output->folder, host, NULL);
}

/*
 * gputrace run listens under a name that is in no file system, so that it can be told by a process
 * of any user, chrooted or without a descriptor left. A word that is sent waits there for it.
 */
static void tell_run(const struct gt_output *output, const struct gt_roll_facts *facts)
{
	struct gt_roll_word word = {.facts = *facts};
	const size_t length = gt_roll_address(output->settings->run, &word.token);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (length == 0 || length + 1 > sizeof(address.sun_path))
		return;
	memcpy(address.sun_path + 1, output->settings->run, length);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address,
	            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0)
		(void)!send(fd, &word, sizeof(word), MSG_NOSIGNAL);
	close(fd);
}

void gt_roll_enter(struct gt_output *output, const char *why)
{
	const struct gt_roll_facts facts = facts_of(why);

	if (output->roll.roll)
		gt_roll_refuse(output->roll.roll, &facts);
	else
		tell_run(output, &facts);
}

/* The entry of this process; NULL: none is left. The first thread that has one gives it to all. */
static struct gt_roll_entry *own_entry(struct gt_output *output, enum gt_roll_kind kind)
{
	struct gt_roll_share *share = &output->roll;
	/* Pairs with the exchange below. */
	struct gt_roll_entry *entry = atomic_load_explicit(&share->entry, memory_order_acquire);
	struct gt_roll_entry *none = NULL;
	struct gt_roll_facts facts;

	if (entry || atomic_load_explicit(&share->full, memory_order_relaxed))
		return entry;
	facts = facts_of(kind == GT_ROLL_LATE ? output->capture_name : "");
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

void gt_roll_add(struct gt_output *output, enum gt_roll_kind kind, bool launch)
{
	const int saved = errno;

	if (output->roll.roll)
		gt_roll_count(output->roll.roll, own_entry(output, kind), launch);
	errno = saved;
}

void gt_roll_forget(struct gt_output *output)
{
	atomic_store_explicit(&output->roll.entry, NULL, memory_order_relaxed);
	atomic_store_explicit(&output->roll.full, false, memory_order_relaxed);
}
