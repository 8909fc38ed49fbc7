/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "injection/usdt/probe.h"

/*
 * The kernel, or a debugger, writes them, at the addresses that the notes say; here they are only
 * read.
 */
struct gt_probe_semaphores gt_probe_semaphores __attribute__((section(".probes"), aligned(16)));

_Static_assert(offsetof(struct gt_probe_semaphores, launch) == 0 &&
                       offsetof(struct gt_probe_semaphores, error) == 2,
               "gt_probe_hears_calls reads both");

#if GT_PROBES_ARE_THERE

/* Places of arguments in the words of each assembler: size@place, behind one register's address. */
#ifdef __x86_64__
#define AT(offset) "8@" #offset "(%[from])"
#else
#define AT(offset) "8@[%[from], " #offset "]"
#endif

#define ARGUMENTS_1  AT(0)
#define ARGUMENTS_5  ARGUMENTS_1 " " AT(8) " " AT(16) " " AT(24) " " AT(32)
#define ARGUMENTS_6  ARGUMENTS_5 " " AT(40)
#define ARGUMENTS_8  ARGUMENTS_6 " " AT(48) " " AT(56)
#define ARGUMENTS_9  ARGUMENTS_8 " " AT(64)
#define ARGUMENTS_11 ARGUMENTS_9 " " AT(72) " " AT(80)

/*
 * A note has the size of its name, that of the rest and its type, 3; then the name, and the rest:
 * the probe's address, that of the base, by which readers notice that the library was moved, the
 * semaphore's, and three texts. Each part begins at a multiple of 4.
 */
#define SITE(name, count)                                                                          \
	"990:	nop\n"                                                                               \
	"	.pushsection .note.stapsdt, \"\", \"note\"\n"                                            \
	"	.balign 4\n"                                                                             \
	"	.4byte 992f - 991f, 994f - 993f, 3\n"                                                    \
	"991:	.asciz \"stapsdt\"\n"                                                                \
	"992:	.balign 4\n"                                                                         \
	"993:	.8byte 990b\n"                                                                       \
	"	.8byte _.stapsdt.base\n"                                                                 \
	"	.8byte gt_probe_semaphores + %c[semaphore]\n"                                            \
	"	.asciz \"gputrace\"\n"                                                                   \
	"	.asciz \"" #name "\"\n"                                                            \
	"	.asciz \"" ARGUMENTS_##count "\"\n"                                                \
					     "994:	.balign 4\n"                                    \
					     "	.popsection\n"

/* The base, once in the library; its name is that of the format. */
__asm__("	.pushsection .stapsdt.base, \"a\"\n"
        "	.weak _.stapsdt.base\n"
        "	.hidden _.stapsdt.base\n"
        "_.stapsdt.base:	.space 1\n"
        "	.size _.stapsdt.base, 1\n"
        "	.popsection\n");

/* Once in the library: not inlined, and not cloned. */
#define PROBE(name, count, help)                                                                   \
	_Static_assert(sizeof(struct gt_probe_##name) == 8 * (count) && (count) <= 12,             \
	               "as many arguments as " #name " says");                                     \
	__attribute__((noinline)) void gt_probe_fire_##name(                                       \
		const struct gt_probe_##name *arguments_of)                                        \
	{                                                                                          \
		__asm__ volatile(                                                                  \
			SITE(name, count)                                                          \
			:                                                                          \
			: [from] "r"(arguments_of), [semaphore] "i"(offsetof(                      \
							    struct gt_probe_semaphores, name))     \
			: "memory");                                                               \
	}
#define ARGUMENT(name, help)
#define END(name)
#include "injection/usdt/probes.def"

#endif
