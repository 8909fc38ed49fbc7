/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"

/* Variables of the environment that nobody wants by accident. */
static const struct {
	const char *variable;
	const char *effect;
} slow[] = {
	{"CUDA_LAUNCH_BLOCKING=1", "every launch waits until its kernel has ended"},
	{"JAX_DISABLE_JIT=1", "nothing is compiled"},
	{"JAX_DISABLE_JIT=True", "nothing is compiled"},
	{"JAX_DEBUG_NANS=True", "results are checked, which waits for them"},
	{"PYTORCH_NO_CUDA_MEMORY_CACHING=1", "every tensor is allocated and freed by CUDA"},
	{"TORCHDYNAMO_DISABLE=1", "torch.compile does nothing"},
	{"TRITON_ALWAYS_COMPILE=1", "kernels are compiled anew each time"},
	{"TRITON_INTERPRET=1", "Triton's kernels run on the processor"},
};

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	for (size_t i = 0; i < GT_COUNT_OF(slow); i++) {
		if (!gt_variables_have(&facts->variables, slow[i].variable))
			continue;
		gt_advice_cite(gt_advise(advice, GT_ADVICE_WRONG, "%s is set: %s.",
		                         slow[i].variable, slow[i].effect),
		               "summary", "overview", "text", NAN, "%s", slow[i].variable);
	}
}

const struct gt_advice_rule gt_advice_slow_environment = {
	.name = "slow_environment",
	.summary = "Variables of the environment that slow programs down",
	.report = "api",
	.of_recording = look,
};
