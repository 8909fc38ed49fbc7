/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/overview.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/advice/facts.h"
#include "analysis/figures.h"
#include "analysis/gaps/cause.h"
#include "analysis/kernels/family_shares.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"
#include "model/view/view.h"
#include "model/whole.h"

enum {
	MOST_DEVICES = 8, /* with a line each */
	MOST_MEMORY = 2,  /* GPUs whose memory is spoken of */
	MOST_NOTES = 5,
	COMMAND_BYTES = 200, /* shown of a command line */
	TEXT_BYTES = 600,
};

static const struct gt_heading headings[] = {
	{"topic", GT_UNIT_TEXT, "Topic of the line", GT_WORTH_KEY},
	{"text", GT_UNIT_TEXT, "A summary of it for people: the other tables have the figures",
         GT_WORTH_PROSE},
};

static void add_program(struct gt_result *result, const struct gt_trace *trace)
{
	const size_t processes = trace->processes.count;
	const char *command = "";

	for (size_t i = 0; i < processes && !*command; i++)
		command = gt_trace_text(trace, trace->processes.rows[i].command);
	if (processes == 0)
		return;
	gt_result_add_text(result, "program");
	if (!*command)
		command = "not known";
	gt_result_add_format(result, "%.*s%s%s", COMMAND_BYTES, command,
	                     strlen(command) > COMMAND_BYTES ? "..." : "",
	                     processes == 1 ? "" : ", and others");
	if (processes == 1)
		return;
	gt_result_add_text(result, "processes");
	gt_result_add_format(result, "%s", gt_grouped(processes).text);
}

/* "12 kernels", "1 kernel" with a comma before it; nothing of what there is none of. */
static size_t add_amount(char *text, size_t used, uint64_t count, const char *one, const char *many)
{
	const size_t left = used < TEXT_BYTES ? TEXT_BYTES - used : 0;

	if (count == 0)
		return used;
	return used + (size_t)snprintf(text + used, left, "%s%s %s", used ? ", " : "",
	                               gt_grouped(count).text, count == 1 ? one : many);
}

static void add_recorded(struct gt_result *result, const struct gt_facts *facts)
{
	const struct gt_trace *trace = facts->view->trace;
	char text[TEXT_BYTES] = "";
	size_t used = add_amount(text, 0, trace->kernels.count, "kernel", "kernels");

	used = add_amount(text, used, trace->copies.count, "copy", "copies");
	if (facts->copied_bytes && used < TEXT_BYTES)
		used += (size_t)snprintf(text + used, TEXT_BYTES - used, " of %s",
		                         gt_figure_bytes((int64_t)facts->copied_bytes).text);
	used = add_amount(text, used, trace->fills.count, "fill", "fills");
	used = add_amount(text, used, trace->graph_launches.count, "graph launch",
	                  "graph launches");
	used = add_amount(text, used, trace->api_calls.count, "CUDA call", "CUDA calls");
	(void)add_amount(text, used, facts->failed, "failed call", "failed calls");
	gt_result_add_text(result, "recorded");
	gt_result_add_format(result, "%s%s%s", gt_figure_ns((int64_t)facts->wall.ns).text,
	                     *text ? ": " : "", text);
}

/* Whether anything of the recording, or of its window, ran there, with or without times. */
static bool was_used(const struct gt_trace *trace, gt_id device)
{
#define LOOK(table, plural)                                                                        \
	gt_array_each(const struct gt_##table, row, &trace->plural)                                \
		if (row->device == device)                                                         \
			return true;
	LOOK(kernel, kernels)
	LOOK(copy, copies)
	LOOK(fill, fills)
	LOOK(graph_trace, graph_traces)
#undef LOOK
	return false;
}

static void add_device(struct gt_result *result, const struct gt_facts *facts, size_t number)
{
	const struct gt_trace *trace = facts->view->trace;
	const struct gt_busy *busy = &facts->busy[number];
	const uint64_t busy_ns = busy->kernels.covered_ns;
	const uint64_t copy_ns = busy->copies.covered_ns;
	const uint64_t both_ns = gt_busy_overlap(busy);
	const uint64_t span_ns = gt_busy_span_ns(facts->view, busy);
	const char *name = gt_trace_text(trace, trace->devices.rows[number].name);
	char copies[160] = "";

	if (!*name)
		name = "name not known";
	gt_add_device_number(result, trace, (gt_id)number);
	if (span_ns == 0) {
		gt_result_add_format(result, "%s, %s", name,
		                     was_used(trace, (gt_id)number)
		                             ? "nothing that ran on it has times"
		                             : "nothing ran on it");
		return;
	}
	if (copy_ns)
		snprintf(copies, sizeof(copies), "; copies took %s, %s of it beside kernels",
		         gt_figure_ns((int64_t)copy_ns).text, gt_figure_ns((int64_t)both_ns).text);
	gt_result_add_format(result,
	                     "%s, busy %s, %s of the time; in use for %s, busy %s of that%s", name,
	                     gt_figure_ns((int64_t)busy_ns).text,
	                     gt_figure_percent(gt_busy_percent(facts->view, &busy->kernels)).text,
	                     gt_figure_ns((int64_t)span_ns).text,
	                     gt_figure_percent(gt_percent((double)busy_ns, (double)span_ns)).text,
	                     copies);
}

static void add_devices(struct gt_result *result, const struct gt_facts *facts)
{
	const struct gt_trace *trace = facts->view->trace;
	const size_t count = gt_whole_devices(trace);
	size_t added = 0;

	for (gt_id i = 0; i < trace->devices.count && added < MOST_DEVICES; i++) {
		if (!gt_whole_has_rows(trace, i))
			continue;
		add_device(result, facts, i);
		added++;
	}
	if (count <= MOST_DEVICES)
		return;
	gt_result_add_text(result, "GPUs");
	gt_result_add_format(result, "%s more: see table devices",
	                     gt_grouped(count - MOST_DEVICES).text);
}

/* Families of kernels that the time went into. */
static void add_families(struct gt_result *result, const struct gt_trace *trace)
{
	struct gt_family_share shares[GT_FAMILY_COUNT];
	const size_t ran = gt_family_shares(trace, shares);
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < ran && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", i ? ", " : "",
		                         gt_family_name(shares[i].family),
		                         gt_figure_percent(shares[i].percent).text);
	/* That all are of no family is no news. */
	if (!ran || (ran == 1 && shares[0].family == GT_FAMILY_other))
		return;
	gt_result_add_text(result, "kernels");
	gt_result_add_format(result, "%s", text);
}

/* "at most 171 MiB (0.1%) on GPU 0, 64.1 MiB at the end, 60.0 MiB of it never freed" */
static size_t add_allocated(char *text, size_t used, const struct gt_facts *facts, size_t device)
{
	const struct gt_trace *trace = facts->view->trace;
	const struct gt_memory_total *total = &facts->allocated.of_device[device];
	const size_t left = used < TEXT_BYTES ? TEXT_BYTES - used : 0;
	const gt_size size_bytes = trace->devices.rows[device].memory_bytes;
	char share[64] = "";
	char kept[96] = "";

	if (size_bytes)
		snprintf(
			share, sizeof(share), " (%s)",
			gt_figure_percent(gt_percent((double)total->peak, (double)size_bytes)).text);
	if (total->kept && total->kept == total->now)
		snprintf(kept, sizeof(kept), ", never freed");
	else if (total->kept)
		snprintf(kept, sizeof(kept), ", %s of it never freed",
		         gt_figure_binary((int64_t)total->kept).text);
	return used +
	       (size_t)snprintf(text + used, left, "%sat most %s%s on GPU %lld, %s at the end%s",
	                        used ? "; " : "", gt_figure_binary((int64_t)total->peak).text,
	                        share, (long long)gt_device_number(&trace->devices.rows[device]),
	                        gt_figure_binary((int64_t)total->now).text, kept);
}

/* A hundredth of the GPU's memory, or more: less is no news, unless nothing else was done. */
static bool has_much(const struct gt_facts *facts, size_t device)
{
	const struct gt_trace *trace = facts->view->trace;
	const gt_size peak = facts->allocated.of_device[device].peak;

	return peak > 0 && (peak >= trace->devices.rows[device].memory_bytes / 100 ||
	                    !was_used(trace, (gt_id)device));
}

static void add_memory(struct gt_result *result, const struct gt_facts *facts)
{
	char text[TEXT_BYTES] = "";
	size_t used = 0;
	size_t said = 0;
	size_t more = 0;

	for (size_t i = 0; i < facts->allocated.device_count; i++) {
		if (!has_much(facts, i))
			continue;
		if (said < MOST_MEMORY)
			used = add_allocated(text, used, facts, i);
		else
			more++;
		said++;
	}
	if (said == 0)
		return;
	gt_result_add_text(result, "memory");
	if (more)
		gt_result_add_format(result, "%s; %s more GPUs: see report memory", text,
		                     gt_grouped(more).text);
	else
		gt_result_add_format(result, "%s", text);
}

static void add_waits(struct gt_result *result, const struct gt_facts *facts)
{
	const struct gt_amount *waits = &facts->waits;
	const struct gt_share most = gt_unit_times_most(&waits->times);
	const size_t threads = gt_unit_times_used(&waits->times);
	const struct gt_amount_calls calls = gt_amount_calls(waits);

	if (waits->count == 0)
		return;
	gt_result_add_text(result, "waits");
	if (threads <= 1)
		gt_result_add_format(result, "%s of the host (%s)",
		                     gt_figure_ns((int64_t)waits->summed_ns).text, calls.text);
	else
		gt_result_add_format(result, "%s of %s, longest of %s threads; %s together (%s)",
		                     gt_figure_ns((int64_t)most.ns).text,
		                     gt_share_unit(&most, facts->view->trace).text,
		                     gt_grouped(threads).text,
		                     gt_figure_ns((int64_t)waits->summed_ns).text, calls.text);
}

static const struct gt_gap *longest_gap(const struct gt_facts *facts, size_t *device)
{
	const struct gt_gap *longest = NULL;

	for (size_t i = 0; i < facts->view->trace->devices.count; i++) {
		const struct gt_idle *idle = &facts->idle[i];

		if (idle->largest.count == 0 ||
		    (longest && gt_gap_ns(&idle->largest.rows[0]) <= gt_gap_ns(longest)))
			continue;
		longest = &idle->largest.rows[0];
		*device = i;
	}
	return longest;
}

/* "; meanwhile: cuMemcpyHtoD, 138 us of it"; "" where it is not known. */
static void describe_host(const struct gt_gap_cause *cause, const struct gt_trace *trace,
                          int64_t gap_ns, char *text, size_t size)
{
	char what[256];

	gt_gap_cause_text(cause, trace, what, sizeof(what));
	if (!*what)
		return;
	if (cause->kind == GT_GAP_CAUSE_GRAPH)
		snprintf(text, size, "; %s", what);
	else if (cause->kind == GT_GAP_CAUSE_LAUNCHED)
		snprintf(text, size, "; what came next was %s for %s of it", what,
		         gt_figure_ns(cause->host_ns).text);
	else if (cause->kind == GT_GAP_CAUSE_NONE && cause->host_ns)
		snprintf(text, size, "; meanwhile no CUDA call for %s of it",
		         gt_figure_ns(gap_ns - cause->host_ns).text);
	else if (cause->host_ns)
		snprintf(text, size, "; meanwhile: %s, %s of it", what,
		         gt_figure_ns(cause->host_ns).text);
	else
		snprintf(text, size, "; meanwhile: %s", what);
}

static void add_longest_gap(struct gt_result *result, const struct gt_facts *facts)
{
	const struct gt_trace *trace = facts->view->trace;
	size_t device = 0;
	const struct gt_gap *gap = longest_gap(facts, &device);
	struct gt_gap_cause cause;
	char host[400] = "";

	if (!gap)
		return;
	cause = gt_gap_cause_of(&facts->calls, gap);
	describe_host(&cause, trace, (int64_t)gt_gap_ns(gap), host, sizeof(host));
	gt_result_add_text(result, "top gap");
	gt_result_add_format(result, "%s on GPU %lld at %s%s",
	                     gt_figure_ns((int64_t)gt_gap_ns(gap)).text,
	                     (long long)gt_device_number(&trace->devices.rows[device]),
	                     gt_figure_ns(gap->start_ns - trace->start_ns).text, host);
}

static void add_environment(struct gt_result *result, const struct gt_facts *facts)
{
	const size_t count = facts->variables.list.count;
	char text[TEXT_BYTES] = "";
	size_t used = 0;
	size_t shown = 0;

	for (; shown < count; shown++) {
		const struct gt_variable *variable = &facts->variables.list.rows[shown];
		const int length =
			snprintf(text + used, TEXT_BYTES - used, "%s%.*s", used ? ", " : "",
		                 (int)variable->length, variable->text);

		if (used + (size_t)length >= TEXT_BYTES) {
			text[used] = '\0';
			break;
		}
		used += (size_t)length;
	}
	if (count == 0)
		return;
	gt_result_add_text(result, "variables");
	if (shown < count)
		gt_result_add_format(result, "%s, and %zu more: see gputrace info", text,
		                     count - shown);
	else
		gt_result_add_format(result, "%s", text);
}

static void add_cost(struct gt_result *result, const struct gt_trace *trace)
{
	uint64_t arming_ns = 0;
	uint64_t writer_ns = 0;
	uint64_t samples = 0;
	uint64_t callback_ns = 0;
	char calls[96] = "";

	if (gt_trace_ledger(trace, "arming_ns", &arming_ns) < 0)
		return;
	(void)gt_trace_ledger(trace, "writer_cpu_ns", &writer_ns);
	(void)gt_trace_ledger(trace, "callback_samples", &samples);
	(void)gt_trace_ledger(trace, "callback_ns", &callback_ns);
	if (samples)
		snprintf(calls, sizeof(calls), ", %s a CUDA call",
		         gt_figure_ns((int64_t)(callback_ns / samples)).text);
	gt_result_add_text(result, "cost");
	gt_result_add_format(result, "%s to start, %s in threads of its own%s",
	                     gt_figure_ns((int64_t)arming_ns).text,
	                     gt_figure_ns((int64_t)writer_ns).text, calls);
}

static bool is_among(const gt_string *texts, size_t count, gt_string text)
{
	for (size_t i = 0; i < count; i++)
		if (texts[i] == text)
			return true;
	return false;
}

/* Sentences of one origin are one note. */
static void add_note(struct gt_result *result, const struct gt_trace *trace, const gt_string *texts,
                     size_t count)
{
	size_t size = 1;
	size_t used = 0;
	char *note;

	for (size_t i = 0; i < count; i++)
		size += strlen(gt_trace_text(trace, texts[i])) + 2;
	note = gt_allocate(size);
	note[0] = '\0';
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(note + used, size - used, "%s%s", i ? ". " : "",
		                         gt_trace_text(trace, texts[i]));
	gt_result_add_text(result, "note");
	gt_result_add_format(result, "%s", note);
	gt_array_free(note);
}

/* Processes of one program note the same things: each is said once. */
static void add_notes(struct gt_result *result, const struct gt_trace *trace)
{
	const struct gt_note *last = NULL;
	gt_string said[MOST_NOTES];
	size_t first = 0; /* of those that are not added yet */
	size_t count = 0;

	gt_array_each(const struct gt_note, note, &trace->notes) {
		if (is_among(said, count, note->text))
			continue;
		if (first < count && (count == MOST_NOTES || note->process != last->process ||
		                      note->topic != last->topic)) {
			add_note(result, trace, said + first, count - first);
			first = count;
		}
		if (count == MOST_NOTES) {
			gt_result_add_text(result, "note");
			gt_result_add_text(result, "there are more: see gputrace info");
			return;
		}
		said[count++] = note->text;
		last = note;
	}
	if (first < count)
		add_note(result, trace, said + first, count - first);
}

void gt_add_overview(struct gt_result *result, const struct gt_facts *facts)
{
	const struct gt_trace *trace = facts->view->trace;

	gt_result_begin(result, "overview", headings, GT_COUNT_OF(headings));
	gt_result_plain(result);
	add_program(result, trace);
	add_recorded(result, facts);
	add_devices(result, facts);
	add_families(result, trace);
	add_memory(result, facts);
	add_waits(result, facts);
	add_longest_gap(result, facts);
	add_environment(result, facts);
	add_cost(result, trace);
	add_notes(result, trace);
}
