/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/strangers.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"
#include "cli/recording/manifest.h"
#include "format/recording.h"

#define MOST_PROCESSES 4096 /* that one look goes through */
#define PART           4096 /* bytes of a file of /proc that are looked at together */

static const char variable[] = "CUDA_INJECTION64_PATH=";
static const char driver[] = "/libcuda.so";

/* Opens /proc/PID/NAME; negative: the process is over, or it is none of ours to look into. */
static int open_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Whether a file of a process holds the bytes; false, too, when it cannot be read. */
static bool holds(pid_t pid, const char *name, const char *wanted, bool *could_read)
{
	const size_t length = strlen(wanted);
	char bytes[2 * PART];
	size_t kept = 0;
	bool found = false;
	ssize_t got = 0;
	const int fd = open_of(pid, name);

	while (fd >= 0 && !found && (got = read(fd, bytes + kept, PART)) > 0) {
		const size_t size = kept + (size_t)got;

		found = memmem(bytes, size, wanted, length) != NULL;
		kept = size < length ? size : length - 1;
		memmove(bytes, bytes + size - kept, kept);
	}
	*could_read = fd >= 0 && got >= 0;
	if (fd >= 0)
		close(fd);
	return found;
}

/* Who it is, by /proc/PID/stat; false: it is over. */
static bool read_stat(pid_t pid, struct gt_roll_facts *facts)
{
	const int fd = open_of(pid, "stat");
	char text[1024];
	const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *name;
	const char *end;

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end)
		return false;
	*facts = (struct gt_roll_facts){
		.pid = (uint32_t)pid,
		.parent_pid = (uint32_t)gt_host_stat_field(text, 4),
		.started_ticks = gt_host_stat_field(text, 22),
		.time_ns = (uint64_t)gt_instant_now().boottime_ns,
	};
	snprintf(facts->program, sizeof(facts->program), "%.*s", (int)(end - name - 1), name + 1);
	return true;
}

static bool is_known(const struct gt_strangers *strangers, const struct gt_roll_facts *facts)
{
	gt_array_each(const struct gt_roll_facts, known, &strangers->list)
		if (known->pid == facts->pid && known->started_ticks == facts->started_ticks)
			return true;
	return false;
}

static void look_at(struct gt_strangers *strangers, pid_t pid)
{
	struct gt_roll_facts facts;
	bool could_read;
	struct stat status;
	char path[64];

	if (holds(pid, "environ", variable, &could_read) || !could_read ||
	    !holds(pid, "maps", driver, &could_read) || !read_stat(pid, &facts) ||
	    is_known(strangers, &facts))
		return;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	facts.user = stat(path, &status) == 0 ? status.st_uid : 0;
	snprintf(facts.text, sizeof(facts.text),
	         "its environment does not name gputrace's library (env -i, sudo or a container "
	         "may have emptied it)");
	gt_roll_clean(&facts);
	*gt_array_push(&strangers->list) = facts;
}

struct pids {
	gt_array(pid_t) list;
};

/* Adds the children that all threads of a process have started. */
static void add_children(struct pids *pids, pid_t pid)
{
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/children", (int)pid);
	// NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *file = fopen(found.gl_pathv[i], "re");
		int child;

		while (file && pids->list.count < MOST_PROCESSES &&
		       fscanf(file, "%d", &child) == 1) // NOLINT(cert-err34-c)
			*gt_array_push(&pids->list) = child;
		if (file)
			(void)fclose(file);
	}
	globfree(&found);
}

void gt_strangers_look(struct gt_strangers *strangers, pid_t first)
{
	struct pids pids = {0};

	*gt_array_push(&pids.list) = first;
	for (size_t i = 0; i < pids.list.count; i++) {
		look_at(strangers, pids.list.rows[i]);
		add_children(&pids, pids.list.rows[i]);
	}
	gt_array_release(&pids.list);
}

/* It may have found its way to the library by itself. */
static bool has_capture(const char *folder, const struct gt_roll_facts *facts)
{
	char pattern[PATH_MAX + 64];
	glob_t found;
	bool has;

	snprintf(pattern, sizeof(pattern), "%s/*-%u-%llu*" GT_CAPTURE_SUFFIX, folder, facts->pid,
	         (unsigned long long)facts->started_ticks);
	// NOLINTNEXTLINE(concurrency-mt-unsafe): the program has one thread
	has = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
	if (has)
		globfree(&found);
	return has;
}

void gt_strangers_enter(struct gt_strangers *strangers, const char *folder, struct gt_roll *roll)
{
	gt_array_each(const struct gt_roll_facts, facts, &strangers->list)
		if (roll && !has_capture(folder, facts))
			gt_roll_refuse(roll, facts);
	gt_array_release(&strangers->list);
}
