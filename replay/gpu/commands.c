/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/commands.h"

int gt_commands_begin(struct gt_commands *commands, const struct gt_gpu *gpu, CUstream stream,
                      struct gt_error *err)
{
	*commands = (struct gt_commands){.gpu = gpu, .stream = stream};
	return gt_cuda_check(gpu->cuda,
	                     gpu->cuda->capture_begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
	                     err, "the stream cannot be captured");
}

int gt_commands_end(struct gt_commands *commands, bool failed, struct gt_error *err)
{
	const struct gt_cuda *cuda = commands->gpu->cuda;
	CUgraph graph = NULL;
	CUresult code = cuda->capture_end(commands->stream, &graph);

	if (code == CUDA_SUCCESS && !failed)
		code = cuda->graph_instantiate(&commands->exec, graph, 0);
	if (graph)
		(void)cuda->graph_destroy(graph);
	return failed ? 0 : gt_cuda_check(cuda, code, err, "the work cannot become a graph");
}

int gt_commands_run(const struct gt_commands *commands, CUstream stream, struct gt_error *err)
{
	const struct gt_cuda *cuda = commands->gpu->cuda;

	return gt_cuda_check(cuda, cuda->graph_launch(commands->exec, stream), err,
	                     "a graph cannot be launched");
}

void gt_commands_close(struct gt_commands *commands)
{
	/* One that may still run on a GPU that was given up stays. */
	if (commands->exec && commands->gpu->context)
		(void)commands->gpu->cuda->exec_destroy(commands->exec);
	commands->exec = NULL;
}
