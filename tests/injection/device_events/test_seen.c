/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "injection/device_events/seen.h"
#include "support/check.h"

static struct gt_device_functions functions;

static const void *at(uintptr_t address)
{
	return (const void *)address;
}

Test(device_seen, knows_a_function_in_its_context_alone)
{
	gt_device_functions_add(&functions, at(0x1000), at(0x10));
	cr_expect(gt_device_functions_has(&functions, at(0x1000), at(0x10)));
	cr_expect(not(gt_device_functions_has(&functions, at(0x1000), at(0x20))));
	cr_expect(not(gt_device_functions_has(&functions, at(0x10), at(0x1000))));
}

Test(device_seen, forgets_all_when_it_is_told_to)
{
	gt_device_functions_add(&functions, at(0x1000), at(0x10));
	gt_device_functions_forget(&functions);
	cr_expect(not(gt_device_functions_has(&functions, at(0x1000), at(0x10))));
}

Test(device_seen, keeps_thousands_and_begins_anew_when_it_is_full)
{
	uintptr_t address = 0;

	for (; address < 6000; address++)
		gt_device_functions_add(&functions, at(64 * (address + 1)), at(0x10));
	for (uintptr_t i = 0; i < 6000; i++)
		cr_assert(gt_device_functions_has(&functions, at(64 * (i + 1)), at(0x10)));
	for (; address < 20000; address++) {
		gt_device_functions_add(&functions, at(64 * (address + 1)), at(0x10));
		cr_assert(gt_device_functions_has(&functions, at(64 * (address + 1)), at(0x10)));
	}
}
