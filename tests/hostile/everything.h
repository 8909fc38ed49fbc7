/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_HOSTILE_EVERYTHING_H
#define GT_TESTS_HOSTILE_EVERYTHING_H

#include <stddef.h>

/*
 * All that gputrace does with a recording, in this process: collecting it, every report, every
 * export, its manifest. Whatever the recording is, nothing of this may crash or be undefined; it
 * may refuse, with a sentence. Aborts when a refusal says nothing, when the ledger has what cannot
 * be, and when two ways to look at the files say different things of them. Returns how many bytes
 * the exports have.
 */
size_t read_everything(const char *folder);

#endif
