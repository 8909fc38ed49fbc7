/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_END_END_H
#define GT_INJECTION_END_END_H

/*
 * libgputrace-end.so, which gputrace run preloads, is told by this one function what to call before
 * the process ends without exit handlers, or becomes another program. In a process that has not
 * preloaded it the function is not there: its address is NULL. Any thread; NULL: nothing any more.
 *
 * fetch may be called on any thread, in a signal handler, in the child of a fork, and in the child
 * of vfork, which has the memory of its parent: it takes no lock and no memory, keeps errno, and
 * returns within a bounded time.
 */
/* NOLINTNEXTLINE(readability-identifier-naming): a name of its own among those of the program */
__attribute__((weak, visibility("default"))) void gputrace_end_register(void (*fetch)(void));

#endif
