/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_KINETO_WORK_H
#define GT_IMPORT_KINETO_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct gt_builder;
struct gt_kineto_event;

/* Events of torch.profiler as records: what GPUs did, what threads did, and what they waited for. */

/* A number of an event as a field of a record; otherwise: where the event does not have it. */
uint32_t gt_kineto_number(int64_t number, uint32_t otherwise);

/* When the event ended; GT_NO_TIME: it does not say. */
int64_t gt_kineto_end(const struct gt_kineto_event *event);

/*
 * Adds what the event is by its category. False: events of this category become no records. calls:
 * whether it is an API call, host: whether a thread of the process did it.
 */
bool gt_kineto_add(struct gt_builder *builder, const struct gt_kineto_event *event, bool *host,
                   bool *calls);

#endif
