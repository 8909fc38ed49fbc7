/* SPDX-License-Identifier: Apache-2.0 */
/* Covers PART(kernel_counters). */
#include "support/check.h"

#include <math.h>

#include "base/strings.h"
#include "exporters/read.h"
#include "support/trace.h"

#define US INT64_C(1000)

enum { COMPUTE = 6, FORWARDS = 2, COUNTERS = 47 };

static struct gt_trace trace;
static struct file file;

static gt_id add_kernel(gt_id stream, gt_time start_ns, gt_time end_ns)
{
	const struct gt_kernel *kernel = trace_kernel(
		&trace, stream, trace_shape(&trace, "work", 132, 256), start_ns, end_ns);

	trace.kernels.rows[kernel - trace.kernels.rows].flags |= GT_PROFILED;
	return (gt_id)(kernel - trace.kernels.rows);
}

static void count(gt_id kernel, const char *metric, const char *unit, double value)
{
	*gt_array_push(&trace.kernel_counters) = (struct gt_kernel_counter){
		.kernel = kernel,
		.launch = GT_NONE,
		.name = gt_strings_add(trace.strings, metric),
		.metric = gt_strings_add(trace.strings, metric),
		.unit = gt_strings_add(trace.strings, unit),
		.value = value,
	};
}

static void make(void)
{
	gt_id stream;

	trace_init(&trace, 1000 * US);
	stream = trace_stream(&trace, trace_process(&trace, "app", 100), trace_device(&trace));
	count(add_kernel(stream, 100 * US, 200 * US), "gpu__time_duration.sum", "ns", 90000);
	/* begins where the first one ends */
	count(add_kernel(stream, 200 * US, 400 * US), "gpu__time_duration.sum", "ns", 90000);
	count(1, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", 12.5);
	count(GT_NONE, "gpu__time_duration.sum", "ns", 5);
	file = export(&trace, true);
}

static void drop(void)
{
	free(file.bytes);
	gt_trace_release(&trace);
}

TestSuite(kernel_counters_part, .init = make, .fini = drop);

/* The descriptor of the counters of kernels, and the sequence that their values are on. */
static struct bytes find_descriptor(uint64_t *sequence)
{
	struct bytes rest = all(&file);
	struct bytes packet;
	struct field field;

	while (next_packet(&rest, &packet)) {
		if (!find(message_in(packet, INTERNED_DATA), COUNTERS, &field) ||
		    number_in(message_in(message_in(field.bytes, 2), 1), 10) != COMPUTE)
			continue;
		*sequence = number_in(packet, SEQUENCE_ID);
		return message_in(field.bytes, 2);
	}
	cr_assert(false, "no descriptor of counters in the group of kernels");
	return (struct bytes){0};
}

Test(kernel_counters_part, have_cupti_s_names_in_the_group_that_the_page_reads)
{
	struct bytes descriptor;
	struct field spec;
	uint64_t sequence;

	descriptor = find_descriptor(&sequence);
	cr_assert(eq(u32, count_in(descriptor, 1), 2));
	cr_expect(eq(u32, count_in(descriptor, 6), 0));
	for (unsigned i = 0; find_nth(descriptor, 1, i, &spec); i++) {
		cr_expect(eq(u64, number_in(spec.bytes, 10), COMPUTE));
		cr_expect(eq(u64, number_in(spec.bytes, 11), FORWARDS));
	}
	find_nth(descriptor, 1, 0, &spec);
	cr_expect(text_is(spec.bytes, 2, "gpu__time_duration.sum"));
	find_nth(descriptor, 1, 1, &spec);
	cr_expect(text_is(spec.bytes, 2, "sm__throughput.avg.pct_of_peak_sustained_elapsed"));
}

/* The values of one counter in the order of the file, with their times after the first one. */
static unsigned read_values(uint64_t sequence, uint64_t counter, double values[8], gt_time times[8])
{
	struct bytes rest = all(&file);
	struct bytes packet;
	struct field field;
	gt_time time_ns = 0;
	unsigned found = 0;

	while (next_packet(&rest, &packet)) {
		if (number_in(packet, SEQUENCE_ID) != sequence ||
		    count_in(packet, COUNTER_EVENT) == 0)
			continue;
		time_ns += (gt_time)number_in(packet, TIMESTAMP);
		for (unsigned i = 0; find_nth(message_in(packet, COUNTER_EVENT), 2, i, &field);
		     i++) {
			if (number_in(field.bytes, 1) != counter)
				continue;
			cr_assert(found < 8);
			times[found] = time_ns;
			values[found] = (double)number_in(field.bytes, 2);
			if (count_in(field.bytes, 3))
				memcpy(&values[found], message_in(field.bytes, 3).at,
				       sizeof(values[found]));
			found++;
		}
	}
	return found;
}

Test(kernel_counters_part, have_one_value_in_a_kernel_and_0_behind_it)
{
	double values[8];
	gt_time times[8];
	uint64_t sequence;

	(void)find_descriptor(&sequence);
	/* The value of the second kernel takes the place of the 0 behind the first. */
	cr_assert(eq(u32, read_values(sequence, 0, values, times), 3));
	cr_expect(ieee_ulp_eq(dbl, values[0], 90000, 1));
	cr_expect(ieee_ulp_eq(dbl, values[1], 90000, 1));
	cr_expect(ieee_ulp_eq(dbl, values[2], 0, 1));
	cr_expect(eq(i64, times[1] - times[0], 100 * US));
	cr_expect(eq(i64, times[2] - times[1], 200 * US));
	cr_assert(eq(u32, read_values(sequence, 1, values, times), 2));
	cr_expect(ieee_ulp_eq(dbl, values[0], 12.5, 1));
	cr_expect(ieee_ulp_eq(dbl, values[1], 0, 1));
}
