/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_USDT_PROBE_H
#define GT_INJECTION_USDT_PROBE_H

#include <stdint.h>

/*
 * Probes that bpftrace, perf or gdb can attach to while the program runs (probes.def). Each is an
 * instruction that does nothing, and a note in the library's section .note.stapsdt that says where
 * it is, where its semaphore is and where its arguments are: the format of SystemTap's probes,
 * version 3. Whoever attaches adds one to the semaphore; nobody in the program writes it. Until
 * then a probe costs the test of its semaphore, a load and a jump that is not taken:
 *
 *   if (GT_PROBE_IS_ON(kernel))
 *           gt_probe_fire_kernel(&(struct gt_probe_kernel){.device = 1, ...});
 *
 * All that a probe needs is worked out behind that test. On processors that are not in the list
 * below there are no probes, and the test is constant.
 */
#if defined(__x86_64__) || defined(__aarch64__)
#define GT_PROBES_ARE_THERE 1
#else
#define GT_PROBES_ARE_THERE 0
#endif

#define PROBE(name, arguments, help) struct gt_probe_##name {
#define ARGUMENT(name, help)         uint64_t name;
#define END(name)                                                                                  \
	}                                                                                          \
	;
#include "injection/usdt/probes.def"

struct gt_probe_semaphores {
#define PROBE(name, arguments, help) volatile uint16_t name;
#define ARGUMENT(name, help)
#define END(name)
#include "injection/usdt/probes.def"
};

extern struct gt_probe_semaphores gt_probe_semaphores __attribute__((visibility("hidden")));

#define PROBE(name, arguments, help)                                                               \
	__attribute__((cold)) void gt_probe_fire_##name(const struct gt_probe_##name *arguments_of);
#define ARGUMENT(name, help)
#define END(name)
#include "injection/usdt/probes.def"

#define GT_PROBE_IS_ON(name)                                                                       \
	(GT_PROBES_ARE_THERE && __builtin_expect(gt_probe_semaphores.name != 0, 0))

/* Whether launch or error is, in one load: each call of the program asks. */
static inline int gt_probe_hears_calls(void)
{
	typedef volatile uint32_t __attribute__((may_alias)) both;

	return GT_PROBES_ARE_THERE && __builtin_expect(*(both *)&gt_probe_semaphores != 0, 0);
}

/* The address of a text as an argument; NULL becomes that of an empty one. */
static inline uint64_t gt_probe_text(const char *text)
{
	return (uint64_t)(uintptr_t)(text ? text : "");
}

#endif
