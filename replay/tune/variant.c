/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/tune/variant.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "model/bundle/bundle.h"

enum {
	LEAST_REGISTERS = 16,
	MOST_REGISTERS = 255,
	PORTABLE_CLUSTER = 8, /* blocks that every GPU with clusters allows (CUDA C++ Guide) */
	FIRST_WITH_CLUSTERS = 9,
};

/* One launch, and what is made of it. */
struct change {
	const struct gt_variant *variant;
	const struct gt_bundle_function *function;
	const struct gt_variant_code *code;
	const struct gt_bundle_step *step;
	const struct gt_variant_limits *limits;
	struct gt_variant_launch *launch;
	struct gt_error *err;
};

struct gt_variant gt_variant_recorded(void)
{
	return (struct gt_variant){.shared_bytes = -1, .carveout = GT_CARVEOUT_RECORDED};
}

bool gt_variant_changes(const struct gt_variant *variant)
{
	return variant->block[0] || variant->cluster[0] || variant->shared_bytes >= 0 ||
	       variant->carveout != GT_CARVEOUT_RECORDED || variant->max_registers ||
	       variant->module;
}

struct extent {
	char text[40];
};

/* 256, 16x16 or 8x8x4: axes of one at the end are left out. */
static struct extent extent_of(const uint32_t axes[3])
{
	struct extent extent;

	if (axes[2] > 1)
		snprintf(extent.text, sizeof(extent.text), "%ux%ux%u", axes[0], axes[1], axes[2]);
	else if (axes[1] > 1)
		snprintf(extent.text, sizeof(extent.text), "%ux%u", axes[0], axes[1]);
	else
		snprintf(extent.text, sizeof(extent.text), "%u", axes[0]);
	return extent;
}

static uint64_t product_of(const uint32_t axes[3])
{
	return (uint64_t)axes[0] * axes[1] * axes[2];
}

static bool equal(const uint32_t one[3], const uint32_t other[3])
{
	return memcmp(one, other, 3 * sizeof(*one)) == 0;
}

static bool changes_block(const struct change *change)
{
	return change->variant->block[0] && !equal(change->variant->block, change->step->block);
}

static int refuse_code(const struct change *change)
{
	const struct gt_variant_code *code = change->code;
	const struct gt_bundle_function *function = change->function;
	const uint64_t threads = product_of(change->variant->block);

	if (code->python)
		return gt_fail(change->err, EINVAL,
		               "%s is taken for a kernel of Triton's, whose code is made for one "
		               "size of blocks: compile it with another num_warps and give that "
		               "to --module",
		               function->name);
	if (code->block[0] && !equal(code->block, change->variant->block))
		return gt_fail(change->err, EINVAL,
		               "%s was compiled for blocks of %s threads and no others",
		               function->name, extent_of(code->block).text);
	if (function->max_threads && threads > function->max_threads)
		return gt_fail(change->err, EINVAL,
		               "blocks of %s have %u threads at most, by its launch bounds or "
		               "registers, and not %llu",
		               function->name, function->max_threads, (unsigned long long)threads);
	return 0;
}

static int refuse_block(const struct change *change)
{
	const struct gt_variant_limits *limits = change->limits;
	const uint32_t *block = change->variant->block;
	const uint64_t threads = product_of(block);

	if (threads == 0)
		return gt_fail(change->err, EINVAL, "a block has at least one thread");
	if (limits->threads && threads > limits->threads)
		return gt_fail(change->err, ENOTSUP,
		               "blocks of this GPU have %u threads at most, and not %llu",
		               limits->threads, (unsigned long long)threads);
	for (int i = 0; i < 3; i++)
		if (limits->block[i] && block[i] > limits->block[i])
			return gt_fail(change->err, ENOTSUP,
			               "blocks of this GPU have %u threads at most along %c, and "
			               "not %u",
			               limits->block[i], "xyz"[i], block[i]);
	return refuse_code(change);
}

/* As many threads along each axis, rounded up to blocks. */
static int set_grid(const struct change *change)
{
	const struct gt_bundle_step *step = change->step;
	struct gt_variant_launch *launch = change->launch;

	for (int i = 0; i < 3; i++) {
		const uint64_t threads = (uint64_t)step->grid[i] * step->block[i];
		const uint64_t blocks = (threads + launch->block[i] - 1) / launch->block[i];
		const uint32_t most = change->limits->grid[i];

		if (blocks > UINT32_MAX || (most && blocks > most))
			return gt_fail(change->err, ENOTSUP,
			               "%llu threads along %c are %llu blocks of %u, which is more "
			               "than a grid has",
			               (unsigned long long)threads, "xyz"[i],
			               (unsigned long long)blocks, launch -> block[i]);
		launch->grid[i] = (uint32_t)blocks;
	}
	launch->more_threads = product_of(launch->grid) * product_of(launch->block) -
	                       product_of(step->grid) * product_of(step->block);
	return 0;
}

static int change_block(const struct change *change)
{
	int result;

	if (!changes_block(change))
		return 0;
	result = refuse_block(change);
	if (result < 0)
		return result;
	memcpy(change->launch->block, change->variant->block, sizeof(change->launch->block));
	return set_grid(change);
}

static int refuse_cluster(const struct change *change)
{
	const struct gt_bundle_function *function = change->function;
	const uint32_t *cluster = change->variant->cluster;
	const uint64_t blocks = product_of(cluster);
	const uint32_t most = change->limits->cluster ? change->limits->cluster : PORTABLE_CLUSTER;

	if (change->limits->cc_major && change->limits->cc_major < FIRST_WITH_CLUSTERS)
		return gt_fail(change->err, ENOTSUP,
		               "this GPU has no clusters: they need compute capability 9.0");
	if (function->cluster[0] && !equal(function->cluster, cluster))
		return gt_fail(change->err, EINVAL,
		               "%s was compiled for clusters of %s blocks and no others",
		               function->name, extent_of(function->cluster).text);
	if (blocks == 0 || blocks > most)
		return gt_fail(change->err, ENOTSUP,
		               "clusters of %s have 1 to %u blocks on this GPU, and not %llu",
		               function->name, most, (unsigned long long)blocks);
	return 0;
}

/* Also of a recorded cluster, where the grid has become another one. */
static int refuse_rest(const struct change *change)
{
	const struct gt_variant_launch *launch = change->launch;

	for (int i = 0; i < 3; i++)
		if (launch->cluster[i] && launch->grid[i] % launch->cluster[i])
			return gt_fail(change->err, EINVAL,
			               "clusters of %s do not divide the grid, which would be %u "
			               "long along %c",
			               extent_of(launch->cluster).text, launch->grid[i], "xyz"[i]);
	return 0;
}

static int change_cluster(const struct change *change)
{
	if (change->variant->cluster[0] &&
	    !equal(change->variant->cluster, change->step->cluster)) {
		const int result = refuse_cluster(change);

		if (result < 0)
			return result;
		memcpy(change->launch->cluster, change->variant->cluster,
		       sizeof(change->launch->cluster));
	}
	return refuse_rest(change);
}

static int change_shared(const struct change *change)
{
	const struct gt_bundle_function *function = change->function;
	const int64_t wanted = change->variant->shared_bytes;
	const uint32_t limit = change->limits->shared_bytes;

	if (wanted < 0 || wanted == change->step->shared_bytes)
		return 0;
	if (wanted > UINT32_MAX || (limit && wanted + function->shared_bytes > limit))
		return gt_fail(change->err, ENOTSUP,
		               "a block of this GPU has %u bytes of shared memory at most, of "
		               "which %s takes %u for itself, and not %lld more",
		               limit, function->name, function->shared_bytes, (long long)wanted);
	change->launch->shared_bytes = (uint32_t)wanted;
	return 0;
}

static int change_carveout(const struct change *change)
{
	const int32_t wanted = change->variant->carveout;

	if (wanted == GT_CARVEOUT_RECORDED)
		return 0;
	if (wanted < GT_CARVEOUT_DEFAULT || wanted > 100)
		return gt_fail(change->err, EINVAL,
		               "a carve-out is 0 to 100 percent of shared memory, and not %d",
		               wanted);
	change->launch->carveout = wanted;
	return 0;
}

static int change_registers(const struct change *change)
{
	const uint32_t wanted = change->variant->max_registers;

	if (!wanted)
		return 0;
	if (!change->code->ptx)
		return gt_fail(change->err, EINVAL,
		               "the bundle has machine code of %s and no PTX, so that its "
		               "registers are settled: give PTX to --module",
		               change->function->name);
	if (wanted < LEAST_REGISTERS || wanted > MOST_REGISTERS)
		return gt_fail(change->err, EINVAL, "a thread has %d to %d registers, and not %u",
		               LEAST_REGISTERS, MOST_REGISTERS, wanted);
	change->launch->max_registers = wanted;
	return 0;
}

/* All blocks of a cooperative launch wait for each other. */
static int refuse_cooperative(const struct change *change)
{
	const uint64_t resident = change->limits->resident;
	const uint64_t blocks = product_of(change->launch->grid);

	if (!change->step->cooperative || !resident || blocks <= resident ||
	    !gt_variant_changes(change->variant))
		return 0;
	return gt_fail(
		change->err, ENOTSUP,
		"the launch is cooperative, and of its %llu blocks only %llu are on this GPU "
		"at one time",
		(unsigned long long)blocks, (unsigned long long)resident);
}

int gt_variant_launch(const struct gt_variant *variant, const struct gt_variant_subject *subject,
                      struct gt_variant_launch *launch, struct gt_error *err)
{
	static int (*const changes[])(const struct change *change) = {
		change_block,    change_cluster,   change_shared,
		change_carveout, change_registers, refuse_cooperative,
	};
	const struct gt_bundle_step *step = subject->step;
	struct gt_variant_launch made = {
		.shared_bytes = step->shared_bytes,
		.carveout = subject->function->carveout,
	};
	const struct change change = {
		.variant = variant,
		.function = subject->function,
		.code = subject->code,
		.step = step,
		.limits = subject->limits,
		.launch = &made,
		.err = err,
	};

	memcpy(made.grid, step->grid, sizeof(made.grid));
	memcpy(made.block, step->block, sizeof(made.block));
	memcpy(made.cluster, step->cluster, sizeof(made.cluster));
	for (size_t i = 0; i < GT_COUNT_OF(changes); i++) {
		const int result = changes[i](&change);

		if (result < 0)
			return result;
	}
	*launch = made;
	return 0;
}

/* Words of a text, with blanks between. Words that do not fit are left out. */
struct words {
	char *text;
	size_t used;
};

static void add_word(struct words *words, const char *name, const char *value)
{
	const int written = snprintf(words->text + words->used, GT_VARIANT_TEXT - words->used,
	                             "%s%s=%s", words->used ? " " : "", name, value);

	if (written < 0 || (size_t)written >= GT_VARIANT_TEXT - words->used)
		words->text[words->used] = '\0';
	else
		words->used += (size_t)written;
}

static void add_number(struct words *words, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	add_word(words, name, text);
}

void gt_variant_describe(const struct gt_variant *variant, char text[GT_VARIANT_TEXT])
{
	struct words words = {text, 0};

	text[0] = '\0';
	if (variant->block[0])
		add_word(&words, "block", extent_of(variant->block).text);
	if (variant->cluster[0])
		add_word(&words, "cluster", extent_of(variant->cluster).text);
	if (variant->shared_bytes >= 0)
		add_number(&words, "shared", variant->shared_bytes);
	if (variant->carveout == GT_CARVEOUT_DEFAULT)
		add_word(&words, "carveout", "default");
	else if (variant->carveout >= 0)
		add_number(&words, "carveout", variant->carveout);
	if (variant->max_registers)
		add_number(&words, "max-registers", variant->max_registers);
	if (variant->module)
		add_word(&words, "module", gt_path_name(variant->module));
	if (!words.used)
		snprintf(text, GT_VARIANT_TEXT, "as recorded");
}
