/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/filter.h"

#include "model/view/filter.h"

static int add(struct gt_filter *filter, enum gt_filter_part part,
               const struct gt_option_list *list, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < list->count; i++)
		result = gt_filter_add(filter, part, list->texts[i], err);
	return result;
}

int gt_filter_read(const struct gt_filter_args *args, struct gt_filter *filter,
                   struct gt_error *err)
{
	int result = 0;

	if (args->from)
		result = gt_filter_add(filter, GT_FILTER_FROM, args->from, err);
	if (result == 0 && args->to)
		result = gt_filter_add(filter, GT_FILTER_TO, args->to, err);
	if (result == 0)
		result = add(filter, GT_FILTER_PROCESS, &args->processes, err);
	if (result == 0)
		result = add(filter, GT_FILTER_DEVICE, &args->devices, err);
	if (result == 0)
		result = add(filter, GT_FILTER_STREAM, &args->streams, err);
	if (result == 0)
		result = add(filter, GT_FILTER_KERNEL, &args->kernels, err);
	if (result == 0)
		result = add(filter, GT_FILTER_RANGE, &args->ranges, err);
	if (result == 0 && args->skip)
		result = gt_filter_add(filter, GT_FILTER_SKIP, args->skip, err);
	if (result == 0 && args->take)
		result = gt_filter_add(filter, GT_FILTER_TAKE, args->take, err);
	if (result == 0 && args->instance)
		result = gt_filter_add(filter, GT_FILTER_INSTANCE, args->instance, err);
	if (result == 0)
		result = gt_filter_sound(filter, err);
	return result;
}
