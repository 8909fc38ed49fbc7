/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_KINDS_H
#define GT_COLLECTOR_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/records.h"
#include "model/trace.h"

struct gt_error;

/*
 * How records become rows, worked out from format/records.def and model/tables.def: a field goes
 * into the column of its name, and its role says what has to be done with it. The stages are
 * loops over this, so that a new kind is its entries in the two lists and nothing else.
 */
struct gt_binding {
	const struct gt_field *field;
	const struct gt_column *column;
};

struct gt_kind {
	const struct gt_record_info *info; /* NULL: no kind that becomes rows */
	size_t table;                      /* GT_TABLE_... */
	struct gt_binding bindings[GT_RECORD_MAX_FIELDS];
	size_t binding_count;
	const struct gt_field *context; /* for columns that need it too; NULL: there is none */
	const struct gt_field *device;
	bool has_times;
};

struct gt_kinds {
	struct gt_kind kinds[GT_RECORD_KIND_COUNT];
};

void gt_kinds_init(struct gt_kinds *kinds);

/*
 * Whether every field has its column and fits it. 0, or -EINVAL and the first that does not: the
 * build runs this (cmake/check_kinds.c), so that what was forgotten does not get out of it.
 */
int gt_kinds_check(const struct gt_kinds *kinds, struct gt_error *err);

/* NULL for a kind that becomes no rows. */
static inline const struct gt_kind *gt_kind_find(const struct gt_kinds *kinds, uint32_t kind)
{
	return kind < GT_RECORD_KIND_COUNT && kinds->kinds[kind].info ? &kinds->kinds[kind] : NULL;
}

#endif
