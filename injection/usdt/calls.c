/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/usdt/calls.h"

#include <string.h>

#include "injection/calls/memory.h"

enum { NOT_READY = 600 }; /* cudaErrorNotReady and CUDA_ERROR_NOT_READY: an answer, no error */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_graph_launch(const char *call)
{
	return begins(call, "cuGraphLaunch") || begins(call, "cudaGraphLaunch");
}

/* Functions of the host are launched by the same word, and run on no GPU. */
static bool is_kernel_launch(const char *call)
{
	return (begins(call, "cuLaunch") || begins(call, "cudaLaunch")) &&
	       !strstr(call, "LaunchHostFunc");
}

__attribute__((cold)) void gt_probe_call(const CUpti_CallbackData *data, uint32_t result,
                                         bool driver)
{
	const char *call = data->functionName ? data->functionName : "";

	if (GT_PROBE_IS_ON(error) && result != 0 && result != NOT_READY)
		gt_probe_fire_error(&(struct gt_probe_error){
			.result = result,
			.driver = driver,
			.correlation = data->correlationId,
			.context = data->contextUid,
			.call = gt_probe_text(call),
		});
	if (GT_PROBE_IS_ON(launch) && (is_kernel_launch(call) || is_graph_launch(call)))
		gt_probe_fire_launch(&(struct gt_probe_launch){
			.correlation = data->correlationId,
			.context = data->contextUid,
			.result = result,
			/* CUPTI sets it for launches of kernels alone. */
			.kernel = gt_probe_text(is_kernel_launch(call) ? data->symbolName : NULL),
			.call = gt_probe_text(call),
		});
}

/* As format/kinds/memory.def says of a kind. */
enum does { NOTHING, MAKES, ENDS, TELLS };

static enum does does_of(uint32_t of_kind)
{
	static const struct {
		uint32_t kind;
		enum does does;
	} kinds[] = {
#define MEMORY_KIND(name, number, does, space, words) {number, does},
#include "format/kinds/memory.def"
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == of_kind)
			return kinds[i].does;
	return NOTHING;
}

__attribute__((cold)) void gt_probe_memory(const CUpti_CallbackData *data,
                                           const struct gt_memory_facts *facts)
{
	const enum does does = does_of(facts->kind);

	if (GT_PROBE_IS_ON(alloc) && does == MAKES)
		gt_probe_fire_alloc(&(struct gt_probe_alloc){
			.address = facts->address,
			.bytes = facts->size_bytes,
			.kind = facts->kind,
			.device = (uint64_t)facts->place_plus_one - 1,
			.handle = facts->handle,
			.correlation = data->correlationId,
			.context = data->contextUid,
			.call = gt_probe_text(data->functionName),
		});
	if (GT_PROBE_IS_ON(free) && does == ENDS)
		gt_probe_fire_free(&(struct gt_probe_free){
			.address = facts->address,
			.kind = facts->kind,
			.handle = facts->handle,
			.correlation = data->correlationId,
			.context = data->contextUid,
			.call = gt_probe_text(data->functionName),
		});
}
