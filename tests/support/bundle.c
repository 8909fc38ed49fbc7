/* SPDX-License-Identifier: Apache-2.0 */
#include "support/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "support/folder.h"

#define OWN "/tmp/gputrace-bundle-" /* how folders of test_bundle_begin begin */

static void must(int fact)
{
	if (!fact)
		abort();
}

void test_bundle_begin_at(struct test_bundle *made, const char *folder)
{
	*made = (struct test_bundle){0};
	must(strlen(folder) < sizeof(made->folder));
	memcpy(made->folder, folder, strlen(folder) + 1);
	made->memory = aligned_alloc(64, gt_bundle_writer_memory());
	must(made->memory != NULL);
	made->bundle.focus = GT_BUNDLE_NONE;
	gt_bundle_writer_init(&made->writer, made->memory);
	must(gt_bundle_writer_open(&made->writer, folder, UINT64_MAX, NULL) == 0);
	made->bundle.origin = (struct gt_bundle_origin){.gputrace = GPUTRACE_VERSION,
	                                                .date = "2026-01-02T03:04:05Z",
	                                                .host = "node",
	                                                .program = "./saxpy",
	                                                .device = "NVIDIA H200",
	                                                .uuid = "GPU-1",
	                                                .driver = "580.1",
	                                                .pid = 100,
	                                                .correlation = 7,
	                                                .cc_major = 9,
	                                                .sm_count = 132,
	                                                .memory_bytes = 141ull << 30,
	                                                .sm_clock_mhz = 1980,
	                                                .local_bytes = -1,
	                                                .workspace_bytes = -1};
}

void test_bundle_begin(struct test_bundle *made)
{
	char folder[] = OWN "XXXXXX";

	must(mkdtemp(folder) != NULL && rmdir(folder) == 0);
	test_bundle_begin_at(made, folder);
}

struct gt_blob test_bundle_blob(struct test_bundle *made, const void *bytes, size_t size)
{
	struct gt_blob blob = {.size = size};

	must(gt_bundle_blob(&made->writer, bytes, size, blob.hash, NULL) == 0);
	return blob;
}

static void write_blob(struct gt_bundle_writer *writer, const char *key, const struct gt_blob *blob)
{
	if (*blob->hash)
		gt_bundle_contents(writer, key, blob->hash, blob->size);
}

static void write_origin(struct gt_bundle_writer *writer, const struct gt_bundle_origin *origin)
{
	gt_bundle_begin_object(writer, "origin");
	gt_bundle_text(writer, "gputrace", origin->gputrace);
	gt_bundle_text(writer, "date", origin->date);
	gt_bundle_text(writer, "host", origin->host);
	gt_bundle_text(writer, "program", origin->program);
	gt_bundle_text(writer, "device", origin->device);
	gt_bundle_text(writer, "uuid", origin->uuid);
	gt_bundle_text(writer, "driver", origin->driver);
	gt_bundle_number(writer, "pid", origin->pid);
	gt_bundle_number(writer, "correlation", origin->correlation);
	gt_bundle_number(writer, "cc_major", origin->cc_major);
	gt_bundle_number(writer, "cc_minor", origin->cc_minor);
	gt_bundle_number(writer, "sm_count", origin->sm_count);
	gt_bundle_number(writer, "memory_bytes", (int64_t)origin->memory_bytes);
	gt_bundle_number(writer, "sm_clock_mhz", origin->sm_clock_mhz);
	if (origin->job_launches > 0) {
		gt_bundle_number(writer, "job_ns", (int64_t)origin->job_ns);
		gt_bundle_number(writer, "job_launches", origin->job_launches);
	}
	gt_bundle_number(writer, "local_bytes", origin->local_bytes);
	gt_bundle_number(writer, "workspace_bytes", origin->workspace_bytes);
	gt_bundle_end_object(writer);
}

static void write_modules(struct gt_bundle_writer *writer, const struct gt_bundle *bundle)
{
	gt_bundle_begin_list(writer, "modules");
	gt_array_each(const struct gt_bundle_module, module, &bundle->modules) {
		gt_bundle_begin_object(writer, NULL);
		write_blob(writer, "image", &module->image);
		gt_bundle_flag(writer, "ptx", module->ptx);
		gt_bundle_number(writer, "arch", module->arch);
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
}

static void write_parameters(struct gt_bundle_writer *writer,
                             const struct gt_bundle_function *function)
{
	gt_bundle_begin_list(writer, "parameters");
	gt_array_each(const struct gt_bundle_parameter, parameter, &function->parameters) {
		gt_bundle_begin_object(writer, NULL);
		gt_bundle_number(writer, "offset", parameter->offset);
		gt_bundle_number(writer, "size", parameter->size);
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
}

static void write_functions(struct gt_bundle_writer *writer, const struct gt_bundle *bundle)
{
	gt_bundle_begin_list(writer, "functions");
	gt_array_each(const struct gt_bundle_function, function, &bundle->functions) {
		gt_bundle_begin_object(writer, NULL);
		gt_bundle_number(writer, "module", function->module);
		gt_bundle_text(writer, "name", function->name);
		gt_bundle_number(writer, "registers", function->registers);
		gt_bundle_number(writer, "shared_bytes", function->shared_bytes);
		gt_bundle_number(writer, "local_bytes", function->local_bytes);
		gt_bundle_number(writer, "constant_bytes", function->constant_bytes);
		gt_bundle_number(writer, "max_threads", function->max_threads);
		gt_bundle_number(writer, "max_dynamic_bytes", function->max_dynamic_bytes);
		gt_bundle_number(writer, "carveout", function->carveout);
		gt_bundle_triple(writer, "cluster", function->cluster);
		gt_bundle_flag(writer, "cluster_other", function->cluster_other);
		write_parameters(writer, function);
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
}

static void write_memory(struct gt_bundle_writer *writer, const struct gt_bundle *bundle)
{
	static const char *const kinds[] = {
#define KIND(name, help) #name,
		GT_BUNDLE_MEMORY_KINDS(KIND)
#undef KIND
	};

	gt_bundle_begin_list(writer, "memory");
	gt_array_each(const struct gt_bundle_memory, memory, &bundle->memory) {
		gt_bundle_begin_object(writer, NULL);
		gt_bundle_text(writer, "kind", kinds[memory->kind]);
		if (memory->kind == GT_BUNDLE_MEMORY_array)
			gt_bundle_write_shape(writer, &memory->array);
		else
			gt_bundle_address(writer, "address", memory->address);
		gt_bundle_number(writer, "size", (int64_t)memory->size);
		if (memory->module != GT_BUNDLE_NONE)
			gt_bundle_number(writer, "module", memory->module);
		gt_bundle_text(writer, "name", memory->name ? memory->name : "");
		write_blob(writer, "before", &memory->before);
		write_blob(writer, "after", &memory->after);
		gt_bundle_flag(writer, "same", memory->same);
		gt_bundle_flag(writer, "pointers", memory->pointers);
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
}

static void write_pointers(struct gt_bundle_writer *writer, const struct gt_bundle *bundle)
{
	gt_bundle_begin_list(writer, "pointers");
	gt_array_each(const struct gt_bundle_pointer, pointer, &bundle->pointers) {
		gt_bundle_begin_object(writer, NULL);
		if (pointer->memory != GT_BUNDLE_NONE)
			gt_bundle_number(writer, "memory", pointer->memory);
		else
			gt_bundle_number(writer, "step", pointer->step);
		gt_bundle_number(writer, "offset", (int64_t)pointer->offset);
		gt_bundle_number(writer, "target", pointer->target);
		gt_bundle_flag(writer, "declared", pointer->declared);
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
}

static void write_objects(struct gt_bundle_writer *writer, const struct gt_bundle *bundle)
{
	gt_bundle_begin_list(writer, "objects");
	gt_array_each(const struct gt_bundle_object, object, &bundle->objects)
		gt_bundle_write_object(writer, object);
	gt_bundle_end_list(writer);
	gt_bundle_begin_list(writer, "handles");
	gt_array_each(const struct gt_bundle_handle, handle, &bundle->handles)
		gt_bundle_write_handle(writer, handle);
	gt_bundle_end_list(writer);
}

static void write_streams(struct gt_bundle_writer *writer, const struct gt_bundle *bundle)
{
	gt_bundle_begin_list(writer, "streams");
	gt_array_each(const struct gt_bundle_stream, stream, &bundle->streams) {
		gt_bundle_begin_object(writer, NULL);
		gt_bundle_number(writer, "number", stream->number);
		gt_bundle_number(writer, "priority", stream->priority);
		gt_bundle_flag(writer, "nonblocking", stream->nonblocking);
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
}

static void write_launch(struct gt_bundle_writer *writer, const struct gt_bundle_step *step)
{
	gt_bundle_number(writer, "function", step->function);
	gt_bundle_triple(writer, "grid", step->grid);
	gt_bundle_triple(writer, "block", step->block);
	gt_bundle_triple(writer, "cluster", step->cluster);
	gt_bundle_number(writer, "shared_bytes", step->shared_bytes);
	gt_bundle_flag(writer, "cooperative", step->cooperative);
	gt_bundle_flag(writer, "programmatic", step->programmatic);
	gt_bundle_number(writer, "priority", step->priority);
	gt_bundle_flag(writer, "has_priority", step->has_priority);
}

static void write_transfer(struct gt_bundle_writer *writer, const struct gt_bundle_step *step)
{
	gt_bundle_address(writer, "to", step->to);
	if (step->kind == GT_BUNDLE_STEP_copy)
		gt_bundle_address(writer, "from", step->from);
	gt_bundle_number(writer, "bytes", (int64_t)step->bytes);
	gt_bundle_number(writer, "rows", (int64_t)step->rows);
	gt_bundle_number(writer, "to_pitch", (int64_t)step->to_pitch);
	gt_bundle_number(writer, "from_pitch", (int64_t)step->from_pitch);
	if (step->slices > 1) {
		gt_bundle_number(writer, "slices", (int64_t)step->slices);
		gt_bundle_number(writer, "to_slice_pitch", (int64_t)step->to_slice_pitch);
		gt_bundle_number(writer, "from_slice_pitch", (int64_t)step->from_slice_pitch);
	}
	if (step->kind == GT_BUNDLE_STEP_copy)
		return;
	gt_bundle_number(writer, "value", step->value);
	gt_bundle_number(writer, "value_bytes", step->value_bytes);
}

static void write_steps(struct gt_bundle_writer *writer, const struct gt_bundle *bundle)
{
	static const char *const kinds[] = {
#define KIND(name, help) #name,
		GT_BUNDLE_STEP_KINDS(KIND)
#undef KIND
	};

	gt_bundle_begin_list(writer, "steps");
	gt_array_each(const struct gt_bundle_step, step, &bundle->steps) {
		gt_bundle_begin_object(writer, NULL);
		gt_bundle_text(writer, "kind", kinds[step->kind]);
		if (step->stream != GT_BUNDLE_NONE)
			gt_bundle_number(writer, "stream", step->stream);
		gt_bundle_number(writer, "start_ns", step->start_ns);
		gt_bundle_number(writer, "end_ns", step->end_ns);
		gt_bundle_number(writer, "call_ns", step->call_ns);
		if (step->kind == GT_BUNDLE_STEP_launch)
			write_launch(writer, step);
		else if (step->kind == GT_BUNDLE_STEP_copy || step->kind == GT_BUNDLE_STEP_fill)
			write_transfer(writer, step);
		write_blob(writer, "parameters", &step->parameters);
		if (step->event != GT_BUNDLE_NONE)
			gt_bundle_number(writer, "event", step->event);
		if (step->graph)
			gt_bundle_number(writer, "graph", step->graph);
		gt_bundle_text(writer, "range", step->range ? step->range : "");
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
}

void test_bundle_end(struct test_bundle *made)
{
	struct gt_bundle_writer *writer = &made->writer;

	write_origin(writer, &made->bundle.origin);
	write_modules(writer, &made->bundle);
	write_functions(writer, &made->bundle);
	write_memory(writer, &made->bundle);
	write_pointers(writer, &made->bundle);
	write_objects(writer, &made->bundle);
	write_streams(writer, &made->bundle);
	write_steps(writer, &made->bundle);
	if (made->bundle.focus != GT_BUNDLE_NONE)
		gt_bundle_number(writer, "focus", made->bundle.focus);
	gt_bundle_begin_list(writer, "missing");
	gt_array_each(char *, text, &made->bundle.missing)
		gt_bundle_text(writer, NULL, *text);
	gt_bundle_end_list(writer);
	must(gt_bundle_writer_close(writer, NULL) == 0);
}

void test_bundle_release(struct test_bundle *made)
{
	gt_array_each(struct gt_bundle_function, function, &made->bundle.functions)
		gt_array_release(&function->parameters);
	gt_array_release(&made->bundle.modules);
	gt_array_release(&made->bundle.functions);
	gt_array_release(&made->bundle.memory);
	gt_array_release(&made->bundle.pointers);
	gt_array_release(&made->bundle.objects);
	gt_array_release(&made->bundle.handles);
	gt_array_release(&made->bundle.streams);
	gt_array_release(&made->bundle.steps);
	gt_array_release(&made->bundle.missing);
	gt_bundle_writer_drop(&made->writer);
	free(made->memory);
	if (strncmp(made->folder, OWN, sizeof(OWN) - 1) == 0)
		(void)folder_remove(made->folder);
	*made = (struct test_bundle){0};
}

static struct gt_bundle_function *add_function(struct gt_bundle *bundle, char *name,
                                               const struct gt_bundle_parameter *parameters,
                                               size_t count)
{
	struct gt_bundle_function *function = gt_array_push(&bundle->functions);

	*function = (struct gt_bundle_function){
		.name = name, .registers = 16, .max_threads = 1024, .carveout = -1};
	for (size_t i = 0; i < count; i++)
		*gt_array_push(&function->parameters) = parameters[i];
	return function;
}

static struct gt_bundle_step *add_step(struct gt_bundle *bundle, enum gt_bundle_step_kind kind,
                                       uint32_t stream)
{
	const int64_t at = 10000 * (int64_t)bundle->steps.count;
	struct gt_bundle_step *step = gt_array_push(&bundle->steps);

	*step = (struct gt_bundle_step){.kind = kind,
	                                .stream = stream,
	                                .start_ns = at,
	                                .end_ns = at + 5000,
	                                .call_ns = at - 3000,
	                                .rows = 1,
	                                .slices = 1,
	                                .event = GT_BUNDLE_NONE,
	                                .range = "step/forward"};
	return step;
}

static void add_pointer(struct gt_bundle *bundle, uint32_t step, uint64_t offset, uint32_t target)
{
	*gt_array_push(&bundle->pointers) = (struct gt_bundle_pointer){.memory = GT_BUNDLE_NONE,
	                                                               .step = step,
	                                                               .offset = offset,
	                                                               .target = target,
	                                                               .declared = true};
}

static void fill(float values[BUNDLE_ELEMENTS], float slope, float offset)
{
	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		values[i] = slope * (float)i + offset;
}

static void add_memory(struct test_bundle *made, uint64_t address, const float *before,
                       const float *after)
{
	const size_t size = BUNDLE_ELEMENTS * sizeof(float);
	struct gt_bundle_memory *memory = gt_array_push(&made->bundle.memory);

	*memory = (struct gt_bundle_memory){
		.address = address, .size = size, .module = GT_BUNDLE_NONE, .name = ""};
	if (before)
		memory->before = test_bundle_blob(made, before, size);
	memory->after = test_bundle_blob(made, after, size);
	memory->same = before == after;
}

/* x and y, the module and saxpy; the step's number is where it is to stand. */
static void add_saxpy(struct test_bundle *made)
{
	static const struct gt_bundle_parameter parameters[] = {{0, 4}, {4, 4}, {8, 8}, {16, 8}};
	static const char image[] = "\x7f"
				    "ELF of saxpy and scale";
	float x[BUNDLE_ELEMENTS];
	float y[BUNDLE_ELEMENTS];
	float after[BUNDLE_ELEMENTS];

	fill(x, 1, 0);
	fill(y, 0, 1);
	fill(after, 2, 1);
	add_memory(made, BUNDLE_X_ADDRESS, x, x);
	add_memory(made, BUNDLE_Y_ADDRESS, y, after);
	*gt_array_push(&made->bundle.modules) = (struct gt_bundle_module){
		.image = test_bundle_blob(made, image, sizeof(image)), .arch = 90};
	(void)add_function(&made->bundle, "_Z5saxpyifPKfPf", parameters, 4);
}

static void add_saxpy_step(struct test_bundle *made)
{
	const uint32_t number = (uint32_t)made->bundle.steps.count;
	struct gt_bundle_step *step = add_step(&made->bundle, GT_BUNDLE_STEP_launch, 0);
	const struct {
		int32_t n;
		float a;
		uint64_t x;
		uint64_t y;
	} block = {BUNDLE_ELEMENTS, 2, BUNDLE_X_ADDRESS, BUNDLE_Y_ADDRESS};

	memcpy(step->grid, (const uint32_t[]){2, 1, 1}, sizeof(step->grid));
	memcpy(step->block, (const uint32_t[]){128, 1, 1}, sizeof(step->block));
	step->parameters = test_bundle_blob(made, &block, sizeof(block));
	add_pointer(&made->bundle, number, 8, BUNDLE_X);
	add_pointer(&made->bundle, number, 16, BUNDLE_Y);
}

void test_bundle_add_launch(struct test_bundle *made)
{
	*gt_array_push(&made->bundle.streams) = (struct gt_bundle_stream){.number = 7};
	add_saxpy(made);
	add_saxpy_step(made);
}

void test_bundle_set_fakes(struct test_bundle *made)
{
	static const char image[] = "fake kernels\nvariable factor 4\n";
	struct gt_bundle_module *module = &made->bundle.modules.rows[0];

	module->image = test_bundle_blob(made, image, sizeof(image) - 1);
	module->ptx = true;
}

void test_bundle_set_kernel(struct test_bundle *made, const char *name)
{
	static const struct gt_bundle_parameter parameters[] = {{0, 8}, {8, 4}};
	const struct {
		uint64_t values;
		int32_t n;
		int32_t padding;
	} block = {BUNDLE_Y_ADDRESS, BUNDLE_ELEMENTS, 0};
	struct gt_bundle_function *function = &made->bundle.functions.rows[0];

	function->name = (char *)(uintptr_t)name;
	function->parameters.count = 2;
	memcpy(function->parameters.rows, parameters, sizeof(parameters));
	made->bundle.steps.rows[0].parameters = test_bundle_blob(made, &block, sizeof(block));
	made->bundle.pointers.count = 0;
	add_pointer(&made->bundle, 0, 0, BUNDLE_Y);
}

/* For its use by the fake driver's kernels see tests/fakes/cuda/kernels.c. */
void test_bundle_set_state(struct test_bundle *made, const char *name, bool resets)
{
	enum { TILE = 32, TILES = BUNDLE_ELEMENTS / TILE };
	static const struct gt_bundle_parameter parameters[] = {{0, 8}, {8, 8}, {16, 4}};
	const bool scans = strcmp(name, "replay_look_back") == 0;
	const bool settles = strcmp(name, "replay_settle") == 0;
	const struct {
		uint64_t state;
		uint64_t values;
		int32_t n;
		int32_t padding;
	} block = {BUNDLE_X_ADDRESS, BUNDLE_Y_ADDRESS, BUNDLE_ELEMENTS, 0};
	struct gt_bundle_function *function = &made->bundle.functions.rows[0];
	struct gt_bundle_memory *state = &made->bundle.memory.rows[BUNDLE_X];
	uint32_t states[BUNDLE_ELEMENTS] = {0};
	float values[BUNDLE_ELEMENTS];

	for (uint32_t i = 0; settles && i < BUNDLE_ELEMENTS; i++)
		states[i] = 2 * i;
	state->before = state->after = test_bundle_blob(made, states, sizeof(states));
	state->same = resets;
	states[0] = settles ? 1 : TILES + 2;
	for (uint32_t i = 1; settles && i < BUNDLE_ELEMENTS; i++)
		states[i] = 2 * i + 1;
	for (uint32_t i = 0; scans && i < TILES; i++)
		states[i] = 1;
	for (uint32_t i = 0; i < BUNDLE_ELEMENTS; i++)
		values[i] = settles ? (float)(2 * i + 1)
		            : scans ? (float)(i * (i + 1)) / 2
		                    : 0.5F + (float)i;
	if (!resets)
		state->after = test_bundle_blob(made, states, sizeof(states));
	made->bundle.memory.rows[BUNDLE_Y].after = test_bundle_blob(made, values, sizeof(values));
	function->name = (char *)(uintptr_t)name;
	function->parameters.count = 0;
	for (size_t i = 0; i < 3; i++)
		*gt_array_push(&function->parameters) = parameters[i];
	made->bundle.steps.rows[0].parameters = test_bundle_blob(made, &block, sizeof(block));
	made->bundle.pointers.count = 0;
	add_pointer(&made->bundle, 0, 0, BUNDLE_X);
	add_pointer(&made->bundle, 0, 8, BUNDLE_Y);
}

static void add_array(struct test_bundle *made, const float *before, const float *after,
                      uint32_t flags)
{
	const size_t size = BUNDLE_ELEMENTS * sizeof(float);

	*gt_array_push(&made->bundle.memory) = (struct gt_bundle_memory){
		.kind = GT_BUNDLE_MEMORY_array,
		.size = size,
		.module = GT_BUNDLE_NONE,
		.before = test_bundle_blob(made, before, size),
		.after = test_bundle_blob(made, after, size),
		.same = before == after,
		.array = {.width = BUNDLE_SIDE,
	                  .height = BUNDLE_SIDE,
	                  .format = 0x20, /* CU_AD_FORMAT_FLOAT */
	                  .channels = 1,
	                  .flags = flags},
	};
}

static void add_blended(struct test_bundle *made)
{
	float weights[BUNDLE_SIDE];
	float picture[BUNDLE_ELEMENTS];
	float out[BUNDLE_ELEMENTS];
	float after[BUNDLE_ELEMENTS];

	fill(picture, 1, 0);
	fill(out, 0, -1);
	for (int i = 0; i < BUNDLE_ELEMENTS; i++)
		after[i] = picture[i] * (float)(1 + i % BUNDLE_SIDE % 4);
	for (int i = 0; i < BUNDLE_SIDE; i++)
		weights[i] = (float)(1 + i % 4);
	*gt_array_push(&made->bundle.memory) = (struct gt_bundle_memory){
		.address = BUNDLE_X_ADDRESS,
		.size = sizeof(weights),
		.module = GT_BUNDLE_NONE,
		.before = test_bundle_blob(made, weights, sizeof(weights)),
		.same = true,
	};
	add_array(made, picture, picture, 0);
	add_array(made, out, after, GT_ARRAY_SURFACES);
}

static void add_objects(struct test_bundle *made)
{
	*gt_array_push(&made->bundle.objects) =
		(struct gt_bundle_object){.kind = GT_BUNDLE_OBJECT_texture,
	                                  .value = 2,
	                                  .resource = GT_BUNDLE_RESOURCE_array,
	                                  .memory = BUNDLE_PICTURE,
	                                  .sampler = {.filter = 1, .border = {0, 7}}};
	*gt_array_push(&made->bundle.objects) =
		(struct gt_bundle_object){.kind = GT_BUNDLE_OBJECT_texture,
	                                  .value = 1,
	                                  .resource = GT_BUNDLE_RESOURCE_linear,
	                                  .memory = BUNDLE_WEIGHTS,
	                                  .format = 0x20,
	                                  .channels = 1,
	                                  .bytes = BUNDLE_SIDE * sizeof(float)};
	*gt_array_push(&made->bundle.objects) =
		(struct gt_bundle_object){.kind = GT_BUNDLE_OBJECT_surface,
	                                  .value = 3,
	                                  .resource = GT_BUNDLE_RESOURCE_array,
	                                  .memory = BUNDLE_OUT};
	for (uint32_t i = 0; i < 3; i++)
		*gt_array_push(&made->bundle.handles) =
			(struct gt_bundle_handle){.memory = GT_BUNDLE_NONE,
		                                  .offset = i * sizeof(uint64_t),
		                                  .object = i,
		                                  .declared = true};
}

void test_bundle_add_textures(struct test_bundle *made)
{
	static const struct gt_bundle_parameter parameters[] = {
		{0, 8}, {8, 8}, {16, 8}, {24, 4}, {28, 4}};
	static const char image[] = "fake kernels\n";
	const struct {
		uint64_t handles[3];
		uint32_t sides[2];
	} block = {{2, 1, 3}, {BUNDLE_SIDE, BUNDLE_SIDE}};
	struct gt_bundle_step *step;

	*gt_array_push(&made->bundle.streams) = (struct gt_bundle_stream){.number = 7};
	*gt_array_push(&made->bundle.modules) = (struct gt_bundle_module){
		.image = test_bundle_blob(made, image, sizeof(image) - 1), .ptx = true};
	(void)add_function(&made->bundle, "replay_blend", parameters, 5);
	add_blended(made);
	step = add_step(&made->bundle, GT_BUNDLE_STEP_launch, 0);
	memcpy(step->grid, (const uint32_t[]){2, 1, 1}, sizeof(step->grid));
	memcpy(step->block, (const uint32_t[]){128, 1, 1}, sizeof(step->block));
	step->parameters = test_bundle_blob(made, &block, sizeof(block));
	add_objects(made);
}

static void add_table(struct test_bundle *made)
{
	const uint64_t table[] = {BUNDLE_Y_ADDRESS, BUNDLE_Z_ADDRESS};
	struct gt_bundle_memory *memory = gt_array_push(&made->bundle.memory);

	*memory = (struct gt_bundle_memory){.address = BUNDLE_TABLE_ADDRESS,
	                                    .size = sizeof(table),
	                                    .kind = GT_BUNDLE_MEMORY_pool,
	                                    .module = GT_BUNDLE_NONE,
	                                    .name = "torch",
	                                    .before = test_bundle_blob(made, table, sizeof(table)),
	                                    .same = true,
	                                    .pointers = true};
	for (uint32_t i = 0; i < 2; i++)
		*gt_array_push(&made->bundle.pointers) =
			(struct gt_bundle_pointer){.memory = BUNDLE_TABLE,
		                                   .step = GT_BUNDLE_NONE,
		                                   .offset = i * sizeof(table[0]),
		                                   .target = i ? BUNDLE_Z : BUNDLE_Y};
}

static void add_factor(struct test_bundle *made)
{
	const float factor = 3;
	struct gt_bundle_memory *memory = gt_array_push(&made->bundle.memory);

	*memory =
		(struct gt_bundle_memory){.kind = GT_BUNDLE_MEMORY_variable,
	                                  .address = BUNDLE_FACTOR_ADDRESS,
	                                  .size = sizeof(factor),
	                                  .name = "factor",
	                                  .before = test_bundle_blob(made, &factor, sizeof(factor)),
	                                  .same = true};
}

static void add_scale_step(struct test_bundle *made)
{
	const uint32_t number = (uint32_t)made->bundle.steps.count;
	struct gt_bundle_step *step = add_step(&made->bundle, GT_BUNDLE_STEP_launch, 1);
	const struct {
		uint64_t table;
		int32_t n;
		int32_t padding;
	} block = {BUNDLE_TABLE_ADDRESS, BUNDLE_ELEMENTS, 0};

	memcpy(step->grid, (const uint32_t[]){1, 1, 1}, sizeof(step->grid));
	memcpy(step->block, (const uint32_t[]){256, 1, 1}, sizeof(step->block));
	step->function = 1;
	step->parameters = test_bundle_blob(made, &block, sizeof(block));
	add_pointer(&made->bundle, number, 0, BUNDLE_TABLE);
}

static void add_copy(struct test_bundle *made)
{
	struct gt_bundle_step *step = add_step(&made->bundle, GT_BUNDLE_STEP_copy, 0);

	step->to = BUNDLE_X_ADDRESS;
	step->bytes = BUNDLE_ELEMENTS * sizeof(float);
	step->parameters = made->bundle.memory.rows[BUNDLE_X].before;
}

static void add_fill(struct test_bundle *made)
{
	struct gt_bundle_step *step = add_step(&made->bundle, GT_BUNDLE_STEP_fill, 1);

	step->to = BUNDLE_Z_ADDRESS;
	step->bytes = BUNDLE_ELEMENTS * sizeof(float);
	step->value_bytes = 4;
}

static void add_event(struct test_bundle *made, enum gt_bundle_step_kind kind, uint32_t stream,
                      uint32_t event)
{
	add_step(&made->bundle, kind, stream)->event = event;
}

/* All but the steps. */
static void add_scene(struct test_bundle *made)
{
	static const struct gt_bundle_parameter parameters[] = {{0, 8}, {8, 4}};
	float z[BUNDLE_ELEMENTS];

	*gt_array_push(&made->bundle.streams) = (struct gt_bundle_stream){.number = 7};
	*gt_array_push(&made->bundle.streams) =
		(struct gt_bundle_stream){.number = 13, .priority = -5, .nonblocking = true};
	add_saxpy(made);
	fill(z, 6, 3);
	add_memory(made, BUNDLE_Z_ADDRESS, NULL, z);
	add_table(made);
	add_factor(made);
	(void)add_function(&made->bundle, "_Z5scalePKPfi", parameters, 2);
	*gt_array_push(&made->bundle.missing) = "a surface object was not captured";
}

void test_bundle_add_sequence(struct test_bundle *made)
{
	add_scene(made);
	add_copy(made);
	add_fill(made);
	add_saxpy_step(made);
	add_event(made, GT_BUNDLE_STEP_record, 0, 0);
	add_event(made, GT_BUNDLE_STEP_wait, 1, 0);
	add_scale_step(made);
	(void)add_step(&made->bundle, GT_BUNDLE_STEP_host_wait, 1);
}

void test_bundle_add_graph(struct test_bundle *made)
{
	add_scene(made);
	add_copy(made);
	add_event(made, GT_BUNDLE_STEP_record, 0, 0);
	add_event(made, GT_BUNDLE_STEP_wait, 1, 0);
	add_fill(made);
	add_saxpy_step(made);
	add_event(made, GT_BUNDLE_STEP_record, 0, 1);
	add_event(made, GT_BUNDLE_STEP_wait, 1, 1);
	add_scale_step(made);
	add_event(made, GT_BUNDLE_STEP_record, 1, 2);
	add_event(made, GT_BUNDLE_STEP_wait, 0, 2);
	for (size_t i = 1; i < made->bundle.steps.count; i++)
		made->bundle.steps.rows[i].graph = 1;
	(void)add_step(&made->bundle, GT_BUNDLE_STEP_host_wait, 0);
}
