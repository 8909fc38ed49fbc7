/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "exporters/chrome/events.h"
#include "model/gpu/module_index.h"
#include "model/names.h"
#include "model/view/view.h"
#include "model/work/timed.h"

/*
 * The loading of GPU code and what was compiled for it, as asynchronous events of the threads: they
 * need not lie in the calls there, and viewers give them rows of their own.
 */

static void end(struct gt_chrome *chrome, const char *category, const char *name, size_t id,
                struct gt_place place, gt_time end_ns)
{
	gt_chrome_begin(chrome, "e", category, name, id);
	gt_chrome_add_place(chrome, place, end_ns, INT64_MAX);
	gt_chars_add(&chrome->out.chars, "}");
	gt_chrome_pass(&chrome->out);
}

/* Members behind the place. */
static void add_module_args(struct gt_chrome *chrome, const struct gt_module *module)
{
	struct gt_chars *chars = &chrome->out.chars;

	gt_chars_add(chars, ",\"args\":{\"bytes\":");
	gt_chars_add_number(chars, (int64_t)module->size_bytes);
	gt_chrome_add_number(chars, "functions", module->function_count);
	if (module->hash) {
		char hash[32];

		snprintf(hash, sizeof(hash), "%016" PRIx64, module->hash);
		gt_chrome_add_text(chars, "module", hash);
	}
	if (module->arch) {
		char arch[GT_MODULE_ARCH_SIZE];

		gt_chrome_add_text(chars, "arch", gt_module_arch(module, arch));
	}
	if (!isnan(module->jit_ns))
		gt_chrome_add_number(chars, "jit_ns", (int64_t)module->jit_ns);
	if (*gt_trace_text(chrome->trace, module->file))
		gt_chrome_add_text(chars, "file", gt_trace_text(chrome->trace, module->file));
	gt_chars_add(chars, "}}");
}

static void put_module(struct gt_chrome *chrome, const struct gt_module *module, size_t id)
{
	static const char category[] = "cuda_module";
	static const char name[] = "load module";
	const struct gt_place place = gt_places_of_thread(&chrome->places, module->thread);
	const bool is_mark = isnan(module->load_ns);

	gt_chrome_begin(chrome, is_mark ? "i" : "b", category, name, is_mark ? 0 : id);
	gt_chrome_add_place(chrome, place, gt_module_began(module), INT64_MAX);
	if (is_mark)
		gt_chars_add(&chrome->out.chars, ",\"s\":\"t\"");
	add_module_args(chrome, module);
	if (!is_mark)
		end(chrome, category, name, id, place, module->loaded_ns);
	gt_chrome_pass(&chrome->out);
}

/* A window leaves modules, as kernels in it may be of them, but not their loading. */
static bool is_shown(const struct gt_chrome *chrome, const struct gt_module *module)
{
	return module->loaded_ns >= chrome->view->start_ns &&
	       module->loaded_ns <= chrome->view->end_ns;
}

static void put_compilation(struct gt_chrome *chrome, const struct gt_jit *jit, gt_id thread,
                            size_t id)
{
	static const char category[] = "cuda_compilation";
	const struct gt_place place = gt_places_of_thread(&chrome->places, thread);
	const char *name = gt_jit_operation_name(jit->operation);

	gt_chrome_begin(chrome, "b", category, name, id);
	gt_chrome_add_place(chrome, place, jit->start_ns, INT64_MAX);
	gt_chars_add(&chrome->out.chars, ",\"args\":{\"what\":");
	gt_chars_add_quoted(&chrome->out.chars, gt_jit_entry_name(jit->entry));
	gt_chars_add(&chrome->out.chars, "}}");
	end(chrome, category, name, id, place, jit->end_ns);
}

/* CUPTI's numbers of threads are its own: the thread is that of the call. */
static void write_compilations(struct gt_chrome *chrome)
{
	const struct gt_trace *trace = chrome->trace;

	for (size_t i = 0; i < trace->jits.count; i++) {
		const struct gt_jit *jit = &trace->jits.rows[i];
		const gt_id thread = jit->api_call < trace->api_calls.count
		                             ? trace->api_calls.rows[jit->api_call].thread
		                             : GT_NONE;

		if (gt_timed(GT_TIMES_ANY, jit->flags, jit->start_ns, jit->end_ns) &&
		    gt_ids_time_is_sound(jit->start_ns) && gt_ids_has_thread(&chrome->ids, thread))
			put_compilation(chrome, jit, thread, i + 1);
		else
			chrome->counts.skipped++;
	}
}

void gt_chrome_write_modules(struct gt_chrome *chrome)
{
	for (size_t i = 0; i < chrome->trace->modules.count; i++) {
		const struct gt_module *module = &chrome->trace->modules.rows[i];

		if (!is_shown(chrome, module))
			continue;
		if (gt_ids_time_is_sound(gt_module_began(module)) &&
		    gt_ids_has_thread(&chrome->ids, module->thread))
			put_module(chrome, module, i + 1);
		else
			chrome->counts.skipped++;
	}
	write_compilations(chrome);
}
