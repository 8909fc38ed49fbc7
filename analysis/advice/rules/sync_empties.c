/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/gaps/host_waits.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"

enum {
	LEAST_WAITS = 10,  /* a program may well wait at the end of each of a few phases */
	LEAST_PERCENT = 5, /* of the window */
};

struct emptied {
	uint64_t waits;
	uint64_t gap_ns;
	uint64_t avoidable; /* of the waits: something says that the program could do without */
	const struct gt_host_wait *longest;
};

/* A gap is charged to one wait: those of a GPU lie apart. */
static struct emptied emptied_by_waits(const struct gt_facts *facts, gt_id device)
{
	struct emptied emptied = {0};

	gt_array_each(const struct gt_host_wait, wait, &facts->host_waits.list) {
		if (gt_whole_shown(facts->view->trace, GT_TABLE_devices, wait->device) != device ||
		    !wait->emptied)
			continue;
		emptied.waits++;
		emptied.gap_ns += (uint64_t)wait->gap_ns;
		emptied.avoidable += wait->reason != GT_WAIT_NEEDED;
		if (!emptied.longest || wait->gap_ns > emptied.longest->gap_ns)
			emptied.longest = wait;
	}
	return emptied;
}

static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct emptied emptied = emptied_by_waits(facts, device);
	const struct gt_share gaps =
		gt_share_of_apart(&facts->wall, emptied.gap_ns, GT_OF_GPU, device);
	struct gt_advice_row *row;
	char avoidable[80] = "";
	const char *function;

	if (!facts->host_waits.has_calls)
		gt_advice_unasked(advice, "no calls that wait, or no API calls, were recorded");
	if (emptied.waits < LEAST_WAITS || !gt_share_reaches(&gaps, LEAST_PERCENT))
		return;
	function = gt_trace_text(facts->view->trace, emptied.longest->function);
	if (emptied.avoidable)
		snprintf(avoidable, sizeof(avoidable), " (%s of them avoidable)",
		         gt_grouped(emptied.avoidable).text);
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "GPU %lld ran dry in %s waits of the host%s and had nothing to do for %s "
	                "until its next work; the longest was in %s.",
	                gt_advice_gpu(facts, device), gt_grouped(emptied.waits).text, avoidable,
	                gt_advice_ns(emptied.gap_ns).text,
	                *function ? function : "a call that is not recorded");
	row->hint = "Ask for the next work before waiting, or let a stream wait for an event.";
	if (emptied.avoidable)
		gt_advice_cite(row, "waits", "avoidable", "emptied", (double)emptied.avoidable,
		               "%s", gt_grouped(emptied.avoidable).text);
	gt_advice_cite(row, "waits", "meanwhile", "emptied", (double)emptied.waits, "%s",
	               gt_grouped(emptied.waits).text);
	gt_advice_cite(row, "waits", "meanwhile", "gap_ns", (double)emptied.gap_ns, "%s",
	               gt_advice_ns(emptied.gap_ns).text);
	gt_advice_gain(row, GT_GAIN_AT_MOST, gaps,
	               "from when the GPU ran dry in a wait to the begin of its next work");
}

const struct gt_advice_rule gt_advice_sync_empties = {
	.name = "sync_empties",
	.summary = "Waits of the host in which the GPU runs out of work",
	.report = "waits",
	.undisturbed = true,
	.of_device = look,
};
