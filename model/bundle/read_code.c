/* SPDX-License-Identifier: Apache-2.0 */
#include "model/bundle/reader.h"

#define MOST_IMAGE ((int64_t)1 << 32)

static const struct gt_json_field module_fields[] = {
	GT_JSON_OTHER(struct gt_bundle_module, ptx, FLAG),
	GT_JSON_NUMBER(struct gt_bundle_module, arch, U32, 0, 10000),
};

void gt_bundle_add_module(struct gt_bundle_reader *reader, const json_t *object)
{
	struct gt_bundle_module *module = gt_array_push(&reader->bundle->modules);

	*module = (struct gt_bundle_module){0};
	GT_BUNDLE_FIELDS(reader, object, module_fields, module);
	gt_bundle_read_blob(reader, object, "image", MOST_IMAGE, &module->image);
	if (module->image.size == 0)
		gt_bundle_refuse(reader, "it has no image");
}

#define PARAMETER(name, low, high) GT_JSON_NEEDED(struct gt_bundle_parameter, name, U32, low, high)

static const struct gt_json_field parameter_fields[] = {
	PARAMETER(offset, 0, GT_BUNDLE_MOST_PARAMETERS),
	PARAMETER(size, 1, GT_BUNDLE_MOST_PARAMETERS),
};

static void add_parameters(struct gt_bundle_reader *reader, const json_t *list,
                           struct gt_bundle_function *function)
{
	uint32_t bytes = 0;

	if (list && !json_is_array(list))
		gt_bundle_refuse(reader, "parameters is not a list");
	for (size_t i = 0; reader->reading.result == 0 && i < json_array_size(list); i++) {
		struct gt_bundle_parameter *parameter = gt_array_push(&function->parameters);

		*parameter = (struct gt_bundle_parameter){0};
		GT_BUNDLE_FIELDS(reader, json_array_get(list, i), parameter_fields, parameter);
		if (parameter->offset + parameter->size > GT_BUNDLE_MOST_PARAMETERS)
			gt_bundle_refuse(reader, "parameter %zu ends behind %d bytes", i,
			                 GT_BUNDLE_MOST_PARAMETERS);
		if (parameter->offset + parameter->size > bytes)
			bytes = parameter->offset + parameter->size;
	}
	*gt_array_push(&reader->parameter_bytes) = bytes;
}

#define FUNCTION(name, kind, low, high)                                                            \
	GT_JSON_NUMBER(struct gt_bundle_function, name, kind, low, high)

static const struct gt_json_field function_fields[] = {
	GT_JSON_NEEDED(struct gt_bundle_function, module, U32, 0, GT_BUNDLE_MOST_COUNT),
	GT_JSON_OTHER(struct gt_bundle_function, name, TEXT),
	FUNCTION(registers, U32, 0, INT32_MAX),
	FUNCTION(shared_bytes, U32, 0, INT32_MAX),
	FUNCTION(local_bytes, U32, 0, INT32_MAX),
	FUNCTION(constant_bytes, U32, 0, INT32_MAX),
	FUNCTION(max_threads, U32, 0, INT32_MAX),
	FUNCTION(max_dynamic_bytes, U32, 0, INT32_MAX),
	FUNCTION(carveout, I32, -1, 100),
	FUNCTION(cluster, TRIPLE, 0, GT_BUNDLE_MOST_CLUSTERS),
	GT_JSON_OTHER(struct gt_bundle_function, cluster_other, FLAG),
};

void gt_bundle_add_function(struct gt_bundle_reader *reader, const json_t *object)
{
	struct gt_bundle_function *function = gt_array_push(&reader->bundle->functions);

	*function = (struct gt_bundle_function){.carveout = -1};
	GT_BUNDLE_FIELDS(reader, object, function_fields, function);
	if (!function->name)
		function->name = gt_bundle_empty_text();
	if (!*function->name)
		gt_bundle_refuse(reader, "it has no name");
	if (function->module >= reader->bundle->modules.count)
		gt_bundle_refuse(reader, "there is no module %u", function->module);
	add_parameters(reader, json_object_get(object, "parameters"), function);
}
