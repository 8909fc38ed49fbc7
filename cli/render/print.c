/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/print.h"

#include <stddef.h>

#include "cli/output/output.h"

int gt_print(const struct gt_print_args *args,
             int (*print)(const char *what, FILE *out, struct gt_error *err), const char *what,
             struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, args->output, args->force, err);

	if (result == 0)
		result = print(what, output.file, err);
	if (result == 0)
		result = gt_output_commit(&output, err);
	if (result == 0)
		gt_output_say(&output, NULL);
	gt_output_release(&output);
	return result;
}
