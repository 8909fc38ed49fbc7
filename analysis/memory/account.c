/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/account.h"

#include <math.h>
#include <stdint.h>

#include "analysis/memory/claims.h"
#include "analysis/memory/modules.h"
#include "analysis/time/measured.h"
#include "model/allocations.h"
#include "model/memory/owned.h"
#include "model/view/view.h"

const char *gt_account_item_name(enum gt_account_item item)
{
	static const char *const names[] = {
		[GT_ACCOUNT_TOTAL] = "device total",
		[GT_ACCOUNT_POOL_IN_USE] = "framework, in use",
		[GT_ACCOUNT_POOL_CACHED] = "framework, cached",
		[GT_ACCOUNT_ORDERED_IN_USE] = "CUDA's pools, in use",
		[GT_ACCOUNT_ORDERED_CACHED] = "CUDA's pools, cached",
		[GT_ACCOUNT_GRAPHS] = "graphs",
		[GT_ACCOUNT_LIBRARY] = "library",
		[GT_ACCOUNT_PROGRAM] = "program",
		[GT_ACCOUNT_CONTEXTS] = "contexts, modules",
		[GT_ACCOUNT_MODULES] = "modules, later",
		[GT_ACCOUNT_OTHERS] = "other processes",
		[GT_ACCOUNT_RESERVED] = "driver reserved",
		[GT_ACCOUNT_RINGS] = "gputrace's rings",
		[GT_ACCOUNT_REPLAY] = "CUPTI, for counters",
		[GT_ACCOUNT_UNCLAIMED] = "unclaimed",
	};

	return names[item];
}

/* Bytes on the device that ended after one moment and not after another. */
static double freed(const struct gt_account_book *book, gt_time after_ns, gt_time until_ns)
{
	double bytes = 0;

	gt_array_each(const struct gt_allocation, allocation, &book->trace->allocations)
		if (!(allocation->flags & GT_UNFINISHED) && allocation->end_ns > after_ns &&
		    allocation->end_ns <= until_ns)
			bytes += (double)gt_memory_bytes_on(allocation, book->device);
	return bytes;
}

/* Around a moment, the time in which nothing is allocated or freed on a device. */
static struct gt_interval unchanged(const struct gt_trace *trace, gt_id device, gt_time at_ns)
{
	struct gt_interval still = {INT64_MIN, INT64_MAX};

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		const bool ends = !(allocation->flags & GT_UNFINISHED);
		const gt_time times[] = {gt_memory_begin(trace, allocation), allocation->end_ns};

		if (gt_memory_bytes_on(allocation, device) == 0)
			continue;
		for (size_t i = 0; i < (ends ? 2 : 1); i++) {
			if (times[i] <= at_ns && times[i] > still.start_ns)
				still.start_ns = times[i];
			else if (times[i] > at_ns && times[i] < still.end_ns)
				still.end_ns = times[i];
		}
	}
	return still;
}

/*
 * Whether a sample tells of the moment: it was taken then, or while what is allocated was the same,
 * until NVML had answered.
 */
static bool is_of_moment(const struct gt_account_book *book, gt_time sampled_ns)
{
	return sampled_ns == book->at_ns || (sampled_ns >= book->still.start_ns &&
	                                     sampled_ns <= book->still.end_ns - GT_NVML_READ_NS);
}

/*
 * The value next to the moment, and when it was read; NAN: none. of_moment: of what allocations
 * change, only one that tells of the moment.
 */
static double sampled(const struct gt_account_book *book, const char *name, bool of_moment,
                      gt_time *sampled_ns)
{
	const struct gt_counter *counter = gt_counter_find(book->trace, book->device, name);
	struct gt_measured values;
	double value = NAN;
	gt_time nearest = INT64_MAX;

	if (!counter)
		return NAN;
	values = gt_measured_of(book->trace, counter);
	for (size_t i = 0; i < values.count; i++) {
		const gt_time away = values.times_ns[i] > book->at_ns
		                             ? values.times_ns[i] - book->at_ns
		                             : book->at_ns - values.times_ns[i];

		if (away >= nearest || (of_moment && !is_of_moment(book, values.times_ns[i])))
			continue;
		nearest = away;
		value = values.values[i];
		*sampled_ns = values.times_ns[i];
	}
	gt_measured_release(&values);
	return value;
}

static void add_sampled(struct gt_account_book *book, enum gt_account_item item, double bytes,
                        gt_time time_ns)
{
	struct gt_account_line *line =
		gt_account_add_line(book, item, bytes, isnan(bytes) ? "not measured" : "NVML");

	if (!isnan(bytes))
		line->time_ns = time_ns;
}

static void add_total(struct gt_account_book *book, double bytes, gt_time time_ns)
{
	const bool is_watched = gt_counter_find(book->trace, book->device, "memory_used_bytes");

	if (isnan(bytes) && is_watched)
		(void)gt_account_add_line(
			book, GT_ACCOUNT_TOTAL, NAN,
			"not known: NVML was not asked while so much was allocated");
	else
		add_sampled(book, GT_ACCOUNT_TOTAL, bytes, time_ns);
}

double gt_account_claimed(const struct gt_account *account)
{
	double sum = 0;

	gt_array_each(const struct gt_account_line, line, &account->lines)
		if (line->item != GT_ACCOUNT_TOTAL && !isnan(line->bytes))
			sum += line->bytes;
	return sum;
}

/* Some of NVML's samples; NAN: not measured. */
struct samples {
	double total; /* with what is reserved */
	double others;
	double reserved;
	gt_time time_ns; /* of the total; 0: there is none */
	gt_time others_ns;
	gt_time reserved_ns;
	bool mixed; /* what NVML says of others has processes in it whose memory is claimed above */
};

static double or_0(double value)
{
	return isnan(value) ? 0 : value;
}

/*
 * NVML's figure of other processes is by the process that asked it: where another one that is
 * recorded uses the GPU, too, its memory is in that figure.
 */
static bool has_recorded_others(const struct gt_account_book *book)
{
	const struct gt_counter *counter =
		gt_counter_find(book->trace, book->device, "others_memory_bytes");

	if (!counter)
		return false;
	gt_array_each(const struct gt_context, context, &book->trace->contexts)
		if (context->device == book->device && context->process != counter->process)
			return true;
	return false;
}

static struct samples sample(const struct gt_account_book *book)
{
	struct samples samples = {.mixed = has_recorded_others(book)};

	samples.total = sampled(book, "memory_used_bytes", true, &samples.time_ns);
	samples.others = sampled(book, "others_memory_bytes", false, &samples.others_ns);
	samples.reserved = sampled(book, "memory_reserved_bytes", false, &samples.reserved_ns);
	samples.total += or_0(samples.reserved);
	if (samples.mixed)
		samples.others = NAN;
	return samples;
}

struct reading {
	gt_time at_ns; /* 0: there is none */
	double value;
};

/* What NVML said when it was first asked for that. */
static struct reading first_reading(const struct gt_account_book *book, const char *name)
{
	const struct gt_counter *counter = gt_counter_find(book->trace, book->device, name);
	struct gt_measured values = {0};
	struct reading reading = {0};

	if (counter)
		values = gt_measured_of(book->trace, counter);
	if (values.count)
		reading = (struct reading){values.times_ns[0], values.values[0]};
	gt_measured_release(&values);
	return reading;
}

/* Until when NVML's samples say what the account is of. */
static gt_time known_ns(const struct gt_account *account)
{
	return account->sampled_ns ? account->sampled_ns : account->at_ns;
}

/*
 * Memory in use when NVML was first asked that nobody claimed then: contexts, the modules loaded so
 * far, and memory of other processes that NVML does not list. NAN: that was not earlier.
 */
static double unclaimed_at_first(const struct gt_account_book *book)
{
	const gt_time first_ns = first_reading(book, "memory_used_bytes").at_ns;
	struct gt_account account = {.at_ns = first_ns};
	struct gt_account_book earlier = *book;
	struct samples samples;
	double rest;

	if (first_ns == 0 || first_ns >= known_ns(book->account))
		return NAN;
	earlier.account = &account;
	earlier.at_ns = first_ns;
	earlier.still = unchanged(book->trace, book->device, first_ns);
	earlier.ordered = earlier.graphs = earlier.program = 0;
	samples = sample(&earlier);
	gt_account_add_claims(&earlier);
	rest = samples.total - gt_account_claimed(&account) - or_0(samples.others) -
	       or_0(samples.reserved);
	gt_account_release(&account);
	return rest < 0 ? NAN : rest; /* then more is claimed than there was */
}

/* Memory of all contexts on the device; NAN where one is not measured. */
static double contexts_measured(const struct gt_account_book *book)
{
	double bytes = 0;
	bool found = false;

	gt_array_each(const struct gt_context, context, &book->trace->contexts) {
		if (context->device != book->device)
			continue;
		bytes += context->memory_bytes;
		found = true;
	}
	return found ? bytes : NAN;
}

static const char estimated[] =
	"estimated: in use when NVML was first asked, and claimed by nobody";

static void add_estimate(struct gt_account_book *book, double bytes)
{
	(void)gt_account_add_line(book, GT_ACCOUNT_CONTEXTS, bytes,
	                          isnan(bytes) ? "not measured" : estimated);
}

static void add_contexts(struct gt_account_book *book)
{
	const double measured = contexts_measured(book);
	const struct reading first =
		first_reading(book, isnan(measured) ? "memory_used_bytes" : "process_memory_bytes");

	if (!isnan(measured))
		(void)gt_account_add_line(
			book, GT_ACCOUNT_CONTEXTS, measured,
			"NVML, of the process, when first read, - what it had allocated");
	else
		add_estimate(book, unclaimed_at_first(book));
	gt_account_add_some(
		book, GT_ACCOUNT_MODULES,
		gt_memory_of_modules(book->view, book->device, first.at_ns, first.value,
	                             known_ns(book->account)),
		"NVML: what came to be in use, and is not allocated, while modules were loaded");
}

static void add_others(struct gt_account_book *book, const struct samples *samples)
{
	if (samples->mixed)
		(void)gt_account_add_line(
			book, GT_ACCOUNT_OTHERS, NAN,
			"not known: NVML's figure has processes in it that are recorded");
	else
		add_sampled(book, GT_ACCOUNT_OTHERS, samples->others, samples->others_ns);
}

static bool has_source(const struct gt_account *account, const char *source)
{
	gt_array_each(const struct gt_account_line, line, &account->lines)
		if (line->source == source && line->bytes > 0)
			return true;
	return false;
}

/* Why so many bytes are claimed that are not in what NVML says is in use. */
static const char *why_over(const struct gt_account_book *book, double bytes)
{
	const gt_time sampled_ns = book->account->sampled_ns;

	if (freed(book, sampled_ns, sampled_ns + GT_NVML_READ_NS) >= bytes)
		return "memory was freed while NVML was being asked";
	if (has_source(book->account, gt_account_statistics))
		return "a pool's own statistics are of another moment";
	return "calls asked for more than the GPU gave, or it was given back in a way that no call tells";
}

/*
 * Contexts have ended since where less is in use than they took when NVML was first asked, unless
 * memory was freed while NVML was being asked: the estimate says nothing of this moment.
 */
static bool forget_estimate(const struct gt_account_book *book, double total)
{
	const double over = gt_account_claimed(book->account) - total;
	const gt_time sampled_ns = book->account->sampled_ns;

	if (!(over > 0) || freed(book, sampled_ns, sampled_ns + GT_NVML_READ_NS) >= over)
		return false;
	gt_array_each(struct gt_account_line, line, &book->account->lines) {
		if (line->source != estimated)
			continue;
		line->bytes = NAN;
		line->source =
			"not known: less is in use than contexts took when NVML was first asked";
		return true;
	}
	return false;
}

/* The first line is the total. */
static void add_unclaimed(struct gt_account_book *book, const struct samples *samples)
{
	struct gt_account *account = book->account;
	const bool forgotten = forget_estimate(book, samples->total);
	const double rest = samples->total - gt_account_claimed(account);

	if (rest >= 0 && forgotten) {
		(void)gt_account_add_line(book, GT_ACCOUNT_UNCLAIMED, NAN,
		                          "not known: what contexts take is not known");
	} else if (rest < 0) {
		account->over_bytes = -rest;
		account->why = why_over(book, -rest);
		(void)gt_account_add_line(book, GT_ACCOUNT_UNCLAIMED, NAN,
		                          "not known: more is claimed than NVML says is in use");
	} else {
		(void)gt_account_add_line(book, GT_ACCOUNT_UNCLAIMED, rest,
		                          isnan(rest) ? account->lines.rows[0].source
		                          : isnan(samples->others)
		                                  ? "the total - all lines above; other "
		                                    "processes are in it"
		                                  : "the total - all lines above");
	}
}

void gt_account_init(struct gt_account *account, const struct gt_view *view, const gt_id *carriers,
                     gt_id device, gt_time at_ns)
{
	struct gt_account_book book = {
		.account = account,
		.view = view,
		.trace = view->trace,
		.carriers = carriers,
		.device = device,
		.at_ns = at_ns,
		.still = unchanged(view->trace, device, at_ns),
	};
	struct samples samples;

	*account = (struct gt_account){.at_ns = at_ns};
	samples = sample(&book);
	account->sampled_ns = samples.time_ns;
	add_total(&book, samples.total, samples.time_ns);
	gt_account_add_claims(&book);
	add_contexts(&book);
	add_others(&book, &samples);
	if (!isnan(samples.reserved))
		add_sampled(&book, GT_ACCOUNT_RESERVED, samples.reserved, samples.reserved_ns);
	if (samples.time_ns && gt_memory_is_replayed(book.trace, device, samples.time_ns))
		gt_account_add_some(
			&book, GT_ACCOUNT_REPLAY, samples.total - gt_account_claimed(account),
			"what is left, as a launch was being run several times for its counters");
	add_unclaimed(&book, &samples);
}

bool gt_account_is_same(const struct gt_view *view, gt_id device, gt_time a_ns, gt_time b_ns)
{
	const struct gt_interval still = unchanged(view->trace, device, a_ns);

	return b_ns >= still.start_ns && b_ns < still.end_ns;
}

void gt_account_release(struct gt_account *account)
{
	gt_array_release(&account->lines);
}

double gt_account_sum(const struct gt_account *account, enum gt_account_item item)
{
	double sum = NAN;

	gt_array_each(const struct gt_account_line, line, &account->lines)
		if (line->item == item && !isnan(line->bytes))
			sum = isnan(sum) ? line->bytes : sum + line->bytes;
	return sum;
}

gt_time gt_account_peak_ns(const struct gt_view *view, gt_id device)
{
	const struct gt_counter *counter =
		gt_counter_find(view->trace, device, "memory_used_bytes");
	struct gt_measured values = {0};
	double most = -1;
	gt_time at_ns = 0;

	if (counter)
		values = gt_measured_of(view->trace, counter);
	for (size_t i = 0; i < values.count; i++) {
		if (values.values[i] <= most)
			continue;
		most = values.values[i];
		at_ns = values.times_ns[i];
	}
	gt_measured_release(&values);
	return at_ns;
}

gt_time gt_account_last_ns(const struct gt_view *view, gt_id device)
{
	const struct gt_counter *counter =
		gt_counter_find(view->trace, device, "memory_used_bytes");
	struct gt_measured values = {0};
	gt_time at_ns = 0;

	if (counter)
		values = gt_measured_of(view->trace, counter);
	if (values.count)
		at_ns = values.times_ns[values.count - 1];
	gt_measured_release(&values);
	return at_ns;
}
