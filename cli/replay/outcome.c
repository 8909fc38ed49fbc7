/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/outcome.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "model/json/values.h"

enum { VERSION = 1 };

enum kind { TEXT, REAL, COUNT, FACT };

/* Fields of an outcome that are kept. */
static const struct field {
	const char *name;
	enum kind kind;
	size_t offset;
	size_t size; /* of a text */
} fields[] = {
#define FIELD(kind, name)                                                                          \
	{                                                                                          \
#name, kind, offsetof(struct gt_outcome, name),                                    \
			sizeof(((struct gt_outcome *)NULL)->name)                                  \
	}
	/* clang-format off */
	FIELD(TEXT, date),
	FIELD(TEXT, variant),
	FIELD(TEXT, conditions),
	FIELD(TEXT, device),
	FIELD(TEXT, uuid),
	FIELD(TEXT, driver),
	FIELD(TEXT, host),
	FIELD(TEXT, gputrace),
	FIELD(TEXT, clock),
	FIELD(TEXT, failure),
	FIELD(TEXT, doubt),
	FIELD(TEXT, fits),
	FIELD(REAL, median_ns),
	FIELD(REAL, least_ns),
	FIELD(REAL, most_ns),
	FIELD(REAL, p05_ns),
	FIELD(REAL, p95_ns),
	FIELD(REAL, error),
	FIELD(REAL, events_ns),
	FIELD(REAL, sm_mhz),
	FIELD(REAL, job_ns),
	FIELD(REAL, bytes),
	FIELD(COUNT, runs),
	FIELD(COUNT, thrown_out),
	FIELD(COUNT, other_mode),
	FIELD(COUNT, others_plus_one),
	FIELD(COUNT, mismatches),
	FIELD(COUNT, unwritten),
	FIELD(COUNT, outside),
	FIELD(COUNT, varying),
	FIELD(COUNT, step_plus_one),
	FIELD(COUNT, sequence_mismatches),
	FIELD(FACT, stable),
	FIELD(FACT, checked),
	FIELD(FACT, verified),
	FIELD(FACT, too_slow),
#undef FIELD
	/* clang-format on */
};

static void *at(struct gt_outcome *outcome, const struct field *field)
{
	return (char *)outcome + field->offset;
}

static const void *look_at(const struct gt_outcome *outcome, const struct field *field)
{
	return (const char *)outcome + field->offset;
}

void gt_outcome_init(struct gt_outcome *outcome)
{
	*outcome = (struct gt_outcome){
		.roof = {GT_CEILINGS, NAN, NAN, 0},
		.first_bad_step = UINT32_MAX,
		.by_state = {NAN, NAN, NAN},
		.fits_ns = NAN,
	};
	for (size_t i = 0; i < GT_COUNT_OF(fields); i++)
		if (fields[i].kind == REAL)
			*(double *)at(outcome, &fields[i]) = NAN;
}

void gt_outcome_release(struct gt_outcome *outcome)
{
	gt_array_release(&outcome->buffers);
}

void gt_outcomes_release(struct gt_outcomes *outcomes)
{
	gt_array_each(struct gt_outcome, outcome, &outcomes->list)
		gt_outcome_release(outcome);
	gt_array_release(&outcomes->list);
}

void gt_outcome_label(const struct gt_outcome *outcome, char text[GT_OUTCOME_LABEL_BYTES])
{
	const bool recorded = strcmp(outcome->variant, GT_OUTCOME_AS_RECORDED) == 0;

	if (!*outcome->form)
		snprintf(text, GT_OUTCOME_LABEL_BYTES, "%s", outcome->variant);
	else
		snprintf(text, GT_OUTCOME_LABEL_BYTES, "form=%s%s%s", outcome->form,
		         recorded ? "" : " ", recorded ? "" : outcome->variant);
}

const struct gt_outcome *gt_outcome_recorded(const struct gt_outcomes *outcomes,
                                             const struct gt_outcome *outcome)
{
	gt_array_each(const struct gt_outcome, other, &outcomes->list)
		if (strcmp(other->variant, GT_OUTCOME_AS_RECORDED) == 0 &&
		    strcmp(other->conditions, outcome->conditions) == 0)
			return other;
	return NULL;
}

double gt_outcome_off(const struct gt_outcome *outcome)
{
	return outcome->job_ns > 0 ? 100 * (outcome->fits_ns / outcome->job_ns - 1) : NAN;
}

bool gt_outcome_differs(const struct gt_outcome *outcome)
{
	return (outcome->checked && !outcome->verified) || outcome->sequence_mismatches > 0;
}

bool gt_outcome_same(const struct gt_outcome *one, const struct gt_outcome *other)
{
	return strcmp(one->variant, other->variant) == 0 &&
	       strcmp(one->conditions, other->conditions) == 0 &&
	       strcmp(one->device, other->device) == 0 && strcmp(one->uuid, other->uuid) == 0;
}

static void set(json_t *root, const struct gt_outcome *outcome, const struct field *field)
{
	const void *value = look_at(outcome, field);

	switch (field->kind) {
	case TEXT:
		gt_json_set_text(root, field->name, value);
		break;
	case REAL:
		gt_json_set_real(root, field->name, *(const double *)value);
		break;
	case COUNT:
		(void)json_object_set_new(root, field->name,
		                          json_integer((json_int_t) * (const uint64_t *)value));
		break;
	case FACT:
		(void)json_object_set_new(root, field->name, json_boolean(*(const bool *)value));
		break;
	}
}

char *gt_outcome_text(const struct gt_outcome *outcome)
{
	json_t *root = json_object();

	(void)json_object_set_new(root, "version", json_integer(VERSION));
	for (size_t i = 0; i < GT_COUNT_OF(fields); i++)
		set(root, outcome, &fields[i]);
	return gt_json_file_text(root);
}

static void get(struct gt_outcome *outcome, const struct field *field, const json_t *root)
{
	const json_t *value = json_object_get(root, field->name);
	void *to = at(outcome, field);

	switch (field->kind) {
	case TEXT:
		gt_json_get_text(root, field->name, to, field->size);
		break;
	case REAL:
		*(double *)to = gt_json_get_real(root, field->name);
		break;
	case COUNT:
		if (json_integer_value(value) > 0)
			*(uint64_t *)to = (uint64_t)json_integer_value(value);
		break;
	case FACT:
		*(bool *)to = json_is_true(value);
		break;
	}
}

int gt_outcome_parse(struct gt_outcome *outcome, const char *text, size_t size, const char *what,
                     struct gt_error *err)
{
	json_error_t problem;
	json_t *root = json_loadb(text, size, 0, &problem);
	int result = 0;

	gt_outcome_init(outcome);
	if (!root)
		result = gt_fail(err, EBADMSG, "%s is damaged at line %d: %s", what, problem.line,
		                 problem.text);
	else if (!json_is_string(json_object_get(root, "variant")))
		result = gt_fail(err, EBADMSG, "%s is not what gputrace replay writes", what);
	else if (json_integer_value(json_object_get(root, "version")) > VERSION)
		result = gt_fail(err, EBADMSG, "%s was written by a newer gputrace", what);
	for (size_t i = 0; result == 0 && i < GT_COUNT_OF(fields); i++)
		get(outcome, &fields[i], root);
	json_decref(root);
	return result;
}
