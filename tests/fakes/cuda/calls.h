/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_CUDA_CALLS_H
#define GT_TESTS_FAKES_CUDA_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

/*
 * A log of the calls that are made of the driver, with what they are given: FAKE_CUDA_CALLS names
 * a file that gets a line for each. Addresses and handles are numbered, so that the log of a
 * program that does the same is the same. FAKE_CUDA_FAIL=CALL:N[:RESULT[+]] has the N-th call of
 * that name fail, and with + all calls after it.
 */

/* -1: nobody has asked yet. */
extern int fake_calls_wanted;
int fake_calls_ask(void);

static inline int fake_calls_on(void)
{
	return fake_calls_wanted < 0 ? fake_calls_ask() : fake_calls_wanted;
}

/* A line: begin, its arguments, end. The result is what the call is to fail with, 0: it is not. */
void fake_calls_begin(const char *name);
int fake_calls_end(void);

/* Likewise, of a call that has no line. */
int fake_calls_failure(const char *name);

/* How it ended, where that was not well; then what it destroyed is forgotten. */
void fake_calls_ended(const char *name, int result);

/* Bytes that a copy takes, and a kernel's parameters: words of which one may be an address. */
void fake_calls_bytes(const void *bytes, size_t size);
void fake_calls_words(const void *bytes, size_t size);
void fake_calls_options(unsigned count, const CUjit_option *options, void *const *values);

/* One argument, behind a number that nobody reads: any type goes. */
void fake_calls_int(int nothing, ...);
void fake_calls_unsigned(int nothing, ...);
void fake_calls_size(int nothing, ...);
void fake_calls_address(int nothing, ...);
void fake_calls_pointer(int nothing, ...);
void fake_calls_text(int nothing, ...);
void fake_calls_rows(int nothing, ...);
void fake_calls_box(int nothing, ...);
void fake_calls_shape(int nothing, ...);
void fake_calls_resource(int nothing, ...);
void fake_calls_texture(int nothing, ...);
void fake_calls_launch(int nothing, ...);
void fake_calls_other(int nothing, ...);

/* clang-format off */
#define FAKE_CALLS_ARGUMENT(x) _Generic((x),                                                       \
	int: fake_calls_int, unsigned: fake_calls_unsigned, unsigned char: fake_calls_int,         \
	unsigned short: fake_calls_int, size_t: fake_calls_size,                                   \
	unsigned long long: fake_calls_address, const char *: fake_calls_text,                     \
	void *: fake_calls_pointer, CUcontext: fake_calls_pointer, CUstream: fake_calls_pointer,    \
	CUevent: fake_calls_pointer, CUmodule: fake_calls_pointer, CUfunction: fake_calls_pointer,  \
	CUgraph: fake_calls_pointer, CUgraphExec: fake_calls_pointer, CUarray: fake_calls_pointer,  \
	CUmipmappedArray: fake_calls_pointer, const CUDA_MEMCPY2D *: fake_calls_rows,              \
	const CUDA_MEMCPY3D *: fake_calls_box, const CUDA_ARRAY3D_DESCRIPTOR *: fake_calls_shape,  \
	const CUDA_RESOURCE_DESC *: fake_calls_resource,                                           \
	const CUDA_TEXTURE_DESC *: fake_calls_texture, const CUlaunchConfig *: fake_calls_launch,  \
	default: fake_calls_other)(0, x);
/* clang-format on */

#define FAKE_CALLS_1(x)                                               FAKE_CALLS_ARGUMENT(x)
#define FAKE_CALLS_2(x, ...)                                          FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_1(__VA_ARGS__)
#define FAKE_CALLS_3(x, ...)                                          FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_2(__VA_ARGS__)
#define FAKE_CALLS_4(x, ...)                                          FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_3(__VA_ARGS__)
#define FAKE_CALLS_5(x, ...)                                          FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_4(__VA_ARGS__)
#define FAKE_CALLS_6(x, ...)                                          FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_5(__VA_ARGS__)
#define FAKE_CALLS_7(x, ...)                                          FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_6(__VA_ARGS__)
#define FAKE_CALLS_8(x, ...)                                          FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_7(__VA_ARGS__)
#define FAKE_CALLS_9(x, ...)                                          FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_8(__VA_ARGS__)
#define FAKE_CALLS_10(x, ...)                                         FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_9(__VA_ARGS__)
#define FAKE_CALLS_11(x, ...)                                         FAKE_CALLS_ARGUMENT(x) FAKE_CALLS_10(__VA_ARGS__)
#define FAKE_CALLS_PICK(a, b, c, d, e, f, g, h, i, j, k, chosen, ...) chosen
#define FAKE_CALLS_EACH(...)                                                                       \
	FAKE_CALLS_PICK(__VA_ARGS__, FAKE_CALLS_11, FAKE_CALLS_10, FAKE_CALLS_9, FAKE_CALLS_8,     \
	                FAKE_CALLS_7, FAKE_CALLS_6, FAKE_CALLS_5, FAKE_CALLS_4, FAKE_CALLS_3,      \
	                FAKE_CALLS_2, FAKE_CALLS_1, 0)                                             \
	(__VA_ARGS__)

/* Behind fake_cuda_enter: the call ends here where it is to fail. */
#define FAKE_CALLS_MAY_FAIL(call, name)                                                            \
	do {                                                                                       \
		const int failure_ = fake_calls_on() ? fake_calls_failure(name) : 0;               \
                                                                                                   \
		if (failure_)                                                                      \
			return (CUresult)fake_cuda_exit(call, failure_);                           \
	} while (0)

/* Behind fake_cuda_enter: the call is logged, and ends here where it is to fail. */
#define FAKE_CALLS_LOG(call, name, ...)                                                            \
	do {                                                                                       \
		int failure_;                                                                      \
                                                                                                   \
		if (!fake_calls_on())                                                              \
			break;                                                                     \
		fake_calls_begin(name);                                                            \
		FAKE_CALLS_EACH(__VA_ARGS__)                                                       \
		failure_ = fake_calls_end();                                                       \
		if (failure_)                                                                      \
			return (CUresult)fake_cuda_exit(call, failure_);                           \
	} while (0)

#endif
