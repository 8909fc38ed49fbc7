/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show.h"

#include <errno.h>

#include "base/error.h"
#include "cli/output.h"

int gt_show_style(const struct gt_show_args *args, enum gt_style *style, struct gt_error *err)
{
	if (args->json && args->csv)
		return gt_fail(err, EINVAL, "--json and --csv exclude each other");
	if (args->wide && args->width)
		return gt_fail(err, EINVAL, "--wide and --width exclude each other");
	*style = args->json ? GT_STYLE_JSON : args->csv ? GT_STYLE_CSV : GT_STYLE_TEXT;
	return 0;
}

int gt_show(const struct gt_show_args *args, const struct gt_rendering *rendering,
            const struct gt_named_result *results, size_t count, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	struct gt_rendering fitted = *rendering;
	int result = gt_output_open(&output, args->output, args->force, err);

	if (result == 0) {
		fitted.width = args->wide    ? 0
		               : args->width ? (size_t)args->width
		                             : gt_render_width(output.file);
		result = gt_render(&fitted, results, count, output.file, err);
	}
	if (result == 0)
		result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result;
}
