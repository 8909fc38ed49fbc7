/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "collector/collector.h"
#include "model/trace.h"

/* Prints what a recording holds of NVTX, a line of JSON for each row: show_ranges RECORDING. */

static void print_text(const char *key, const char *text)
{
	printf(", \"%s\": \"", key);
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\')
			printf("\\u%04x", (unsigned char)*text);
		else
			putchar(*text);
	}
	putchar('"');
}

static const char *text_of(const struct gt_trace *trace, gt_id range)
{
	return range == GT_NONE ? "" : gt_trace_text(trace, trace->ranges.rows[range].text);
}

static void print_names(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_thread, row, &trace->threads) {
		printf("{\"table\": \"threads\", \"tid\": %" PRIu32, row->tid);
		print_text("name", gt_trace_text(trace, row->name));
		printf("}\n");
	}
#define PRINT(plural, column)                                                                      \
	for (size_t i = 0; i < trace->plural.count; i++) {                                         \
		printf("{\"table\": \"" #plural "\"");                                             \
		print_text("name", gt_trace_text(trace, trace->plural.rows[i].column));            \
		printf("}\n");                                                                     \
	}
	PRINT(domains, name)
	PRINT(devices, label)
	PRINT(contexts, name)
	PRINT(streams, name)
	PRINT(events, name)
#undef PRINT
}

static void print_ranges(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_range, row, &trace->ranges) {
		printf("{\"table\": \"ranges\", \"start\": %" PRId64 ", \"end\": %" PRId64
		       ", \"payload\": %" PRIu64 ", \"payload_type\": %" PRIu32
		       ", \"color\": %" PRIu32 ", \"depth\": %" PRIu32 ", \"kind\": %" PRIu32
		       ", \"flags\": %" PRIu32 ", \"tid\": %" PRIu32 ", \"pid\": %" PRIu32,
		       row->start_ns, row->end_ns, row->payload, row->payload_type, row->color,
		       row->depth, row->kind, row->flags, trace->threads.rows[row->thread].tid,
		       trace->processes.rows[trace->threads.rows[row->thread].process].pid);
		print_text("text", gt_trace_text(trace, row->text));
		print_text("domain", gt_trace_text(trace, trace->domains.rows[row->domain].name));
		print_text("category", gt_trace_text(trace, row->category));
		print_text("data", gt_trace_text(trace, row->data));
		print_text("parent", text_of(trace, row->parent));
		printf("}\n");
	}
	gt_array_each(const struct gt_mark, row, &trace->marks) {
		printf("{\"table\": \"marks\", \"start\": %" PRId64 ", \"payload\": %" PRIu64
		       ", \"payload_type\": %" PRIu32,
		       row->start_ns, row->payload, row->payload_type);
		print_text("text", gt_trace_text(trace, row->text));
		print_text("domain", gt_trace_text(trace, trace->domains.rows[row->domain].name));
		print_text("category", gt_trace_text(trace, row->category));
		print_text("data", gt_trace_text(trace, row->data));
		print_text("range", text_of(trace, row->range));
		printf("}\n");
	}
}

static void print_counters(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_counter, row, &trace->counters) {
		const struct gt_series *series = &trace->series.rows[row->series];

		printf("{\"table\": \"counters\", \"samples\": %zu", series->count);
		print_text("name", gt_trace_text(trace, row->name));
		print_text("unit", gt_trace_text(trace, row->unit));
		printf(", \"times\": [");
		for (size_t i = 0; i < series->count; i++)
			printf("%s%" PRId64, i ? ", " : "", series->times_ns[i]);
		printf("], \"values\": [");
		for (size_t i = 0; i < series->count; i++)
			printf(isnan(series->columns[row->place][i]) ? "%snull" : "%s%.17g",
			       i ? ", " : "", series->columns[row->place][i]);
		printf("]}\n");
	}
}

static void print_memory(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_memory_region, row, &trace->memory_regions) {
		printf("{\"table\": \"memory\", \"heap\": %" PRId32 ", \"address\": %" PRIu64
		       ", \"bytes\": %" PRIu64 ", \"is_heap\": %" PRIu32 ", \"ended\": %d",
		       (int32_t)row->heap, row->address, row->size_bytes, row->is_heap,
		       row->end_ns >= row->start_ns);
		print_text("name", gt_trace_text(trace, row->name));
		print_text("domain", gt_trace_text(trace, trace->domains.rows[row->domain].name));
		printf("}\n");
	}
}

static void print_calls(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_api_call, row, &trace->api_calls) {
		printf("{\"table\": \"calls\"");
		print_text("function", gt_trace_text(trace, row->function));
		print_text("range", text_of(trace, row->range));
		printf("}\n");
	}
}

int main(int argc, char **argv)
{
	struct gt_error err = {0};
	struct gt_trace trace;

	gt_trace_init(&trace);
	if (argc != 2 || gt_collect(argv[1], &trace, &err) < 0) {
		(void)fprintf(stderr, "show_ranges: %s\n", err.text);
		return 1;
	}
	print_names(&trace);
	print_ranges(&trace);
	print_counters(&trace);
	print_memory(&trace);
	print_calls(&trace);
	gt_trace_release(&trace);
	return 0;
}
