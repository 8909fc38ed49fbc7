/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/textfile/textfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/path.h"
#include "base/sink/file.h"
#include "cli/output/output.h"
#include "cli/output/say.h"
#include "cli/recording/recording.h"
#include "cli/recording/telling.h"
#include "exporters/exporter.h"
#include "exporters/prometheus/prometheus.h"
#include "format/environment.h"
#include "format/name.h"
#include "format/recording.h"
#include "model/view/view.h"

#define SUFFIX ".prom"

/* ---- before the program ---- */

static int expand(const struct gt_textfile_choice *choice, char path[PATH_MAX],
                  struct gt_error *err)
{
	char host[HOST_NAME_MAX + 1];
	const struct gt_name_facts facts = {
		.pid = (int)getpid(),
		.host = host,
		.environment = choice->environment,
	};

	gt_host_name(host, sizeof(host));
	if (gt_name_is_numbered(choice->file))
		return gt_fail(err, EINVAL,
		               "--metrics %s: %%n is a number that is free, and this file is "
		               "written again each time",
		               choice->file);
	return gt_name_expand(choice->file, &facts, path, PATH_MAX, err);
}

/* Makes the file that would be renamed, and removes it: the only question that is answered for
 * sure. */
static int try(const char *path, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	const int result = gt_output_open(&output, path, true, err);

	gt_output_release(&output);
	return result;
}

static void read_job(struct gt_textfile *textfile, char *const *environment)
{
	char lines[GT_ENVIRONMENT_BYTES + 1];

	lines[gt_environment_text(environment, lines, GT_ENVIRONMENT_BYTES)] = '\0';
	gt_job_id_in(lines, textfile->job);
}

int gt_textfile_open(struct gt_textfile *textfile, const struct gt_textfile_choice *choice,
                     struct gt_error *err)
{
	char path[PATH_MAX];
	int result;

	*textfile =
		(struct gt_textfile){.interval_ns = choice->interval_ns, .joins = choice->joins};
	if (!choice->file)
		return 0;
	result = expand(choice, path, err);
	if (result == 0 && !gt_has_suffix(gt_path_name(path), SUFFIX))
		result = gt_fail(err, EINVAL,
		                 "--metrics %s: the name of the file must end with " SUFFIX
		                 ", or node_exporter does not read it; counters of single "
		                 "launches are read with --kernel-counters",
		                 choice->file);
	if (result == 0)
		result = try(path, err);
	if (result < 0)
		return result;
	textfile->path = gt_recording_path(path, "");
	read_job(textfile, choice->environment);
	return 0;
}

void gt_textfile_release(struct gt_textfile *textfile)
{
	free(textfile->path);
	free(textfile->recording);
	gt_array_release(&textfile->processes);
	*textfile = (struct gt_textfile){0};
}

/* ---- counts of processes ---- */

static struct gt_arena_counts *find(struct gt_textfile *textfile, const char *capture)
{
	gt_array_each(struct gt_arena_counts, process, &textfile->processes)
		if (strcmp(process->capture, capture) == 0)
			return process;
	return NULL;
}

static void take(struct gt_textfile *textfile, const struct gt_arena_counts *counts)
{
	struct gt_arena_counts *known = find(textfile, counts->capture);

	if (known)
		*known = *counts;
	else
		*gt_array_push(&textfile->processes) = *counts;
}

static void see_counts(void *textfile, const struct gt_arena_counts *counts)
{
	take(textfile, counts);
}

/* A process whose arena is gone has ended: its counts are what they were. */
static void look_at_arenas(struct gt_textfile *textfile, const char *folder)
{
	if (textfile->joins || !gt_path_is_folder(folder))
		return;
	gt_array_each(struct gt_arena_counts, process, &textfile->processes)
		process->is_live = false;
	(void)gt_arena_each_counts(folder, see_counts, textfile, NULL);
}

/*
 * Calls of a thread are counted when its buffer is full, or at the end: until then the count of a
 * program that makes few of them is 0, and says nothing.
 */
static bool is_counted_late(unsigned id)
{
	return id == GT_LEDGER_api_calls || id == GT_LEDGER_nvtx_calls;
}

/* Returns how many classes are known. */
static size_t add_up(const struct gt_textfile *textfile, struct gt_told_class classes[])
{
	size_t count = 0;

	for (unsigned i = 0; i < GT_LEDGER_COUNT; i++) {
		struct gt_told_class class = {.name = gt_ledger_names[i]};

		gt_array_each(const struct gt_arena_counts, process, &textfile->processes)
			class.value += process->ledger[i];
		if (textfile->processes.count > 0 && !is_counted_late(i))
			classes[count++] = class;
	}
	return count;
}

/* ---- the file ---- */

/* Before a process was seen, its counts are not known, and not 0. */
static struct gt_told tell(const struct gt_textfile *textfile, const struct gt_told_run *run,
                           struct gt_told_class classes[])
{
	const size_t count = add_up(textfile, classes);
	struct gt_told told = {
		.recording = textfile->recording,
		.runs = run,
		.run_count = 1,
		.classes = classes,
		.class_count = count,
		.counts_processes = !textfile->joins,
	};

	gt_array_each(const struct gt_arena_counts, process, &textfile->processes) {
		told.recorded += process->is_live;
		told.paused += process->is_live && process->paused;
	}
	return told;
}

static int write_to(FILE *file, const struct gt_told *told, const struct gt_view *view,
                    struct gt_error *err)
{
	const struct gt_target target = {.sink = gt_file_sink(file)};
	const struct gt_export_options options = {.told = told};

	if (!view)
		return gt_prometheus_write_running(told, target.sink, err);
	return gt_exporter_find("prometheus")->write(view, &options, &target, NULL, err);
}

/* The collector runs as another user: the file is everybody's to read. */
static int write_file(const struct gt_textfile *textfile, const struct gt_told *told,
                      const struct gt_view *view, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, textfile->path, true, err);

	if (result == 0 && output.temporary && fchmod(fileno(output.file), 0644) < 0)
		result = gt_fail(err, errno, "cannot write %s: %s", textfile->path,
		                 gt_errno_text(errno));
	if (result == 0)
		result = write_to(output.file, told, view, err);
	if (result == 0)
		result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result;
}

static void write_now(struct gt_textfile *textfile, struct gt_told_run run,
                      const struct gt_view *view)
{
	struct gt_told_class classes[GT_LEDGER_COUNT];
	struct gt_error err = {0};
	struct gt_told told;

	run.job = textfile->job;
	told = tell(textfile, &run, classes);
	if (write_file(textfile, &told, view, &err) == 0 || textfile->said)
		return;
	gt_say("%s", err.text);
	textfile->said = true;
}

void gt_textfile_look(struct gt_textfile *textfile, const char *folder,
                      const struct gt_manifest *manifest)
{
	const int64_t time_ns = gt_host_boottime();
	struct gt_told_run run;

	if (!textfile->path || time_ns < textfile->next_ns)
		return;
	textfile->next_ns = time_ns + textfile->interval_ns;
	if (!textfile->recording)
		textfile->recording = gt_telling_name(folder);
	look_at_arenas(textfile, folder);
	run = gt_told_run_of(manifest);
	run.running = true;
	run.elapsed_ns = time_ns - manifest->start.boottime_ns;
	write_now(textfile, run, NULL);
}

void gt_textfile_end(struct gt_textfile *textfile, const char *folder,
                     const struct gt_manifest *manifest)
{
	if (!textfile->path)
		return;
	if (!textfile->recording)
		textfile->recording = gt_telling_name(folder);
	look_at_arenas(textfile, folder);
	write_now(textfile, gt_told_run_of(manifest), NULL);
}

void gt_textfile_finish(struct gt_textfile *textfile, const struct gt_view *view,
                        const struct gt_manifest *manifest)
{
	if (textfile->path)
		write_now(textfile, gt_told_run_of(manifest), view);
}
