/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPORT_PAGE_H
#define GT_CLI_REPORT_PAGE_H

#include "analysis/result.h"
#include "analysis/timeline/timeline.h"
#include "cli/render/html.h"

struct gt_reading;

/* Reports of a page for which none is named, with commas between them. */
#define GT_PAGE_REPORTS "summary,advice,kernels,steps,ranges,ops,gaps,memory,startup"

enum {
	GT_PAGE_FACTS = 9,
	GT_PAGE_PIECES = 20000, /* of its timeline at most */
};

/* The head of a page of HTML about a recording, and its timeline. */
struct gt_report_page {
	struct gt_page_head head;
	struct gt_page_fact facts[GT_PAGE_FACTS];
	struct gt_result texts; /* it has no tables, but keeps texts */
	struct gt_timeline timeline;
};

/* The reading, which was cut, and recording must outlive it; it must stay where it is. */
void gt_report_page_init(struct gt_report_page *page, const struct gt_reading *reading,
                         const char *recording);
void gt_report_page_release(struct gt_report_page *page);

#endif
