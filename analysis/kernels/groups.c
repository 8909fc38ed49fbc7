/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernels/groups.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "model/naming/kernel_names.h"
#include "model/naming/labels.h"
#include "model/naming/shape_names.h"
#include "model/naming/short_name.h"
#include "model/ranges/owners.h"

const char *const gt_group_words[] = {GT_GROUP_WORDS, NULL};

enum gt_group_by gt_group_by(const char *word)
{
	size_t i = 0;

	while (gt_group_words[i + 1] && strcmp(gt_group_words[i], word) != 0)
		i++;
	return (enum gt_group_by)i;
}

static uint32_t add_label(struct gt_strings *labels, const char *text)
{
	return gt_strings_add(labels, *text ? text : "(name not known)");
}

static uint32_t label_of_launch(struct gt_strings *labels, const char *name,
                                const struct gt_launch_shape *shape)
{
	const size_t size = strlen(name) + 128;
	char *text = gt_allocate(size);
	uint32_t id;
	int length = snprintf(text, size, "%s <<<%ux%ux%u, %ux%ux%u>>>", name, shape->grid_x,
	                      shape->grid_y, shape->grid_z, shape->block_x, shape->block_y,
	                      shape->block_z);

	if (shape->cluster_x)
		snprintf(text + length, size - (size_t)length, " cluster %ux%ux%u",
		         shape->cluster_x, shape->cluster_y, shape->cluster_z);
	id = add_label(labels, text);
	free(text);
	return id;
}

static uint32_t label_of_shape(const struct gt_kernel_groups *groups, const struct gt_trace *trace,
                               gt_id row)
{
	const struct gt_launch_shape *shape = &trace->launch_shapes.rows[row];
	const char *name = gt_shape_name(trace, row);
	char base[GT_SHORT_NAME_MOST];

	switch (groups->by) {
	case GT_BY_BASE:
		gt_short_base(gt_shape_text(trace, shape, GT_NAMES_SHORT), base, sizeof(base));
		return add_label(groups->strings, base);
	case GT_BY_SHAPE:
		return label_of_launch(groups->strings, name, shape);
	case GT_BY_FAMILY:
		return add_label(groups->strings, gt_family_name(shape->family));
	case GT_BY_ORIGIN:
		return add_label(groups->strings, gt_origin_name(shape->origin));
	case GT_BY_NAME:
	case GT_BY_STREAM:
	case GT_BY_RANGE:
		break;
	}
	return add_label(groups->strings, name);
}

/* As people tell streams apart: several processes and GPUs have a stream 7. */
static uint32_t label_of_stream(const struct gt_kernel_groups *groups, const struct gt_trace *trace,
                                gt_id row)
{
	const struct gt_stream *stream = &trace->streams.rows[row];
	const gt_id process = gt_trace_stream_process(trace, row);
	const gt_id device = stream->context < trace->contexts.count
	                             ? trace->contexts.rows[stream->context].device
	                             : GT_NONE;
	char label[GT_LABEL_BYTES];
	char text[GT_LABEL_BYTES + 96];
	int length;

	gt_stream_label(trace, row, label, sizeof(label));
	length = snprintf(text, sizeof(text), "stream %s", label);
	if (trace->devices.count > 1 && device < trace->devices.count)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " of GPU %lld",
		                   (long long)gt_device_number(&trace->devices.rows[device]));
	if (trace->processes.count > 1 && process < trace->processes.count)
		snprintf(text + length, sizeof(text) - (size_t)length, " of process %u",
		         trace->processes.rows[process].pid);
	return gt_strings_add(groups->strings, text);
}

static uint32_t label_of_path(const struct gt_kernel_groups *groups, gt_id path)
{
	char text[GT_RANGE_PATH_BYTES];

	gt_range_path_text(&groups->ranges, path, text);
	return gt_strings_add(groups->strings, text);
}

static uint32_t label_of_key(const struct gt_kernel_groups *groups, const struct gt_trace *trace,
                             gt_id key)
{
	switch (groups->by) {
	case GT_BY_STREAM:
		return label_of_stream(groups, trace, key);
	case GT_BY_RANGE:
		return label_of_path(groups, key);
	case GT_BY_NAME:
	case GT_BY_BASE:
	case GT_BY_SHAPE:
	case GT_BY_FAMILY:
	case GT_BY_ORIGIN:
		break;
	}
	return label_of_shape(groups, trace, key);
}

/* Kernels of which nothing is known are a group with a label, like the others. */
static uint32_t label_of_none(const struct gt_kernel_groups *groups)
{
	switch (groups->by) {
	case GT_BY_FAMILY:
		return gt_strings_add(groups->strings, gt_family_name(GT_FAMILY_other));
	case GT_BY_ORIGIN:
		return gt_strings_add(groups->strings, gt_origin_name(GT_ORIGIN_unknown));
	case GT_BY_STREAM:
		return gt_strings_add(groups->strings, "(stream not known)");
	case GT_BY_RANGE:
		return gt_strings_add(groups->strings, "(in no range)");
	case GT_BY_NAME:
	case GT_BY_BASE:
	case GT_BY_SHAPE:
		break;
	}
	return gt_strings_add(groups->strings, "(name not known)");
}

static bool is_by_shape(const struct gt_kernel_groups *groups)
{
	return groups->by != GT_BY_STREAM && groups->by != GT_BY_RANGE;
}

static size_t count_keys(struct gt_kernel_groups *groups, const struct gt_trace *trace)
{
	if (groups->by == GT_BY_RANGE) {
		gt_ranges_init(&groups->ranges, trace);
		return groups->ranges.paths.count;
	}
	return groups->by == GT_BY_STREAM ? trace->streams.count : trace->launch_shapes.count;
}

void gt_kernel_groups_init(struct gt_kernel_groups *groups, const struct gt_trace *trace,
                           enum gt_group_by by)
{
	*groups = (struct gt_kernel_groups){.by = by, .trace = trace, .strings = gt_strings_new()};
	groups->key_count = count_keys(groups, trace);
	groups->of_key = gt_allocate((groups->key_count + 1) * sizeof(*groups->of_key));
	for (gt_id row = 0; row < groups->key_count; row++)
		groups->of_key[row] = label_of_key(groups, trace, row) -
		                      1; /* no label is empty: their ids begin with 1 */
	groups->none = label_of_none(groups) - 1;
	groups->count = gt_strings_count(groups->strings) - 1;
	groups->labels = gt_allocate((groups->count + 1) * sizeof(*groups->labels));
	groups->shapes = gt_allocate((groups->count + 1) * sizeof(*groups->shapes));
	for (size_t i = 0; i < groups->count; i++)
		groups->labels[i] = gt_strings_get(groups->strings, (uint32_t)i + 1);
	memset(groups->shapes, 0xff, (groups->count + 1) * sizeof(*groups->shapes));
	for (gt_id row = 0; is_by_shape(groups) && row < groups->key_count; row++)
		if (groups->shapes[groups->of_key[row]] == GT_NONE)
			groups->shapes[groups->of_key[row]] = row;
}

static gt_id key_of(const struct gt_kernel_groups *groups, const struct gt_kernel *kernel)
{
	switch (groups->by) {
	case GT_BY_STREAM:
		return kernel->stream;
	case GT_BY_RANGE:
		return gt_ranges_path(&groups->ranges,
		                      gt_owner_of(groups->trace, GT_ACTIVITY_KERNEL,
		                                  (gt_id)(kernel - groups->trace->kernels.rows))
		                              .range);
	case GT_BY_NAME:
	case GT_BY_BASE:
	case GT_BY_SHAPE:
	case GT_BY_FAMILY:
	case GT_BY_ORIGIN:
		break;
	}
	return kernel->shape;
}

size_t gt_kernel_group_of(const struct gt_kernel_groups *groups, const struct gt_kernel *kernel)
{
	const gt_id key = key_of(groups, kernel);

	return key < groups->key_count ? groups->of_key[key] : groups->none;
}

void gt_kernel_groups_release(struct gt_kernel_groups *groups)
{
	gt_ranges_release(&groups->ranges);
	gt_strings_free(groups->strings);
	free(groups->of_key);
	free(groups->labels);
	free(groups->shapes);
	*groups = (struct gt_kernel_groups){0};
}
