/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_FOLDER_H
#define GT_TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>

/* Removes a folder with all that is in it; false: there is none, or something of it stayed. */
bool folder_remove(const char *path);

#endif
