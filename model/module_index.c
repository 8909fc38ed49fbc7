/* SPDX-License-Identifier: Apache-2.0 */
#include "model/module_index.h"

#include <stdbool.h>
#include <stdlib.h>

/* Modules with the same function that are looked at: one that is made anew all the time. */
#define MOST_CANDIDATES 64

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
	size_t low = 0;
	size_t high = index->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (by_place(&index->entries[middle], wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * From the one that was loaded last. A kernel that has no time yet is taken as the last thing that
 * happened.
 */
gt_id gt_module_index_find(const struct gt_module_index *index, const struct gt_kernel *kernel)
{
	const struct gt_trace *trace = index->trace;
	const struct gt_module *found = NULL;
	struct gt_module_entry wanted = {.function = GT_NONE};
	gt_id function = GT_NONE;
	size_t at;

	if (index->count == 0 || kernel->stream >= trace->streams.count ||
	    kernel->shape >= trace->launch_shapes.count)
		return GT_NONE;
	wanted.context = trace->streams.rows[kernel->stream].context;
	wanted.name = trace->launch_shapes.rows[kernel->shape].name;
	wanted.loaded_ns = kernel->start_ns ? kernel->start_ns : INT64_MAX;
	at = end_of(index, &wanted);
	for (int i = 0; i < MOST_CANDIDATES && at > 0; i++) {
		const struct gt_module_entry *entry = &index->entries[--at];
		const struct gt_module *module = module_of(index, entry);

		if (entry->context != wanted.context || entry->name != wanted.name)
			return function;
		if (module->unloaded_ns && module->unloaded_ns < wanted.loaded_ns)
			continue;
		if (found && (found->hash != module->hash || found->hash == 0))
			return GT_NONE;
		if (!found) {
			found = module;
			function = entry->function;
		}
	}
	return function;
}
