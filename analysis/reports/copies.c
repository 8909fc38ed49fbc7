/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/traffic/peak.h"
#include "analysis/traffic/routes.h"
#include "base/array.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/timed.h"

/* Columns of all three tables for the rate at which bytes moved. */
#define RATE_HEADINGS                                                                                       \
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "bytes / total_ns", GT_WORTH_KEY},          \
		{"traffic_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,                                      \
	         "Bytes that the link or memory moved: twice achieved where each byte is read and written", \
	         GT_WORTH_LEAST},                                                                           \
		{"peak_bytes_per_second", GT_UNIT_BYTES_PER_SECOND,                                         \
	         "Most that the link or memory can move, by the figures in peak_source",                    \
	         GT_WORTH_LITTLE},                                                                          \
		{"efficiency_percent", GT_UNIT_PERCENT, "traffic of peak", GT_WORTH_KEY},                   \
	{                                                                                                   \
		"peak_source", GT_UNIT_TEXT, "Source of the peak, or why there is none",                    \
			GT_WORTH_LEAST                                                                      \
	}

static const struct gt_heading copy_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU that made the copy", GT_WORTH_KEY},
	{"kind", GT_UNIT_TEXT, "Direction: H host, D device, A array, P another GPU", GT_WORTH_KEY},
	{"source", GT_UNIT_TEXT, "Kind of memory that was read", GT_WORTH_KEY},
	{"destination", GT_UNIT_TEXT, "Kind of memory that was written", GT_WORTH_KEY},
	{"from_device", GT_UNIT_TEXT, "For copies between GPUs: the one that was read",
         GT_WORTH_LITTLE},
	{"to_device", GT_UNIT_TEXT, "For copies between GPUs: the one that was written",
         GT_WORTH_LITTLE},
	{"calls", GT_UNIT_COUNT, "Copies that have a start and an end", GT_WORTH_LITTLE},
	{"bytes", GT_UNIT_BYTES, "Sum of their sizes"},
	{"total_ns", GT_UNIT_NS, "Sum of end - start on the GPU", GT_WORTH_KEY},
	RATE_HEADINGS,
};

static const struct gt_heading fill_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU that made the fill", GT_WORTH_KEY},
	{"memory", GT_UNIT_TEXT, "Kind of memory that was filled", GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "Fills that have a start and an end", GT_WORTH_LITTLE},
	{"bytes", GT_UNIT_BYTES, "Sum of their sizes"},
	{"total_ns", GT_UNIT_NS, "Sum of end - start on the GPU", GT_WORTH_KEY},
	RATE_HEADINGS,
};

static const struct gt_heading size_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU that made the copies", GT_WORTH_KEY},
	{"kind", GT_UNIT_TEXT, "Direction: H host, D device, A array, P another GPU", GT_WORTH_KEY},
	{"host_memory", GT_UNIT_TEXT,
         "Kind of the memory of the host that was read or written; not known where there is none",
         GT_WORTH_KEY},
	{"from_bytes", GT_UNIT_BINARY_BYTES, "Smallest size of the class", GT_WORTH_KEY},
	{"below_bytes", GT_UNIT_BINARY_BYTES,
         "The class ends before this size: four times from_bytes", GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "Copies of such a size", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BYTES, "Sum of their sizes"},
	{"total_ns", GT_UNIT_NS, "Sum of end - start on the GPU", GT_WORTH_LITTLE},
	{"mean_ns", GT_UNIT_NS, "total_ns / calls"},
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "bytes / total_ns", GT_WORTH_KEY},
};

/* Medium that carries the bytes, and how many times it moves each of them. */
enum medium { MEDIUM_UNKNOWN, MEDIUM_MEMORY, MEDIUM_PCIE };

struct path {
	enum medium medium;
	unsigned passes;
	const char *why_unknown;
};

static bool is_managed(uint32_t memory_kind)
{
	return memory_kind == GT_MEMORY_MANAGED || memory_kind == GT_MEMORY_MANAGED_STATIC;
}

static struct path path_of_copy(const struct gt_route *route)
{
	if (is_managed(route->src_kind) || is_managed(route->dst_kind))
		return (struct path){.why_unknown = "where the managed pages lay was not measured"};
	switch (route->kind) {
	case GT_COPY_HOST_TO_DEVICE:
	case GT_COPY_DEVICE_TO_HOST:
	case GT_COPY_HOST_TO_ARRAY:
	case GT_COPY_ARRAY_TO_HOST:
		return (struct path){.medium = MEDIUM_PCIE, .passes = 1};
	case GT_COPY_ARRAY_TO_ARRAY:
	case GT_COPY_ARRAY_TO_DEVICE:
	case GT_COPY_DEVICE_TO_ARRAY:
	case GT_COPY_DEVICE_TO_DEVICE:
		/* Both ends lie in the same memory: it is read once and written once. */
		return (struct path){.medium = MEDIUM_MEMORY, .passes = 2};
	case GT_COPY_PEER_TO_PEER:
		return (struct path){.why_unknown = "see report links"};
	default:
		return (struct path){.why_unknown = "not a copy to or from a GPU"};
	}
}

static struct path path_of_fill(const struct gt_route *route)
{
	if (route->kind == GT_MEMORY_DEVICE || route->kind == GT_MEMORY_DEVICE_STATIC ||
	    route->kind == GT_MEMORY_ARRAY)
		return (struct path){.medium = MEDIUM_MEMORY, .passes = 1};
	return (struct path){.why_unknown = "where the memory lay was not measured"};
}

static double peak_of(const struct path *path, const struct gt_device *device)
{
	switch (path->medium) {
	case MEDIUM_UNKNOWN:
		break;
	case MEDIUM_MEMORY:
		return device ? gt_peak_of_memory(device) : NAN;
	case MEDIUM_PCIE:
		return device ? gt_peak_of_pcie(device) : NAN;
	}
	return NAN;
}

static void add_source(struct gt_result *result, const struct path *path,
                       const struct gt_device *device, double peak)
{
	if (path->medium == MEDIUM_UNKNOWN)
		gt_result_add_format(result, "not known: %s", path->why_unknown);
	else if (!device || isnan(peak))
		gt_result_add_format(result, "not known: %s was not recorded",
		                     path->medium == MEDIUM_PCIE ? "the PCIe link"
		                                                 : "the memory's clock or width");
	else if (path->medium == MEDIUM_PCIE)
		gt_result_add_format(result, "PCIe %u.0 x%u", device->pcie_generation,
		                     device->pcie_width);
	else
		gt_result_add_format(result, "device memory, %u bits, 2 x %u MHz, %s",
		                     device->memory_bus_bits, device->memory_clock_khz / 1000,
		                     path->passes == 2 ? "read + write" : "write");
}

/* The cells of RATE_HEADINGS. Returns the efficiency in percent, NAN when it is not known. */
static double add_rate(const struct gt_trace *trace, struct gt_result *result,
                       const struct gt_route_total *total, const struct path *path)
{
	const gt_id id = total->route.device;
	const struct gt_device *device =
		id < trace->devices.count ? &trace->devices.rows[id] : NULL;
	const double achieved = gt_bytes_per_second((double)total->bytes, (double)total->total_ns);
	const double traffic = path->passes ? achieved * path->passes : NAN;
	const double peak = peak_of(path, device);
	const double efficiency = gt_percent(traffic, peak);

	gt_result_add_real(result, achieved);
	gt_result_add_real(result, traffic);
	gt_result_add_real(result, peak);
	gt_result_add_real(result, efficiency);
	add_source(result, path, device, peak);
	return efficiency;
}

static void add_amounts(struct gt_result *result, const struct gt_route_total *total)
{
	gt_result_add_count(result, (int64_t)total->calls);
	gt_result_add_count(result, (int64_t)total->bytes);
	gt_result_add_count(result, (int64_t)total->total_ns);
}

static int by_time(const void *a, const void *b)
{
	const struct gt_route_total *left = a;
	const struct gt_route_total *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

static int by_class(const void *a, const void *b)
{
	const struct gt_route *left = &((const struct gt_route_total *)a)->route;
	const struct gt_route *right = &((const struct gt_route_total *)b)->route;

	if (left->device != right->device)
		return left->device > right->device ? 1 : -1;
	if (left->kind != right->kind)
		return left->kind > right->kind ? 1 : -1;
	if (left->dst_kind != right->dst_kind)
		return left->dst_kind > right->dst_kind ? 1 : -1;
	return (left->src_kind > right->src_kind) - (left->src_kind < right->src_kind);
}

static void sort(struct gt_routes *routes, int (*order)(const void *, const void *))
{
	if (routes->all.count > 1)
		qsort(routes->all.rows, routes->all.count, sizeof(*routes->all.rows), order);
}

/* Subjects of the remarks. */
struct findings {
	uint64_t unfinished;
	bool pageable;
	bool peer;
	bool above_peak;
};

static void add_copies(const struct gt_trace *trace, struct gt_result *result,
                       struct gt_routes *routes, struct findings *findings)
{
	gt_result_begin(result, "copies", copy_headings, GT_COUNT_OF(copy_headings));
	gt_result_order(result, "total_ns");
	sort(routes, by_time);
	gt_array_each(const struct gt_route_total, total, &routes->all) {
		const struct gt_route *route = &total->route;
		const struct path path = path_of_copy(route);

		gt_add_device(result, trace, route->device);
		gt_result_add_text(result, gt_copy_kind_name(route->kind));
		gt_result_add_text(result, gt_memory_kind_name(route->src_kind));
		gt_result_add_text(result, gt_memory_kind_name(route->dst_kind));
		gt_add_device(result, trace, route->src_device);
		gt_add_device(result, trace, route->dst_device);
		add_amounts(result, total);
		findings->above_peak |= add_rate(trace, result, total, &path) > 100;
		findings->peer |= route->kind == GT_COPY_PEER_TO_PEER;
		findings->pageable |= route->src_kind == GT_MEMORY_PAGEABLE ||
		                      route->dst_kind == GT_MEMORY_PAGEABLE;
	}
}

static void add_fills(const struct gt_trace *trace, struct gt_result *result,
                      struct gt_routes *routes, struct findings *findings)
{
	gt_result_begin(result, "fills", fill_headings, GT_COUNT_OF(fill_headings));
	gt_result_order(result, "total_ns");
	sort(routes, by_time);
	gt_array_each(const struct gt_route_total, total, &routes->all) {
		const struct path path = path_of_fill(&total->route);

		gt_add_device(result, trace, total->route.device);
		gt_result_add_text(result, gt_memory_kind_name(total->route.kind));
		add_amounts(result, total);
		findings->above_peak |= add_rate(trace, result, total, &path) > 100;
	}
}

static void add_sizes(const struct gt_trace *trace, struct gt_result *result,
                      struct gt_routes *routes)
{
	gt_result_begin(result, "sizes", size_headings, GT_COUNT_OF(size_headings));
	sort(routes, by_class);
	gt_array_each(const struct gt_route_total, total, &routes->all) {
		const uint32_t number = total->route.src_kind;

		gt_add_device(result, trace, total->route.device);
		gt_result_add_text(result, gt_copy_kind_name(total->route.kind));
		gt_add_host_memory(result, total->route.dst_kind);
		gt_result_add_count(result, number ? (int64_t)1 << 2 * number : 0);
		if (2 * (number + 1) < 63)
			gt_result_add_count(result, (int64_t)1 << 2 * (number + 1));
		else
			gt_result_add_unknown(result);
		add_amounts(result, total);
		gt_add_rounded(result, (double)total->total_ns / (double)total->calls);
		gt_result_add_real(result, gt_bytes_per_second((double)total->bytes,
		                                               (double)total->total_ns));
	}
}

/* Class n holds sizes from 4^n up to 4^(n + 1); the first also holds nothing at all. */
static uint32_t size_class(gt_size bytes)
{
	uint32_t number = 0;

	while (bytes >= 4) {
		bytes /= 4;
		number++;
	}
	return number;
}

/* A size class is a route whose src_kind is its number, and dst_kind the kind of the host's memory.
 */
static void count_sizes(const struct gt_trace *trace, struct gt_routes *sizes)
{
	gt_array_each(const struct gt_copy, copy, &trace->copies) {
		const struct gt_route by_size = {
			.device = copy->device,
			.kind = copy->kind,
			.src_kind = size_class(copy->size_bytes),
			.dst_kind = gt_copy_host_memory(copy),
		};

		if (gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
			gt_routes_count(sizes, &by_size, copy->size_bytes,
			                copy->end_ns - copy->start_ns);
	}
}

static void add_remarks(const struct gt_trace *trace, struct gt_result *result,
                        const struct findings *findings)
{
	if (trace->copies.count == 0 && trace->fills.count == 0) {
		gt_result_remark_empty(result, "No copies and no fills were recorded.");
		return;
	}
	gt_result_remark_on(
		result, "achieved_bytes_per_second",
		"Rates are bytes by the sum of the durations on the GPU: copies that ran at "
		"the same time share a link, and each counts in full. Small copies are "
		"bound by the time it takes to start one (see sizes).");
	if (findings->unfinished)
		gt_result_remark(result,
		                 "%s copies and fills have no end time and are in no figure above.",
		                 gt_grouped(findings->unfinished).text);
	if (findings->pageable)
		gt_result_remark_on(
			result, "destination achieved_bytes_per_second",
			"Pageable host memory is copied through a pinned buffer of the driver: the "
			"GPU waits for the host to fill or empty it. Pinned memory "
			"(cudaMallocHost) reaches the link's rate.");
	if (findings->peer)
		gt_result_remark_on(
			result, "efficiency_percent",
			"Copies between GPUs have no efficiency here: report links has what is "
			"between the two.");
	if (findings->above_peak)
		gt_result_remark_on(
			result, "efficiency_percent",
			"An efficiency above 100 %% means that another way was faster than the one "
			"assumed: small copies can stay in the level-2 cache, and some hosts reach "
			"their GPU by a link faster than PCIe.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const struct gt_trace *trace = view->trace;
	struct findings findings = {0};
	struct gt_routes copies;
	struct gt_routes fills;
	struct gt_routes sizes;

	(void)arguments;
	(void)err;
	gt_routes_init(&copies);
	gt_routes_init(&fills);
	gt_routes_init(&sizes);
	gt_routes_count_copies(&copies, trace);
	gt_routes_count_fills(&fills, trace);
	count_sizes(trace, &sizes);
	findings.unfinished = copies.unfinished + fills.unfinished;
	add_copies(trace, result, &copies, &findings);
	add_fills(trace, result, &fills, &findings);
	add_sizes(trace, result, &sizes);
	add_remarks(trace, result, &findings);
	gt_routes_release(&copies);
	gt_routes_release(&fills);
	gt_routes_release(&sizes);
	return 0;
}

const struct gt_report gt_report_copies = {
	.name = "copies",
	.summary = "Copies and fills of memory: bytes, rates and how near they come to the peak",
	.run = run,
};
