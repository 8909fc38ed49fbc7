/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/kept_modules.h"

#include "base/search.h"

void gt_kept_modules_init(struct gt_kept_modules *modules)
{
	pthread_mutex_init(&modules->lock, NULL);
}

uint32_t gt_kept_modules_add(struct gt_kept_modules *modules, struct gt_kept_module module)
{
	module.number = 0;
	pthread_mutex_lock(&modules->lock);
	if (modules->count < GT_KEPT_MODULES) {
		module.number = ++modules->numbers;
		modules->rows[modules->count++] = module;
	}
	pthread_mutex_unlock(&modules->lock);
	return module.number;
}

static int by_number(const void *row, const void *wanted)
{
	const uint32_t number = ((const struct gt_kept_module *)row)->number;
	const uint32_t limit = *(const uint32_t *)wanted;

	return (number > limit) - (number < limit);
}

/* With the lock: how many have a lower number. */
static uint32_t count_before(const struct gt_kept_modules *modules, uint32_t number)
{
	return (uint32_t)gt_search(modules->rows, modules->count, sizeof(*modules->rows), &number,
	                           by_number, 0);
}

void gt_kept_modules_name(struct gt_kept_modules *modules, uint32_t number, CUmodule handle)
{
	uint32_t place;

	pthread_mutex_lock(&modules->lock);
	place = count_before(modules, number);
	if (place < modules->count && modules->rows[place].number == number)
		modules->rows[place].handle = handle;
	pthread_mutex_unlock(&modules->lock);
}

void gt_kept_modules_remove(struct gt_kept_modules *modules, CUcontext context, uint32_t cupti_id)
{
	uint32_t left = 0;

	pthread_mutex_lock(&modules->lock);
	for (uint32_t i = 0; i < modules->count; i++)
		if (modules->rows[i].context != context || modules->rows[i].cupti_id != cupti_id)
			modules->rows[left++] = modules->rows[i];
	modules->count = left;
	pthread_mutex_unlock(&modules->lock);
}

bool gt_kept_module_before(struct gt_kept_modules *modules, uint32_t number,
                           struct gt_kept_module *module)
{
	uint32_t count;

	if (!modules)
		return false;
	pthread_mutex_lock(&modules->lock);
	count = count_before(modules, number);
	if (count > 0)
		*module = modules->rows[count - 1];
	pthread_mutex_unlock(&modules->lock);
	return count > 0;
}
