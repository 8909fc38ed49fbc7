/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/kernels.h"

#include <elf.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/arrays.h"

/* Known kernels, parameters of launches, and variables of modules. */

struct variable {
	CUmodule module;
	char name[64];
	size_t size;
	void *memory;
	struct variable *next;
};

static struct variable *variables; /* fake_cuda.lock */

/* Memory that a kernel may use; NULL, and a fault of the GPU, where it may not. */
static void *reach(uint64_t address, size_t size)
{
	void *memory = (void *)(uintptr_t)address;
	const CUpti_ActivityMemoryKind kind = fake_kind_of(memory, size);

	if (kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE || kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED)
		return memory;
	atomic_store(&fake_cuda.fault, 1);
	return NULL;
}

static uint64_t word(const struct fake_activity *kernel, size_t offset)
{
	uint64_t value;

	memcpy(&value, kernel->parameters + offset, sizeof(value));
	return value;
}

static uint32_t half(const struct fake_activity *kernel, size_t offset)
{
	uint32_t value;

	memcpy(&value, kernel->parameters + offset, sizeof(value));
	return value;
}

static uint64_t threads_of(const struct fake_activity *kernel)
{
	return (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2] * kernel->block[0] *
	       kernel->block[1] * kernel->block[2];
}

/* As many elements as there are threads for, at most so many. */
static size_t elements(const struct fake_activity *kernel, size_t offset)
{
	const uint64_t threads = threads_of(kernel);
	const uint32_t count = half(kernel, offset);

	return threads < count ? (size_t)threads : count;
}

/* replay_scale(float *values, float by, int count) */
static void run_scale(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 12);
	float *values = reach(word(kernel, 0), count * sizeof(*values));
	float by;

	memcpy(&by, kernel->parameters + 8, sizeof(by));
	for (size_t i = 0; values && i < count; i++)
		values[i] *= by;
}

/* replay_gather(const float *const *rows, float *sums, int row_count, int count) */
static void run_gather(const struct fake_activity *kernel)
{
	const uint32_t row_count = half(kernel, 16);
	const size_t count = elements(kernel, 20);
	const uint64_t *rows = reach(word(kernel, 0), row_count * sizeof(*rows));
	float *sums = reach(word(kernel, 8), count * sizeof(*sums));

	if (sums)
		memset(sums, 0, count * sizeof(*sums));
	for (size_t row = 0; rows && sums && row < row_count; row++) {
		const float *from = reach(rows[row], count * sizeof(*from));

		for (size_t i = 0; from && i < count; i++)
			sums[i] += from[i];
	}
}

/* replay_weigh(const float *values, float *weighed, int count), with variables of its module */
static void run_weigh(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 16);
	const float *values = reach(word(kernel, 0), count * sizeof(*values));
	float *weighed = reach(word(kernel, 8), count * sizeof(*weighed));
	const float *weights = fake_variable(kernel->function->module, "replay_weights", NULL);
	uint32_t *launches = fake_variable(kernel->function->module, "replay_launches", NULL);

	for (size_t i = 0; values && weighed && weights && i < count; i++)
		weighed[i] = values[i] * weights[i % 4];
	if (launches)
		(*launches)++;
}

/* replay_spill(float *values, int count): one element too many */
static void run_spill(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 8) + 1;
	float *values = reach(word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < count; i++)
		values[i] = 1.5F;
}

/* replay_half(float *values, int count): every second element */
static void run_half(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 8);
	float *values = reach(word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < count; i += 2)
		values[i] = 2.5F;
}

/* replay_vary(float *values, int count): other bytes in every run */
static void run_vary(const struct fake_activity *kernel)
{
	static _Atomic uint32_t times;
	const size_t count = elements(kernel, 8);
	const uint32_t time = atomic_fetch_add(&times, 1);
	float *values = reach(word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < count; i++)
		values[i] = (float)((time + i) % 1000);
}

/* replay_alternate(float *values, int count): 7 and 8 in turn, in every other element */
static void run_alternate(const struct fake_activity *kernel)
{
	static _Atomic uint32_t times;
	const size_t count = elements(kernel, 8);
	const uint32_t time = atomic_fetch_add(&times, 1);
	float *values = reach(word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < count; i += 2)
		values[i] = time % 2 ? 8 : 7;
}

/* replay_reciprocal(float *values, int count): an infinity of each 0 */
static void run_reciprocal(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 8);
	float *values = reach(word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < count; i++)
		values[i] = values[i] == 0 ? INFINITY : 1 / values[i];
}

/* saxpy(int n, float a, const float *x, float *y): of bundles that tests make */
static void run_saxpy(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 0);
	const float *x = reach(word(kernel, 8), count * sizeof(*x));
	float *y = reach(word(kernel, 16), count * sizeof(*y));
	float a;

	memcpy(&a, kernel->parameters + 4, sizeof(a));
	for (size_t i = 0; x && y && i < count; i++)
		y[i] += a * x[i];
}

/* scale(float *const *table, int n): table[1] = factor * table[0] */
static void run_scale_table(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 8);
	const uint64_t *table = reach(word(kernel, 0), 2 * sizeof(*table));
	const float *factor = fake_variable(kernel->function->module, "factor", NULL);
	const float *from = table ? reach(table[0], count * sizeof(*from)) : NULL;
	float *to = table ? reach(table[1], count * sizeof(*to)) : NULL;

	for (size_t i = 0; from && to && factor && i < count; i++)
		to[i] = *factor * from[i];
}

/* replay_fault(void): writes to no memory of the GPU's */
static void run_fault(const struct fake_activity *kernel)
{
	(void)kernel;
	(void)reach(16, 4);
}

/* replay_brittle(float *values, int count): 2.5, but a fault in blocks of more than 512 threads */
static void run_brittle(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 8);
	const bool breaks = kernel->block[0] * kernel->block[1] * kernel->block[2] > 512;
	float *values = reach(breaks ? 16 : word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < count; i++)
		values[i] = 2.5F;
}

/* replay_pick(const int *indices, float *values, int count, int end): a fault of an index >= end */
static void run_pick(const struct fake_activity *kernel)
{
	const size_t count = elements(kernel, 16);
	const uint32_t end = half(kernel, 20);
	const uint32_t *indices = reach(word(kernel, 0), count * sizeof(*indices));
	float *values = reach(word(kernel, 8), count * sizeof(*values));

	for (size_t i = 0; indices && values && i < count; i++) {
		if (indices[i] >= end) {
			(void)reach(16, 4);
			return;
		}
		values[i] = 2.0F * (float)indices[i];
	}
}

/* replay_lazy(float *values, int count): 2.5 in every second, in blocks of 128 threads at least */
static void run_lazy(const struct fake_activity *kernel)
{
	if (kernel->block[0] >= 128)
		run_half(kernel);
}

/* replay_blend(texture picture, texture weights, surface out, int width, int height) */
static void run_blend(const struct fake_activity *kernel)
{
	const size_t width = half(kernel, 24);
	const size_t height = half(kernel, 28);

	for (size_t i = 0; i < width * height; i++) {
		const size_t x = i % width;
		const float *picture = fake_texel(word(kernel, 0), x, i / width);
		const float *weight = fake_texel(word(kernel, 8), x, 0);
		float *out = fake_surface_element(word(kernel, 16), x, i / width);

		if (!picture || !weight || !out) {
			(void)reach(16, 4);
			return;
		}
		*out = *picture * *weight;
	}
}

/*
 * replay_pick_texel(struct {int unused; int column; texture picture;} from, float *values, size_t
 * count)
 */
static void run_pick_texel(const struct fake_activity *kernel)
{
	const size_t count = word(kernel, 24);
	float *values = reach(word(kernel, 16), count * sizeof(*values));

	for (size_t i = 0; values && i < count; i++) {
		const float *texel = fake_texel(word(kernel, 8), half(kernel, 4), i);

		if (!texel) {
			(void)reach(16, 4);
			return;
		}
		values[i] = *texel;
	}
}

/* replay_table(const texture *table, float *values, int tables, int count) */
static void run_table(const struct fake_activity *kernel)
{
	const uint32_t tables = half(kernel, 16);
	const size_t count = elements(kernel, 20);
	const uint64_t *table = reach(word(kernel, 0), tables * sizeof(*table));
	float *values = reach(word(kernel, 8), count * sizeof(*values));

	for (size_t i = 0; table && values && i < count; i++) {
		const float *texel = fake_texel(table[i % tables], i, 0);

		if (!texel) {
			(void)reach(16, 4);
			return;
		}
		values[i] = *texel;
	}
}

/* ---- kernels whose work depends on what memory holds ---- */

enum { TILE = 32 }; /* elements */

static _Thread_local double share; /* of a kernel's time, that the one that runs takes */

/* Of (uint32_t *state, float *values, int count). */
static void run_tiles_of(const struct fake_activity *kernel, bool resets)
{
	const size_t count = half(kernel, 16);
	const uint32_t tiles = (uint32_t)((count + TILE - 1) / TILE);
	uint32_t *counter = reach(word(kernel, 0), sizeof(*counter));
	float *values = reach(word(kernel, 8), count * sizeof(*values));
	uint32_t done = 0;

	if (!counter || !values)
		return;
	for (; *counter < tiles; (*counter)++, done++)
		for (size_t i = (size_t)*counter * TILE; i < count && i < (*counter + 1) * TILE;
		     i++)
			values[i] = 0.5F + (float)i;
	*counter += 2; /* the two who take tiles find that there are no more */
	if (resets)
		*counter = 0;
	share = 0.05 + 0.95 * done / tiles;
}

/* replay_tiles(...): takes tiles from a counter that it leaves where it ends */
static void run_tiles(const struct fake_activity *kernel)
{
	run_tiles_of(kernel, false);
}

/* replay_reset_tiles(...): the same, and sets it to 0 in the end */
static void run_reset_tiles(const struct fake_activity *kernel)
{
	run_tiles_of(kernel, true);
}

/* replay_look_back(...): of each tile a flag that it is done; who finds it set does not wait */
static void run_look_back(const struct fake_activity *kernel)
{
	const size_t count = half(kernel, 16);
	const size_t tiles = (count + TILE - 1) / TILE;
	uint32_t *flags = reach(word(kernel, 0), tiles * sizeof(*flags));
	float *values = reach(word(kernel, 8), count * sizeof(*values));
	size_t waits = 0;

	for (size_t i = 0; flags && values && i < count; i++)
		values[i] = (float)(i * (i + 1)) / 2;
	for (size_t i = 0; flags && i < tiles; i++) {
		waits += flags[i] == 0;
		flags[i] = 1;
	}
	share = 0.86 + 0.14 * (double)waits / (double)tiles;
}

/* replay_settle(...): makes each state odd, and a fault of one that is none of its own */
static void run_settle(const struct fake_activity *kernel)
{
	const size_t count = half(kernel, 16);
	uint32_t *states = reach(word(kernel, 0), count * sizeof(*states));
	float *values = reach(word(kernel, 8), count * sizeof(*values));

	for (size_t i = 0; states && values && i < count; i++) {
		if (states[i] >= 2 * count) {
			(void)reach(16, 4);
			return;
		}
		states[i] |= 1;
		values[i] = (float)states[i];
	}
}

/* After so many runs half of the elements, whatever memory holds. */
static void run_half_after(const struct fake_activity *kernel, uint32_t runs)
{
	static _Atomic uint32_t times;
	const size_t count = elements(kernel, 8);
	const size_t written = atomic_fetch_add(&times, 1) < runs ? count : count / 2;
	float *values = reach(word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < written; i++)
		values[i] = 2.5F;
}

/* replay_tired(float *values, int count): from its second run on half of them */
static void run_tired(const struct fake_activity *kernel)
{
	run_half_after(kernel, 1);
}

/* replay_weary(float *values, int count): from its sixth run on */
static void run_weary(const struct fake_activity *kernel)
{
	run_half_after(kernel, 5);
}

/* replay_spent(float *values, int count): so does it, but not before it has shown what it writes */
static void run_spent(const struct fake_activity *kernel)
{
	run_half_after(kernel, 30);
}

/* replay_waning(float *values, int count): other values each time, of half from its second run on */
static void run_waning(const struct fake_activity *kernel)
{
	static _Atomic uint32_t times;
	const size_t count = elements(kernel, 8);
	const uint32_t time = atomic_fetch_add(&times, 1);
	float *values = reach(word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < (time ? count / 2 : count); i++)
		values[i] = (float)(1000 + time);
}

/* replay_moody(float *values, int count): 2.5; every fifth time it takes a tenth of the time */
static void run_moody(const struct fake_activity *kernel)
{
	static _Atomic uint32_t times;
	const size_t count = elements(kernel, 8);
	float *values = reach(word(kernel, 0), count * sizeof(*values));

	for (size_t i = 0; values && i < count; i++)
		values[i] = 2.5F;
	share = atomic_fetch_add(&times, 1) % 5 == 4 ? 0.1 : 1;
}

static const struct fake_known_kernel known[] = {
	{"replay_scale", {8, 4, 4}, run_scale},
	{"runtime_scale", {8, 4, 4}, run_scale},
	{"replay_gather", {8, 8, 4, 4}, run_gather},
	{"replay_weigh", {8, 8, 4}, run_weigh},
	{"replay_spill", {8, 4}, run_spill},
	{"replay_half", {8, 4}, run_half},
	{"replay_vary", {8, 4}, run_vary},
	{"replay_alternate", {8, 4}, run_alternate},
	{"replay_reciprocal", {8, 4}, run_reciprocal},
	{"replay_fault", {0}, run_fault},
	{"replay_brittle", {8, 4}, run_brittle},
	{"replay_pick", {8, 8, 4, 4}, run_pick},
	{"replay_lazy", {8, 4}, run_lazy},
	{"replay_tiles", {8, 8, 4}, run_tiles},
	{"replay_reset_tiles", {8, 8, 4}, run_reset_tiles},
	{"replay_look_back", {8, 8, 4}, run_look_back},
	{"replay_settle", {8, 8, 4}, run_settle},
	{"replay_tired", {8, 4}, run_tired},
	{"replay_weary", {8, 4}, run_weary},
	{"replay_spent", {8, 4}, run_spent},
	{"replay_waning", {8, 4}, run_waning},
	{"replay_moody", {8, 4}, run_moody},
	{"replay_blend", {8, 8, 8, 4, 4}, run_blend},
	{"replay_pick_texel", {16, 8, 8}, run_pick_texel},
	{"replay_table", {8, 8, 4, 4}, run_table},
	{"_Z5saxpyifPKfPf", {4, 4, 8, 8}, run_saxpy},
	{"_Z5scalePKPfi", {8, 4}, run_scale_table},
};

const struct fake_known_kernel *fake_known_kernel(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

int fake_parameter(const struct fake_known_kernel *kernel, size_t index, size_t *offset,
                   size_t *size)
{
	size_t at = 0;

	for (size_t i = 0; i < FAKE_MOST_PARAMETERS && kernel->sizes[i]; i++) {
		at = (at + kernel->sizes[i] - 1) / kernel->sizes[i] * kernel->sizes[i];
		*offset = at;
		*size = kernel->sizes[i];
		if (i == index)
			return 1;
		at += kernel->sizes[i];
	}
	return 0;
}

static int take_block(struct fake_activity *kernel, void **extra)
{
	const void *block = NULL;
	size_t size = 0;

	for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
		if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			block = extra[i + 1];
		else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			size = *(const size_t *)extra[i + 1];
	}
	if (!block || size > sizeof(kernel->parameters))
		return 0;
	memcpy(kernel->parameters, block, size);
	return size > 0;
}

int fake_take_parameters(struct fake_activity *kernel, void **arguments, void **extra)
{
	const struct fake_known_kernel *found = fake_known_kernel(kernel->function->name);
	size_t offset;
	size_t size;

	if (!found || !found->sizes[0])
		return 1;
	if (extra)
		return take_block(kernel, extra);
	if (!arguments)
		return 0;
	for (size_t i = 0; fake_parameter(found, i, &offset, &size); i++)
		memcpy(kernel->parameters + offset, arguments[i], size);
	return 1;
}

double fake_run_known(const struct fake_activity *kernel)
{
	const struct fake_known_kernel *found = fake_known_kernel(kernel->function->name);

	share = 1;
	if (found)
		found->run(kernel);
	return share;
}

static struct variable *find_variable(CUmodule module, const char *name)
{
	struct variable *found;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (found = variables; found; found = found->next)
		if (found->module == module && strcmp(found->name, name) == 0)
			break;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return found;
}

/* The size of a symbol of a cubin; 0: it has no such one. */
static size_t symbol_size(const char *image, const char *name)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);

	for (size_t i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)(image + sections[i].sh_offset);
		const char *names;

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		names = image + sections[sections[i].sh_link].sh_offset;
		for (size_t j = 0; j < sections[i].sh_size / sizeof(*symbols); j++)
			if (strcmp(names + symbols[j].st_name, name) == 0)
				return symbols[j].st_size;
	}
	return 0;
}

/* The size that the image declares; 0: it has no such variable. */
static size_t declared(const char *image, const char *name)
{
	char line[96];
	const char *at;

	if (memcmp(image, ELFMAG, SELFMAG) == 0)
		return symbol_size(image, name);
	(void)snprintf(line, sizeof(line), "\nvariable %s ", name);
	at = strstr(image, line);
	return at ? strtoul(at + strlen(line), NULL, 10) : 0;
}

/* With FAKE_SEGMENTS one piece of memory has all variables, of any module, as the driver tells. */
static void *room_for(size_t size)
{
	enum { SEGMENT = 4096, ALIGNED = 256 };
	static char *segment;
	static size_t used = ALIGNED;
	void *memory = NULL;

	if (!getenv("FAKE_SEGMENTS"))
		return fake_allocate(size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, &memory) ==
		                       CUDA_SUCCESS
		               ? memory
		               : NULL;
	if (!segment &&
	    fake_allocate(SEGMENT, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, &memory) == CUDA_SUCCESS)
		segment = memset(memory, 0, SEGMENT);
	if (!segment || size > SEGMENT - used)
		return NULL;
	memory = segment + used;
	used += (size + ALIGNED - 1) / ALIGNED * ALIGNED;
	return memory;
}

static struct variable *add_variable(CUmodule module, const char *name)
{
	const size_t size = declared(fake_module_image(module), name);
	struct variable *added;
	void *memory = size ? room_for(size) : NULL;

	if (!memory)
		return NULL;
	added = calloc(1, sizeof(*added));
	added->module = module;
	added->size = size;
	added->memory = memset(memory, 0, size);
	(void)snprintf(added->name, sizeof(added->name), "%s", name);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	added->next = variables;
	variables = added;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return added;
}

void *fake_variable(CUmodule module, const char *name, size_t *size)
{
	struct variable *found = find_variable(module, name);

	if (!found)
		found = add_variable(module, name);
	if (found && size)
		*size = found->size;
	return found ? found->memory : NULL;
}

void fake_variables_drop(CUmodule module)
{
	struct variable **link = &variables;

	while (*link) {
		struct variable *dropped = *link;

		if (dropped->module != module) {
			link = &dropped->next;
			continue;
		}
		(void)fake_release(dropped->memory, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
		*link = dropped->next;
		free(dropped);
	}
}

static CUresult parameter_info(CUfunction function, size_t index, size_t *offset, size_t *size)
{
	const struct fake_known_kernel *found = fake_known_kernel(function->name);

	if (!found || !fake_parameter(found, index, offset, size))
		return CUDA_ERROR_INVALID_VALUE;
	return fake_usable();
}

/* As on an H200: one of the two knows a handle, the other one says that it is none. */
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
	API_BEGIN(cuFuncGetParamInfo, function, index, offset, size);
	if (!function || (uintptr_t)function & 1)
		API_END(CUDA_ERROR_INVALID_HANDLE);
	API_END(parameter_info(function, index, offset, size));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
	API_BEGIN(cuKernelGetParamInfo, kernel, index, offset, size);
	if (!((uintptr_t)kernel & 1))
		API_END(CUDA_ERROR_INVALID_HANDLE);
	API_END(parameter_info(fake_function((CUfunction)kernel), index, offset, size));
}
