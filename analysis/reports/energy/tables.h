/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_ENERGY_TABLES_H
#define GT_ANALYSIS_REPORTS_ENERGY_TABLES_H

struct gt_boards;
struct gt_energy_share;
struct gt_result;
struct gt_view;

/* The tables of report energy, one function each; by: a word of gt_group_words. */
void gt_add_energy_devices(struct gt_result *result, const struct gt_boards *boards,
                           const struct gt_view *view);
void gt_add_energy_work(struct gt_result *result, const struct gt_boards *boards, const char *by);
void gt_add_energy_ranges(struct gt_result *result, const struct gt_boards *boards);
void gt_add_energy_steps(struct gt_result *result, const struct gt_boards *boards,
                         const struct gt_view *view);

/* The columns that tables of shares have in common. */
#define GT_ENERGY_FIGURES                                                                          \
	{"joules", GT_UNIT_JOULES, "Energy of the board while nothing else ran on the GPU",        \
	 GT_WORTH_KEY},                                                                            \
		{"shared_joules", GT_UNIT_JOULES,                                                  \
	         "The same while other work ran there too: nobody can say whose it is",            \
	         GT_WORTH_KEY},                                                                    \
		{"at_most_joules", GT_UNIT_JOULES,                                                 \
	         "All but what the rest of its intervals needed at least", GT_WORTH_KEY},          \
		{"alone_watts", GT_UNIT_WATTS, "joules / the time that they are of",               \
	         GT_WORTH_LITTLE},                                                                 \
		{"gpu_ns", GT_UNIT_NS,                                                             \
	         "Time in which it ran, united for each GPU and summed over GPUs"},                \
	{                                                                                          \
		"told_percent", GT_UNIT_PERCENT, "Sampled part of gpu_ns; joules are of no more",  \
			GT_WORTH_LITTLE                                                            \
	}

void gt_add_energy_share(struct gt_result *result, const struct gt_energy_share *share);

#endif
