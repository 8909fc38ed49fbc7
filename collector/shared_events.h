/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_SHARED_EVENTS_H
#define GT_COLLECTOR_SHARED_EVENTS_H

struct gt_trace;

/*
 * Events that processes of one machine share: one process has an IPC handle made of its event,
 * others open that and get an event of their own that is the same. Both calls are recorded with a
 * hash of the handle.
 *
 * Each event that was opened gets its original where exactly one event can be it, and each wait for
 * a shared event the record that it waits for, whichever process made that. Calls of two processes
 * are ordered only as far as their clocks agree: where a record and a wait, or two records, of
 * different processes are not apart by the bound of the clocks, it is not known which record the
 * wait is for, and it gets none.
 *
 * Needs the syncs in order of time, with the events that they are about; for the stage waits.
 */
void gt_shared_events_follow(struct gt_trace *trace);

#endif
