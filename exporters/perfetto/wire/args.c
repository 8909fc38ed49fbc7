/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/wire/args.h"

#include <assert.h>
#include <math.h>

#include "exporters/perfetto/wire/sequence.h"
#include "exporters/perfetto/wire/wire.h"

static const char *const names[GT_ARG_COUNT] = {
	[GT_ARG_WORKGROUP_SIZE] = "workgroup_size",
	[GT_ARG_GRID_SIZE] = "grid_size",
	[GT_ARG_THREAD_COUNT] = "thread_count",
	[GT_ARG_REGISTERS] = "registers_per_thread",
	[GT_ARG_SHARED_STATIC] = "shared_mem_static",
	[GT_ARG_SHARED_DYNAMIC] = "shared_mem_dynamic",
	[GT_ARG_SHARED_CONFIGURED] = "shared_mem_config_size",
	[GT_ARG_CACHE_CONFIG] = "func_cache_config",
	[GT_ARG_FAMILY] = "family",
	[GT_ARG_COLOUR] = "correlation_id",
	[GT_ARG_ORIGIN] = "origin",
	[GT_ARG_TILE] = "tile",
	[GT_ARG_CLUSTER_X] = "cluster_x",
	[GT_ARG_CLUSTER_Y] = "cluster_y",
	[GT_ARG_CLUSTER_Z] = "cluster_z",
	[GT_ARG_WAVES] = "waves_per_multiprocessor",
	[GT_ARG_LAST_WAVE_EMPTY] = "last_wave_empty_percent",
	[GT_ARG_MULTIPROCESSORS] = "multiprocessors",
	[GT_ARG_BARRIERS] = "barriers_per_block",
	[GT_ARG_LIMIT_BARRIERS] = "occupancy_limit_barriers",
	[GT_ARG_LIMIT_BLOCKS] = "occupancy_limit_blocks",
	[GT_ARG_LIMIT_REGISTERS] = "occupancy_limit_registers",
	[GT_ARG_LIMIT_SHARED] = "occupancy_limit_shared_mem",
	[GT_ARG_LIMIT_WARPS] = "occupancy_limit_warps",
	[GT_ARG_LIMITED_BY] = "occupancy_limited_by",
	[GT_ARG_OCCUPANCY_PERCENT] = "sm__maximum_warps_per_active_cycle_pct",
	[GT_ARG_OCCUPANCY_WARPS] = "sm__maximum_warps_avg_per_active_cycle",
	[GT_ARG_PROCESS_NAME] = "process_name",
	[GT_ARG_PROCESS_ID] = "process_id",
	[GT_ARG_DEVICE] = "device",
	[GT_ARG_STREAM] = "stream",
	[GT_ARG_GRAPH] = "graph",
	[GT_ARG_GRAPH_NODE] = "graph_node",
	[GT_ARG_MADE_BY] = "made_by",
	[GT_ARG_MADE_ON] = "made_on_thread",
	[GT_ARG_FIRST_LAUNCH] = "first_launch",
	[GT_ARG_PROFILED] = "profiled",
	[GT_ARG_BYTES] = "bytes",
	[GT_ARG_KIND] = "kind",
	[GT_ARG_SRC] = "src",
	[GT_ARG_DST] = "dst",
	[GT_ARG_RATE] = "gb_per_s",
	[GT_ARG_VALUE] = "value",
	[GT_ARG_RANGE] = "range",
	[GT_ARG_CAPTURED_IN] = "captured_in",
	[GT_ARG_SOURCE] = "source",
	[GT_ARG_READ_BYTES] = "read_bytes",
	[GT_ARG_WRITE_BYTES] = "write_bytes",
	[GT_ARG_BYTES_FROM] = "bytes_from",
	[GT_ARG_PATH] = "path",
	[GT_ARG_KERNELS] = "kernels",
	[GT_ARG_COPIES] = "copies",
	[GT_ARG_BUSY] = "busy_ns",
	[GT_ARG_IDLE] = "idle_ns",
};

void gt_args_init(struct gt_args *args)
{
	args->count = 0;
}

static Perfetto__ExtraComputeArg *add(struct gt_args *args, enum gt_arg name)
{
	assert(args->count < GT_ARG_COUNT);

	Perfetto__ExtraComputeArg *arg = &args->rows[args->count];

	*arg = (Perfetto__ExtraComputeArg)PERFETTO__EXTRA_COMPUTE_ARG__INIT;
	arg->has_name_iid = 1;
	arg->name_iid = name;
	args->list[args->count++] = arg;
	return arg;
}

void gt_args_add_int(struct gt_args *args, enum gt_arg name, int64_t value)
{
	Perfetto__ExtraComputeArg *arg = add(args, name);

	arg->has_int_value = 1;
	arg->int_value = value;
}

void gt_args_add_real(struct gt_args *args, enum gt_arg name, double value)
{
	Perfetto__ExtraComputeArg *arg;

	if (!isfinite(value))
		return;
	arg = add(args, name);
	arg->has_double_value = 1;
	arg->double_value = value;
}

void gt_args_add_text(struct gt_args *args, enum gt_arg name, const char *value)
{
	add(args, name)->string_value = gt_borrow(value);
}

void gt_args_add_known(struct gt_args *args, enum gt_arg name, uint64_t iid)
{
	Perfetto__ExtraComputeArg *arg = add(args, name);

	arg->has_string_value_iid = 1;
	arg->string_value_iid = iid;
}

void gt_args_intern_names(struct gt_sequence *sequence)
{
	Perfetto__InternedString rows[GT_ARG_COUNT];
	Perfetto__InternedString *list[GT_ARG_COUNT];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	for (size_t i = GT_ARG_NONE + 1; i < GT_ARG_COUNT; i++) {
		list[data.n_compute_arg_names] = &rows[i];
		rows[i] = gt_interned(i, names[i]);
		data.n_compute_arg_names++;
	}
	data.compute_arg_names = list;
	gt_sequence_intern(sequence, &data);
}
