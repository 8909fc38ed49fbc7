/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/job_rank.h"

#include "base/strings.h"
#include "support/check.h"
#include "support/trace.h"

static struct gt_trace trace;

static void add_process(const char *environment)
{
	const gt_id process = trace_process(&trace, "app", 100);

	trace.processes.rows[process].environment = gt_strings_add(trace.strings, environment);
}

static void expect_rank(const char *environment, int64_t rank, int64_t size)
{
	struct gt_job_rank found;

	trace_init(&trace, 1000);
	add_process(environment);
	found = gt_job_rank_of(&trace, &trace.processes.rows[0]);
	cr_expect(eq(i64, found.rank, rank), "of %s", environment);
	cr_expect(eq(i64, found.size, size), "of %s", environment);
	gt_trace_release(&trace);
}

Test(job_rank, is_what_the_launcher_says)
{
	expect_rank("RANK=3\nWORLD_SIZE=8\n", 3, 8);
	expect_rank("OMP_NUM_THREADS=1\nWORLD_SIZE=8\nNCCL_ALGO=Ring\nRANK=0\n", 0, 8);
	expect_rank("OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=2\n", 1, 2);
	expect_rank("PMIX_RANK=5\n", 5, -1);
	expect_rank("PMI_RANK=5\nPMI_SIZE=6", 5, 6);
	expect_rank("SLURM_PROCID=4\nSLURM_STEP_NUM_TASKS=16\n", 4, 16);
}

/* Under "srun torchrun" Slurm's number is that of the node. */
Test(job_rank, is_that_of_the_innermost_launcher)
{
	expect_rank("SLURM_PROCID=1\nSLURM_STEP_NUM_TASKS=2\nRANK=9\nWORLD_SIZE=16\n", 9, 16);
	expect_rank("PMIX_RANK=7\nOMPI_COMM_WORLD_RANK=7\nOMPI_COMM_WORLD_SIZE=8\n", 7, 8);
	expect_rank("SLURM_PROCID=1\nSLURM_STEP_NUM_TASKS=2\nRANK=9\n", 1, 2);
}

/* In a batch script without srun all processes have Slurm's number 0, and no step's size. */
Test(job_rank, is_not_known_where_no_launcher_says_all_of_it)
{
	expect_rank("", -1, -1);
	expect_rank("RANK=3\n", -1, -1);
	expect_rank("WORLD_SIZE=8\n", -1, -1);
	expect_rank("SLURM_PROCID=0\n", -1, -1);
	expect_rank("RANK=8\nWORLD_SIZE=8\n", -1, -1);
	expect_rank("RANK=\nWORLD_SIZE=8\n", -1, -1);
	expect_rank("RANK=-1\nWORLD_SIZE=8\n", -1, -1);
	expect_rank("RANK=1x\nWORLD_SIZE=8\n", -1, -1);
	expect_rank("RANK=99999999999999999999\nWORLD_SIZE=8\n", -1, -1);
	expect_rank("MY_RANK=1\nRANKS=1\nMY_WORLD_SIZE=8\nWORLD_SIZE=8\n", -1, -1);
}

static int64_t rank_of_all(const char *first, const char *second)
{
	int64_t rank;

	trace_init(&trace, 1000);
	add_process(first);
	add_process(second);
	rank = gt_job_rank_of_all(&trace).rank;
	gt_trace_release(&trace);
	return rank;
}

/* Workers of a rank have its environment. */
Test(job_rank, is_that_of_all_processes_where_they_agree)
{
	cr_expect(eq(i64, rank_of_all("RANK=1\nWORLD_SIZE=2\n", "RANK=1\nWORLD_SIZE=2\n"), 1));
	cr_expect(eq(i64, rank_of_all("RANK=1\nWORLD_SIZE=2\n", ""), 1));
	cr_expect(eq(i64, rank_of_all("RANK=1\nWORLD_SIZE=2\n", "RANK=0\nWORLD_SIZE=2\n"), -1));
	cr_expect(eq(i64, rank_of_all("RANK=1\nWORLD_SIZE=2\n", "RANK=1\nWORLD_SIZE=4\n"), -1));
	cr_expect(eq(i64, rank_of_all("", ""), -1));
}

static const char *job_of_all(const char *first, const char *second)
{
	static char id[GT_JOB_ID_BYTES];

	trace_init(&trace, 1000);
	add_process(first);
	add_process(second);
	gt_job_id_of_all(&trace, id);
	gt_trace_release(&trace);
	return id;
}

Test(job_rank, knows_the_id_of_the_job_of_all)
{
	cr_expect(eq(str, (char *)job_of_all("SLURM_JOB_ID=47\nRANK=1\n", "SLURM_JOB_ID=47\n"),
	             "47"));
	cr_expect(eq(str, (char *)job_of_all("", "PBS_JOBID=9.server\n"), "9.server"));
	cr_expect(eq(str, (char *)job_of_all("SLURM_JOB_ID=47\n", "SLURM_JOB_ID=48\n"), ""));
	cr_expect(eq(str, (char *)job_of_all("NO_SLURM_JOB_ID=47\n", ""), ""));
}

Test(job_rank, has_variables_of_its_own)
{
	cr_expect(gt_job_rank_is_line("RANK=1"));
	cr_expect(gt_job_rank_is_line("SLURM_STEP_NUM_TASKS=1\nCUDA_CACHE_DISABLE=1"));
	cr_expect(gt_job_rank_is_line("LSB_JOBID=1"));
	cr_expect(not(gt_job_rank_is_line("RANKS=1")));
	cr_expect(not(gt_job_rank_is_line("CUDA_CACHE_DISABLE=1")));
	cr_expect(not(gt_job_rank_is_line("")));
}
