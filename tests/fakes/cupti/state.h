/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_CUPTI_STATE_H
#define GT_TESTS_FAKES_CUPTI_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "fakes/fake.h"
#include "fakes/script.h"

/* Shared by the files of the fake libcupti. */

extern struct fake_script fake_script; /* read once, when the library is loaded */

/* CUPTI's clock as the script or a timestamp callback makes it, for an instant of CLOCK_REALTIME. */
uint64_t fake_cupti_time(uint64_t realtime_ns);
int fake_cupti_enabled(CUpti_ActivityKind kind);
uint32_t fake_cupti_version(void);
uint64_t fake_cupti_thread_id(void);

/* records.c: the layouts of the version that is played. 0 for a kind it does not write. */
size_t fake_record_size(CUpti_ActivityKind kind);
void fake_record_activity(const struct fake_activity *activity);
void fake_record_api(const struct fake_call *call, uint64_t end_ns);

/*
 * buffers.c. times_offset: where start and end are; 0 for records without an end. end_ns
 * FAKE_NEVER: only a forced flush closes the record.
 */
#define FAKE_NEVER UINT64_MAX
void fake_buffers_add(const void *record, size_t size, size_t times_offset, uint64_t start_ns,
                      uint64_t end_ns);
CUptiResult fake_buffers_register(CUpti_BuffersCallbackRequestFunc requested,
                                  CUpti_BuffersCallbackCompleteFunc completed);
CUptiResult fake_buffers_flush(int forced);
CUptiResult fake_buffers_period(uint32_t period_ms);
void fake_buffers_leave_stuck(void); /* buffers with records that never end take no more */
size_t fake_buffers_dropped(void);   /* since the last call */
void fake_buffers_promise_zeroed(int zeroed);
void fake_buffers_per_thread(int per_thread);

/*
 * range.c, where the toolkit has range profiling: a kernel that was launched. 1: it is
 * replayed, and CUPTI never finishes its record.
 */
int fake_range_launch(const struct fake_activity *kernel) __attribute__((weak));
int fake_range_is_profiling(void) __attribute__((weak));

/* callbacks.c */
extern const struct fake_hooks fake_hooks;

#endif
