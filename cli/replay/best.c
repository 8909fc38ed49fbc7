/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/best.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/calibrate/store.h"
#include "cli/output/output.h"
#include "cli/output/say.h"
#include "cli/replay/bundle_choice.h"
#include "cli/replay/outcome.h"
#include "format/recording.h"
#include "model/bundle/bundle.h"
#include "replay/tune/tune.h"
#include "replay/tune/tuned.h"

/* No file is an empty list. */
static int load(struct gt_tuned_list *list, const char *path, struct gt_error *err)
{
	struct gt_content content = {0};
	struct stat status = {0};
	int result;

	*list = (struct gt_tuned_list){0};
	if (stat(path, &status) < 0 && errno == ENOENT)
		return 0;
	if (status.st_size > GT_TUNED_MOST_SIZE)
		return gt_fail(err, EBADMSG, "%s is not what gputrace replay writes", path);
	result = gt_load_file(&content, path, err);
	if (result == 0)
		result = gt_tuned_parse(list, (const char *)content.bytes, content.size, path, err);
	gt_unload(&content);
	return result;
}

static int save(const struct gt_tuned_list *list, const char *path, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, path, true, err);
	char *text;

	if (result < 0)
		return result;
	text = gt_tuned_text(list);
	(void)fputs(text, output.file);
	free(text);
	result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result;
}

static void add(struct gt_tuned_list *list, const struct gt_bundle *bundle,
                const struct gt_bundle_step *step, const struct gt_outcome *recorded,
                const struct gt_tune_row *best)
{
	struct gt_tuned_result result = {
		.ns = best->ns,
		.recorded_ns = recorded->median_ns,
	};
	char size[96];

	gt_variant_describe(&best->variant, result.variant);
	snprintf(result.date, sizeof(result.date), "%s", recorded->date);
	gt_tuned_size(step->grid, step->block, size);
	gt_tuned_add(list, bundle->functions.rows[step->function].name, size, recorded->device,
	             &result);
}

void gt_best_keep(const struct gt_bundle *bundle, const struct gt_outcome *recorded,
                  const struct gt_tune_row *best)
{
	const struct gt_bundle_step *step = gt_first_launch(bundle);
	struct gt_tuned_list list = {0};
	struct gt_error err = {0};
	char path[PATH_MAX];
	int result;

	if (!step)
		return;
	result = gt_store_file("tuned.json", path, sizeof(path), &err);
	if (result == 0)
		result = load(&list, path, &err);
	if (result == 0) {
		add(&list, bundle, step, recorded, best);
		result = save(&list, path, &err);
	}
	if (result < 0)
		gt_say("the best variant is not kept: %s", err.text);
	gt_tuned_release(&list);
}
