/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/parameter.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/parse.h"

static int read_choice(const struct gt_parameter *parameter, const char *value,
                       struct gt_argument *argument, struct gt_error *err)
{
	const char *nearest;
	char all[256];

	for (const char *const *choice = parameter->choices; *choice; choice++) {
		if (strcmp(*choice, value) == 0) {
			argument->text = *choice;
			return 0;
		}
	}
	nearest = gt_nearest(value, parameter->choices);
	if (nearest)
		return gt_fail(err, EINVAL, "%s cannot be '%s'; did you mean %s?", parameter->name,
		               value, nearest);
	gt_alternatives(parameter->choices, all, sizeof(all));
	return gt_fail(err, EINVAL, "%s cannot be '%s'; it can be %s", parameter->name, value, all);
}

static int read_value(const struct gt_parameter *parameter, const char *value,
                      struct gt_argument *argument, struct gt_error *err)
{
	switch (parameter->kind) {
	case GT_PARAMETER_COUNT:
	case GT_PARAMETER_ROWS:
		if (gt_parse_count(value, &argument->number) < 0)
			return gt_fail(err, EINVAL, "%s needs a number, not '%s'", parameter->name,
			               value);
		return 0;
	case GT_PARAMETER_DURATION:
		if (gt_parse_duration(value, &argument->number) < 0)
			return gt_fail(err, EINVAL,
			               "%s needs a duration such as 500us, 20ms or 1s, not '%s'",
			               parameter->name, value);
		return 0;
	case GT_PARAMETER_TEXT:
		argument->text = value;
		return 0;
	case GT_PARAMETER_CHOICE:
		return read_choice(parameter, value, argument, err);
	}
	return -EINVAL;
}

void gt_arguments_init(struct gt_arguments *arguments, const struct gt_parameter *parameters)
{
	*arguments = (struct gt_arguments){0};
	for (size_t i = 0; parameters && parameters[i].name; i++) {
		int result;

		assert(i < GT_PARAMETERS_MOST);
		result = read_value(&parameters[i], parameters[i].initial, &arguments->values[i],
		                    NULL);
		assert(result == 0);
		(void)result;
	}
}

void gt_arguments_limit(struct gt_arguments *arguments, const struct gt_parameter *parameters,
                        uint64_t rows)
{
	for (size_t i = 0; parameters && parameters[i].name; i++)
		if (parameters[i].kind == GT_PARAMETER_ROWS)
			arguments->values[i].number = rows;
}

int gt_arguments_set(struct gt_arguments *arguments, const struct gt_parameter *parameters,
                     const char *setting, struct gt_error *err)
{
	const size_t length = strcspn(setting, "=");

	if (!setting[length])
		return gt_fail(err, EINVAL, "a setting is written NAME=VALUE, not '%s'", setting);
	for (size_t i = 0; parameters && parameters[i].name; i++)
		if (strlen(parameters[i].name) == length &&
		    memcmp(parameters[i].name, setting, length) == 0)
			return read_value(&parameters[i], setting + length + 1,
			                  &arguments->values[i], err);
	return -ENOENT;
}
