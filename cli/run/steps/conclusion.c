/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/steps/steps.h"

#include <errno.h>
#include <signal.h>

#include "base/array.h"
#include "cli/command_line/command.h"
#include "cli/command_line/names.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/world.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/run/job_times.h"
#include "cli/run/sequence_times.h"
#include "cli/run/summary.h"
#include "cli/run/topology.h"
#include "cli/view/trace_file.h"
#include "exporters/exporter.h"
#include "format/arena/files.h"
#include "format/settings.h"

static int export_view(const struct gt_run *run, const struct gt_view *view,
                       struct gt_export_counts *counts, struct gt_progress *progress,
                       struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, run->exported, run->replace, err);

	if (result == 0) {
		const struct gt_trace_file file = {
			.exporter = gt_exporter_find("perfetto"),
			.name = run->exported,
			.path = output.temporary,
			.file = output.file,
		};

		gt_progress_begin(progress, run->args->quiet, "writing %s", run->exported);
		result = gt_trace_file_write(&file, view, progress, counts, err);
	}
	if (result == 0)
		result = gt_output_commit(&output, err);
	gt_output_release(&output);
	gt_progress_end(progress);
	return result;
}

/* Settings that are not understood were complained about before the program started. */
static void say_nothing(void *context, const char *sentence)
{
	(void)context;
	(void)sentence;
}

/* Reasons that can be seen from outside, below the sentence that no process was recorded. */
static void say_reasons(const struct gt_world *world)
{
	struct gt_findings findings = {0};

	gt_findings_explain(&findings, world);
	gt_array_each(const struct gt_finding, finding, &findings.list)
		gt_say("%s %s", finding->found, finding->mend);
	gt_findings_release(&findings);
}

static void say_nothing_recorded(const struct gt_run *run)
{
	const struct gt_world_choice choice = {"", run->environment.list.rows, run->program[0]};
	struct gt_settings settings;
	struct gt_world world;

	gt_settings_read(&settings, run->environment.list.rows, say_nothing, NULL);
	if (settings.disable) {
		gt_say("nothing was recorded: GPUTRACE_DISABLE is set in the environment");
		return;
	}
	gt_world_look(&world, &choice);
	if (*world.answer.no_driver) {
		gt_say("nothing was recorded: there is no NVIDIA driver here, libcuda.so.1 cannot be "
		       "loaded");
		return;
	}
	gt_say("nothing was recorded: no process of %s loaded %s; either it did not use CUDA, or "
	       "something on the way dropped gputrace's environment (sudo, ssh, a container): start "
	       "gputrace there instead",
	       run->program[0], gt_environment_find(&run->environment, "CUDA_INJECTION64_PATH"));
	say_reasons(&world);
}

static uint64_t folder_bytes(const char *folder)
{
	struct gt_recording_files files;
	uint64_t bytes = 0;

	if (gt_recording_list(&files, folder, NULL) == 0)
		bytes = files.bytes;
	gt_recording_files_release(&files);
	return bytes;
}

/* How many runs have written into a recording. */
static unsigned count_runs(const char *folder)
{
	struct gt_recording_files files;
	unsigned runs = 0;

	if (gt_recording_list(&files, folder, NULL) == 0)
		gt_array_each(const struct gt_recording_file, file, &files.list)
			runs += gt_recording_is_manifest(file->name);
	gt_recording_files_release(&files);
	return runs;
}

/* Ranks that begin when all others have ended are not known of yet: each end may be the last. */
static void say_joined(const char *folder)
{
	const unsigned runs = count_runs(folder);

	gt_say("%s holds %u run%s so far; what joins it later sums up again", folder, runs,
	       runs == 1 ? "" : "s");
}

static void say_running(const struct gt_salvage *salvage)
{
	if (salvage->running == 1)
		gt_say("1 process is still running: what it does from now on is recorded, but not "
		       "in this summary");
	else if (salvage->running > 1)
		gt_say("%u processes are still running: what they do from now on is recorded, but "
		       "not in this summary",
		       salvage->running);
}

/* The next run would find the name taken by a recording that is none: its folder goes. */
static void conclude_without(struct gt_run *run)
{
	const bool replaces = run->claim.older;
	struct gt_error err = {0};

	say_nothing_recorded(run);
	if (gt_claim_drop(&run->claim, &err) < 0)
		gt_say("%s", err.text);
	else if (replaces)
		gt_say("%s is still the older recording", run->folder);
}

static void summarise(const struct gt_run *run, const struct gt_reading *reading,
                      const struct gt_salvage *salvage, const struct gt_export_counts *exported)
{
	const struct gt_summary summary = {
		.manifest = &run->manifest,
		.reading = reading,
		.folder = run->folder,
		.folder_bytes = folder_bytes(run->folder),
		.exported = exported ? run->exported : NULL,
		.exported_bytes = exported ? exported->bytes : 0,
		.at_length = run->args->verbose,
	};

	say_running(salvage);
	if (run->args->join)
		say_joined(run->folder);
	gt_summary_print(&summary);
}

/*
 * Exports and tells; the first thing that fails is said and ends it. Returns the exit status for
 * --strict.
 */
static int conclude(struct gt_run *run, const struct gt_salvage *salvage)
{
	struct gt_export_counts counts = {0};
	struct gt_progress progress = {0};
	struct gt_error err = {0};
	struct gt_reading reading;
	int status = GT_EXIT_INCOMPLETE;
	int result;

	gt_reading_init(&reading);
	gt_progress_begin(&progress, run->args->quiet, "reading %s", run->folder);
	result = gt_reading_read(&reading, run->folder, gt_names_form(run->args->names), &progress,
	                         &err);
	if (result < 0 || !run->exported)
		gt_progress_end(&progress);
	if (result == -ENODATA) {
		conclude_without(run);
		goto done;
	}
	if (result < 0)
		goto failed;
	if (gt_claim_keep(&run->claim, &err) < 0 ||
	    gt_job_times_write(run->folder, &reading.trace, &err) < 0 ||
	    gt_sequence_times_write(run->folder, &reading.trace, &err) < 0)
		gt_say("%s", err.text);
	gt_textfile_finish(&run->textfile, &reading.view, &run->manifest);
	if (run->exported)
		result = export_view(run, &reading.view, &counts, &progress, &err);
	if (!run->args->quiet)
		summarise(run, &reading, salvage, run->exported && result == 0 ? &counts : NULL);
	else
		gt_summary_print_missing(&reading);
	if (result == 0)
		status = gt_reading_status(&reading, true);
failed:
	if (result < 0)
		gt_say("%s", err.text);
	if (run->claim.older)
		gt_say("the older recording %s is now called %s", run->folder, run->claim.older);
done:
	gt_reading_release(&reading);
	return status;
}

/* Other runs still write: what the whole is, the last of them says. */
static void conclude_before_others(const struct gt_run *run)
{
	if (run->args->quiet)
		return;
	gt_summary_say_ending(&run->manifest);
	gt_say("%s is still being recorded by others", run->folder);
}

struct conclusion {
	struct gt_run *run;
	const struct gt_salvage *salvage;
};

static int conclude_here(void *context)
{
	const struct conclusion *conclusion = context;

	return conclude(conclusion->run, conclusion->salvage);
}

/* Somebody wants us to end, and our child has ended of it. */
static bool is_wish_to_end(int signal)
{
	return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
}

/*
 * In a process of its own: whatever becomes of that, out of memory included, the program's exit
 * status is passed on.
 */
static int conclude_apart(struct gt_run *run, const struct gt_salvage *salvage)
{
	struct conclusion conclusion = {.run = run, .salvage = salvage};
	struct gt_ending ending = {0};

	if (gt_process_apart(conclude_here, &conclusion, &ending) < 0)
		return conclude(run, salvage);
	if (is_wish_to_end(ending.signal))
		(void)raise(ending.signal);
	else if (gt_ending_status(&ending) != GT_EXIT_OK &&
	         gt_ending_status(&ending) != GT_EXIT_INCOMPLETE)
		gt_say("the summary could not be finished; what was recorded is in %s",
		       run->folder);
	return gt_ending_status(&ending) == GT_EXIT_OK ? GT_EXIT_OK : GT_EXIT_INCOMPLETE;
}

/* A process that still runs, here or in another run, may start a Python yet. */
static void finish_python(const struct gt_run *run, const struct gt_salvage *salvage, bool last)
{
	const char *why;

	if (!gt_python_is_wanted(&run->python))
		return;
	why = gt_python_unheard(&run->python, run->folder);
	if (why)
		gt_say("%s", why);
	if (last && salvage->running == 0)
		gt_python_remove(run->folder);
}

/*
 * The last of several runs sums up all of them. One that joins and ends while it does so is told
 * that it was not the last: then it is summed up here, once more.
 */
static int conclude_for_all(struct gt_run *run, const struct gt_salvage *salvage)
{
	unsigned runs;
	int status;

	do {
		runs = count_runs(run->folder);
		status = conclude_apart(run, salvage);
	} while (run->args->join && gt_claim_is_last(&run->claim) &&
	         count_runs(run->folder) > runs);
	return status;
}

int gt_run_finish(struct gt_run *run, const struct gt_ending *ending)
{
	struct gt_salvage salvage = {0};
	struct gt_error err = {0};
	bool last;

	run->manifest.end = gt_instant_now();
	run->manifest.ending = *ending;
	run->manifest.ended = true;
	gt_strangers_enter(&run->strangers, run->folder, run->listener.roll);
	gt_listener_close(&run->listener);
	if (gt_manifest_save(&run->manifest, run->folder, &err) < 0)
		gt_say("%s", err.text);
	gt_textfile_end(&run->textfile, run->folder, &run->manifest);
	if (gt_salvage_folder(run->folder, &salvage, &err) < 0)
		gt_say("%s", err.text);
	gt_topology_record(run->folder);
	gt_kernel_log_record(&run->kernel_log, run->folder);
	last = !run->args->join || gt_claim_is_last(&run->claim);
	finish_python(run, &salvage, last);
	if (last)
		return conclude_for_all(run, &salvage);
	conclude_before_others(run);
	return GT_EXIT_OK;
}
