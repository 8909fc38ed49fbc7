/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/job_rank.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

static const struct {
	const char *rank;
	const char *size; /* NULL: it says none */
} launchers[] = {
#define LAUNCHER(rank, size) {#rank, #size},
#define LAUNCHER_ALONE(rank) {#rank, NULL},
#define JOB(id)
#include "format/launchers.def"
};

static const char *const jobs[] = {
#define LAUNCHER(rank, size)
#define LAUNCHER_ALONE(rank)
#define JOB(id) #id,
#include "format/launchers.def"
};

enum { MOST_DIGITS = 9 };

/* The value in a line of this name; NULL: it has another one. */
static const char *value_in(const char *line, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(line, name, length) == 0 && line[length] == '=' ? line + length + 1 : NULL;
}

static const char *find_value(const char *lines, const char *name)
{
	while (*lines) {
		const char *value = value_in(lines, name);

		if (value)
			return value;
		lines += strcspn(lines, "\n");
		lines += *lines == '\n';
	}
	return NULL;
}

/* The number in a variable; -1 where it is not there, or is none. */
static int64_t number_of(const char *lines, const char *name)
{
	const char *value = find_value(lines, name);
	const size_t digits = value ? strspn(value, "0123456789") : 0;
	int64_t number = 0;

	if (digits == 0 || digits > MOST_DIGITS || (value[digits] && value[digits] != '\n'))
		return -1;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (value[i] - '0');
	return number;
}

struct gt_job_rank gt_job_rank_of(const struct gt_trace *trace, const struct gt_process *process)
{
	const char *lines = gt_trace_text(trace, process->environment);

	for (size_t i = 0; i < GT_COUNT_OF(launchers); i++) {
		const char *size = launchers[i].size;
		const struct gt_job_rank rank = {number_of(lines, launchers[i].rank),
		                                 size ? number_of(lines, size) : -1};

		if (rank.rank >= 0 && (!size || rank.rank < rank.size))
			return rank;
	}
	return (struct gt_job_rank){-1, -1};
}

struct gt_job_rank gt_job_rank_of_all(const struct gt_trace *trace)
{
	struct gt_job_rank found = {-1, -1};

	gt_array_each(const struct gt_process, process, &trace->processes) {
		const struct gt_job_rank rank = gt_job_rank_of(trace, process);

		if (rank.rank < 0)
			continue;
		if (found.rank >= 0 && (found.rank != rank.rank || found.size != rank.size))
			return (struct gt_job_rank){-1, -1};
		found = rank;
	}
	return found;
}

void gt_job_id_in(const char *lines, char id[GT_JOB_ID_BYTES])
{
	*id = '\0';
	for (size_t i = 0; i < GT_COUNT_OF(jobs) && !*id; i++) {
		const char *value = find_value(lines, jobs[i]);

		if (value)
			snprintf(id, GT_JOB_ID_BYTES, "%.*s", (int)strcspn(value, "\n"), value);
	}
}

void gt_job_id_of_all(const struct gt_trace *trace, char id[GT_JOB_ID_BYTES])
{
	*id = '\0';
	gt_array_each(const struct gt_process, process, &trace->processes) {
		char other[GT_JOB_ID_BYTES];

		gt_job_id_in(gt_trace_text(trace, process->environment), other);
		if (*other && *id && strcmp(id, other) != 0) {
			*id = '\0';
			return;
		}
		if (*other)
			snprintf(id, GT_JOB_ID_BYTES, "%s", other);
	}
}

bool gt_job_rank_is_line(const char *line)
{
	for (size_t i = 0; i < GT_COUNT_OF(jobs); i++)
		if (value_in(line, jobs[i]))
			return true;
	for (size_t i = 0; i < GT_COUNT_OF(launchers); i++)
		if (value_in(line, launchers[i].rank) ||
		    (launchers[i].size && value_in(line, launchers[i].size)))
			return true;
	return false;
}
