/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kinds/access.h"

bool gt_access_writes(uint32_t kind)
{
	switch (kind) {
#define ACCESS_KIND(name, number, words, writes)                                                   \
	case number:                                                                               \
		return writes;
#include "format/kinds/access.def"
	default:
		return false;
	}
}
