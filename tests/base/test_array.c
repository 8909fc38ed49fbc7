/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <signal.h>
#include <stdint.h>

#include "support/check.h"

Test(array, is_empty_when_zeroed)
{
	gt_array(int) numbers = {0};

	gt_array_each(int, number, &numbers)
		cr_expect(false, "there is a row: %d", *number);
	gt_array_release(&numbers);
	cr_expect(eq(sz, numbers.count, 0));
}

Test(array, keeps_what_was_pushed_in_order)
{
	gt_array(uint64_t) numbers = {0};
	uint64_t expected = 0;

	for (uint64_t i = 0; i < 1000; i++)
		*gt_array_push(&numbers) = i * i;
	cr_assert(eq(sz, numbers.count, 1000));
	cr_expect(ge(sz, numbers.capacity, 1000));
	gt_array_each(const uint64_t, number, &numbers) {
		cr_expect(eq(u64, *number, expected * expected));
		expected++;
	}
	cr_expect(eq(u64, expected, 1000));
	gt_array_release(&numbers);
}

Test(array, can_be_released_twice_and_used_again)
{
	gt_array(int) numbers = {0};

	*gt_array_push(&numbers) = 1;
	gt_array_release(&numbers);
	gt_array_release(&numbers);
	cr_expect(eq(ptr, numbers.rows, NULL));
	cr_expect(eq(sz, numbers.capacity, 0));
	*gt_array_push(&numbers) = 2;
	cr_expect(eq(sz, numbers.count, 1));
	cr_expect(eq(int, numbers.rows[0], 2));
	gt_array_release(&numbers);
}

Test(array, ends_the_program_instead_of_overflowing_a_size, .exit_code = 1)
{
	size_t capacity = SIZE_MAX / 4;

	gt_array_grow(NULL, capacity, &capacity, 8);
}

Test(array, gives_memory_even_when_asked_for_none)
{
	void *memory = gt_allocate(0);

	cr_expect(ne(ptr, memory, NULL));
	gt_array_free(memory);
}
