/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/result.h"
#include "base/error.h"
#include "cli/calibrate/measure.h"
#include "cli/calibrate/store.h"
#include "cli/calibrate/table.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/output/say.h"
#include "cli/render/render.h"
#include "cli/render/show.h"

struct args {
	struct gt_show_args show;
	struct gt_option_list devices;
	struct gt_option_list ceilings;
	bool stored;
};

static const struct gt_option options[] = {
	OPT_LIST("device", 0, struct args, devices, "GPU",
                 "Only this GPU: its number, as CUDA counts, or its UUID; may be given again"),
	OPT_LIST("ceiling", 0, struct args, ceilings, "CEILING",
                 "Measure this one only, and keep nothing; may be given again"),
	OPT_FLAG("stored", 0, struct args, stored,
                 "Measure nothing, and show what was measured before on this user's account"),
	GT_SHOW_OPTIONS(struct args, show),
	OPT_END_OF("calibrate"),
};

static void list(void (*entry)(const char *name, const char *text, FILE *out), FILE *out)
{
#define CEILING(name, unit, group, help) entry(#name, help, out);
#include "model/gpu/ceilings.def"
}

/* All of them where none is named. */
static int choose(const struct gt_option_list *names, bool wanted[GT_CEILINGS],
                  struct gt_error *err)
{
	for (unsigned name = 0; name < GT_CEILINGS; name++)
		wanted[name] = names->count == 0;
	for (size_t i = 0; i < names->count; i++) {
		unsigned name = 0;

		while (name < GT_CEILINGS && strcmp(gt_ceiling_names[name], names->texts[i]) != 0)
			name++;
		if (name == GT_CEILINGS)
			return gt_fail(err, EINVAL,
			               "there is no ceiling '%s'; gputrace calibrate --help lists "
			               "them",
			               names->texts[i]);
		wanted[name] = true;
	}
	return 0;
}

static void complain(const char *sentence)
{
	gt_say("%s", sentence);
}

static int load_stored(struct gt_calibrations *calibrations, struct gt_error *err)
{
	gt_store_load(calibrations, complain);
	if (calibrations->list.count > 0)
		return 0;
	return gt_fail(err, ENODATA,
	               "nothing has been measured yet: gputrace calibrate does, in some seconds");
}

/* Results that cannot be kept are still shown. */
static void keep(const struct gt_calibrations *calibrations)
{
	gt_array_each(const struct gt_calibration, calibration, &calibrations->list) {
		char path[PATH_MAX];
		struct gt_error err = {0};

		if (gt_store_save(calibration, path, sizeof(path), &err) < 0)
			gt_say("%s", err.text);
		else
			gt_say("wrote %s: gputrace run puts it into what it records on this GPU",
			       path);
	}
}

static int measure(const struct args *args, struct gt_calibrations *calibrations,
                   struct gt_error *err)
{
	bool wanted[GT_CEILINGS];
	const struct gt_measure_plan plan = {.devices = &args->devices, .wanted = wanted};
	int result = choose(&args->ceilings, wanted, err);

	if (result == 0)
		result = gt_measure(&plan, calibrations, err);
	if (args->ceilings.count == 0)
		keep(calibrations);
	return result;
}

static int check(const struct args *args, int left, char **words, struct gt_error *err)
{
	if (left > 0)
		return gt_fail(err, EINVAL,
		               "'%s' is too much: gputrace calibrate measures the GPUs of this "
		               "machine, --device chooses one",
		               words[0]);
	if (args->stored && (args->devices.count > 0 || args->ceilings.count > 0))
		return gt_fail(err, EINVAL,
		               "--stored measures nothing: it excludes --device and --ceiling");
	return 0;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.show = GT_SHOW_ARGS_INIT};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct gt_rendering rendering = {0};
	struct gt_calibrations calibrations = {0};
	struct gt_result result;
	int status;

	if (left < 0)
		return left;
	status = check(&args, left, argv, err);
	if (status == 0)
		status = gt_show_style(&args.show, &rendering.style, err);
	if (status < 0)
		return status;
	gt_result_init(&result);
	status = args.stored ? load_stored(&calibrations, err) : measure(&args, &calibrations, err);
	if (status == 0) {
		gt_calibrate_fill(&result, &calibrations);
		status = gt_result_check(&result, err);
	}
	if (status == 0)
		status = gt_show(&args.show, &rendering,
		                 &(struct gt_named_result){"calibrate", &result}, 1, err);
	gt_result_release(&result);
	gt_calibrations_release(&calibrations);
	return status < 0 ? status : GT_EXIT_OK;
}

static void make_tables(struct gt_result *result)
{
	gt_calibrate_fill(result, &(struct gt_calibrations){0});
}

const struct gt_command gt_command_calibrate = {
	.name = "calibrate",
	.operands = "",
	.summary = "Measure what the GPUs of this machine can do at most",
	.details =
		"Takes some seconds for each GPU, which should have nothing else to do meanwhile: what "
		"others use of it is missing from the figures. The result is kept in gputrace's part "
		"of the user's data folder (XDG_DATA_HOME, else ~/.local/share); gputrace run puts it "
		"into recordings, so that reports can say how near to it a program came.\n\n"
		"Each figure is the best of the last seven measurements of the fastest way that was "
		"tried; the column how names it. Tensor cores are measured by plain loops of mma.sync "
		"and, on compute capability 9.0, of wgmma, which alone reaches their peak there; "
		"operands are numbers without a pattern. Where GPUs have other instructions, as "
		"tcgen05 of 10.0, their peak is higher than what is measured.",
	.list_title = "Ceilings",
	.list = list,
	.tables = make_tables,
	.options = options,
	.run = run,
};
