/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_NVTX_H
#define GT_INJECTION_NVTX_NVTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVTX_NO_IMPL /* types alone: this library uses no NVTX itself */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>

#include "format/ranges.h"
#include "injection/nvtx/watch.h"

struct gt_nvtx_counter;
struct gt_nvtx_schema;
struct gt_session;
struct nvtxPayloadData_v1;

/*
 * All that the program says through NVTX. NVTX lives in headers: each shared object of the program
 * that uses it has a copy with tables of function pointers of its own, and at its first call asks
 * InitializeInjectionNvtx2 of this library to fill them (attach.c). From then on it calls the
 * functions of calls.h, on threads of the program. Handles that it gets are numbers, so that
 * nothing has to be kept.
 */

/* Modules of core NVTX, and entries of their tables. */
enum { GT_NVTX_MODULES = NVTX_CB_MODULE_SIZE, GT_NVTX_ENTRIES = 32 };

/* The calls that another injection library wants. */
struct gt_nvtx_slots {
#define CALL(module, name, type) type name;
#include "injection/nvtx/calls.def"
};

/* Another injection library, which hears of every call after us. */
struct gt_nvtx_next {
	_Atomic uint32_t state;                       /* it is looked for once: attach.c */
	const void *(*get_export_table)(uint32_t id); /* of the NVTX that attached first */
	struct gt_nvtx_slots slots;
	NvtxFunctionPointer *tables[GT_NVTX_MODULES][GT_NVTX_ENTRIES + 1];
	void **handles[3]; /* its handles by our numbers, by enum gt_nvtx_handle */
};

/* For handles of domains that are not recorded; and such a domain. */
#define GT_NVTX_UNWANTED   (1u << 31)
#define GT_DOMAIN_UNWANTED (UINT32_MAX - 1)

enum { GT_NVTX_DOMAINS_BYTES = 1024 };

enum gt_nvtx_handle { GT_NVTX_DOMAIN, GT_NVTX_STRING, GT_NVTX_RESOURCE };

/* The program's name for a clock whose times it tells later. */
struct gt_nvtx_clock {
	_Atomic uint64_t id;
	_Atomic uint64_t source; /* NVTX_TIMESTAMP_TYPE_... and 1; 0: not there yet */
};

enum { GT_NVTX_CLOCKS = 32 };

/* All but what each call reads, which is struct gt_nvtx_page. It outlives the session. */
struct gt_nvtx {
	_Atomic uint64_t ranges; /* ids of started ranges that are given out */
	uint8_t *names;          /* names that are given; NULL: none are kept */
	_Atomic uint64_t name_bytes;
	struct gt_nvtx_next next;
	struct gt_nvtx_schema *schemas;   /* GT_NVTX_SCHEMAS of them; NULL: none are kept */
	struct gt_nvtx_counter *counters; /* GT_NVTX_COUNTERS */
	_Atomic uint32_t schemas_given;   /* numbers of schemas, */
	_Atomic uint32_t counters_given;  /* of counters, */
	_Atomic uint32_t scopes_given;    /* and of scopes */
	struct gt_nvtx_clock clocks[GT_NVTX_CLOCKS];
	_Atomic uint32_t clocks_given;
	_Atomic bool clock_noted;
	char domains[GT_NVTX_DOMAINS_BYTES]; /* names with commas between them, "": none are given: */
	struct gt_nvtx_watch watch;
	bool domains_wanted; /* they alone are recorded; false: all others */
	bool named_late; /* the environment names this library since it was loaded, not before */
};

extern struct gt_nvtx gt_nvtx;

/*
 * When a session starts: which domains are recorded, for which range's name it is watched (NULL,
 * "": for none), and the names that the program has given before.
 */
void gt_nvtx_start(struct gt_session *session, const char *watched);

/* Whether the name of a range is watched for: gt_nvtx.watch. */
bool gt_nvtx_is_watched(const struct gt_session *session);

/* In the child of a fork: a thread that was looking for another library is not here. */
void gt_nvtx_forget(void);

/* Notes of shared objects that use NVTX and have not found this library. */
void gt_nvtx_note_missed(struct gt_session *session);

/* ---- domains.c ---- */

/* Takes over which domains are wanted. */
void gt_nvtx_domains_init(struct gt_session *session);

struct gt_nvtx_text;
bool gt_nvtx_is_wanted(const struct gt_nvtx_text *name);

/* ---- names.c ---- */

struct gt_nvtx_name {
	enum gt_named kind;
	uint32_t domain;
	uint64_t number;
	const char *text; /* UTF-8, or */
	const wchar_t *wide;
};

/* Memory in which names are kept for the sessions of children. */
void gt_nvtx_names_init(void);

/* Records a name; it is kept as well, for the session of a child. */
void gt_nvtx_give_name(struct gt_session *session, const struct gt_nvtx_name *name);

/* Records all that are kept. */
void gt_nvtx_names_replay(struct gt_session *session);

/* ---- extension.c ---- */

/* Memory for counters. */
void gt_nvtx_counters_init(void);

/* ---- events.c ---- */

/* An event with extended payloads; data may be NULL. All return what NVTX's functions return. */
int gt_nvtx_push_data(nvtxDomainHandle_t domain, const struct nvtxPayloadData_v1 *data,
                      size_t count);
int gt_nvtx_pop_data(nvtxDomainHandle_t domain, const struct nvtxPayloadData_v1 *data,
                     size_t count);
void gt_nvtx_mark_data(nvtxDomainHandle_t domain, const struct nvtxPayloadData_v1 *data,
                       size_t count);
nvtxRangeId_t gt_nvtx_start_data(nvtxDomainHandle_t domain, const struct nvtxPayloadData_v1 *data,
                                 size_t count);
void gt_nvtx_end_data(nvtxDomainHandle_t domain, nvtxRangeId_t id,
                      const struct nvtxPayloadData_v1 *data, size_t count);

/*
 * Events that the program tells later, with times of its own, which are readings of gt_stamp: a
 * range, or with an end of 0 a mark.
 */
void gt_nvtx_later(nvtxDomainHandle_t domain, const struct nvtxPayloadData_v1 *data, size_t count,
                   const uint64_t times[2]);

/* The number of a domain's handle. */
uint32_t gt_nvtx_domain(nvtxDomainHandle_t domain);

/* ---- calls.c ---- */

/* The function for an entry of a module's table (NvtxCallbackModule); NULL: it is not heard of. */
NvtxFunctionPointer gt_nvtx_call(uint32_t module, uint32_t entry);

#endif
