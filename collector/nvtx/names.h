/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_NVTX_NAMES_H
#define GT_COLLECTOR_NVTX_NAMES_H

#include <stdint.h>

#include "model/known.h"
#include "model/trace.h"

struct gt_capture;

/* Meaning of the numbers in one capture's records of NVTX: texts, and rows of domains. */
struct gt_nvtx_names {
	struct gt_trace *trace;
	struct gt_capture *capture;
	struct gt_known strings;      /* registered ones by number: strings of the trace */
	struct gt_known domain_texts; /* names by number: strings of the trace */
	struct gt_known domains;      /* rows by number */
	struct gt_known domain_rows;  /* rows by name */
	struct gt_known categories;   /* by domain << 32 | number: strings of the trace */
};

/* Release it with the last; the rows of domains stay with the trace. */
void gt_nvtx_names_init(struct gt_nvtx_names *names, struct gt_trace *trace,
                        struct gt_capture *capture);
void gt_nvtx_names_release(struct gt_nvtx_names *names);

/* Domains of one name are one row; it is made when it is first asked for. */
gt_id gt_nvtx_domain(struct gt_nvtx_names *names, uint32_t domain);

/* The text of a registered string, 0 when nobody said. */
gt_string gt_nvtx_registered(struct gt_nvtx_names *names, uint32_t number);

/* The name of a category, its number where it has none, 0 of category 0 without a name. */
gt_string gt_nvtx_category(struct gt_nvtx_names *names, uint32_t domain, uint32_t category);

#endif
