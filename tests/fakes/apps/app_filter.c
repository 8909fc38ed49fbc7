/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that filters its system calls, as one in a sandbox does, and dies of those that it does
 * not allow: app_filter WORD.
 *
 *   before  flock, and what removes or renames files, before CUDA starts
 *   after   the same once CUDA has started, for all threads that there are
 *   thread  the same for the calling thread and those that it makes
 *   list    once CUDA has started: all but what gputrace says that it calls, and what the program
 * does
 *
 * In between it launches and copies on two threads, in ranges, and says in one line of JSON how
 * often.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

enum { LAUNCHES = 100, BYTES = 4096 };

/* docs/design/sources.md, System calls. */
static const int of_gputrace[] = {
	SYS_clock_gettime, SYS_close,          SYS_fcntl,           SYS_fstat,
	SYS_futex,         SYS_getpid,         SYS_gettid,          SYS_madvise,
	SYS_newfstatat,    SYS_openat,         SYS_prctl,           SYS_process_vm_readv,
	SYS_read,          SYS_rt_sigprocmask, SYS_rt_sigtimedwait, SYS_sched_yield,
	SYS_write,
};

/* Memory, threads, standard output and the end; and what the libraries without a GPU wait with. */
static const int of_the_program[] = {
	SYS_brk,    SYS_clone,      SYS_clone3,  SYS_clock_nanosleep,
	SYS_exit,   SYS_exit_group, SYS_mmap,    SYS_mprotect,
	SYS_munmap, SYS_rseq,       SYS_seccomp, SYS_set_robust_list,
};

static const int refused[] = {
	SYS_flock,  SYS_unlinkat, SYS_renameat2,
#ifdef SYS_unlink
	SYS_unlink, SYS_rename,   SYS_rmdir,
#endif
};

static CUcontext context;
static CUfunction kernel;

static void must(int done, const char *what)
{
	if (done)
		return;
	(void)fprintf(stderr, "app_filter: %s\n", what);
	exit(99);
}

static size_t add(struct sock_filter *at, const int *calls, size_t count, uint32_t action)
{
	for (size_t i = 0; i < count; i++) {
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i],
		                                     0, 1);
		*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	}
	return 2 * count;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void filter(int by_list, unsigned flags)
{
	struct sock_filter code[128] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	size_t count = 1;

	if (by_list) {
		count += add(code + count, of_gputrace, COUNT(of_gputrace), SECCOMP_RET_ALLOW);
		count +=
			add(code + count, of_the_program, COUNT(of_the_program), SECCOMP_RET_ALLOW);
	} else {
		count += add(code + count, refused, COUNT(refused), SECCOMP_RET_KILL_PROCESS);
	}
	code[count++] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, by_list ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW);

	const struct sock_fprog program = {.len = (unsigned short)count, .filter = code};

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
	must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0, "seccomp");
}

static void start(void)
{
	CUmodule module;

	must(cuInit(0) == CUDA_SUCCESS, "cuInit");
	must(cuCtxCreate(&context, NULL, 0, 0) == CUDA_SUCCESS, "cuCtxCreate");
	must(cuModuleLoadData(&module, "fake image") == CUDA_SUCCESS, "cuModuleLoadData");
	must(cuModuleGetFunction(&kernel, module, "work") == CUDA_SUCCESS, "cuModuleGetFunction");
	nvtxRangePushA("start");
	nvtxRangePop();
}

static void *work(void *unused)
{
	unsigned char bytes[BYTES] = {1};
	CUdeviceptr memory;

	(void)unused;
	must(cuCtxSetCurrent(context) == CUDA_SUCCESS, "cuCtxSetCurrent");
	must(cuMemAlloc(&memory, BYTES) == CUDA_SUCCESS, "cuMemAlloc");
	nvtxRangePushA("work");
	for (int i = 0; i < LAUNCHES; i++)
		must(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS,
		     "cuLaunchKernel");
	must(cuMemcpyHtoD(memory, bytes, BYTES) == CUDA_SUCCESS, "cuMemcpyHtoD");
	must(cuCtxSynchronize() == CUDA_SUCCESS, "cuCtxSynchronize");
	nvtxRangePop();
	return NULL;
}

int main(int argc, char **argv)
{
	const char *word = argc == 2 ? argv[1] : "";
	pthread_t thread;

	if (strcmp(word, "before") == 0)
		filter(0, 0);
	start();
	if (strcmp(word, "after") == 0)
		filter(0, SECCOMP_FILTER_FLAG_TSYNC);
	else if (strcmp(word, "thread") == 0)
		filter(0, 0);
	else if (strcmp(word, "list") == 0)
		filter(1, SECCOMP_FILTER_FLAG_TSYNC);
	else
		must(strcmp(word, "before") == 0, "before, after, thread or list?");
	work(NULL);
	must(pthread_create(&thread, NULL, work, NULL) == 0, "pthread_create");
	must(pthread_join(thread, NULL) == 0, "pthread_join");
	printf("{\"launches\": %d, \"copies\": 2, \"ranges\": 3}\n", 2 * LAUNCHES);
	return 0;
}
