/* SPDX-License-Identifier: Apache-2.0 */
#include "include/gputrace/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "replay/gpu/commands.h"
#include "replay/gpu/gpu.h"
#include "replay/gpu/order.h"
#include "replay/gpu/pool.h"

#define PUBLIC __attribute__((visibility("default")))

struct gputrace_buffer {
	struct gputrace_gpu *owner;
	struct gt_pool *pool;
	CUdeviceptr address;
	uint64_t bytes;
	struct gt_ordered ordered;
};

struct gputrace_gpu {
	struct gt_cuda cuda;
	struct gt_gpu gpu;
	struct gt_order order;
	struct gt_pool pools[2]; /* by enum gputrace_buffer_place */
	gt_array(struct gputrace_buffer *) buffers;
	gt_array(struct gputrace_commands *) commands;
	struct gputrace_commands *begun; /* between begin and end; NULL */
};

struct gputrace_commands {
	struct gputrace_gpu *owner;
	struct gt_commands graph;
	gt_array(struct gputrace_use) uses;
};

/* The sentence, to who called. */
static int told(int result, const struct gt_error *err, struct gputrace_error *error)
{
	if (result < 0 && error) {
		error->code = err->code;
		snprintf(error->text, sizeof(error->text), "%s", err->text);
	}
	return result < 0 ? result : 0;
}

/* ---- the GPU ---- */

PUBLIC int gputrace_gpu_open(struct gputrace_gpu **gpu, int ordinal, struct gputrace_error *error)
{
	struct gputrace_gpu *opened = gt_allocate(sizeof(*opened));
	struct gt_error err = {0};
	int result;

	*opened = (struct gputrace_gpu){0};
	result = gt_cuda_open(&opened->cuda, &err);
	if (result == 0)
		result = gt_gpu_open(&opened->gpu, &opened->cuda, ordinal, &err);
	if (result < 0) {
		free(opened);
		return told(result, &err, error);
	}
	gt_order_init(&opened->order, &opened->gpu, opened->gpu.stream);
	gt_pool_init(&opened->pools[GPUTRACE_BUFFER_DEVICE], &opened->gpu, false, "runtime");
	gt_pool_init(&opened->pools[GPUTRACE_BUFFER_PINNED], &opened->gpu, true, "runtime pinned");
	*gpu = opened;
	return 0;
}

static void free_commands(struct gputrace_commands *commands)
{
	gt_commands_close(&commands->graph);
	gt_array_release(&commands->uses);
	free(commands);
}

PUBLIC void gputrace_gpu_close(struct gputrace_gpu *gpu)
{
	if (!gpu)
		return;
	gt_array_each(struct gputrace_commands *, commands, &gpu->commands)
		free_commands(*commands);
	gt_array_each(struct gputrace_buffer *, buffer, &gpu->buffers)
		free(*buffer);
	gt_array_release(&gpu->commands);
	gt_array_release(&gpu->buffers);
	for (int i = 0; i < 2; i++)
		gt_pool_release(&gpu->pools[i]);
	gt_gpu_close(&gpu->gpu);
	free(gpu);
}

static int check_stream(const struct gputrace_gpu *gpu, uint32_t stream, struct gt_error *err)
{
	if (stream >= gpu->order.count)
		return gt_fail(err, EINVAL, "there is no stream %u", stream);
	return 0;
}

PUBLIC int gputrace_stream_add(struct gputrace_gpu *gpu, int priority, uint32_t *stream,
                               struct gputrace_error *error)
{
	struct gt_error err = {0};
	CUstream made = NULL;
	int result = gt_gpu_add_stream(&gpu->gpu, priority, &made, &err);

	if (result == 0)
		result = gt_order_add(&gpu->order, made, stream, &err);
	return told(result, &err, error);
}

PUBLIC int gputrace_stream_wait(struct gputrace_gpu *gpu, uint32_t stream,
                                struct gputrace_error *error)
{
	struct gt_error err = {0};
	int result = check_stream(gpu, stream, &err);

	if (result == 0)
		result =
			gt_cuda_check(&gpu->cuda, gpu->cuda.stream_wait(gpu->order.streams[stream]),
		                      &err, "the GPU's work failed");
	return told(result, &err, error);
}

/* ---- events ---- */

PUBLIC int gputrace_event_record(struct gputrace_gpu *gpu, uint32_t stream, void **event,
                                 struct gputrace_error *error)
{
	struct gt_error err = {0};
	CUevent taken = NULL;
	int result = check_stream(gpu, stream, &err);

	if (result == 0)
		result = gt_gpu_take_event(&gpu->gpu, &taken, &err);
	if (result == 0)
		result = gt_cuda_check(&gpu->cuda,
		                       gpu->cuda.event_record(taken, gpu->order.streams[stream]),
		                       &err, "an event cannot be recorded");
	if (result == 0)
		*event = taken;
	else
		gt_gpu_give_event(&gpu->gpu, taken);
	return told(result, &err, error);
}

PUBLIC int gputrace_event_elapsed(struct gputrace_gpu *gpu, void *from, void *until, double *ns,
                                  struct gputrace_error *error)
{
	struct gt_error err = {0};
	float milliseconds = 0;
	CUresult code = gpu->cuda.event_wait(until);
	int result;

	if (code == CUDA_SUCCESS)
		code = gpu->cuda.event_elapsed(&milliseconds, from, until);
	result = gt_cuda_check(&gpu->cuda, code, &err, "the time between events is not known");
	if (result == 0)
		*ns = (double)milliseconds * 1e6;
	return told(result, &err, error);
}

PUBLIC void gputrace_event_give(struct gputrace_gpu *gpu, void *event)
{
	gt_gpu_give_event(&gpu->gpu, event);
}

/* ---- buffers ---- */

PUBLIC int gputrace_buffer_new(struct gputrace_gpu *gpu, enum gputrace_buffer_place place,
                               uint64_t bytes, struct gputrace_buffer **buffer,
                               struct gputrace_error *error)
{
	struct gt_pool *pool = &gpu->pools[place == GPUTRACE_BUFFER_PINNED];
	struct gt_error err = {0};
	CUdeviceptr address = 0;
	const int result = gt_pool_alloc(pool, bytes, &address, &err);

	if (result < 0)
		return told(result, &err, error);
	*buffer = *gt_array_push(&gpu->buffers) = gt_allocate(sizeof(**buffer));
	**buffer = (struct gputrace_buffer){
		.owner = gpu, .pool = pool, .address = address, .bytes = bytes};
	return 0;
}

PUBLIC int gputrace_buffer_wait(struct gputrace_buffer *buffer, struct gputrace_error *error)
{
	struct gt_error err = {0};

	return told(gt_order_wait(&buffer->owner->order, &buffer->ordered, &err), &err, error);
}

PUBLIC int gputrace_buffer_free(struct gputrace_buffer *buffer, struct gputrace_error *error)
{
	struct gt_error err = {0};
	struct gputrace_gpu *gpu;
	int result;

	if (!buffer)
		return 0;
	gpu = buffer->owner;
	result = gt_order_wait(&gpu->order, &buffer->ordered, &err);
	if (result == 0)
		result = gt_pool_free(buffer->pool, buffer->address, &err);
	if (result < 0)
		return told(result, &err, error);
	gt_array_each(struct gputrace_buffer *, it, &gpu->buffers) {
		if (*it != buffer)
			continue;
		*it = gpu->buffers.rows[--gpu->buffers.count];
		break;
	}
	free(buffer);
	return 0;
}

PUBLIC uint64_t gputrace_buffer_address(const struct gputrace_buffer *buffer)
{
	return buffer->address;
}

PUBLIC void *gputrace_buffer_host(const struct gputrace_buffer *buffer)
{
	const uintptr_t address = (uintptr_t)buffer->address;

	return buffer->pool->pinned ? (void *)address : NULL; // NOLINT(performance-no-int-to-ptr)
}

PUBLIC void gputrace_gpu_stats(const struct gputrace_gpu *gpu, enum gputrace_buffer_place place,
                               struct gputrace_pool_stats *stats)
{
	*stats = gpu->pools[place == GPUTRACE_BUFFER_PINNED].stats;
}

/* ---- work ---- */

PUBLIC int gputrace_module_load(struct gputrace_gpu *gpu, const void *image, void **module,
                                struct gputrace_error *error)
{
	struct gt_error err = {0};
	CUmodule loaded = NULL;
	const int result =
		gt_gpu_load(&gpu->gpu, image, "the driver does not take the module", &loaded, &err);

	if (result == 0)
		*module = loaded;
	return told(result, &err, error);
}

PUBLIC int gputrace_module_kernel(struct gputrace_gpu *gpu, void *module, const char *name,
                                  void **kernel, struct gputrace_error *error)
{
	struct gt_error err = {0};
	CUfunction found = NULL;
	const int result = gt_cuda_check(
		&gpu->cuda, gpu->cuda.module_function(&found, module, name), &err, name);

	if (result == 0)
		*kernel = found;
	return told(result, &err, error);
}

/* All uses of a buffer in commands that are put together are one. */
static void note_use(struct gputrace_commands *commands, const struct gputrace_use *use)
{
	gt_array_each(struct gputrace_use, it, &commands->uses) {
		if (it->buffer == use->buffer) {
			it->writes |= use->writes;
			return;
		}
	}
	*gt_array_push(&commands->uses) = *use;
}

static int before(struct gputrace_gpu *gpu, uint32_t stream, const struct gputrace_use *uses,
                  size_t count, struct gt_error *err)
{
	int result = check_stream(gpu, stream, err);

	for (size_t i = 0; result == 0 && i < count; i++)
		result = gt_order_before(&gpu->order, stream, &uses[i].buffer->ordered,
		                         uses[i].writes, err);
	return result;
}

static void after(struct gputrace_gpu *gpu, uint32_t stream, const struct gputrace_use *uses,
                  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		gt_order_after(&gpu->order, stream, &uses[i].buffer->ordered, uses[i].writes);
		if (gpu->begun)
			note_use(gpu->begun, &uses[i]);
	}
}

PUBLIC int gputrace_launch(struct gputrace_gpu *gpu, uint32_t stream,
                           const struct gputrace_launch *launch, struct gputrace_error *error)
{
	struct gt_error err = {0};
	int result = before(gpu, stream, launch->uses, launch->use_count, &err);
	CUresult code;

	if (result < 0)
		return told(result, &err, error);
	code = gpu->cuda.launch(launch->kernel, launch->grid[0], launch->grid[1], launch->grid[2],
	                        launch->block[0], launch->block[1], launch->block[2],
	                        launch->shared_bytes, gpu->order.streams[stream],
	                        launch->parameters, NULL);
	result = gt_cuda_check(&gpu->cuda, code, &err, "the kernel cannot be launched");
	if (result == 0)
		after(gpu, stream, launch->uses, launch->use_count);
	return told(result, &err, error);
}

PUBLIC int gputrace_copy(struct gputrace_gpu *gpu, uint32_t stream, struct gputrace_buffer *to,
                         struct gputrace_buffer *from, uint64_t bytes, struct gputrace_error *error)
{
	const struct gputrace_use uses[] = {{to, 1}, {from, 0}};
	struct gt_error err = {0};
	int result = before(gpu, stream, uses, 2, &err);

	if (result == 0 && (bytes > to->bytes || bytes > from->bytes))
		result = gt_fail(&err, EINVAL, "one of the buffers is smaller than what is copied");
	if (result == 0)
		result = gt_cuda_check(&gpu->cuda,
		                       gpu->cuda.copy(to->address, from->address, bytes,
		                                      gpu->order.streams[stream]),
		                       &err, "memory cannot be copied");
	if (result == 0)
		after(gpu, stream, uses, 2);
	return told(result, &err, error);
}

/* ---- work that is put together ---- */

PUBLIC int gputrace_commands_begin(struct gputrace_gpu *gpu, uint32_t stream,
                                   struct gputrace_error *error)
{
	struct gputrace_commands *begun = gt_allocate(sizeof(*begun));
	struct gt_error err = {0};
	int result = check_stream(gpu, stream, &err);

	*begun = (struct gputrace_commands){.owner = gpu};
	if (result == 0 && gpu->begun)
		result = gt_fail(&err, EBUSY, "work is being put together already");
	if (result == 0)
		result = gt_commands_begin(&begun->graph, &gpu->gpu, gpu->order.streams[stream],
		                           &err);
	if (result < 0) {
		free(begun);
		return told(result, &err, error);
	}
	gt_order_capture(&gpu->order, stream);
	gpu->begun = begun;
	return 0;
}

PUBLIC int gputrace_commands_end(struct gputrace_gpu *gpu, struct gputrace_commands **commands,
                                 struct gputrace_error *error)
{
	struct gputrace_commands *begun = gpu->begun;
	struct gt_error err = {0};
	int result;
	int ended;

	if (!begun)
		return told(gt_fail(&err, EINVAL, "no work is being put together"), &err, error);
	gpu->begun = NULL;
	result = gt_order_captured(&gpu->order, &err);
	ended = gt_commands_end(&begun->graph, result < 0, &err);
	result = result < 0 ? result : ended;
	if (result < 0)
		free_commands(begun);
	else
		*commands = *gt_array_push(&gpu->commands) = begun;
	return told(result, &err, error);
}

PUBLIC int gputrace_commands_run(struct gputrace_commands *commands, uint32_t stream,
                                 struct gputrace_error *error)
{
	struct gputrace_gpu *gpu = commands->owner;
	struct gt_error err = {0};
	int result = before(gpu, stream, commands->uses.rows, commands->uses.count, &err);

	if (result == 0)
		result = gt_commands_run(&commands->graph, gpu->order.streams[stream], &err);
	if (result == 0)
		after(gpu, stream, commands->uses.rows, commands->uses.count);
	return told(result, &err, error);
}

PUBLIC void gputrace_commands_free(struct gputrace_commands *commands)
{
	if (!commands)
		return;
	gt_array_each(struct gputrace_commands *, it, &commands->owner->commands) {
		if (*it != commands)
			continue;
		*it = commands->owner->commands.rows[--commands->owner->commands.count];
		break;
	}
	free_commands(commands);
}
