/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "format/recording.h"
#include "injection/callers/asked_memory.h"
#include "injection/driver/driver.h"
#include "injection/process/process.h"
#include "injection/session/services.h"
#include "injection/snapshot/kept_modules.h"

/* ---- its name ---- */

/* The last of the names that an Itanium name is nested in, before its template arguments. */
static size_t short_name(const char *name, const char **begin)
{
	const char *at = name + 2;
	size_t length = 0;

	*begin = name;
	if (strncmp(name, "_Z", 2) != 0)
		return strlen(name);
	at += strspn(at, "NKVL");
	while (isdigit((unsigned char)*at)) {
		size_t size = 0;

		for (; isdigit((unsigned char)*at) && size < UINT16_MAX; at++)
			size = size * 10 + (size_t)(*at - '0');
		if (size == 0 || size > strlen(at))
			break;
		*begin = at;
		length = size;
		at += size;
	}
	return length ? length : strlen(name);
}

void gt_capture_folder(char *folder, size_t size, uint64_t number, const char *name)
{
	enum { MOST_NAME = 64 };
	const char *text;
	const size_t length = short_name(name, &text);
	int used = snprintf(folder, size, "%d-%" PRIu64 "-", (int)getpid(), number);

	for (size_t i = 0; i < length && i < MOST_NAME && (size_t)used + 1 < size; i++)
		folder[used++] = isalnum((unsigned char)text[i]) || text[i] == '_' ? text[i] : '_';
	folder[used] = '\0';
}

/* ---- the image of its module ---- */

static void close_image(struct gt_launch_capture *capture)
{
	if (capture->image)
		(void)munmap(capture->image, capture->image_size);
	capture->image = NULL;
}

static bool has_function(const struct gt_cubin *cubin, const char *wanted)
{
	struct gt_cubin_section section;
	const char *name;
	size_t size;

	for (uint32_t i = 0; i < cubin->section_count; i++)
		if (gt_cubin_section(cubin, i, &section) &&
		    gt_cubin_function(&section, &name, &size) && size == strlen(wanted) &&
		    memcmp(name, wanted, size) == 0)
			return true;
	return false;
}

/* The kept file of a module, where the function is in it; false: not. */
static bool open_image(struct gt_launch_capture *capture, const struct gt_kept_module *module)
{
	char name[sizeof(GT_MODULES_FOLDER) + 17 + sizeof(GT_CUBIN_SUFFIX)];
	char path[PATH_MAX];
	struct stat status;
	void *image = MAP_FAILED;
	int fd;

	(void)snprintf(name, sizeof(name), GT_MODULES_FOLDER "/%016" PRIx64 GT_CUBIN_SUFFIX,
	               module->hash);
	if (gt_kept_path(capture->session, name, path, sizeof(path)) < 0)
		return false;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && (uint64_t)status.st_size == module->size && status.st_size)
		image = mmap(NULL, module->size, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	if (image == MAP_FAILED)
		return false;
	close_image(capture);
	capture->image = image;
	capture->image_size = module->size;
	capture->image_hash = module->hash;
	return gt_cubin_open(&capture->cubin, image, module->size, NULL) == 0 &&
	       has_function(&capture->cubin, capture->name);
}

/* The module itself, where it is known which one was loaded as it. */
static bool find_known(struct gt_launch_capture *capture)
{
	struct gt_kept_module module = {.number = UINT32_MAX};

	while (gt_kept_module_before(capture->session, module.number, &module)) {
		if (module.handle == capture->function.module && open_image(capture, &module)) {
			capture->images = 1;
			return true;
		}
	}
	return false;
}

/* Else the last that was loaded of those that have a function of the name. */
static bool find_by_name(struct gt_launch_capture *capture)
{
	struct gt_kept_module module = {.number = UINT32_MAX};
	struct gt_kept_module found = {.number = 0};

	while (gt_kept_module_before(capture->session, module.number, &module)) {
		if (module.context != capture->context || module.handle ||
		    (found.number && found.hash == module.hash) || !open_image(capture, &module))
			continue;
		found = found.number ? found : module;
		capture->images++;
	}
	return found.number && open_image(capture, &found);
}

static int find_image(struct gt_launch_capture *capture, struct gt_error *err)
{
	capture->images = 0;
	if (find_known(capture) || find_by_name(capture))
		return 0;
	close_image(capture);
	return gt_fail(err, ENOENT,
	               "the code of its module is not in the recording: it was loaded before "
	               "recording began, or did not fit");
}

/* ---- memory ---- */

/* The driver's facts about memory that it has handed out. */
struct attributes {
	unsigned type;
	int managed;
	int device;
	CUmemoryPool pool;
	uint64_t host;
};

static bool read_attributes(const struct gt_capture_driver *driver, uint64_t address,
                            struct attributes *attributes)
{
	CUpointer_attribute wanted[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
		CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
		CU_POINTER_ATTRIBUTE_HOST_POINTER,
	};
	void *values[] = {&attributes->type, &attributes->managed, &attributes->device,
	                  &attributes->pool, &attributes->host};

	memset(attributes, 0, sizeof(*attributes));
	return driver->memory_attributes(sizeof(wanted) / sizeof(wanted[0]), wanted, values,
	                                 address) == CUDA_SUCCESS &&
	       attributes->type != 0;
}

/*
 * The allocation that the address lies in. Only the attributes may tell of memory that the host has
 * registered.
 */
static bool find_range(const struct gt_capture_driver *driver, uint64_t address, CUdeviceptr *base,
                       size_t *size)
{
	CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
	                                CU_POINTER_ATTRIBUTE_RANGE_SIZE};
	void *values[] = {base, size};

	*base = 0;
	*size = 0;
	if (driver->memory_range(base, size, address) == CUDA_SUCCESS && *size > 0)
		return true;
	return driver->memory_attributes(sizeof(wanted) / sizeof(wanted[0]), wanted, values,
	                                 address) == CUDA_SUCCESS &&
	       *size > 0 && address >= *base && address - *base < *size;
}

static bool is_mapped(const struct gt_capture_driver *driver, uint64_t address)
{
	CUmemGenericAllocationHandle handle;

	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the driver wants it so */
	if (driver->memory_retain(&handle, (void *)(uintptr_t)address) != CUDA_SUCCESS)
		return false;
	(void)driver->memory_release(handle);
	return true;
}

/* Pieces that are mapped side by side are one: what a pointer leads to may go on in the next. */
static void widen(const struct gt_launch_capture *capture, struct gt_reached *found)
{
	const struct gt_capture_driver *driver = capture->driver;
	CUdeviceptr base;
	size_t size;

	while (gt_reach_find(&capture->reach, found->address + found->size) == GT_REACH_NONE &&
	       driver->memory_range(&base, &size, found->address + found->size) == CUDA_SUCCESS &&
	       base == found->address + found->size && is_mapped(driver, base))
		found->size += size;
	while (gt_reach_find(&capture->reach, found->address - 1) == GT_REACH_NONE &&
	       driver->memory_range(&base, &size, found->address - 1) == CUDA_SUCCESS &&
	       base + size == found->address && is_mapped(driver, base)) {
		found->address = base;
		found->size += size;
	}
}

static enum gt_reach_answer ask(void *context, uint64_t address, struct gt_reached *found,
                                struct gt_error *err)
{
	const struct gt_launch_capture *capture = context;
	const struct gt_capture_driver *driver = capture->driver;
	struct attributes attributes;
	CUdeviceptr base = 0;
	size_t size = 0;

	if (!find_range(driver, address, &base, &size) ||
	    !read_attributes(driver, address, &attributes))
		return GT_REACH_NOTHING;
	found->address = base;
	found->size = size;
	if (gt_foreign_is_lent(capture->foreign, base, size)) {
		(void)gt_fail(err, ENOTSUP, "it uses memory of another process, at 0x%" PRIx64,
		              (uint64_t)base);
		return GT_REACH_REFUSED;
	}
	if (attributes.type == CU_MEMORYTYPE_HOST) {
		found->kind = GT_BUNDLE_MEMORY_host;
		found->host = attributes.host ? attributes.host - (address - base) : 0;
		return GT_REACH_FOUND;
	}
	found->kind = attributes.managed ? GT_BUNDLE_MEMORY_managed
	              : attributes.pool  ? GT_BUNDLE_MEMORY_pool
	                                 : GT_BUNDLE_MEMORY_device;
	if (found->kind != GT_BUNDLE_MEMORY_managed && attributes.device != capture->device) {
		(void)gt_fail(err, ENOTSUP, "it uses memory of another GPU, %d, at 0x%" PRIx64,
		              attributes.device, (uint64_t)base);
		return GT_REACH_REFUSED;
	}
	if (found->kind == GT_BUNDLE_MEMORY_device && is_mapped(driver, base)) {
		found->kind = GT_BUNDLE_MEMORY_mapped;
		widen(capture, found);
	}
	return GT_REACH_FOUND;
}

static int add_variables_of(struct gt_launch_capture *capture, uint32_t module,
                            const struct gt_cubin_section *table, struct gt_error *err)
{
	struct gt_cubin_variable variable;
	uint64_t next = 0;
	int result = 0;

	while (gt_cubin_next_variable(&capture->cubin, table, &next, &variable)) {
		struct gt_reached memory = {
			.kind = GT_BUNDLE_MEMORY_variable, .name = variable.name, .module = module};
		CUdeviceptr address = 0;
		size_t size = 0;

		if (capture->driver->module_global(&address, &size, capture->function.module,
		                                   variable.name) != CUDA_SUCCESS) {
			capture->variables_left_out++;
			continue;
		}
		memory.address = address;
		memory.size = size;
		result = gt_segments_take(&capture->segments, &capture->reach, &capture->objects,
		                          &capture->writer, &memory, err);
		if (result < 0)
			return result;
		if (result == 0 && !gt_reach_add(&capture->reach, &memory))
			capture->variables_left_out++;
	}
	return 0;
}

static int add_variables(struct gt_launch_capture *capture, uint32_t module, struct gt_error *err)
{
	struct gt_cubin_section section;
	int result = 0;

	for (uint32_t i = 0; i < capture->cubin.section_count && result == 0; i++)
		if (gt_cubin_section(&capture->cubin, i, &section) && section.type == GT_ELF_SYMTAB)
			result = add_variables_of(capture, module, &section, err);
	return result == 0 ? gt_segments_settle(&capture->segments, &capture->reach,
	                                        &capture->objects, &capture->lists, err)
	                   : result;
}

static int add_parameters(struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_captured_function *function = &capture->function;
	int result = 0;

	for (uint32_t i = 0; i < function->parameter_count && result == 0; i++) {
		const uint32_t offset = function->parameters[i].offset;

		result = gt_reach_parameter(&capture->reach, function->block, offset,
		                            function->parameters[i].size, err);
	}
	if (result == 0)
		result = gt_capture_objects_add(&capture->objects, capture->lists.step_count,
		                                function, err);
	return result;
}

/* For textures of memory: gt_capture_memory_of. */
static int memory_of(void *context, uint64_t address, uint64_t bytes, uint32_t *number,
                     uint64_t *offset, struct gt_error *err)
{
	struct gt_launch_capture *capture = context;
	struct gt_reach *reach = &capture->reach;
	struct gt_reached found = {.name = ""};
	enum gt_reach_answer answer = GT_REACH_NOTHING;

	*number = gt_reach_find(reach, address);
	if (*number == GT_REACH_NONE)
		answer = ask(capture, address, &found, err);
	if (answer == GT_REACH_REFUSED)
		return -err->code;
	if (answer == GT_REACH_FOUND && gt_reach_add(reach, &found))
		*number = gt_reach_find(reach, address);
	if (*number == GT_REACH_NONE)
		return gt_fail(err, answer == GT_REACH_NOTHING ? ENOENT : ENOTSUP,
		               "its memory is not known, at 0x%" PRIx64, address);
	*offset = address - reach->memory[*number].address;
	if (bytes > reach->memory[*number].size - *offset)
		return gt_fail(err, ENOTSUP, "it goes beyond the memory at 0x%" PRIx64, address);
	return 0;
}

/* ---- contents ---- */

static void get_on(const struct gt_launch_capture *capture)
{
	atomic_store_explicit(capture->alive_ns, gt_now(), memory_order_relaxed);
}

static int check_wanted(const struct gt_launch_capture *capture, struct gt_error *err)
{
	if (atomic_load_explicit(capture->abandoned, memory_order_relaxed))
		return gt_fail(err, ECANCELED, "it took too long");
	return 0;
}

static int read_piece(struct gt_launch_capture *capture, const struct gt_reached *memory,
                      uint64_t offset, size_t size, struct gt_error *err)
{
	char what[128];
	CUresult result;

	if (memory->kind == GT_BUNDLE_MEMORY_host && memory->host)
		result = capture->driver->copy((CUdeviceptr)(uintptr_t)capture->staging,
		                               memory->host + offset, size);
	else
		result =
			capture->driver->copy_out(capture->staging, memory->address + offset, size);
	(void)snprintf(what, sizeof(what), "%zu bytes at 0x%" PRIx64 " cannot be read", size,
	               memory->address + offset);
	return gt_capture_driver_check(capture->driver, result, what, err);
}

/* By the host, at any time. */
static bool can_be_written(const struct gt_reached *memory)
{
	return memory->kind == GT_BUNDLE_MEMORY_host || memory->kind == GT_BUNDLE_MEMORY_managed;
}

/* Where what is in it before is held; NULL: it is not. */
static uint8_t *room_for(struct gt_launch_capture *capture, uint32_t number)
{
	const struct gt_reached *memory = &capture->reach.memory[number];

	if (can_be_written(memory))
		return gt_host_writes_add(&capture->host_writes, number, memory->size);
	return memory->unasked ? gt_segments_add(&capture->segments, number, memory) : NULL;
}

/* A piece of memory, in staging, for pointers and, where it is little, for handles. */
static void look_into(struct gt_launch_capture *capture, uint32_t number, uint64_t offset,
                      size_t size)
{
	gt_reach_contents(&capture->reach, number, offset, capture->staging, size);
	if (capture->reach.memory[number].size <= GT_CAPTURE_SCANNED)
		gt_capture_objects_scan(&capture->objects,
		                        &(struct gt_bundle_handle){.memory = number},
		                        capture->staging, size);
}

/* The contents of one memory into a blob; before the launch also looks for pointers in them. */
static int keep_memory(struct gt_launch_capture *capture, uint32_t number, bool before,
                       struct gt_error *err)
{
	struct gt_reached *memory = &capture->reach.memory[number];
	uint8_t *known = before ? room_for(capture, number) : NULL;
	int result = gt_bundle_blob_begin(&capture->writer, memory->size, err);

	for (uint64_t offset = 0; result == 0 && offset < memory->size;) {
		const uint64_t rest = memory->size - offset;
		const size_t size = rest < GT_CAPTURE_STAGING ? (size_t)rest : GT_CAPTURE_STAGING;

		result = check_wanted(capture, err);
		if (result == 0)
			result = read_piece(capture, memory, offset, size, err);
		if (result == 0 && before)
			look_into(capture, number, offset, size);
		if (result == 0 && known)
			memcpy(known + offset, capture->staging, size);
		if (result == 0)
			result = gt_bundle_blob_append(&capture->writer, capture->staging, size,
			                               err);
		offset += size;
		get_on(capture);
	}
	if (result == 0)
		result = gt_bundle_blob_end(&capture->writer,
		                            before ? memory->before : memory->after, err);
	return result;
}

/* Contents before are of the memory that was there first. */
static int check_reused(const struct gt_launch_capture *capture, struct gt_error *err)
{
	if (!capture->reach.reused)
		return 0;
	return gt_fail(err, ENOTSUP,
	               "a step uses memory where other memory of its steps was that was freed, at "
	               "0x%" PRIx64,
	               capture->reach.reused);
}

/* The same of an array, in which nothing counts as a pointer. */
static int keep_array(struct gt_launch_capture *capture, uint32_t number, bool before,
                      struct gt_error *err)
{
	struct gt_captured_array *array = &capture->objects.arrays[number];
	struct gt_array_piece piece = {0};
	int result = gt_bundle_blob_begin(&capture->writer, gt_array_bytes(&array->shape), err);

	while (result == 0 && gt_array_next_piece(&array->shape, GT_CAPTURE_STAGING, &piece)) {
		result = check_wanted(capture, err);
		if (result == 0)
			result = gt_captured_array_read(&capture->objects, number, &piece,
			                                capture->staging, err);
		if (result == 0)
			result = gt_bundle_blob_append(&capture->writer, capture->staging,
			                               gt_array_piece_bytes(&array->shape, &piece),
			                               err);
		get_on(capture);
	}
	if (result == 0)
		result = gt_bundle_blob_end(&capture->writer, before ? array->before : array->after,
		                            err);
	return result;
}

/* Kernels write only arrays that were made for it. */
static int keep_array_after(struct gt_launch_capture *capture, uint32_t number,
                            struct gt_error *err)
{
	struct gt_captured_array *array = &capture->objects.arrays[number];

	if (array->shape.flags & GT_ARRAY_SURFACES)
		return keep_array(capture, number, false, err);
	memcpy(array->after, array->before, sizeof(array->after));
	return 0;
}

/* Keeps memory that no step before reached. Memory found in its contents stands behind it. */
static int keep_new(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = 0;

	for (; capture->kept < capture->reach.count && result == 0; capture->kept++) {
		struct gt_reached *memory = &capture->reach.memory[capture->kept];

		if (memory->before[0])
			continue;
		memory->graph = capture->step.graph;
		result = keep_memory(capture, capture->kept, true, err);
	}
	for (; capture->arrays_kept < capture->objects.array_count && result == 0;
	     capture->arrays_kept++)
		result = keep_array(capture, capture->arrays_kept, true, err);
	return result == 0 ? check_reused(capture, err) : result;
}

static int keep_after(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = 0;

	for (uint32_t i = 0; i < capture->reach.count && result == 0; i++)
		if (!capture->reach.memory[i].gone)
			result = keep_memory(capture, i, false, err);
	for (uint32_t i = 0; i < capture->objects.array_count && result == 0; i++)
		result = keep_array_after(capture, i, err);
	return result;
}

/* ---- launches ---- */

static int wait_for_device(const struct gt_launch_capture *capture, const char *when,
                           struct gt_error *err)
{
	get_on(capture);
	return gt_capture_driver_check(capture->driver, capture->driver->context_wait(), when, err);
}

static int open_bundle(struct gt_launch_capture *capture, struct gt_error *err)
{
	char name[sizeof(GT_LAUNCHES_FOLDER) + sizeof(capture->folder) + 1];
	char path[PATH_MAX];

	(void)snprintf(name, sizeof(name), GT_LAUNCHES_FOLDER "/%s", capture->folder);
	if (gt_kept_path(capture->session, name, path, sizeof(path)) < 0)
		return gt_fail(err, ENAMETOOLONG, "the path of its bundle is too long");
	return gt_bundle_writer_open(&capture->writer, path, capture->most, err);
}

/* Says what a limit is called where the user sets it. */
static int explain(const struct gt_launch_capture *capture, int result, struct gt_error *err)
{
	if (result == -EFBIG)
		return gt_fail(err, EFBIG,
		               "it takes more than the %llu bytes of disk that are left of "
		               "--max-bytes",
		               (unsigned long long)capture->most);
	return result;
}

static int device_attribute(const struct gt_launch_capture *capture, CUdevice_attribute attribute)
{
	int value = 0;

	(void)capture->driver->device_attribute(&value, attribute, capture->device);
	return value;
}

/* Bytes that threads need at a time: all of the launch's, but no more than the GPU holds. */
static int64_t local_bytes(const struct gt_launch_capture *capture)
{
	const struct gt_launch_shape *launch = &capture->step.launch;
	const int64_t held =
		(int64_t)device_attribute(capture, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
		device_attribute(capture, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	int64_t threads = 1;

	for (size_t i = 0; i < 3; i++) {
		threads *= launch->block[i];
		threads = threads < held ? threads * launch->grid[i] : threads;
	}
	return capture->function.facts.local_bytes * (threads < held ? threads : held);
}

/* The module of the image that was found, which becomes the lists' with it. */
static int add_module(struct gt_launch_capture *capture, uint32_t *number, struct gt_error *err)
{
	struct gt_capture_module module = {
		.handle = capture->function.module,
		.hash = capture->image_hash,
		.image = capture->image,
		.size = capture->image_size,
		.arch = capture->cubin.arch,
	};
	int result;

	*number = gt_capture_find_module(&capture->lists, module.handle, module.hash);
	if (*number != GT_CAPTURE_NONE) {
		close_image(capture);
		return 0;
	}
	result = gt_bundle_blob(&capture->writer, module.image, module.size, module.blob, err);
	if (result == 0)
		result = gt_capture_add_module(&capture->lists, &module, err);
	if (result < 0)
		return result;
	capture->image = NULL;
	*number = (uint32_t)result;
	return add_variables(capture, *number, err);
}

static int add_function(struct gt_launch_capture *capture, struct gt_error *err)
{
	struct gt_capture_lists *lists = &capture->lists;
	struct gt_capture_step *step = &capture->step;
	struct gt_capture_code code = {.handle = capture->function.handle,
	                               .facts = capture->function.facts};
	int result;

	if (step->launch.carveout != -2)
		code.facts.carveout = step->launch.carveout;
	step->function = gt_capture_find_function(lists, code.handle, code.facts.carveout);
	if (step->function != GT_CAPTURE_NONE)
		return 0;
	result = find_image(capture, err);
	code.images = capture->images;
	if (result == 0)
		result = add_module(capture, &code.module, err);
	if (result == 0)
		result = gt_capture_add_function(lists, &code, capture->name, &capture->function,
		                                 err);
	if (result >= 0)
		step->function = (uint32_t)result;
	return result < 0 ? result : 0;
}

/*
 * Earlier steps may have written to memory that the launch's parameters lead to: tables of pointers
 * that are made in the sequence. Large memory is not read again; nor is any for each node of a
 * launch of a graph, as nothing runs in between.
 */
static int look_again(struct gt_launch_capture *capture, uint32_t first_pointer,
                      struct gt_error *err)
{
	struct gt_reach *reach = &capture->reach;
	const uint32_t count = reach->pointer_count; /* it grows meanwhile */
	int result = 0;

	for (uint32_t i = first_pointer; i < count && result == 0; i++) {
		const uint32_t target = reach->pointers[i].target;
		const struct gt_reached *memory = &reach->memory[target];

		if (target >= capture->kept || memory->size > GT_CAPTURE_RESCAN || memory->gone ||
		    (capture->step.graph && memory->graph == capture->step.graph))
			continue;
		reach->memory[target].graph = capture->step.graph;
		result = check_wanted(capture, err);
		if (result == 0)
			result = read_piece(capture, memory, 0, memory->size, err);
		if (result == 0)
			gt_reach_written(reach, target, capture->staging, memory->size);
		get_on(capture);
	}
	return result;
}

static int add_launch(struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_captured_function *function = &capture->function;
	const int64_t local = local_bytes(capture);
	int result = add_function(capture, err);
	const uint32_t first_pointer = capture->reach.pointer_count;

	if (result == 0)
		result = add_parameters(capture, err);
	if (result == 0)
		result = look_again(capture, first_pointer, err);
	if (result == 0 && function->block_bytes)
		result = gt_bundle_blob(&capture->writer, function->block, function->block_bytes,
		                        capture->step.blob, err);
	capture->step.blob_bytes = function->block_bytes;
	capture->local_bytes = local > capture->local_bytes ? local : capture->local_bytes;
	return result;
}

/* ---- copies and fills ---- */

/* Pinned memory may be mapped so that the system does not read it. */
static int read_pinned(const struct gt_launch_capture *capture, uint64_t address, uint8_t *to,
                       size_t size, struct gt_error *err)
{
	const CUresult code = capture->driver->copy((CUdeviceptr)(uintptr_t)to, address, size);

	return gt_capture_driver_check(capture->driver, code,
	                               "pinned memory that is copied cannot be read", err);
}

enum side_kind { SIDE_HOST, SIDE_PINNED, SIDE_MEMORY };

/* Nobody is known to have asked for the memory, as nobody does for a module's. */
static bool is_unasked(const struct gt_launch_capture *capture, uint64_t address)
{
	const struct gt_asked_memory *asked = gt_asked_memory_of(capture->session);
	uintptr_t words[GT_ASKED_WORDS];

	return !asked || !gt_asked_memory_find(asked, address, words);
}

/* One end of a copy or fill; what is the GPU's is among the memory then. */
static int find_side(struct gt_launch_capture *capture, uint64_t address, bool is_fill,
                     enum side_kind *side, struct gt_error *err)
{
	struct gt_reach *reach = &capture->reach;
	const uint32_t known = gt_reach_find(reach, address);
	struct gt_reached found = {.name = ""};

	if (known != GT_REACH_NONE) {
		const bool pinned = reach->memory[known].kind == GT_BUNDLE_MEMORY_host;

		*side = pinned && !is_fill ? SIDE_PINNED : SIDE_MEMORY;
		return 0;
	}
	*side = SIDE_HOST;
	switch (ask(capture, address, &found, err)) {
	case GT_REACH_NOTHING:
		return 0;
	case GT_REACH_REFUSED:
		return -err->code;
	case GT_REACH_FOUND:
		break;
	}
	*side = SIDE_PINNED;
	if (found.kind == GT_BUNDLE_MEMORY_host && !is_fill)
		return 0;
	*side = SIDE_MEMORY;
	found.unasked = found.kind == GT_BUNDLE_MEMORY_device && is_unasked(capture, found.address);
	if (!gt_reach_add(reach, &found))
		return reach->reused
		               ? 0
		               : gt_fail(err, ENOTSUP,
		                         "memory at 0x%" PRIx64 " overlaps other memory of it",
		                         address);
	return 0;
}

/* One end of a copy or fill: slices of rows. */
struct side {
	uint64_t address;
	uint64_t pitch;
	uint64_t slice_pitch;
};

static struct side side_to(const struct gt_capture_step *step)
{
	return (struct side){step->to, step->to_pitch, step->to_slice_pitch};
}

static struct side side_from(const struct gt_capture_step *step)
{
	return (struct side){step->from, step->from_pitch, step->from_slice_pitch};
}

/* Whether so many pieces, each so far behind the one before, lie in what is left; which it becomes.
 */
static bool fit(uint64_t count, uint64_t size, uint64_t pitch, uint64_t *left)
{
	if (size > *left || (count > 1 && (pitch < size || (*left - size) / pitch < count - 1)))
		return false;
	*left -= size + (count > 1 ? (count - 1) * pitch : 0);
	return true;
}

/* Rows have to lie inside of one memory, slices one behind the other. */
static int check_rows(const struct gt_launch_capture *capture, struct side side,
                      struct gt_error *err)
{
	const struct gt_capture_step *step = &capture->step;
	const uint32_t number = gt_reach_find(&capture->reach, side.address);
	uint64_t most = 0;
	uint64_t left;

	if (number != GT_REACH_NONE)
		most = capture->reach.memory[number].address + capture->reach.memory[number].size -
		       side.address;
	left = most;
	if (!fit(step->rows, step->bytes, side.pitch, &left) ||
	    (step->slices > 1 && (side.pitch == 0 || side.slice_pitch / side.pitch < step->rows ||
	                          left / side.slice_pitch < step->slices - 1)))
		return gt_fail(err, ENOTSUP, "a copy or fill goes beyond the memory at 0x%" PRIx64,
		               side.address);
	return 0;
}

enum { MOST_PARTS = 64 };

/* Pieces of the program's memory, which become one. */
struct parts {
	struct iovec list[MOST_PARTS];
	size_t count;
	size_t bytes;
};

static int read_parts(const struct gt_launch_capture *capture, const struct parts *parts,
                      bool is_pinned, uint8_t *to, struct gt_error *err)
{
	const struct iovec into = {to, parts->bytes};
	size_t used = 0;
	int result = 0;

	if (process_vm_readv(getpid(), &into, 1, parts->list, parts->count, 0) ==
	    (ssize_t)parts->bytes)
		return 0;
	if (!is_pinned)
		return gt_fail(err, ENOTSUP,
		               "a copy uses memory that neither the driver tells of nor the host "
		               "can read, at 0x%" PRIx64,
		               (uint64_t)(uintptr_t)parts->list[0].iov_base);
	for (size_t i = 0; i < parts->count && result == 0; i++) {
		result = read_pinned(capture, (uintptr_t)parts->list[i].iov_base, to + used,
		                     parts->list[i].iov_len, err);
		used += parts->list[i].iov_len;
	}
	return result;
}

/* Reads a copy's bytes from the host, row after row, from an offset on. */
static int read_rows(struct gt_launch_capture *capture, bool is_pinned, uint64_t offset,
                     size_t size, struct gt_error *err)
{
	const struct gt_capture_step *step = &capture->step;
	struct parts parts = {.count = 0};
	size_t done = 0;
	int result = 0;

	while (done + parts.bytes < size && result == 0) {
		const uint64_t at = offset + done + parts.bytes;
		const uint64_t row = at / step->bytes;
		const uint64_t left = step->bytes - at % step->bytes;
		const size_t rest = size - done - parts.bytes;

		parts.list[parts.count++] = (struct iovec){
			/* NOLINTNEXTLINE(performance-no-int-to-ptr): the program's address */
			(void *)(uintptr_t)(step->from + at % step->bytes +
		                            row % step->rows * step->from_pitch +
		                            row / step->rows * step->from_slice_pitch),
			left < rest ? (size_t)left : rest};
		parts.bytes += parts.list[parts.count - 1].iov_len;
		if (parts.count < MOST_PARTS && done + parts.bytes < size)
			continue;
		result = read_parts(capture, &parts, is_pinned, capture->staging + done, err);
		done += parts.bytes;
		parts.count = parts.bytes = 0;
	}
	return result;
}

/* In all that a copy brings, where that is little. */
static void look_for_handles(struct gt_launch_capture *capture, const uint8_t *bytes, uint64_t size)
{
	const struct gt_bundle_handle first = {.memory = UINT32_MAX,
	                                       .step = capture->lists.step_count};

	if (size <= GT_CAPTURE_SCANNED)
		gt_capture_objects_scan(&capture->objects, &first, bytes, size);
}

/* A copy's bytes from the host, which may hold pointers. */
static int keep_copied(struct gt_launch_capture *capture, enum side_kind side, struct gt_error *err)
{
	struct gt_capture_step *step = &capture->step;
	const uint64_t bytes = step->bytes * step->rows * (step->slices > 1 ? step->slices : 1);
	int result = gt_bundle_blob_begin(&capture->writer, bytes, err);

	for (uint64_t offset = 0; result == 0 && offset < bytes;) {
		const uint64_t rest = bytes - offset;
		const size_t size = rest < GT_CAPTURE_STAGING ? (size_t)rest : GT_CAPTURE_STAGING;

		result = check_wanted(capture, err);
		if (result == 0)
			result = read_rows(capture, side == SIDE_PINNED, offset, size, err);
		if (result == 0) {
			gt_reach_brought(&capture->reach, offset, capture->staging, size);
			look_for_handles(capture, capture->staging, bytes);
			result = gt_bundle_blob_append(&capture->writer, capture->staging, size,
			                               err);
		}
		offset += size;
		get_on(capture);
	}
	if (result == 0)
		result = gt_bundle_blob_end(&capture->writer, step->blob, err);
	step->blob_bytes = bytes;
	step->from = step->from_pitch = step->from_slice_pitch = 0;
	return result;
}

/* Wherever the address came from: what is none of the host's is refused. */
static int check_host(const struct gt_launch_capture *capture, uint64_t address,
                      struct gt_error *err)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the program gave it as an address */
	const struct iovec byte_there = {(void *)(uintptr_t)address, 1};
	const struct parts first = {.list = {byte_there}, .count = 1, .bytes = 1};
	uint8_t byte;

	return read_parts(capture, &first, false, &byte, err);
}

/* A graph is captured before any of it runs: what its kernels write is not there yet. */
static int check_pinned(const struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_capture_step *step = &capture->step;

	if (!step->graph || gt_reach_find(&capture->reach, step->from) == GT_REACH_NONE)
		return 0;
	return gt_fail(err, ENOTSUP,
	               "a copy in a CUDA graph is from pinned memory that kernels reach, at "
	               "0x%" PRIx64,
	               step->from);
}

/*
 * Pinned memory is memory of the bundle where a launch before reaches it, and is written then; what
 * is read of it is what the host has put there, which no step says. 1: the copy is none of the
 * GPU's memory.
 */
static int add_copy(struct gt_launch_capture *capture, struct gt_error *err)
{
	struct gt_capture_step *step = &capture->step;
	const bool is_known = gt_reach_find(&capture->reach, step->to) != GT_REACH_NONE;
	enum side_kind from = SIDE_HOST;
	enum side_kind to = SIDE_HOST;
	int result = find_side(capture, step->from, false, &from, err);

	if (result == 0)
		result = find_side(capture, step->to, false, &to, err);
	if (result == 0 && to == SIDE_HOST)
		result = check_host(capture, step->to, err);
	if (result == 0 && from == SIDE_HOST)
		result = check_host(capture, step->from, err);
	if (result == 0 && from == SIDE_MEMORY)
		result = check_rows(capture, side_from(step), err);
	if (result == 0 && from == SIDE_PINNED)
		result = check_pinned(capture, err);
	if (to != SIDE_MEMORY && !is_known)
		step->to = step->to_pitch = step->to_slice_pitch = 0;
	step->pinned = from == SIDE_PINNED || (to == SIDE_PINNED && step->to == 0);
	if (result == 0 && step->to)
		result = check_rows(capture, side_to(step), err);
	if (result < 0 || from == SIDE_MEMORY)
		return result;
	return step->to ? keep_copied(capture, from, err) : 1;
}

static int add_fill(struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_capture_step *step = &capture->step;
	enum side_kind side = SIDE_HOST;
	const int result = find_side(capture, step->to, true, &side, err);

	if (result < 0)
		return result;
	if (side != SIDE_MEMORY)
		return gt_fail(
			err, ENOTSUP,
			"a fill is of memory that the driver does not tell of, at 0x%" PRIx64,
			step->to);
	return check_rows(capture, side_to(step), err);
}

/* ---- what the host writes ---- */

/* Bytes that it wrote, which lie at an offset of memory: as a copy that comes before the next step.
 */
static int keep_written(struct gt_launch_capture *capture, const struct gt_capture_step *place,
                        const uint8_t *bytes, struct gt_error *err)
{
	struct gt_capture_step step = *place;
	int result;

	capture->reach.step = capture->lists.step_count;
	gt_reach_brought(&capture->reach, 0, bytes, step.bytes);
	look_for_handles(capture, bytes, step.bytes);
	step.blob_bytes = step.bytes;
	result = gt_bundle_blob(&capture->writer, bytes, step.bytes, step.blob, err);
	if (result == 0)
		result = gt_capture_add_step(&capture->lists, &step, err);
	return result < 0 ? result : 0;
}

/* One piece of memory, in staging; known becomes what is there now. */
static int keep_piece(struct gt_launch_capture *capture, uint64_t address, uint8_t *known,
                      size_t size, uint32_t stream, struct gt_error *err)
{
	struct gt_host_stretch stretch = {0, 0};
	int result = 0;

	while (result == 0 && gt_host_writes_next(known, capture->staging, size, &stretch)) {
		const struct gt_capture_step place = {.kind = GT_BUNDLE_STEP_copy,
		                                      .stream = stream,
		                                      .event = GT_CAPTURE_NONE,
		                                      .to = address + stretch.begin,
		                                      .bytes = stretch.end - stretch.begin,
		                                      .rows = 1,
		                                      .by_host = true};

		result = keep_written(capture, &place, capture->staging + stretch.begin, err);
	}
	memcpy(known, capture->staging, size);
	return result;
}

/* Reads one memory: with a stream into steps, without one into its known contents. */
static int look_at_written(struct gt_launch_capture *capture, const struct gt_host_memory *held,
                           uint32_t stream, struct gt_error *err)
{
	const struct gt_reached *memory = &capture->reach.memory[held->number];
	int result = 0;

	for (uint64_t offset = 0; result == 0 && offset < held->size;) {
		const uint64_t rest = held->size - offset;
		const size_t size = rest < GT_CAPTURE_STAGING ? (size_t)rest : GT_CAPTURE_STAGING;

		result = check_wanted(capture, err);
		if (result == 0)
			result = read_piece(capture, memory, offset, size, err);
		if (result == 0 && stream == GT_CAPTURE_NONE)
			memcpy(held->known + offset, capture->staging, size);
		else if (result == 0)
			result = keep_piece(capture, memory->address + offset, held->known + offset,
			                    size, stream, err);
		offset += size;
		get_on(capture);
	}
	return result;
}

/*
 * Before a step, and before the end: the GPU has nothing to do. All streams wait for what is
 * copied, as whatever the program asks for next comes after what it wrote.
 */
static int keep_host_writes(struct gt_launch_capture *capture, uint32_t stream,
                            struct gt_error *err)
{
	const struct gt_host_writes *writes = &capture->host_writes;
	const uint32_t before = capture->lists.step_count;
	const struct gt_capture_step wait = {.kind = GT_BUNDLE_STEP_host_wait,
	                                     .stream = stream,
	                                     .event = GT_CAPTURE_NONE,
	                                     .by_host = true};
	int result = 0;

	gt_reach_step(&capture->reach, before);
	for (uint32_t i = 0; i < writes->count && result == 0; i++)
		if (!capture->reach.memory[writes->list[i].number].gone)
			result = look_at_written(capture, &writes->list[i], stream, err);
	if (result == 0 && capture->lists.step_count > before)
		result = gt_capture_add_step(&capture->lists, &wait, err);
	return result < 0 ? result : 0;
}

static uint32_t last_stream(const struct gt_capture_lists *lists)
{
	for (uint32_t i = lists->step_count; i > 0; i--)
		if (gt_capture_is_work(lists->steps[i - 1].kind))
			return lists->steps[i - 1].stream;
	return 0;
}

bool gt_capture_has_host_memory(const struct gt_launch_capture *capture)
{
	return capture->host_writes.count > 0;
}

int gt_capture_written(struct gt_launch_capture *capture, struct gt_error *err)
{
	const int result = wait_for_device(capture, "the GPU failed before it", err);

	return result < 0 ? result : keep_host_writes(capture, capture->step.stream, err);
}

int gt_capture_settle(struct gt_launch_capture *capture, struct gt_error *err)
{
	const struct gt_host_writes *writes = &capture->host_writes;
	int result = wait_for_device(capture, "the GPU failed in it", err);

	for (uint32_t i = 0; i < writes->count && result == 0; i++)
		if (!capture->reach.memory[writes->list[i].number].gone)
			result = look_at_written(capture, &writes->list[i], GT_CAPTURE_NONE, err);
	return result;
}

/* ---- memory that is freed ---- */

static bool is_in(const struct gt_reached *memory, const struct gt_freed *freed)
{
	return freed->address >= memory->address ? freed->address - memory->address < memory->size
	                                         : memory->address - freed->address < freed->bytes;
}

bool gt_capture_uses(const struct gt_launch_capture *capture, const struct gt_freed *freed)
{
	for (uint32_t i = 0; capture->writer.folder >= 0 && i < capture->reach.count; i++)
		if (!capture->reach.memory[i].gone && is_in(&capture->reach.memory[i], freed))
			return true;
	return false;
}

int gt_capture_free(struct gt_launch_capture *capture, struct gt_error *err)
{
	struct gt_reach *reach = &capture->reach;
	int result = wait_for_device(capture, "the GPU failed in it", err);

	if (result == 0)
		result = keep_host_writes(capture, last_stream(&capture->lists), err);
	if (result == 0)
		result = keep_new(capture, err);
	for (uint32_t i = 0; i < reach->count && result == 0; i++) {
		if (reach->memory[i].gone || !is_in(&reach->memory[i], &capture->freed))
			continue;
		result = keep_memory(capture, i, false, err);
		gt_reach_free(reach, i);
	}
	return result;
}

/* ---- steps ---- */

static int begin(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = gt_capture_driver_check(capture->driver,
	                                     capture->driver->context_device(&capture->device),
	                                     "its GPU is not known", err);

	if (result < 0)
		return result;
	gt_reach_begin(&capture->reach, ask, capture);
	capture->objects.driver = capture->driver;
	capture->objects.foreign = capture->foreign;
	capture->objects.context = capture->context;
	capture->objects.memory_of = memory_of;
	capture->objects.capture = capture;
	gt_capture_objects_begin(&capture->objects);
	capture->kept = 0;
	capture->arrays_kept = 0;
	capture->variables_left_out = 0;
	capture->local_bytes = 0;
	return open_bundle(capture, err);
}

static int add_work(struct gt_launch_capture *capture, struct gt_error *err)
{
	switch (capture->step.kind) {
	case GT_BUNDLE_STEP_launch:
		return add_launch(capture, err);
	case GT_BUNDLE_STEP_copy:
		return add_copy(capture, err);
	case GT_BUNDLE_STEP_fill:
		return add_fill(capture, err);
	case GT_BUNDLE_STEP_record:
	case GT_BUNDLE_STEP_wait:
	case GT_BUNDLE_STEP_host_wait:
		break;
	}
	return 0;
}

static int add_step(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = wait_for_device(capture, "the GPU failed before it", err);

	/* Else what the step is told by may be gone. */
	if (result == 0)
		result = check_wanted(capture, err);
	if (result == 0 && capture->writer.folder < 0)
		result = begin(capture, err);
	/* Before all of a graph it was looked for: nothing comes between its nodes. */
	if (result == 0 && !capture->step.graph)
		result = keep_host_writes(capture, capture->step.stream, err);
	if (result < 0)
		return result;
	gt_reach_step(&capture->reach, capture->lists.step_count);
	result = add_work(capture, err);
	if (capture->reach.reused)
		result = check_reused(capture, err);
	if (result == 0)
		result = keep_new(capture, err);
	if (result == 0)
		result = gt_capture_add_step(&capture->lists, &capture->step, err);
	return result < 0 ? result : 0;
}

int gt_capture_before(struct gt_launch_capture *capture, struct gt_error *err)
{
	const int result = add_step(capture, err);

	if (result < 0)
		gt_capture_drop(capture);
	return explain(capture, result, err);
}

void gt_capture_drop(struct gt_launch_capture *capture)
{
	if (capture->writer.folder >= 0)
		gt_bundle_writer_drop(&capture->writer);
	close_image(capture);
	gt_capture_lists_empty(&capture->lists);
	gt_host_writes_empty(&capture->host_writes);
	gt_segments_empty(&capture->segments);
}

/* ---- what is written of it ---- */

static void write_date(struct gt_bundle_writer *writer)
{
	const time_t now = time(NULL);
	struct tm parts;
	char text[40];

	if (gmtime_r(&now, &parts) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
		gt_bundle_text(writer, "date", text);
}

/* The kernel module's version, as nvidia-smi prints it; nothing where there is no such file. */
static void write_driver(struct gt_bundle_writer *writer)
{
	char text[32] = "";
	const int fd = open("/sys/module/nvidia/version", O_RDONLY | O_CLOEXEC);
	ssize_t size = 0;

	if (fd < 0)
		return;
	size = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[size > 0 ? size : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (*text)
		gt_bundle_text(writer, "driver", text);
}

static void write_device(struct gt_launch_capture *capture)
{
	struct gt_bundle_writer *writer = &capture->writer;
	char text[96] = "";
	size_t bytes = 0;
	CUuuid uuid;

	if (capture->driver->device_name(text, sizeof(text), capture->device) == CUDA_SUCCESS)
		gt_bundle_text(writer, "device", text);
	if (capture->driver->device_uuid(&uuid, capture->device) == CUDA_SUCCESS) {
		gt_driver_uuid_text(&uuid, text);
		gt_bundle_text(writer, "uuid", text);
	}
	gt_bundle_number(writer, "cc_major",
	                 device_attribute(capture, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
	gt_bundle_number(writer, "cc_minor",
	                 device_attribute(capture, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
	gt_bundle_number(writer, "sm_count",
	                 device_attribute(capture, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
	if (capture->driver->device_memory(&bytes, capture->device) == CUDA_SUCCESS)
		gt_bundle_number(writer, "memory_bytes", (int64_t)bytes);
	gt_bundle_number(writer, "local_bytes", capture->local_bytes);
}

static void write_origin(struct gt_launch_capture *capture)
{
	struct gt_bundle_writer *writer = &capture->writer;
	char text[256];

	gt_bundle_begin_object(writer, "origin");
	gt_bundle_text(writer, "gputrace", GPUTRACE_VERSION);
	write_date(writer);
	gt_host_name(text, 72);
	gt_bundle_text(writer, "host", text);
	gt_process_program(text, sizeof(text));
	gt_bundle_text(writer, "program", text);
	write_driver(writer);
	gt_bundle_number(writer, "pid", getpid());
	gt_bundle_number(writer, "correlation", capture->lists.steps[0].correlation);
	write_device(capture);
	gt_bundle_number(writer, "workspace_bytes",
	                 gt_capture_askers_name(&capture->askers,
	                                        gt_asked_memory_of(capture->session),
	                                        &capture->reach));
	gt_bundle_end_object(writer);
}

static const char *word_of(enum gt_bundle_memory_kind kind)
{
	static const char *const words[] = {
#define KIND(name, help) [GT_BUNDLE_MEMORY_##name] = #name,
		GT_BUNDLE_MEMORY_KINDS(KIND)
#undef KIND
	};

	return words[kind];
}

static void write_memory(struct gt_bundle_writer *writer, const struct gt_reached *memory)
{
	const bool same = strcmp(memory->before, memory->after) == 0;

	gt_bundle_begin_object(writer, NULL);
	gt_bundle_text(writer, "kind", word_of(memory->kind));
	gt_bundle_address(writer, "address", memory->address);
	gt_bundle_number(writer, "size", (int64_t)memory->size);
	if (memory->kind == GT_BUNDLE_MEMORY_variable)
		gt_bundle_number(writer, "module", memory->module);
	gt_bundle_text(writer, "name", memory->name);
	gt_bundle_contents(writer, "before", memory->before, memory->size);
	gt_bundle_contents(writer, "after", memory->after, memory->size);
	gt_bundle_flag(writer, "same", same);
	gt_bundle_flag(writer, "pointers", memory->pointers);
	gt_bundle_end_object(writer);
}

/* In the order of addresses, by which pointers are numbered then. */
static void write_all_memory(struct gt_launch_capture *capture)
{
	const struct gt_reach *reach = &capture->reach;

	gt_bundle_begin_list(&capture->writer, "memory");
	for (uint32_t i = 0; i < reach->count; i++)
		write_memory(&capture->writer, &reach->memory[reach->by_address[i]]);
	gt_capture_write_arrays(&capture->objects, &capture->writer);
	gt_bundle_end_list(&capture->writer);
}

static void write_pointers(struct gt_launch_capture *capture)
{
	uint32_t *places = (uint32_t *)(void *)capture->staging;
	const struct gt_reach *reach = &capture->reach;
	struct gt_bundle_writer *writer = &capture->writer;

	for (uint32_t i = 0; i < reach->count; i++)
		places[reach->by_address[i]] = i;
	gt_bundle_begin_list(writer, "pointers");
	for (uint32_t i = 0; i < reach->pointer_count; i++) {
		const struct gt_reach_pointer *pointer = &reach->pointers[i];

		gt_bundle_begin_object(writer, NULL);
		if (pointer->memory == GT_REACH_NONE)
			gt_bundle_number(writer, "step", pointer->step);
		else
			gt_bundle_number(writer, "memory", places[pointer->memory]);
		gt_bundle_number(writer, "offset", (int64_t)pointer->offset);
		gt_bundle_number(writer, "target", places[pointer->target]);
		gt_bundle_flag(writer, "declared", pointer->declared);
		gt_bundle_end_object(writer);
	}
	gt_bundle_end_list(writer);
	gt_capture_write_objects(&capture->objects, places, reach->count, writer);
}

static void write_sentence(struct gt_bundle_writer *writer, bool holds, const char *sentence)
{
	if (holds)
		gt_bundle_text(writer, NULL, sentence);
}

static void write_missing(struct gt_launch_capture *capture)
{
	const struct gt_reach *reach = &capture->reach;
	struct gt_bundle_writer *writer = &capture->writer;
	char text[320];

	gt_bundle_begin_list(writer, "missing");
	gt_capture_write_doubts(&capture->lists, writer);
	gt_capture_write_object_doubts(&capture->objects, writer);
	(void)snprintf(text, sizeof(text), "%u variables of its module have no contents here",
	               capture->variables_left_out);
	write_sentence(writer, capture->variables_left_out > 0, text);
	(void)snprintf(text, sizeof(text), "memory that pointers in memory lead to: %s",
	               reach->refused);
	write_sentence(writer, reach->left_out & GT_REACH_FOREIGN, text);
	(void)snprintf(text, sizeof(text),
	               "what the host wrote meanwhile into %u pieces of managed or pinned memory: "
	               "such memory is compared up to %d MiB and %d pieces in all",
	               capture->host_writes.left_out, GT_HOST_WRITES_BYTES >> 20,
	               GT_HOST_WRITES_MOST);
	write_sentence(writer, capture->host_writes.left_out > 0, text);
	write_sentence(writer, reach->left_out & GT_REACH_MANY_MEMORY,
	               "it reaches more than 4096 pieces of memory, of which the rest is not here");
	write_sentence(writer, reach->left_out & GT_REACH_MANY_POINTERS,
	               "more than 65536 pointers were found, of which the rest is not listed: it "
	               "cannot be run at other addresses");
	write_sentence(writer, reach->left_out & GT_REACH_MANY_QUESTIONS,
	               "too much looked like pointers: memory may be missing that some lead to");
	write_sentence(writer, reach->left_out & GT_REACH_DEEP,
	               "pointers that are more than eight pointers away were not followed");
	write_sentence(writer, reach->left_out & GT_REACH_OVERLAP,
	               "memory that overlaps other memory of the bundle in part is not here");
	gt_bundle_end_list(writer);
}

static int end(struct gt_launch_capture *capture, struct gt_error *err)
{
	int result = wait_for_device(capture, "the GPU failed in it", err);

	if (result == 0)
		result = keep_host_writes(capture, last_stream(&capture->lists), err);
	if (result == 0)
		result = keep_new(capture, err);
	if (result == 0)
		result = keep_after(capture, err);
	if (result < 0)
		return result;
	gt_segments_end(&capture->reach, &capture->objects);
	write_origin(capture);
	gt_capture_write_code(&capture->lists, &capture->writer);
	write_all_memory(capture);
	gt_capture_write_steps(&capture->lists, capture->range, &capture->writer);
	write_pointers(capture);
	if (capture->has_focus)
		gt_bundle_number(&capture->writer, "focus", capture->focus);
	write_missing(capture);
	capture->bytes = capture->writer.bytes;
	return gt_bundle_writer_close(&capture->writer, err);
}

int gt_capture_after(struct gt_launch_capture *capture, struct gt_error *err)
{
	const int result = end(capture, err);

	gt_capture_drop(capture);
	return explain(capture, result, err);
}
