/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DUMP_DUMP_H
#define GT_CLI_DUMP_DUMP_H

struct gt_error;

/*
 * Copies the recording of programs that may still run, as far as it is by now, to a recording of
 * its own: into, a folder that must not exist. The programs are not touched. Fails with nothing
 * left behind.
 */
int gt_recording_dump(const char *folder, const char *into, struct gt_error *err);

/*
 * The name of a dump that does not exist yet: NAME.dump-N.gputrace beside NAME.gputrace. The caller
 * frees it.
 */
char *gt_recording_dump_name(const char *folder);

#endif
