/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "exporters/perfetto/annotations.h"
#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/writer.h"
#include "model/gpu/module_index.h"
#include "model/names.h"
#include "model/view/view.h"
#include "model/work/timed.h"

/*
 * The loading of GPU code, below the thread that did it: a slice as long as it took at most, a mark
 * where that is not known. Compilations for it stand on lanes of the process.
 */

enum { ANNOTATIONS = 6 };

struct loads {
	struct gt_perfetto *perfetto;
	struct gt_threads threads;
};

/* A loading and when it began. */
struct load {
	gt_time start_ns;
	gt_id module;
};

static int by_start(const void *a, const void *b)
{
	const struct load *left = a;
	const struct load *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->module > right->module) - (left->module < right->module);
}

static size_t annotate(struct gt_perfetto *perfetto, const struct gt_module *module,
                       struct gt_annotation *annotations)
{
	struct gt_annotations list = {.names = &perfetto->names, .rows = annotations};

	if (module->hash) {
		char value[32];

		snprintf(value, sizeof(value), "%016" PRIx64, module->hash);
		gt_annotations_add_text(&list, "module", value);
	}
	if (module->arch) {
		char arch[GT_MODULE_ARCH_SIZE];

		gt_annotations_add_text(&list, "arch", gt_module_arch(module, arch));
	}
	gt_annotations_add_size(&list, "size_bytes", module->size_bytes);
	gt_annotations_add_number(&list, "functions", module->function_count);
	if (!isnan(module->jit_ns))
		gt_annotations_add_number(&list, "jit_ns", (int64_t)module->jit_ns);
	gt_annotations_add_string(&list, "file", module->file);
	return list.count;
}

static void put_module(struct loads *loads, const struct load *load)
{
	struct gt_perfetto *perfetto = loads->perfetto;
	const struct gt_module *module = &perfetto->trace->modules.rows[load->module];
	struct gt_annotation annotations[ANNOTATIONS];
	const struct gt_slice slice = {
		.start_ns = load->start_ns,
		.end_ns = module->loaded_ns,
		.name = gt_names_add(&perfetto->names, "load module"),
		.instant = isnan(module->load_ns),
		.annotations = annotations,
		.annotation_count = annotate(perfetto, module, annotations),
	};

	gt_track_put(gt_threads_get(&loads->threads, module->thread), &slice);
}

/* A window leaves modules, as kernels in it may be of them, but not their loading. */
static bool is_shown(const struct gt_perfetto *perfetto, const struct gt_module *module)
{
	return module->loaded_ns >= perfetto->view->start_ns &&
	       module->loaded_ns <= perfetto->view->end_ns;
}

static void write_modules(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct loads loads = {.perfetto = perfetto};
	struct load *rows = gt_allocate((trace->modules.count + 1) * sizeof(*rows));
	size_t count = 0;

	gt_threads_init(&loads.threads, perfetto, "module", "CUDA modules");
	for (size_t i = 0; i < trace->modules.count; i++) {
		const struct gt_module *module = &trace->modules.rows[i];
		const gt_time start_ns = gt_module_began(module);

		if (!is_shown(perfetto, module))
			continue;
		if (gt_ids_time_is_sound(start_ns) &&
		    gt_ids_has_thread(&perfetto->ids, module->thread))
			rows[count++] = (struct load){start_ns, (gt_id)i};
		else
			gt_perfetto_skip(perfetto);
	}
	qsort(rows, count, sizeof(*rows), by_start);
	for (size_t i = 0; i < count; i++)
		put_module(&loads, &rows[i]);
	gt_threads_finish(&loads.threads);
	gt_array_free(rows);
}

static void put_compilation(struct gt_lanes *lanes, const struct gt_jit *jit)
{
	struct gt_names *names = &lanes->perfetto->names;
	struct gt_annotation what;
	struct gt_annotations list = {.names = names, .rows = &what};
	const struct gt_slice slice = {
		.start_ns = jit->start_ns,
		.end_ns = jit->end_ns,
		.name = gt_names_add(names, gt_jit_operation_name(jit->operation)),
		.annotations = &what,
		.annotation_count = 1,
	};

	gt_annotations_add_text(&list, "what", gt_jit_entry_name(jit->entry));
	gt_lanes_put(lanes, &slice);
}

static void write_compilations(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct gt_lanes *lanes = gt_allocate((trace->processes.count + 1) * sizeof(*lanes));

	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_init(&lanes[i], perfetto, perfetto->ids.process_uuids[i], "compilation",
		              "CUDA compilation");
	gt_array_each(const struct gt_jit, jit, &trace->jits)
		if (jit->process < trace->processes.count &&
		    gt_timed(GT_TIMES_ANY, jit->flags, jit->start_ns, jit->end_ns) &&
		    gt_ids_time_is_sound(jit->start_ns))
			put_compilation(&lanes[jit->process], jit);
		else
			gt_perfetto_skip(perfetto);
	for (size_t i = 0; i < trace->processes.count; i++)
		gt_lanes_finish(&lanes[i]);
	gt_array_free(lanes);
}

void gt_perfetto_write_modules(struct gt_perfetto *perfetto)
{
	write_modules(perfetto);
	write_compilations(perfetto);
}
