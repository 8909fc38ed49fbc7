/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report.h"

#include <errno.h>

#include "analysis/parameter.h"
#include "analysis/result.h"
#include "base/error.h"
#include "model/view.h"

void gt_remark_restriction(struct gt_result *result, const char *restriction)
{
	if (restriction)
		gt_result_remark(result,
		                 "Only what %s chooses; the ledger and the notes are of the whole "
		                 "recording.",
		                 restriction);
}

int gt_report_run(const struct gt_report *report, const struct gt_view *view,
                  const struct gt_arguments *arguments, struct gt_result *result,
                  struct gt_error *err)
{
	struct gt_arguments initial;
	struct gt_error why = {0};
	int done;

	gt_arguments_init(&initial, report->parameters);
	gt_remark_restriction(result, view->restriction);
	done = report->run(view, arguments ? arguments : &initial, result, err);
	if (done == 0 && gt_result_check(result, &why) < 0)
		done = gt_fail(err, why.code, "report %s is made wrongly: %s", report->name,
		               why.text);
	return done;
}
