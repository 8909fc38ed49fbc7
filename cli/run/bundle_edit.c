/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/bundle_edit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/output/output.h"
#include "format/bundle/bundle.h"
#include "format/recording.h"

static int write_file(const char *path, const json_t *root, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, path, true, err);

	if (result < 0)
		return result;
	(void)json_dumpf(root, output.file, JSON_INDENT(1));
	result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result;
}

int gt_bundle_edit(const char *recording, const char *bundle,
                   bool (*edit)(json_t *root, void *context), void *context, struct gt_error *err)
{
	struct gt_content content = {0};
	char path[PATH_MAX];
	json_t *root;
	int result = 0;

	/* A name comes from a capture: it cannot lead out of the folder. */
	if (!*bundle || *bundle == '.' || strchr(bundle, '/') ||
	    (size_t)snprintf(path, sizeof(path), "%s/" GT_LAUNCHES_FOLDER "/%s/" GT_BUNDLE_MANIFEST,
	                     recording, bundle) >= sizeof(path) ||
	    gt_load_file(&content, path, NULL) < 0)
		return 0;
	root = json_loadb((const char *)content.bytes, content.size, 0, NULL);
	if (root && edit(root, context))
		result = write_file(path, root, err);
	json_decref(root);
	gt_unload(&content);
	return result;
}
