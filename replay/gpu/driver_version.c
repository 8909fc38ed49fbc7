/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/driver_version.h"

#include <dlfcn.h>

/* NVML's functions that are needed, all of which return 0 when they succeed. */
struct nvml {
	int (*init)(void);
	int (*version)(char *text, unsigned size);
	int (*shutdown)(void);
};

static int find(void *library, const char *name, void *call)
{
	*(void **)call = dlsym(library, name);
	return *(void **)call != NULL;
}

void gt_driver_version(char *text, size_t size)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct nvml nvml;

	text[0] = '\0';
	if (!library)
		return;
	if (find(library, "nvmlInit_v2", &nvml.init) &&
	    find(library, "nvmlSystemGetDriverVersion", &nvml.version) &&
	    find(library, "nvmlShutdown", &nvml.shutdown) && nvml.init() == 0) {
		if (nvml.version(text, (unsigned)size) != 0)
			text[0] = '\0';
		(void)nvml.shutdown();
	}
	(void)dlclose(library);
}
