/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/throttles.h"

#include "analysis/time/measured.h"
#include "base/search.h"

static void add_span(struct gt_throttled *device, const struct gt_throttle_span *span)
{
	const size_t count = device->spans.count;
	struct gt_throttle_span *last = count ? &device->spans.rows[count - 1] : NULL;

	if (last && last->end_ns == span->start_ns && last->reasons == span->reasons)
		last->end_ns = span->end_ns;
	else
		*gt_array_push(&device->spans) = *span;
}

static void read_device(struct gt_throttled *device, const struct gt_trace *trace, gt_id row)
{
	const struct gt_counter *counter = gt_counter_find(trace, row, "throttle_reasons");
	struct gt_measured measured;

	if (!counter || counter->kind != GT_COUNTER_MASK)
		return;
	measured = gt_measured_on(trace, row, "throttle_reasons");
	device->measured = measured.count > 0;
	for (size_t i = 0; i < measured.count; i++) {
		const double value = measured.values[i];

		if (value >= 0 && value < 0x1p64)
			add_span(device, &(struct gt_throttle_span){measured.times_ns[i],
			                                            gt_measured_until(&measured, i),
			                                            (uint64_t)value});
	}
	gt_measured_release(&measured);
}

void gt_throttles_init(struct gt_throttles *throttles, const struct gt_trace *trace)
{
	const size_t count = trace->devices.count;

	*throttles = (struct gt_throttles){
		.devices = gt_allocate(count * sizeof(*throttles->devices)),
		.device_count = count,
	};
	for (size_t i = 0; i < count; i++) {
		throttles->devices[i] = (struct gt_throttled){0};
		read_device(&throttles->devices[i], trace, (gt_id)i);
	}
}

void gt_throttles_release(struct gt_throttles *throttles)
{
	for (size_t i = 0; i < throttles->device_count; i++)
		gt_array_release(&throttles->devices[i].spans);
	gt_array_free(throttles->devices);
	*throttles = (struct gt_throttles){0};
}

bool gt_throttles_measured(const struct gt_throttles *throttles, gt_id device)
{
	return device < throttles->device_count && throttles->devices[device].measured;
}

static int by_start(const void *row, const void *wanted)
{
	const struct gt_throttle_span *span = row;
	const gt_time time_ns = *(const gt_time *)wanted;

	return (span->start_ns > time_ns) - (span->start_ns < time_ns);
}

uint64_t gt_throttles_at(const struct gt_throttles *throttles, gt_id device, gt_time time_ns)
{
	const struct gt_throttled *found;
	size_t begun;

	if (!gt_throttles_measured(throttles, device))
		return 0;
	found = &throttles->devices[device];
	begun = gt_count_up_to(&found->spans, &time_ns, by_start);
	return begun > 0 && time_ns < found->spans.rows[begun - 1].end_ns
	               ? found->spans.rows[begun - 1].reasons
	               : 0;
}

struct gt_throttle_sum gt_throttles_sum(const struct gt_throttles *throttles, gt_id device,
                                        uint64_t reason)
{
	const struct gt_throttled *found = &throttles->devices[device];
	struct gt_throttle_sum sum = {0};
	uint64_t length_ns = 0;
	gt_time until_ns = 0;

	gt_array_each(const struct gt_throttle_span, span, &found->spans) {
		if (!(span->reasons & reason))
			continue;
		if (sum.times == 0 || until_ns != span->start_ns) {
			sum.times++;
			length_ns = 0;
		}
		until_ns = span->end_ns;
		length_ns += (uint64_t)(span->end_ns - span->start_ns);
		sum.total_ns += (uint64_t)(span->end_ns - span->start_ns);
		if (length_ns > sum.longest_ns)
			sum.longest_ns = length_ns;
	}
	return sum;
}

uint64_t gt_throttles_seen(const struct gt_throttles *throttles, gt_id device)
{
	uint64_t seen = 0;

	if (device < throttles->device_count)
		gt_array_each(const struct gt_throttle_span, span,
		              &throttles->devices[device].spans)
			seen |= span->reasons;
	return seen;
}
