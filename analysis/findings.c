/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/findings.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/facts.h"
#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"
#include "model/names.h"
#include "model/throttle.h"
#include "model/view.h"

enum { SENTENCE_BYTES = 600, MOST_DEVICES = 2 /* of which a rule is said */ };

static const struct gt_heading headings[] = {
	{"report", GT_UNIT_TEXT, "The report that says more", GT_WORTH_KEY},
	{"finding", GT_UNIT_TEXT, "What stands out, with its evidence", GT_WORTH_PROSE},
};

struct sentence {
	char text[SENTENCE_BYTES];
};

/*
 * A rule writes its sentence when it holds and returns whether it does. Rules of a recording are
 * asked once, rules of a device for each.
 */
struct rule {
	const char *report;
	bool (*of_recording)(const struct gt_facts *facts, struct sentence *sentence);
	bool (*of_device)(const struct gt_facts *facts, gt_id device, struct sentence *sentence);
};

__attribute__((format(printf, 2, 3))) static bool say(struct sentence *sentence, const char *fmt,
                                                      ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(sentence->text, sizeof(sentence->text), fmt, args);
	va_end(args);
	return true;
}

static struct gt_figure ns(uint64_t duration_ns)
{
	return gt_figure_ns((int64_t)duration_ns);
}

static struct gt_figure share(uint64_t part, uint64_t whole)
{
	return gt_figure_percent(gt_percent((double)part, (double)whole));
}

/* Whether a part is at least so many percent of the whole. */
static bool is_share(uint64_t part, uint64_t whole, unsigned percent)
{
	return whole > 0 && (double)part * 100 >= (double)whole * percent;
}

static long long number_of(const struct gt_facts *facts, gt_id device)
{
	return (long long)gt_device_number(&facts->view->trace->devices.rows[device]);
}

/* " Meanwhile: cudaMalloc (71.2%), no CUDA call (20.1%)."; "" if nothing is known. */
struct meanwhile {
	char text[240];
};

/* What took a tenth of it or more, of the gaps that ended with launches. */
static struct meanwhile meanwhile_of(const struct gt_facts *facts, gt_id device)
{
	const uint64_t gap_ns = facts->gaps.between_launches[device].total_ns;
	struct meanwhile meanwhile = {""};
	size_t used = 0;
	char what[80];

	gt_array_each(const struct gt_gap_total, total, &facts->gaps.all) {
		if (total->device != device || total->kind == GT_GAP_CAUSE_GRAPH ||
		    total->kind == GT_GAP_CAUSE_UNKNOWN || !is_share(total->total_ns, gap_ns, 20) ||
		    used >= sizeof(meanwhile.text) / 2)
			continue;
		gt_gap_total_text(total, facts->view->trace, what, sizeof(what));
		used += (size_t)snprintf(meanwhile.text + used, sizeof(meanwhile.text) - used,
		                         "%s%s (%s)", used ? ", " : " Meanwhile: ", what,
		                         share(total->total_ns, gap_ns).text);
	}
	if (used && used + 1 < sizeof(meanwhile.text))
		snprintf(meanwhile.text + used, sizeof(meanwhile.text) - used, ".");
	return meanwhile;
}

/* Gaps no longer than a launch may take: the GPU is done before the next one is there. */
static bool waits_for_launches(const struct gt_facts *facts, gt_id device,
                               struct sentence *sentence)
{
	const struct gt_gap_sum *gaps = &facts->gaps.between_launches[device];
	const uint64_t span_ns = gt_idle_span_ns(&facts->idle[device]);
	char length[96];

	if (!is_share(gaps->total_ns, span_ns, 30) || gaps->gaps < 100 ||
	    !is_share(gaps->small_ns, gaps->total_ns, 50))
		return false;
	if (is_share(gaps->short_gaps, gaps->gaps, 50))
		snprintf(length, sizeof(length), ", %s under 20 us",
		         gt_grouped(gaps->short_gaps).text);
	else
		snprintf(length, sizeof(length), " of %s on average",
		         ns(gaps->total_ns / gaps->gaps).text);
	return say(sentence,
	           "GPU %lld waited for launches %s of the time it was in use: %s gaps%s.%s Larger "
	           "or fused kernels%s help.",
	           number_of(facts, device), share(gaps->total_ns, span_ns).text,
	           gt_grouped(gaps->gaps).text, length, meanwhile_of(facts, device).text,
	           facts->view->trace->graph_launches.count ? "" : ", or CUDA graphs,");
}

/* Gaps that are too long for launches to be the reason. */
static bool is_left_alone(const struct gt_facts *facts, gt_id device, struct sentence *sentence)
{
	const struct gt_gap_sum *gaps = &facts->gaps.between_launches[device];
	const uint64_t span_ns = gt_idle_span_ns(&facts->idle[device]);
	const uint64_t long_ns = gaps->total_ns - gaps->small_ns;

	if (!is_share(gaps->total_ns, span_ns, 50) || !is_share(long_ns, gaps->total_ns, 50))
		return false;
	return say(sentence,
	           "Nothing ran on GPU %lld for %s of the time it was in use, %s of that in gaps "
	           "over 1 ms.%s",
	           number_of(facts, device), share(gaps->total_ns, span_ns).text,
	           share(long_ns, gaps->total_ns).text, meanwhile_of(facts, device).text);
}

/* The host has no part in what passes between two nodes of one launch. */
static bool idles_in_graphs(const struct gt_facts *facts, gt_id device, struct sentence *sentence)
{
	const struct gt_idle *idle = &facts->idle[device];
	const struct gt_gap_sum *others = &facts->gaps.between_launches[device];
	const uint64_t gaps = idle->gap_count - others->gaps;
	const uint64_t graph_ns = gt_idle_ns(idle) - others->total_ns;
	const uint64_t span_ns = gt_idle_span_ns(idle);

	if (gaps == 0 || !is_share(graph_ns, span_ns, 20))
		return false;
	return say(sentence,
	           "Within launches of graphs nothing ran on GPU %lld for %s of the time it was in "
	           "use: %s gaps of %s on average between nodes. Fewer, larger nodes, or branches "
	           "that run side by side, would keep it busy.",
	           number_of(facts, device), share(graph_ns, span_ns).text, gt_grouped(gaps).text,
	           ns(graph_ns / gaps).text);
}

static bool begins_late(const struct gt_facts *facts, gt_id device, struct sentence *sentence)
{
	const struct gt_cover *cover = &facts->busy[device].all;
	const uint64_t duration_ns = gt_facts_duration_ns(facts);
	const uint64_t before_ns = (uint64_t)(cover->start_ns - facts->view->start_ns);

	if (!cover->begun || facts->view->trace->parts.count > 0 ||
	    !is_share(before_ns, duration_ns, 30))
		return false;
	return say(sentence, "GPU %lld had nothing to do for the first %s, %s of the recording.",
	           number_of(facts, device), ns(before_ns).text,
	           share(before_ns, duration_ns).text);
}

static bool copies_alone(const struct gt_facts *facts, gt_id device, struct sentence *sentence)
{
	const struct gt_busy *busy = &facts->busy[device];
	const uint64_t copy_ns = busy->copies.covered_ns;
	const uint64_t both_ns = gt_busy_overlap(busy);
	const uint64_t span_ns = gt_busy_span_ns(facts->view, busy);

	if (!is_share(copy_ns, span_ns, 10) || is_share(both_ns, copy_ns, 10) ||
	    busy->kernels.covered_ns == 0)
		return false;
	return say(
		sentence,
		"GPU %lld copied for %s, %s of the time it was in use, and only %s of that while "
		"a kernel ran: copies on a stream of their own, of pinned memory, can overlap.",
		number_of(facts, device), ns(copy_ns).text, share(copy_ns, span_ns).text,
		ns(both_ns).text);
}

/* Counters are of the whole window, whichever ranges are chosen in it. */
static uint64_t sampled_ns(const struct gt_facts *facts)
{
	return (uint64_t)(facts->view->end_ns - facts->view->start_ns);
}

static bool is_held_down(const struct gt_facts *facts, gt_id device, struct sentence *sentence)
{
	uint64_t reasons = gt_throttle_slowing(gt_throttles_seen(&facts->throttles, device));
	struct gt_throttle_sum worst = {0};
	uint64_t why = 0;

	while (reasons) {
		const uint64_t reason = gt_throttle_next(&reasons);
		const struct gt_throttle_sum sum =
			gt_throttles_sum(&facts->throttles, device, reason);

		if (sum.total_ns > worst.total_ns) {
			worst = sum;
			why = reason;
		}
	}
	if (!is_share(worst.total_ns, sampled_ns(facts), 1))
		return false;
	return say(sentence, "The clocks of GPU %lld were held down for %s (%s of the time): %s.",
	           number_of(facts, device), ns(worst.total_ns).text,
	           share(worst.total_ns, sampled_ns(facts)).text, gt_throttle_help(why));
}

/* What shows the recording from the last of these calls on, if that is a tenth of it or more. */
static void name_end_of_loading(const struct gt_facts *facts, char *text, size_t size)
{
	const gt_time start_ns = facts->view->trace->start_ns;
	const uint64_t after_ns = (uint64_t)(facts->view->end_ns - facts->loads.end_ns);
	const int64_t past_ns = facts->loads.end_ns - start_ns;

	if (past_ns <= 0 || !is_share(after_ns, gt_facts_duration_ns(facts), 10))
		snprintf(text, size, "look at --from");
	else
		snprintf(text, size, "leave it out: --from %lldms",
		         (long long)((past_ns + 999999) / 1000000));
}

static bool loads_much(const struct gt_facts *facts, struct sentence *sentence)
{
	const struct gt_amount *loads = &facts->loads;
	char from[96];

	if (facts->loading_ns > 0 || !is_share(loads->total_ns, gt_facts_duration_ns(facts), 5))
		return false;
	name_end_of_loading(facts, from, sizeof(from));
	return say(sentence,
	           "Loading code took %s, %s of the recording (%s): first "
	           "launches pay for it. Warm up, or %s.",
	           ns(loads->total_ns).text,
	           share(loads->total_ns, gt_facts_duration_ns(facts)).text,
	           gt_amount_calls(loads).text, from);
}

/* Where modules were recorded: most of it may be in launches. */
static bool loads_many_modules(const struct gt_facts *facts, struct sentence *sentence)
{
	const struct gt_amount *loads = &facts->loads;
	struct gt_amount_calls calls = {.text = "no calls"};

	if (!is_share(facts->loading_ns, gt_facts_duration_ns(facts), 5))
		return false;
	if (loads->count)
		calls = gt_amount_calls(loads);
	return say(sentence,
	           "Loading code took %s, %s of the recording: %s in calls that take it in (%s), "
	           "the rest in first launches. Warm up, or use --from.",
	           ns(facts->loading_ns).text,
	           share(facts->loading_ns, gt_facts_duration_ns(facts)).text,
	           ns(loads->total_ns).text, calls.text);
}

/* The first call makes the context, whatever it asks for: a few calls prove nothing. */
static bool allocates_much(const struct gt_facts *facts, struct sentence *sentence)
{
	const struct gt_amount *memory = &facts->memory;

	if (memory->count < 10 || !is_share(memory->total_ns, gt_facts_duration_ns(facts), 5))
		return false;
	return say(
		sentence,
		"Allocating and freeing memory took %s, %s of the recording (%s): memory that is "
		"kept, or cudaMallocAsync, costs less.",
		ns(memory->total_ns).text,
		share(memory->total_ns, gt_facts_duration_ns(facts)).text,
		gt_amount_calls(memory).text);
}

/* Of calls that were to allocate on a GPU. */
static bool runs_out(const struct gt_facts *facts, gt_id device, struct sentence *sentence)
{
	const struct gt_trace *trace = facts->view->trace;
	const struct gt_memory_failure *first = NULL;
	uint64_t count = 0;

	gt_array_each(const struct gt_memory_failure, failure, &facts->not_allocated.rows) {
		if (failure->device != device)
			continue;
		if (count++ == 0)
			first = failure;
	}
	if (!first)
		return false;
	return say(sentence,
	           "%s allocation%s on GPU %lld failed: the first asked for %s when %s of %s were "
	           "allocated.",
	           gt_grouped(count).text, count == 1 ? "" : "s", number_of(facts, device),
	           gt_figure_binary((int64_t)trace->memory_calls.rows[first->call].size_bytes).text,
	           gt_figure_binary((int64_t)first->live_bytes).text,
	           gt_figure_binary((int64_t)trace->devices.rows[device].memory_bytes).text);
}

static bool waits_much(const struct gt_facts *facts, struct sentence *sentence)
{
	const struct gt_amount *waits = &facts->waits;

	if (!is_share(waits->total_ns, gt_facts_duration_ns(facts), 50))
		return false;
	return say(sentence,
	           "The host waited for the GPU for %s, %s of the recording (%s): the program goes "
	           "as fast as the GPU does its work.",
	           ns(waits->total_ns).text,
	           share(waits->total_ns, gt_facts_duration_ns(facts)).text,
	           gt_amount_calls(waits).text);
}

static bool copies_pageable(const struct gt_facts *facts, struct sentence *sentence)
{
	const struct gt_amount *copies = &facts->pageable;
	const double rate = gt_bytes_per_second((double)copies->bytes, (double)copies->total_ns);

	if (!is_share(copies->total_ns, gt_facts_duration_ns(facts), 2))
		return false;
	return say(sentence,
	           "%s %s of pageable memory (%s) took %s, at %s: pinned memory (cudaMallocHost, "
	           "pin_memory) is faster and lets the host go on.",
	           gt_grouped(copies->count).text, copies->count == 1 ? "copy" : "copies",
	           gt_figure_bytes((int64_t)copies->bytes).text, ns(copies->total_ns).text,
	           gt_figure_rate(rate).text);
}

static bool has_failures(const struct gt_facts *facts, struct sentence *sentence)
{
	const struct gt_api_call *first = facts->first_failed;
	const char *result;

	if (!first)
		return false;
	result = gt_result_name(first->result, (first->flags & GT_DRIVER_API) != 0);
	return say(sentence, "%s CUDA %s failed, the first was %s: %s.",
	           gt_grouped(facts->failed.count).text,
	           facts->failed.count == 1 ? "call" : "calls",
	           gt_trace_text(facts->view->trace, first->function),
	           result ? result : "a result that is not known");
}

/* A part of the time of the ranges of a path, of which there should be little. */
struct lost {
	uint64_t lost_ns;
	uint64_t whole_ns;
};

static struct lost quiet_of(const struct gt_range_figures *figures)
{
	return (struct lost){figures->quiet_ns, (uint64_t)figures->wall.spread.total};
}

static struct lost gaps_of(const struct gt_range_figures *figures)
{
	return (struct lost){(uint64_t)figures->idle.spread.total, figures->span_ns};
}

/* By path: the most that one of those in it loses. The caller frees it with gt_array_free. */
static uint64_t *lost_inside(const struct gt_range_totals *ranges,
                             struct lost (*lost_of)(const struct gt_range_figures *figures))
{
	uint64_t *inside = gt_allocate(ranges->count * sizeof(*inside));

	for (size_t i = 0; i < ranges->count; i++)
		inside[i] = 0;
	for (size_t i = 0; i < ranges->count; i++) {
		const gt_id outer = ranges->ranges.paths.rows[i].outer;
		const uint64_t lost_ns = lost_of(&ranges->rows[i]).lost_ns;

		if (outer != GT_NONE && lost_ns > inside[outer])
			inside[outer] = lost_ns;
	}
	return inside;
}

/*
 * The path that loses most, if it is half of its time and a tenth of the recording. Where nearly
 * all of it is lost in a path inside, that one says more.
 */
static gt_id worst_path(const struct gt_facts *facts,
                        struct lost (*lost_of)(const struct gt_range_figures *figures))
{
	const struct gt_range_totals *ranges = &facts->ranges;
	uint64_t *inside = lost_inside(ranges, lost_of);
	uint64_t most_ns = 0;
	gt_id worst = GT_NONE;

	for (gt_id i = 0; i < ranges->count; i++) {
		const struct lost lost = lost_of(&ranges->rows[i]);

		if (lost.lost_ns <= most_ns || ranges->rows[i].ranges == 0 ||
		    !is_share(lost.lost_ns, lost.whole_ns, 50) ||
		    !is_share(lost.lost_ns, gt_facts_duration_ns(facts), 10) ||
		    is_share(inside[i], lost.lost_ns, 80))
			continue;
		most_ns = lost.lost_ns;
		worst = i;
	}
	gt_array_free(inside);
	return worst;
}

/* While the host was in these ranges the GPUs waited for it. */
static bool has_quiet_range(const struct gt_facts *facts, struct sentence *sentence)
{
	const gt_id path = worst_path(facts, quiet_of);
	char text[GT_RANGE_PATH_BYTES];
	uint64_t ranges;
	struct lost lost;

	if (path == GT_NONE || facts->view->trace->kernels.count == 0)
		return false;
	ranges = facts->ranges.rows[path].ranges;
	lost = quiet_of(&facts->ranges.rows[path]);
	gt_range_brief_text(&facts->ranges.ranges, path, text);
	return say(sentence, "In range %s no GPU had anything to do for %s, %s of its time%s%s%s.",
	           text, ns(lost.lost_ns).text, share(lost.lost_ns, lost.whole_ns).text,
	           ranges == 1 ? "" : " (", ranges == 1 ? "" : gt_grouped(ranges).text,
	           ranges == 1 ? "" : " such ranges)");
}

static bool has_gaps_in_range(const struct gt_facts *facts, struct sentence *sentence)
{
	const gt_id path = worst_path(facts, gaps_of);
	char text[GT_RANGE_PATH_BYTES];
	struct lost lost;

	/* The finding above says it in other words. */
	if (path == GT_NONE || path == worst_path(facts, quiet_of))
		return false;
	lost = gaps_of(&facts->ranges.rows[path]);
	gt_range_brief_text(&facts->ranges.ranges, path, text);
	return say(sentence,
	           "Between the first and the last work of range %s the GPU was idle for %s, %s of "
	           "that time: it waits for launches.",
	           text, ns(lost.lost_ns).text, share(lost.lost_ns, lost.whole_ns).text);
}

/* Variables of the environment that nobody wants by accident. */
static bool is_slowed_by_environment(const struct gt_facts *facts, struct sentence *sentence)
{
	static const struct {
		const char *variable;
		const char *effect;
	} slow[] = {
		{"CUDA_LAUNCH_BLOCKING=1", "every launch waits until its kernel has ended"},
		{"JAX_DISABLE_JIT=1", "nothing is compiled"},
		{"JAX_DISABLE_JIT=True", "nothing is compiled"},
		{"JAX_DEBUG_NANS=True", "results are checked, which waits for them"},
		{"PYTORCH_NO_CUDA_MEMORY_CACHING=1", "every tensor is allocated and freed by CUDA"},
		{"TORCHDYNAMO_DISABLE=1", "torch.compile does nothing"},
		{"TRITON_ALWAYS_COMPILE=1", "kernels are compiled anew each time"},
		{"TRITON_INTERPRET=1", "Triton's kernels run on the processor"},
	};

	for (size_t i = 0; i < GT_COUNT_OF(slow); i++)
		if (gt_variables_have(&facts->variables, slow[i].variable))
			return say(sentence, "%s is set: %s.", slow[i].variable, slow[i].effect);
	return false;
}

/* In the order in which they are said. */
static const struct rule rules[] = {
	{"api", .of_recording = has_failures},
	{"memory", .of_device = runs_out},
	{"api", .of_recording = is_slowed_by_environment},
	{"telemetry", .of_device = is_held_down},
	{"gaps", .of_device = waits_for_launches},
	{"gaps", .of_device = is_left_alone},
	{"gaps", .of_device = idles_in_graphs},
	{"ranges", .of_recording = has_quiet_range},
	{"ranges", .of_recording = has_gaps_in_range},
	{"gaps", .of_device = begins_late},
	{"api", .of_recording = loads_much},
	{"modules", .of_recording = loads_many_modules},
	{"api", .of_recording = allocates_much},
	{"waits", .of_recording = waits_much},
	{"copies", .of_device = copies_alone},
	{"copies", .of_recording = copies_pageable},
};

static void add(struct gt_result *result, const struct rule *rule, const struct sentence *sentence)
{
	gt_result_add_text(result, rule->report);
	gt_result_add_format(result, "%s", sentence->text);
}

/* Of many GPUs that are alike a few stand for all. */
static void ask_devices(struct gt_result *result, const struct rule *rule,
                        const struct gt_facts *facts)
{
	struct sentence sentence;
	size_t holds = 0;

	for (size_t i = 0; i < facts->view->trace->devices.count; i++)
		if (rule->of_device(facts, (gt_id)i, &sentence) && ++holds <= MOST_DEVICES)
			add(result, rule, &sentence);
	if (holds <= MOST_DEVICES)
		return;
	(void)say(&sentence, "The same is true of %s more.", gt_grouped(holds - MOST_DEVICES).text);
	add(result, rule, &sentence);
}

void gt_add_findings(struct gt_result *result, const struct gt_facts *facts)
{
	struct sentence sentence;

	gt_result_begin(result, "stands_out", headings, GT_COUNT_OF(headings));
	gt_result_plain(result);
	for (size_t i = 0; i < GT_COUNT_OF(rules); i++) {
		if (rules[i].of_device)
			ask_devices(result, &rules[i], facts);
		else if (rules[i].of_recording(facts, &sentence))
			add(result, &rules[i], &sentence);
	}
	if (gt_section_row_count(gt_result_find(result, "stands_out")) == 0)
		gt_result_detail(result);
}
