/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_HEADLINE_H
#define GT_ANALYSIS_COMPARE_HEADLINE_H

struct gt_compared_value;
struct gt_comparison;
struct gt_result;

/* The answer in a few sentences: table "headline", and remarks on how far it goes. */
void gt_comparison_add_headline(const struct gt_comparison *comparison, struct gt_result *result);

/* How much more it is on side B, in percent; NAN: not known. */
double gt_compared_percent(const struct gt_compared_value *value);

#endif
