/* SPDX-License-Identifier: Apache-2.0 */
#include "format/environment.h"

#include <string.h>

#include "support/check.h"

static void expect_kept(char *const *environment, const char *expected)
{
	char text[GT_ENVIRONMENT_BYTES + 1];
	const size_t size = gt_environment_text(environment, text, GT_ENVIRONMENT_BYTES);

	text[size] = '\0';
	expect_text(text, expected);
}

Test(environment, keeps_what_changes_the_speed)
{
	char *const environment[] = {"CUDA_LAUNCH_BLOCKING=1", "SHELL=/bin/sh", "NCCL_ALGO=Ring",
	                             "XLA_FLAGS=--a --b=c", NULL};

	expect_kept(environment, "CUDA_LAUNCH_BLOCKING=1\nNCCL_ALGO=Ring\nXLA_FLAGS=--a --b=c\n");
}

Test(environment, keeps_the_rank)
{
	char *const environment[] = {"RANK=3",      "LOCAL_RANK=3",   "WORLD_SIZE=8",
	                             "PMIX_RANK=3", "SLURM_PROCID=0", "SLURM_JOB_ACCOUNT=x",
	                             NULL};

	expect_kept(environment, "RANK=3\nWORLD_SIZE=8\nPMIX_RANK=3\nSLURM_PROCID=0\n");
}

Test(environment, keeps_no_secrets)
{
	char *const environment[] = {"AWS_SECRET_ACCESS_KEY=x",
	                             "CUDA_LAUNCH_BLOCKING_TOKEN=x",
	                             "MY_NCCL_ALGO=x",
	                             "XLA_FLAGS",
	                             "WANDB_API_KEY=x",
	                             "=",
	                             "",
	                             NULL};

	expect_kept(environment, "");
}

Test(environment, keeps_one_line_of_bounded_length_for_each)
{
	char line[600] = "NCCL_LONG=";
	char *const environment[] = {"NCCL_A=1\n2\033[m", line, "NCCL_B=3", NULL};
	char text[GT_ENVIRONMENT_BYTES];
	size_t size;

	memset(line + strlen(line), 'x', sizeof(line) - 1 - strlen(line));
	size = gt_environment_text(environment, text, sizeof(text));
	cr_expect(eq(sz, size,
	             strlen("NCCL_A=1?2?[m\n") + GT_ENVIRONMENT_LINE + 1 + strlen("NCCL_B=3\n")));
	cr_expect(eq(int, memcmp(text, "NCCL_A=1?2?[m\n", 14), 0));
}

Test(environment, leaves_out_what_does_not_fit)
{
	char *const environment[] = {"NCCL_A=12345", "NCCL_B=1", "NCCL_C=2", NULL};
	char text[20];

	cr_expect(eq(sz, gt_environment_text(environment, text, sizeof(text)), 13));
	cr_expect(eq(int, memcmp(text, "NCCL_A=12345\n", 13), 0));
	cr_expect(eq(sz, gt_environment_text(environment, text, 10), 9));
	cr_expect(eq(int, memcmp(text, "NCCL_B=1\n", 9), 0));
}
