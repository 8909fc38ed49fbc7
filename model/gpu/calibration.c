/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/calibration.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "model/json/values.h"
#include "model/shipped_calibrations.h"

void gt_calibration_release(struct gt_calibration *calibration)
{
	gt_array_release(&calibration->list);
}

void gt_calibrations_release(struct gt_calibrations *calibrations)
{
	gt_array_each(struct gt_calibration, calibration, &calibrations->list)
		gt_calibration_release(calibration);
	gt_array_release(&calibrations->list);
}

/* GT_CEILINGS: of a newer gputrace, or none. */
static enum gt_ceiling_name name_of(const json_t *object)
{
	const char *text = json_string_value(json_object_get(object, "name"));
	unsigned name = 0;

	while (name < GT_CEILINGS && (!text || strcmp(gt_ceiling_names[name], text) != 0))
		name++;
	return (enum gt_ceiling_name)name;
}

static void add_ceiling(struct gt_calibration *calibration, const json_t *object)
{
	struct gt_calibrated ceiling = {
		.name = name_of(object),
		.value = gt_json_get_real(object, "value"),
		.spread = gt_json_get_real(object, "spread"),
		.sm_mhz = gt_json_get_real(object, "sm_mhz"),
	};

	if (ceiling.name == GT_CEILINGS)
		return;
	if (ceiling.value == 0)
		ceiling.value = NAN;
	gt_json_get_text(object, "peer", ceiling.peer, sizeof(ceiling.peer));
	gt_json_get_text(object, "how", ceiling.how, sizeof(ceiling.how));
	*gt_array_push(&calibration->list) = ceiling;
}

static void add_calibration(struct gt_calibrations *calibrations, const json_t *object)
{
	struct gt_calibration *added = gt_array_push(&calibrations->list);
	const json_t *ceilings = json_object_get(object, "ceilings");

	*added = (struct gt_calibration){
		.cc_major = gt_json_get_count(object, "cc_major"),
		.cc_minor = gt_json_get_count(object, "cc_minor"),
		.sm_count = gt_json_get_count(object, "sm_count"),
		.sm_clock_khz = gt_json_get_count(object, "sm_clock_khz"),
		.memory_clock_khz = gt_json_get_count(object, "memory_clock_khz"),
		.memory_bus_bits = gt_json_get_count(object, "memory_bus_bits"),
	};
	gt_json_get_text(object, "device", added->device, sizeof(added->device));
	gt_json_get_text(object, "uuid", added->uuid, sizeof(added->uuid));
	gt_json_get_text(object, "driver", added->driver, sizeof(added->driver));
	gt_json_get_text(object, "cuda", added->cuda, sizeof(added->cuda));
	gt_json_get_text(object, "host", added->host, sizeof(added->host));
	gt_json_get_text(object, "date", added->date, sizeof(added->date));
	gt_json_get_text(object, "gputrace", added->gputrace, sizeof(added->gputrace));
	for (size_t i = 0; i < json_array_size(ceilings); i++)
		add_ceiling(added, json_array_get(ceilings, i));
}

int gt_calibrations_parse(struct gt_calibrations *calibrations, const char *text, size_t size,
                          const char *what, struct gt_error *err)
{
	json_error_t problem;
	json_t *root = json_loadb(text, size, 0, &problem);
	const json_t *list = json_object_get(root, "calibrations");
	int result = 0;

	if (!root)
		result = gt_fail(err, EBADMSG, "%s is damaged at line %d: %s", what, problem.line,
		                 problem.text);
	else if (!json_is_array(list))
		result = gt_fail(err, EBADMSG, "%s is not what gputrace calibrate writes", what);
	else if (json_integer_value(json_object_get(root, "version")) > GT_CALIBRATION_VERSION)
		result = gt_fail(err, EBADMSG, "%s was written by a newer gputrace", what);
	for (size_t i = 0; result == 0 && i < json_array_size(list); i++)
		add_calibration(calibrations, json_array_get(list, i));
	json_decref(root);
	return result;
}

static const char *const units[GT_CEILINGS] = {
#define CEILING(name, unit, group, help) unit,
#include "model/gpu/ceilings.def"
};

static json_t *json_of_ceiling(const struct gt_calibrated *ceiling)
{
	json_t *object = json_object();

	gt_json_set_text(object, "name", gt_ceiling_names[ceiling->name]);
	gt_json_set_text(object, "unit", units[ceiling->name]);
	gt_json_set_text(object, "peer", ceiling->peer);
	gt_json_set_real(object, "value", ceiling->value);
	gt_json_set_real(object, "spread", ceiling->spread);
	gt_json_set_real(object, "sm_mhz", ceiling->sm_mhz);
	gt_json_set_text(object, "how", ceiling->how);
	return object;
}

static json_t *json_of_calibration(const struct gt_calibration *calibration)
{
	json_t *object = json_object();
	json_t *ceilings = json_array();

	gt_json_set_text(object, "device", calibration->device);
	gt_json_set_text(object, "uuid", calibration->uuid);
	gt_json_set_text(object, "driver", calibration->driver);
	gt_json_set_text(object, "cuda", calibration->cuda);
	gt_json_set_text(object, "host", calibration->host);
	gt_json_set_text(object, "date", calibration->date);
	gt_json_set_text(object, "gputrace", calibration->gputrace);
	gt_json_set_count(object, "cc_major", calibration->cc_major);
	gt_json_set_count(object, "cc_minor", calibration->cc_minor);
	gt_json_set_count(object, "sm_count", calibration->sm_count);
	gt_json_set_count(object, "sm_clock_khz", calibration->sm_clock_khz);
	gt_json_set_count(object, "memory_clock_khz", calibration->memory_clock_khz);
	gt_json_set_count(object, "memory_bus_bits", calibration->memory_bus_bits);
	gt_array_each(const struct gt_calibrated, ceiling, &calibration->list)
		(void)json_array_append_new(ceilings, json_of_ceiling(ceiling));
	(void)json_object_set_new(object, "ceilings", ceilings);
	return object;
}

char *gt_calibrations_text(const struct gt_calibrations *calibrations)
{
	json_t *root = json_object();
	json_t *list = json_array();

	(void)json_object_set_new(root, "version", json_integer(GT_CALIBRATION_VERSION));
	gt_array_each(const struct gt_calibration, calibration, &calibrations->list)
		(void)json_array_append_new(list, json_of_calibration(calibration));
	(void)json_object_set_new(root, "calibrations", list);
	return gt_json_file_text(root);
}

const struct gt_calibration *gt_calibrations_find(const struct gt_calibrations *calibrations,
                                                  const char *uuid)
{
	const struct gt_calibration *found = NULL;

	gt_array_each(const struct gt_calibration, calibration, &calibrations->list)
		if (*uuid && strcmp(calibration->uuid, uuid) == 0)
			found = calibration;
	return found;
}

void gt_calibrated_describe(const struct gt_calibration *calibration,
                            const struct gt_calibrated *ceiling, char text[GT_MEASURED_BYTES])
{
	char clock[32] = "";

	if (isfinite(ceiling->sm_mhz))
		snprintf(clock, sizeof(clock), ", SM at %.0f MHz", ceiling->sm_mhz);
	snprintf(text, GT_MEASURED_BYTES, "%s%s%.10s, driver %s%s", ceiling->how,
	         *ceiling->how ? "; " : "", *calibration->date ? calibration->date : "some day",
	         *calibration->driver ? calibration->driver : "not known", clock);
}

/* model/gpu/calibrations/NAME.json; the last has no text. */
struct shipped {
	const char *name;
	const char *text;
	size_t size;
};

static const struct shipped shipped[] = {
#include "model/shipped_calibrations.inc"
	{NULL, NULL, 0},
};

void gt_calibrations_add_shipped(struct gt_calibrations *calibrations)
{
	for (const struct shipped *file = shipped; file->text; file++)
		(void)gt_calibrations_parse(calibrations, file->text, file->size, file->name, NULL);
}
