/* SPDX-License-Identifier: Apache-2.0 */
/* A libcupti that has each function of calls.def but one. */
#define cuptiProfilerHostInitialize cuptiOfAnotherName

#define CALL(function, params)      int function(void);
#include "cupti/calls.def"

#define CALL(function, params)                                                                     \
	int function(void)                                                                         \
	{                                                                                          \
		return 0;                                                                          \
	}
#include "cupti/calls.def"
