/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/output/partial.h"
#include "cli/output/terminal.h"

#define PATIENCE_NS 1000000000 /* before the line is shown */
#define PAUSE_NS    100000000  /* between two drawings */

static int64_t since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)(now.tv_sec - then->tv_sec) * 1000000000 + now.tv_nsec - then->tv_nsec;
}

/* A terminal that knows how to erase a line, and is ours now: not that of a job in the background. */
static bool has_terminal(void)
{
	return gt_terminal_obeys(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

void gt_progress_begin(struct gt_progress *progress, bool quiet, const char *fmt, ...)
{
	va_list args;

	if (!progress->wanted) {
		*progress = (struct gt_progress){.wanted = !quiet && has_terminal()};
		clock_gettime(CLOCK_MONOTONIC, &progress->start);
	}
	va_start(args, fmt);
	vsnprintf(progress->what, sizeof(progress->what), fmt, args);
	va_end(args);
	for (char *at = progress->what; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
}

/* One that would wrap could not be erased. */
static void draw(struct gt_progress *progress, const char *how_far)
{
	size_t columns = gt_terminal_size(STDERR_FILENO).columns;
	char line[256];

	if (columns < 20)
		columns = 80;
	snprintf(line, sizeof(line), "gputrace: %s: %s", progress->what, how_far);
	gt_partial_line(true);
	fprintf(stderr, GT_ERASE_LINE "%.*s", (int)columns - 1, line);
	progress->shown = true;
}

static bool is_due(struct gt_progress *progress)
{
	if (!progress->wanted || since(&progress->start) < PATIENCE_NS ||
	    (progress->shown && since(&progress->last) < PAUSE_NS))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &progress->last);
	return true;
}

static void tell(void *context, uint64_t done, uint64_t total)
{
	struct gt_progress *progress = context;
	char text[32];

	if (total == 0 || !is_due(progress))
		return;
	snprintf(text, sizeof(text), "%d%%", (int)(100 * done / total));
	draw(progress, text);
}

const struct gt_watch *gt_progress_watch(struct gt_progress *progress)
{
	progress->watch = (struct gt_watch){tell, progress};
	return progress->wanted ? &progress->watch : NULL;
}

static int write_counted(void *context, const void *data, size_t size)
{
	struct gt_progress *progress = context;

	progress->written += size;
	if (is_due(progress))
		draw(progress, gt_figure_bytes((int64_t)progress->written).text);
	return progress->sink.write(progress->sink.context, data, size);
}

struct gt_sink gt_progress_sink(struct gt_progress *progress, struct gt_sink sink)
{
	if (!progress->wanted)
		return sink;
	progress->sink = sink;
	progress->written = 0;
	return (struct gt_sink){write_counted, progress};
}

void gt_progress_end(struct gt_progress *progress)
{
	if (progress->shown) {
		fputs(GT_ERASE_LINE, stderr);
		gt_partial_line(false);
	}
	*progress = (struct gt_progress){0};
}
