/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/launch/lists.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "format/bundle/writer.h"

void gt_capture_lists_empty(struct gt_capture_lists *lists)
{
	for (uint32_t i = 0; i < lists->module_count; i++)
		(void)munmap(lists->modules[i].image, lists->modules[i].size);
	lists->module_count = 0;
	lists->function_count = 0;
	lists->layout_count = 0;
	lists->text_used = 0;
	lists->stream_count = 0;
	lists->event_count = 0;
	lists->step_count = 0;
}

/* ---- code ---- */

uint32_t gt_capture_find_module(const struct gt_capture_lists *lists, CUmodule handle,
                                uint64_t hash)
{
	for (uint32_t i = 0; i < lists->module_count; i++)
		if (lists->modules[i].handle == handle && lists->modules[i].hash == hash)
			return i;
	return GT_CAPTURE_NONE;
}

uint32_t gt_capture_find_function(const struct gt_capture_lists *lists, CUfunction handle,
                                  int carveout)
{
	for (uint32_t i = 0; i < lists->function_count; i++)
		if (lists->functions[i].handle == handle &&
		    lists->functions[i].facts.carveout == carveout)
			return i;
	return GT_CAPTURE_NONE;
}

int gt_capture_add_module(struct gt_capture_lists *lists, const struct gt_capture_module *module,
                          struct gt_error *err)
{
	if (lists->module_count == GT_CAPTURE_MODULES)
		return gt_fail(err, E2BIG, "it launches functions of more than %d modules",
		               GT_CAPTURE_MODULES);
	lists->modules[lists->module_count] = *module;
	return (int)lists->module_count++;
}

int gt_capture_add_function(struct gt_capture_lists *lists, const struct gt_capture_code *code,
                            const char *name, const struct gt_captured_function *function,
                            struct gt_error *err)
{
	const size_t name_bytes = strlen(name) + 1;
	struct gt_capture_code *added = &lists->functions[lists->function_count];

	if (lists->function_count == GT_CAPTURE_FUNCTIONS ||
	    name_bytes > GT_CAPTURE_TEXT - lists->text_used ||
	    function->parameter_count > GT_CAPTURE_LAYOUT - lists->layout_count)
		return gt_fail(err, E2BIG, "it launches more functions than can be captured");
	*added = *code;
	added->name = lists->text_used;
	memcpy(lists->text + lists->text_used, name, name_bytes);
	lists->text_used += (uint32_t)name_bytes;
	added->first_parameter = lists->layout_count;
	added->parameter_count = function->parameter_count;
	memcpy(&lists->layout[lists->layout_count], function->parameters,
	       function->parameter_count * sizeof(lists->layout[0]));
	lists->layout_count += function->parameter_count;
	return (int)lists->function_count++;
}

/* ---- streams, events and steps ---- */

int gt_capture_number_stream(struct gt_capture_lists *lists, const struct gt_capture_stream *stream,
                             struct gt_error *err)
{
	for (uint32_t i = 0; i < lists->stream_count; i++)
		if (lists->streams[i].number == stream->number &&
		    (stream->number || lists->streams[i].handle == stream->handle))
			return (int)i;
	if (lists->stream_count == GT_CAPTURE_STREAMS)
		return gt_fail(err, E2BIG, "it uses more than %d streams", GT_CAPTURE_STREAMS);
	lists->streams[lists->stream_count] = *stream;
	return (int)lists->stream_count++;
}

int gt_capture_number_event(struct gt_capture_lists *lists, CUevent event, struct gt_error *err)
{
	for (uint32_t i = 0; i < lists->event_count; i++)
		if (lists->events[i] == event)
			return (int)i;
	if (lists->event_count == GT_CAPTURE_EVENTS)
		return gt_fail(err, E2BIG, "it uses more than %d events", GT_CAPTURE_EVENTS);
	lists->events[lists->event_count] = event;
	return (int)lists->event_count++;
}

int gt_capture_add_step(struct gt_capture_lists *lists, const struct gt_capture_step *step,
                        struct gt_error *err)
{
	if (lists->step_count == GT_CAPTURE_STEPS)
		return gt_fail(err, E2BIG, "it has more than %d steps", GT_CAPTURE_STEPS);
	lists->steps[lists->step_count] = *step;
	return (int)lists->step_count++;
}

bool gt_capture_is_work(enum gt_bundle_step_kind kind)
{
	return kind == GT_BUNDLE_STEP_launch || kind == GT_BUNDLE_STEP_copy ||
	       kind == GT_BUNDLE_STEP_fill;
}

bool gt_capture_has_work(const struct gt_capture_lists *lists)
{
	for (uint32_t i = 0; i < lists->step_count; i++)
		if (gt_capture_is_work(lists->steps[i].kind))
			return true;
	return false;
}

/* ---- what is written of them ---- */

static void write_module(const struct gt_capture_module *module, struct gt_bundle_writer *writer)
{
	gt_bundle_begin_object(writer, NULL);
	gt_bundle_contents(writer, "image", module->blob, module->size);
	gt_bundle_flag(writer, "ptx", false);
	gt_bundle_number(writer, "arch", module->arch);
	gt_bundle_end_object(writer);
}

static void write_parameters(const struct gt_captured_parameter *parameters, uint32_t count,
                             struct gt_bundle_writer *writer)
{
	gt_bundle_begin_list(writer, "parameters");
	for (uint32_t i = 0; i < count; i++) {
		gt_bundle_begin_object(writer, NULL);
		gt_bundle_number(writer, "offset", parameters[i].offset);
		gt_bundle_number(writer, "size", parameters[i].size);
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
}

static void write_function(const struct gt_capture_lists *lists, const struct gt_capture_code *code,
                           struct gt_bundle_writer *writer)
{
	const struct gt_function_facts *facts = &code->facts;
	const uint32_t cluster[3] = {(uint32_t)facts->cluster[0], (uint32_t)facts->cluster[1],
	                             (uint32_t)facts->cluster[2]};

	gt_bundle_begin_object(writer, NULL);
	gt_bundle_number(writer, "module", code->module);
	gt_bundle_text(writer, "name", lists->text + code->name);
	gt_bundle_number(writer, "registers", facts->registers);
	gt_bundle_number(writer, "shared_bytes", facts->shared_bytes);
	gt_bundle_number(writer, "local_bytes", facts->local_bytes);
	gt_bundle_number(writer, "constant_bytes", facts->constant_bytes);
	gt_bundle_number(writer, "max_threads", facts->max_threads);
	gt_bundle_number(writer, "max_dynamic_bytes", facts->max_dynamic_bytes);
	gt_bundle_number(writer, "carveout", facts->carveout);
	gt_bundle_triple(writer, "cluster", cluster);
	gt_bundle_flag(writer, "cluster_other", facts->cluster_other);
	write_parameters(&lists->layout[code->first_parameter], code->parameter_count, writer);
	gt_bundle_end_object(writer);
}

void gt_capture_write_code(const struct gt_capture_lists *lists, struct gt_bundle_writer *writer)
{
	gt_bundle_begin_list(writer, "modules");
	for (uint32_t i = 0; i < lists->module_count; i++)
		write_module(&lists->modules[i], writer);
	gt_bundle_end_list(writer);
	gt_bundle_begin_list(writer, "functions");
	for (uint32_t i = 0; i < lists->function_count; i++)
		write_function(lists, &lists->functions[i], writer);
	gt_bundle_end_list(writer);
}

static void write_stream(const struct gt_capture_stream *stream, struct gt_bundle_writer *writer)
{
	gt_bundle_begin_object(writer, NULL);
	gt_bundle_number(writer, "number", stream->number);
	gt_bundle_number(writer, "priority", stream->priority);
	gt_bundle_flag(writer, "nonblocking", stream->flags & CU_STREAM_NON_BLOCKING);
	gt_bundle_end_object(writer);
}

static void write_launch(const struct gt_capture_step *step, struct gt_bundle_writer *writer)
{
	const struct gt_launch_shape *launch = &step->launch;

	gt_bundle_number(writer, "function", step->function);
	gt_bundle_triple(writer, "grid", launch->grid);
	gt_bundle_triple(writer, "block", launch->block);
	gt_bundle_triple(writer, "cluster", launch->cluster);
	gt_bundle_number(writer, "shared_bytes", launch->shared_bytes);
	gt_bundle_flag(writer, "cooperative", launch->cooperative);
	gt_bundle_flag(writer, "programmatic", launch->programmatic);
	gt_bundle_number(writer, "priority", launch->priority);
	gt_bundle_flag(writer, "has_priority", launch->has_priority);
}

static void write_address(struct gt_bundle_writer *writer, const char *key, uint64_t address)
{
	if (address)
		gt_bundle_address(writer, key, address);
}

static void write_rows(const struct gt_capture_step *step, struct gt_bundle_writer *writer)
{
	write_address(writer, "to", step->to);
	write_address(writer, "from", step->from);
	gt_bundle_number(writer, "bytes", (int64_t)step->bytes);
	gt_bundle_number(writer, "rows", (int64_t)step->rows);
	gt_bundle_number(writer, "to_pitch", (int64_t)step->to_pitch);
	if (step->from_pitch)
		gt_bundle_number(writer, "from_pitch", (int64_t)step->from_pitch);
	if (step->slices > 1) {
		gt_bundle_number(writer, "slices", (int64_t)step->slices);
		gt_bundle_number(writer, "to_slice_pitch", (int64_t)step->to_slice_pitch);
		gt_bundle_number(writer, "from_slice_pitch", (int64_t)step->from_slice_pitch);
	}
	if (step->kind != GT_BUNDLE_STEP_fill)
		return;
	gt_bundle_number(writer, "value", step->value);
	gt_bundle_number(writer, "value_bytes", step->value_bytes);
}

static const char *word_of(enum gt_bundle_step_kind kind)
{
	static const char *const words[] = {
#define KIND(name, help) [GT_BUNDLE_STEP_##name] = #name,
		GT_BUNDLE_STEP_KINDS(KIND)
#undef KIND
	};

	return words[kind];
}

static void write_step(const struct gt_capture_step *step, const char *range,
                       struct gt_bundle_writer *writer)
{
	gt_bundle_begin_object(writer, NULL);
	gt_bundle_text(writer, "kind", word_of(step->kind));
	if (step->stream != GT_CAPTURE_NONE)
		gt_bundle_number(writer, "stream", step->stream);
	if (step->event != GT_CAPTURE_NONE)
		gt_bundle_number(writer, "event", step->event);
	if (step->kind == GT_BUNDLE_STEP_launch)
		write_launch(step, writer);
	else if (step->kind == GT_BUNDLE_STEP_copy || step->kind == GT_BUNDLE_STEP_fill)
		write_rows(step, writer);
	if (step->blob_bytes)
		gt_bundle_contents(writer, "parameters", step->blob, step->blob_bytes);
	if (step->by_host)
		gt_bundle_flag(writer, "by_host", true);
	if (step->pinned)
		gt_bundle_flag(writer, "pinned", true);
	if (step->graph)
		gt_bundle_number(writer, "graph", step->graph);
	gt_bundle_number(writer, "correlation", step->correlation);
	gt_bundle_text(writer, "range", range);
	gt_bundle_end_object(writer);
}

void gt_capture_write_steps(const struct gt_capture_lists *lists, const char *range,
                            struct gt_bundle_writer *writer)
{
	gt_bundle_begin_list(writer, "streams");
	for (uint32_t i = 0; i < lists->stream_count; i++)
		write_stream(&lists->streams[i], writer);
	gt_bundle_end_list(writer);
	gt_bundle_begin_list(writer, "steps");
	for (uint32_t i = 0; i < lists->step_count; i++)
		write_step(&lists->steps[i], range, writer);
	gt_bundle_end_list(writer);
}

static void write_ambiguous(const struct gt_capture_lists *lists,
                            const struct gt_capture_code *code, struct gt_bundle_writer *writer)
{
	char text[512];

	if (code->images <= 1)
		return;
	(void)snprintf(text, sizeof(text),
	               "%u modules that were loaded have a function %.200s: which of them was "
	               "launched is not known, and the one that was loaded last was taken",
	               code->images, lists->text + code->name);
	gt_bundle_text(writer, NULL, text);
}

static void write_hints(const struct gt_capture_lists *lists, struct gt_bundle_writer *writer)
{
	uint32_t count = 0;
	char text[160];

	for (uint32_t i = 0; i < lists->step_count; i++)
		count += lists->steps[i].prefers_overlap;
	(void)snprintf(text, sizeof(text),
	               "%u copies are to overlap with kernels where they can, a hint that is not "
	               "given when they are run again",
	               count);
	if (count)
		gt_bundle_text(writer, NULL, text);
}

void gt_capture_write_doubts(const struct gt_capture_lists *lists, struct gt_bundle_writer *writer)
{
	uint32_t others = 0;
	int other = 0;
	char text[160];

	for (uint32_t i = 0; i < lists->function_count; i++)
		write_ambiguous(lists, &lists->functions[i], writer);
	write_hints(lists, writer);
	for (uint32_t i = lists->step_count; i > 0; i--) {
		const struct gt_capture_step *step = &lists->steps[i - 1];

		if (step->kind != GT_BUNDLE_STEP_launch || !step->launch.others)
			continue;
		others++;
		other = (int)step->launch.other;
	}
	if (others == 0)
		return;
	(void)snprintf(text, sizeof(text),
	               "%u launches of it have an attribute that is not replayed, the first "
	               "CUlaunchAttributeID %d",
	               others, other);
	if (lists->step_count == 1)
		(void)snprintf(text, sizeof(text),
		               "the launch has an attribute that is not replayed, "
		               "CUlaunchAttributeID %d",
		               other);
	gt_bundle_text(writer, NULL, text);
}
