/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/document.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "injection/callers/asked_memory.h"
#include "injection/driver/driver.h"
#include "injection/process/process.h"
#include "injection/snapshot/bundle/capture.h"
#include "injection/snapshot/memory/arrays.h"

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
	                 gt_capture_device_attribute(capture,
	                                             CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
	gt_bundle_number(writer, "cc_minor",
	                 gt_capture_device_attribute(capture,
	                                             CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
	gt_bundle_number(writer, "sm_count",
	                 gt_capture_device_attribute(capture,
	                                             CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
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

void gt_capture_write_document(struct gt_launch_capture *capture)
{
	write_origin(capture);
	gt_capture_write_code(&capture->lists, &capture->writer);
	write_all_memory(capture);
	gt_capture_write_steps(&capture->lists, capture->range, &capture->writer);
	write_pointers(capture);
	if (capture->has_focus)
		gt_bundle_number(&capture->writer, "focus", capture->focus);
	write_missing(capture);
}
