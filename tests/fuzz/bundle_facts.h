/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FUZZ_BUNDLE_FACTS_H
#define GT_TESTS_FUZZ_BUNDLE_FACTS_H

struct gt_bundle;

/* Aborts unless all that a bundle promises of its numbers, addresses and sizes holds. */
void check_bundle_facts(const struct gt_bundle *bundle);

#endif
