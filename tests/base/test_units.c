/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include "support/check.h"

Test(units, group_digits)
{
	expect_text(gt_figure_count(0).text, "0");
	expect_text(gt_figure_count(999).text, "999");
	expect_text(gt_figure_count(1000).text, "1,000");
	expect_text(gt_figure_count(-1234567).text, "-1,234,567");
	expect_text(gt_figure_count(INT64_MIN).text, "-9,223,372,036,854,775,808");
}

Test(units, give_three_digits_of_a_duration)
{
	expect_text(gt_figure_ns(0).text, "0 ns");
	expect_text(gt_figure_ns(812).text, "812 ns");
	expect_text(gt_figure_ns(1234).text, "1.23 us");
	expect_text(gt_figure_ns(12345).text, "12.3 us");
	expect_text(gt_figure_ns(123456).text, "123 us");
	expect_text(gt_figure_ns(1234567890).text, "1.23 s");
	expect_text(gt_figure_ns(7200000000000).text, "7,200 s");
	expect_text(gt_figure_ns(-1500000).text, "-1.50 ms");
}

Test(units, move_to_the_next_unit_instead_of_showing_1000)
{
	expect_text(gt_figure_ns(999499).text, "999 us");
	expect_text(gt_figure_ns(999500).text, "1.00 ms");
	expect_text(gt_figure_ns(9994).text, "9.99 us");
	expect_text(gt_figure_ns(9996).text, "10.0 us");
	expect_text(gt_figure_bytes(999999).text, "1.00 MB");
}

Test(units, count_bytes_decimally)
{
	expect_text(gt_figure_bytes(512).text, "512 B");
	expect_text(gt_figure_bytes(1048576).text, "1.05 MB");
	expect_text(gt_figure_bytes(150754820096).text, "151 GB");
}

Test(units, count_in_powers_of_two_what_hardware_does)
{
	expect_text(gt_figure_binary(0).text, "0 B");
	expect_text(gt_figure_binary(1000).text, "1,000 B");
	expect_text(gt_figure_binary(1023).text, "1,023 B");
	expect_text(gt_figure_binary(1024).text, "1 KiB");
	expect_text(gt_figure_binary(1 << 20).text, "1 MiB");
	expect_text(gt_figure_binary(49152).text, "48 KiB");
	expect_text(gt_figure_binary(1536).text, "1.50 KiB");
	expect_text(gt_figure_binary(233472).text, "228 KiB");
	expect_text(gt_figure_binary(150754820096).text, "140 GiB");
}

Test(units, keep_rates_in_gigabytes)
{
	expect_text(gt_figure_rate(12.3e9).text, "12.3 GB/s");
	expect_text(gt_figure_rate(4.3e12).text, "4,300 GB/s");
	expect_text(gt_figure_rate(5e6).text, "5.00 MB/s");
	expect_text(gt_figure_flops(989.4e12).text, "989 TFLOP/s");
	expect_text(gt_figure_flops(61.2e12).text, "61.2 TFLOP/s");
	expect_text(gt_figure_rate(1e300).text, "1e+291 GB/s");
}

Test(units, tell_energy_and_power)
{
	expect_text(gt_figure_joules(0).text, "0 J");
	expect_text(gt_figure_joules(12.34).text, "12.3 J");
	expect_text(gt_figure_joules(0.41).text, "410 mJ");
	expect_text(gt_figure_joules(0.0000042).text, "4.20 uJ");
	expect_text(gt_figure_joules(3.6e6).text, "3.60 MJ");
	expect_text(gt_figure_watts(0).text, "0 W");
	expect_text(gt_figure_watts(356.2).text, "356 W");
	expect_text(gt_figure_watts(5600).text, "5.60 kW");
}

Test(units, show_the_rest)
{
	expect_text(gt_figure_time(12345678).text, "0.012346 s");
	expect_text(gt_figure_percent(12.34).text, "12.3%");
	expect_text(gt_figure_percent(100).text, "100.0%");
	expect_text(gt_figure_percent(0.05).text, "0.1%");
	expect_text(gt_figure_percent(0.049).text, "<0.1%");
	expect_text(gt_figure_percent(0).text, "0.0%");
	expect_text(gt_figure_real(1234567.5).text, "1,234,568");
	expect_text(gt_figure_real(131.93).text, "131.9");
	expect_text(gt_figure_real(1.5).text, "1.50");
	expect_text(gt_figure_real(0.0005).text, "<0.01");
	expect_text(gt_figure_real(0).text, "0.00");
	expect_text(gt_figure_real(-2.5).text, "-2.50");
}
