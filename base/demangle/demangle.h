/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_DEMANGLE_DEMANGLE_H
#define GT_BASE_DEMANGLE_DEMANGLE_H

#include <stddef.h>

/*
 * C++ names as their compiler mangled them (Itanium C++ ABI, section 5.1), for people. Names come
 * from files that anyone may have written: time, memory and depth are bounded, whatever they say.
 * The library of the compiler knows no bound, and gives up on names of more than 1,024 characters,
 * which are common among kernels.
 */

enum {
	GT_DEMANGLE_MOST_IN = 1 << 16,  /* characters of a mangled name that is read */
	GT_DEMANGLE_MOST_OUT = 1 << 16, /* characters of a name for people */
};

/*
 * The name as C++ writes it, for the caller to free. NULL when the name is not mangled, when it
 * uses what kernels do not have, or when the result would be out of proportion to it.
 */
char *gt_demangle(const char *mangled);

#endif
