/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/module_index.h"
#include "base/search.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/gpu/occupancy.h"

/* Modules with the same function that are looked at: one that is made anew all the time. */
#define MOST_CANDIDATES 64

const char *gt_module_arch(const struct gt_module *module, char text[GT_MODULE_ARCH_SIZE])
{
	text[0] = '\0';
	if (module->arch)
		snprintf(text, GT_MODULE_ARCH_SIZE, "sm_%u%s", module->arch,
		         module->traits & GT_MODULE_ONE_ARCH ? "a" : "");
	return text;
}

gt_time gt_module_began(const struct gt_module *module)
{
	/* The collector made the time from differences of sound ones. */
	return isnan(module->load_ns) ? module->loaded_ns
	                              : module->loaded_ns - (gt_time)module->load_ns;
}

static int by_place(const void *a, const void *b)
{
	const struct gt_module_entry *left = a;
	const struct gt_module_entry *right = b;

	if (left->context != right->context)
		return left->context < right->context ? -1 : 1;
	if (left->name != right->name)
		return left->name < right->name ? -1 : 1;
	if (left->loaded_ns != right->loaded_ns)
		return left->loaded_ns < right->loaded_ns ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

void gt_module_index_init(struct gt_module_index *index, const struct gt_trace *trace)
{
	*index = (struct gt_module_index){.trace = trace};
	if (trace->functions.count == 0)
		return;
	index->entries = gt_allocate(trace->functions.count * sizeof(*index->entries));
	for (size_t i = 0; i < trace->functions.count; i++) {
		const struct gt_function *function = &trace->functions.rows[i];

		if (!function->name || function->module >= trace->modules.count)
			continue;
		index->entries[index->count++] = (struct gt_module_entry){
			.context = function->context,
			.name = function->name,
			.loaded_ns = trace->modules.rows[function->module].loaded_ns,
			.function = (gt_id)i,
		};
	}
	qsort(index->entries, index->count, sizeof(*index->entries), by_place);
}

void gt_module_index_release(struct gt_module_index *index)
{
	gt_array_free(index->entries);
	*index = (struct gt_module_index){0};
}

static const struct gt_module *module_of(const struct gt_module_index *index,
                                         const struct gt_module_entry *entry)
{
	return &index->trace->modules.rows[index->trace->functions.rows[entry->function].module];
}

/* How many entries come before all that are loaded later than that. */
static size_t end_of(const struct gt_module_index *index, const struct gt_module_entry *wanted)
{
	return gt_search(index->entries, index->count, sizeof(*index->entries), wanted, by_place,
	                 1);
}

/* The modules that a kernel may be of: those of its context and name that are there then. */
struct candidates {
	const struct gt_module_entry *rows[MOST_CANDIDATES]; /* the one that was loaded last first */
	size_t count;
};

static void find_candidates(const struct gt_module_index *index,
                            const struct gt_module_entry *wanted, struct candidates *candidates)
{
	size_t at = end_of(index, wanted);

	candidates->count = 0;
	for (int i = 0; i < MOST_CANDIDATES && at > 0; i++) {
		const struct gt_module_entry *entry = &index->entries[--at];
		const gt_time unloaded_ns = module_of(index, entry)->unloaded_ns;

		if (entry->context != wanted->context || entry->name != wanted->name)
			return;
		if (!unloaded_ns || unloaded_ns >= wanted->loaded_ns)
			candidates->rows[candidates->count++] = entry;
	}
}

/* Whether all are the same module, loaded again. */
static bool are_one(const struct gt_module_index *index, const struct candidates *candidates)
{
	const gt_wide hash = candidates->count ? module_of(index, candidates->rows[0])->hash : 0;

	for (size_t i = 1; i < candidates->count; i++)
		if (hash == 0 || module_of(index, candidates->rows[i])->hash != hash)
			return false;
	return true;
}

static bool fits(const struct gt_function *function, const struct gt_launch_shape *shape)
{
	return function->known == GT_FUNCTION_READ &&
	       gt_launched_registers(function->registers) == shape->registers &&
	       function->shared_bytes == shape->shared_static_bytes;
}

static void keep_fitting(const struct gt_module_index *index, const struct gt_launch_shape *shape,
                         struct candidates *candidates)
{
	size_t kept = 0;

	for (size_t i = 0; i < candidates->count; i++)
		if (fits(&index->trace->functions.rows[candidates->rows[i]->function], shape))
			candidates->rows[kept++] = candidates->rows[i];
	candidates->count = kept;
}

/* A kernel that has no time yet is taken as the last thing that happened. */
gt_id gt_module_index_find(const struct gt_module_index *index, const struct gt_kernel *kernel)
{
	const struct gt_trace *trace = index->trace;
	struct gt_module_entry wanted = {.function = GT_NONE};
	struct candidates candidates;

	if (index->count == 0 || kernel->stream >= trace->streams.count ||
	    kernel->shape >= trace->launch_shapes.count)
		return GT_NONE;
	wanted.context = trace->streams.rows[kernel->stream].context;
	wanted.name = trace->launch_shapes.rows[kernel->shape].name;
	wanted.loaded_ns = kernel->start_ns ? kernel->start_ns : INT64_MAX;
	find_candidates(index, &wanted, &candidates);
	if (!are_one(index, &candidates))
		keep_fitting(index, &trace->launch_shapes.rows[kernel->shape], &candidates);
	return candidates.count > 0 && are_one(index, &candidates) ? candidates.rows[0]->function
	                                                           : GT_NONE;
}

gt_id gt_module_index_source(const struct gt_module_index *index, gt_id context, gt_string name)
{
	const struct gt_module_entry wanted = {context, name, INT64_MAX, GT_NONE};
	gt_id found = GT_NONE;

	for (size_t at = end_of(index, &wanted), i = 0; at > 0 && i < MOST_CANDIDATES; i++) {
		const struct gt_module_entry *entry = &index->entries[--at];
		const struct gt_function *function = &index->trace->functions.rows[entry->function];
		const struct gt_function *other =
			found == GT_NONE ? function : &index->trace->functions.rows[found];

		if (entry->context != context || entry->name != name)
			break;
		if (function->source_line == 0)
			continue;
		if (function->source_line != other->source_line ||
		    function->source_file != other->source_file)
			return GT_NONE;
		found = entry->function;
	}
	return found;
}
