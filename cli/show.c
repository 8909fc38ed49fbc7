/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "cli/output.h"
#include "cli/pager.h"

const char *const gt_show_colours[] = {"auto", "always", "never", NULL};

int gt_show_style(const struct gt_show_args *args, enum gt_style *style, struct gt_error *err)
{
	if (args->json && args->csv)
		return gt_fail(err, EINVAL, "--json and --csv exclude each other");
	if (args->wide && args->width)
		return gt_fail(err, EINVAL, "--wide and --width exclude each other");
	*style = args->json ? GT_STYLE_JSON : args->csv ? GT_STYLE_CSV : GT_STYLE_TEXT;
	return 0;
}

static struct gt_rendering fitted(const struct gt_show_args *args,
                                  const struct gt_rendering *rendering, FILE *out)
{
	struct gt_rendering fitted = *rendering;

	fitted.width = args->wide ? 0 : args->width ? (size_t)args->width : gt_render_width(out);
	fitted.details = args->wide;
	fitted.colour = gt_render_in_colour(args->colour, out);
	return fitted;
}

/* On a terminal: through a pager where it is longer than that. */
static int show_on_terminal(const struct gt_rendering *rendering,
                            const struct gt_named_result *results, size_t count,
                            struct gt_error *err)
{
	const char *command = gt_pager_command();
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int result;

	if (!out)
		return gt_fail(err, errno, "cannot show it: %s", gt_errno_text(errno));
	result = gt_render(rendering, results, count, out, err);
	(void)fclose(out);
	if (result == 0 &&
	    (!command || !gt_pager_is_needed(text, size) || !gt_pager_show(command, text, size)))
		(void)fwrite(text, 1, size, stdout);
	free(text);
	return result;
}

int gt_show(const struct gt_show_args *args, const struct gt_rendering *rendering,
            const struct gt_named_result *results, size_t count, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, args->output, args->force, err);

	if (result == 0) {
		const struct gt_rendering page = fitted(args, rendering, output.file);

		result = output.file == stdout && page.style == GT_STYLE_TEXT && !args->no_pager
		                 ? show_on_terminal(&page, results, count, err)
		                 : gt_render(&page, results, count, output.file, err);
	}
	if (result == 0)
		result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result;
}
