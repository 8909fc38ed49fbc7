/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/strings.h"
#include "collector/cubins/cubin.h"
#include "collector/stage.h"
#include "model/gpu/module_index.h"

/*
 * The functions of modules. Those of a module that the recording keeps are read from its cubin; for
 * other modules the traced program noted hashes of function names, by which the names of launched
 * kernels are found. Launches of a function say what its cubin does not.
 */

/* No program has as many; a hostile recording may say that one module was loaded a million times. */
#define MOST_FUNCTIONS (1u << 20)

/* Limit for a file: no cubin is as large. */
#define MOST_BYTES ((uint64_t)2 << 30)

/* Functions of the module with a hash that was read first. */
struct read_module {
	size_t first;
	size_t count;
	gt_id module;
};

struct reading {
	struct gt_collection *collection;
	struct gt_known by_hash; /* places of modules */
	gt_array(struct read_module) modules;
	struct gt_known names; /* strings by their hashes */
	bool full;
};

static bool has_room(struct reading *reading, size_t count)
{
	struct gt_collection *collection = reading->collection;
	const size_t there = collection->trace->functions.count;

	if (count <= MOST_FUNCTIONS && there <= MOST_FUNCTIONS - count)
		return true;
	if (!reading->full)
		gt_collection_note(collection, GT_NONE, "functions",
		                   "the modules have more than %u functions: others are left out",
		                   MOST_FUNCTIONS);
	reading->full = true;
	return false;
}

static struct gt_function *add_function(struct gt_trace *trace, gt_id module)
{
	struct gt_function *function = gt_array_push(&trace->functions);

	*function = (struct gt_function){
		.module = module,
		.process = trace->modules.rows[module].process,
		.context = trace->modules.rows[module].context,
	};
	return function;
}

static gt_string add_text(struct gt_trace *trace, struct gt_cubin_text text)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%.*s", (int)(text.size < PATH_MAX ? text.size : PATH_MAX),
	         text.text ? text.text : "");
	return gt_strings_add(trace->strings, copy);
}

static gt_string add_two(struct gt_trace *trace, struct gt_cubin_text first, const char *between,
                         struct gt_cubin_text second)
{
	char copy[2 * PATH_MAX];

	if (!first.size || !second.size || second.text[0] == '/')
		return add_text(trace, second.size ? second : first);
	snprintf(copy, sizeof(copy), "%.*s%s%.*s",
	         (int)(first.size < PATH_MAX ? first.size : PATH_MAX), first.text, between,
	         (int)(second.size < PATH_MAX ? second.size : PATH_MAX), second.text);
	return gt_strings_add(trace->strings, copy);
}

/* Names of functions may be longer than what fits into a copy. */
static gt_string add_name(struct gt_trace *trace, struct gt_cubin_text name)
{
	char *copy = gt_allocate(name.size + 1);
	gt_string id;

	memcpy(copy, name.text, name.size);
	copy[name.size] = '\0';
	id = gt_strings_add(trace->strings, copy);
	gt_array_free(copy);
	return id;
}

static void take_facts(struct reading *reading, gt_id module, const struct gt_cubin_facts *facts)
{
	struct gt_trace *trace = reading->collection->trace;
	struct gt_module *row = &trace->modules.rows[module];

	row->ptx_bytes = facts->ptx_bytes;
	row->ptx_arch = facts->ptx_arch;
	if (facts->one_arch)
		row->traits |= GT_MODULE_ONE_ARCH;
	row->function_count = (gt_count)facts->functions.count;
	row->compiler = add_two(trace, facts->compiler, ": ", facts->options);
	gt_array_each(const struct gt_cubin_function, from, &facts->functions) {
		struct gt_function *function = add_function(trace, module);

		function->name = add_name(trace, from->name);
		function->name_hash = gt_content_hash(from->name.text, from->name.size);
		function->code_bytes = from->code_bytes;
		function->shared_bytes = from->shared_bytes;
		function->local_bytes = from->local_bytes;
		function->local_known = 1;
		function->constant_bytes = from->constant_bytes;
		function->registers = from->registers;
		function->max_threads = from->max_threads;
		function->barriers = from->barriers;
		function->known = GT_FUNCTION_READ;
		function->source_line = from->line;
		if (from->line)
			function->source_file = add_two(trace, from->folder, "/", from->file);
	}
}

/* The same bytes, loaded again: the same functions. */
static void copy_functions(struct gt_trace *trace, const struct read_module *read, gt_id module)
{
	const struct gt_module *from = &trace->modules.rows[read->module];
	struct gt_module *to = &trace->modules.rows[module];

	to->file = from->file;
	to->compiler = from->compiler;
	to->ptx_bytes = from->ptx_bytes;
	to->ptx_arch = from->ptx_arch;
	to->traits |= from->traits & GT_MODULE_ONE_ARCH;
	to->function_count = from->function_count;
	for (size_t i = 0; i < read->count; i++) {
		struct gt_function *function = add_function(trace, module);
		const struct gt_function same = *function;

		*function = trace->functions.rows[read->first + i];
		function->module = same.module;
		function->process = same.process;
		function->context = same.context;
	}
}

/* Beside the capture: folder/modules/HASH.cubin; name is where in the path that begins. */
static int path_of(const struct gt_capture *capture, uint64_t hash, char *path, size_t size,
                   const char **name)
{
	const char *slash = strrchr(capture->path, '/');
	const int folder = slash ? (int)(slash - capture->path) + 1 : 0;

	*name = path + folder;
	return snprintf(path, size, "%.*s" GT_MODULES_FOLDER "/%016" PRIx64 GT_CUBIN_SUFFIX, folder,
	                capture->path, hash) < (int)size
	               ? 0
	               : -1;
}

/* The size is looked at first: what is larger is not read into memory to find that out. */
static int load(const char *path, const struct gt_module *module, struct gt_content *content,
                struct gt_error *err)
{
	struct stat status;
	int result;

	if (module->size_bytes > MOST_BYTES)
		return gt_fail(err, EBADMSG, "it is too large");
	if (stat(path, &status) == 0 && (uint64_t)status.st_size != module->size_bytes)
		return gt_fail(err, EBADMSG, "it is not what was loaded");
	result = gt_load_file(content, path, err);
	if (result == 0 && (content->size != module->size_bytes ||
	                    gt_content_hash(content->bytes, content->size) != module->hash))
		return gt_fail(err, EBADMSG, "it is not what was loaded");
	return result;
}

/* False when there is nothing that can be read; a note says why where there should be. */
static bool read_kept(struct reading *reading, const struct gt_capture *capture, gt_id module)
{
	struct gt_trace *trace = reading->collection->trace;
	struct gt_module *row = &trace->modules.rows[module];
	struct read_module read = {trace->functions.count, 0, module};
	struct gt_error err = {0};
	struct gt_content content = {0};
	struct gt_cubin_facts facts = {0};
	struct gt_cubin cubin;
	char path[PATH_MAX];
	const char *name;
	bool is_read = false;

	if (path_of(capture, row->hash, path, sizeof(path), &name) < 0)
		return false;
	if (load(path, row, &content, &err) == 0 &&
	    gt_cubin_open(&cubin, content.bytes, content.size, &err) == 0) {
		gt_cubin_facts_read(&facts, &cubin);
		is_read = has_room(reading, facts.functions.count);
		row->file = gt_strings_add(trace->strings, name);
	} else {
		gt_collection_note(reading->collection, capture->process, "functions",
		                   "%s cannot be read: %s", name, err.text);
	}
	if (is_read)
		take_facts(reading, module, &facts);
	read.count = trace->functions.count - read.first;
	gt_known_add(&reading->by_hash, row->hash, (gt_id)reading->modules.count);
	*gt_array_push(&reading->modules) = read;
	gt_cubin_facts_release(&facts);
	gt_unload(&content);
	return is_read;
}

/* False: what the process noted of it is all there is. */
static bool take_kept(struct reading *reading, const struct gt_capture *capture, gt_id module)
{
	struct gt_trace *trace = reading->collection->trace;
	const struct gt_module *row = &trace->modules.rows[module];
	const gt_id place = row->hash ? gt_known_find(&reading->by_hash, row->hash) : GT_NONE;
	struct read_module read;

	if (!(row->traits & GT_MODULE_KEPT) || row->hash == 0)
		return false;
	if (place == GT_NONE)
		return read_kept(reading, capture, module);
	read = reading->modules.rows[place];
	if (read.count == 0 || !has_room(reading, read.count))
		return false;
	copy_functions(trace, &read, module);
	return true;
}

static int by_module_and_place(const void *a, const void *b)
{
	const struct gt_record_function *left = a;
	const struct gt_record_function *right = b;

	if (left->module != right->module)
		return left->module < right->module ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

/* Takes one of equal records, which a salvager may have written again. */
static void take_noted(struct reading *reading, const struct gt_capture *capture,
                       struct gt_known *modules)
{
	struct gt_trace *trace = reading->collection->trace;
	const struct gt_record_function *before = NULL;

	if (capture->raw_functions.count > 1)
		qsort(capture->raw_functions.rows, capture->raw_functions.count,
		      sizeof(*capture->raw_functions.rows), by_module_and_place);
	gt_array_each(const struct gt_record_function, raw, &capture->raw_functions) {
		const gt_id module = gt_known_find(modules, raw->module);
		const gt_id name = gt_known_find(&reading->names, raw->name_hash);
		struct gt_function *function;

		if (module == GT_NONE || (before && by_module_and_place(before, raw) == 0) ||
		    !has_room(reading, 1))
			continue;
		before = raw;
		function = add_function(trace, module);
		function->name = name == GT_NONE ? 0 : name;
		function->name_hash = raw->name_hash;
		function->code_bytes = raw->code_bytes;
	}
}

/* Kept modules are read; the others' numbers are remembered, for what was noted of them. */
static void take_module(struct reading *reading, const struct gt_capture *capture,
                        struct gt_known *noted, gt_id module)
{
	const gt_count number = reading->collection->trace->modules.rows[module].number;

	if (!take_kept(reading, capture, module) && gt_known_find(noted, number) == GT_NONE)
		gt_known_add(noted, number, module);
}

static void take_capture(struct reading *reading, const struct gt_capture *capture)
{
	struct gt_known noted = {0};

	gt_array_each(const struct gt_segment, segment, &capture->segments)
		for (size_t i = 0; segment->kind == GT_RECORD_module && i < segment->count; i++)
			take_module(reading, capture, &noted, (gt_id)(segment->first + i));
	take_noted(reading, capture, &noted);
	gt_known_release(&noted);
}

static void index_names(struct reading *reading)
{
	const struct gt_trace *trace = reading->collection->trace;

	gt_array_each(const struct gt_launch_shape, shape, &trace->launch_shapes) {
		const char *name = gt_trace_text(trace, shape->name);
		const uint64_t hash = gt_content_hash(name, strlen(name));

		if (*name && gt_known_find(&reading->names, hash) == GT_NONE)
			gt_known_add(&reading->names, hash, shape->name);
	}
}

/* Facts of a launch about its function, and those that only the function has about the launch. */
static void take_launch(struct gt_launch_shape *shape, struct gt_function *function)
{
	if (function->barriers > shape->barriers)
		shape->barriers = function->barriers;
	if (function->known != GT_FUNCTION_NOTED)
		return;
	function->shared_bytes = shape->shared_static_bytes;
	function->local_bytes = shape->local_per_thread_bytes;
	function->local_known = shape->local_known;
	function->known = GT_FUNCTION_LAUNCHED;
}

/* Local memory of a launch shape by the kept modules: untold if a launch may be of other code. */
struct told_local {
	gt_size bytes;
	bool is_told;
	bool differs;
};

static void hear_local(struct told_local *told, const struct gt_trace *trace, gt_id function)
{
	const struct gt_function *row =
		function == GT_NONE ? NULL : &trace->functions.rows[function];

	if (!row || row->known != GT_FUNCTION_READ ||
	    (told->is_told && told->bytes != row->local_bytes)) {
		told->differs = true;
		return;
	}
	told->bytes = row->local_bytes;
	told->is_told = true;
}

/* Where CUPTI said 0, which may be wrong. */
static void take_locals(struct gt_trace *trace, const struct told_local *told)
{
	for (size_t i = 0; i < trace->launch_shapes.count; i++) {
		struct gt_launch_shape *shape = &trace->launch_shapes.rows[i];

		if (shape->local_known || !told[i].is_told || told[i].differs)
			continue;
		shape->local_per_thread_bytes = told[i].bytes;
		shape->local_known = 1;
	}
}

static struct told_local *new_locals(size_t count)
{
	struct told_local *told = gt_allocate(count * sizeof(*told));

	for (size_t i = 0; i < count; i++)
		told[i] = (struct told_local){0};
	return told;
}

static void take_launches(struct gt_trace *trace)
{
	struct told_local *told = new_locals(trace->launch_shapes.count);
	struct gt_module_index index;

	gt_module_index_init(&index, trace);
	for (size_t i = 0; index.count > 0 && i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		const gt_id row = gt_module_index_find(&index, kernel);

		if (kernel->shape < trace->launch_shapes.count)
			hear_local(&told[kernel->shape], trace, row);
		if (row != GT_NONE)
			take_launch(&trace->launch_shapes.rows[kernel->shape],
			            &trace->functions.rows[row]);
	}
	take_locals(trace, told);
	gt_module_index_release(&index);
	gt_array_free(told);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct reading reading = {.collection = collection};

	(void)err;
	if (collection->trace->modules.count == 0)
		return 0;
	index_names(&reading);
	gt_array_each(const struct gt_capture, capture, &collection->captures)
		take_capture(&reading, capture);
	take_launches(collection->trace);
	gt_known_release(&reading.by_hash);
	gt_known_release(&reading.names);
	gt_array_release(&reading.modules);
	return 0;
}

const struct gt_stage gt_stage_functions = {.name = "functions", .run = run};
