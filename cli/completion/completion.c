/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "cli/completion/completion_bash.h"
#include "cli/completion/completion_fish.h"
#include "cli/completion/completion_zsh.h"

const char *const gt_completion_shells[] = {"bash", "zsh", "fish", NULL};

static const char *const scripts[] = {gt_completion_bash, gt_completion_zsh, gt_completion_fish};

int gt_completion_print(const char *shell, FILE *out, struct gt_error *err)
{
	for (size_t i = 0; gt_completion_shells[i]; i++) {
		if (strcmp(gt_completion_shells[i], shell) != 0)
			continue;
		fputs(scripts[i], out);
		return 0;
	}
	return gt_fail(err, EINVAL, "no completion for '%s'; there is bash, zsh and fish", shell);
}
