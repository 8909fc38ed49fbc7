/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_DEFERRED_H
#define GT_INJECTION_NVTX_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtPayload.h>

struct gt_session;

/*
 * Data that a program tells NVTX later: events and samples with times of their own, of clocks that
 * it names. Times of this machine's clocks, and of NVTX's own, are told on the recording's; of
 * others, as a network card's, nothing is known.
 */

/* Nanoseconds of gt_now at a time of a clock, which is of the past; false: that is not known. */
bool gt_nvtx_time(uint64_t clock, int64_t value, uint64_t *time_ns);

/* The clock that a list of semantics names; 0: none. */
uint64_t gt_nvtx_clock_of(const nvtxSemanticsHeader_t *semantics);

/* A note, once, that times of some clock are not known. */
void gt_nvtx_note_clock(struct gt_session *session);

/* ---- NVTX's functions ---- */

int64_t gt_nvtx_timestamp(void);
uint64_t gt_nvtx_register_clock(nvtxDomainHandle_t domain, const nvtxTimeDomainAttr_t *what);
void gt_nvtx_submit(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count);
void gt_nvtx_submit_batch(nvtxDomainHandle_t domain, const nvtxEventBatch_t *batch);

#endif
