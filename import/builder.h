/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_IMPORT_BUILDER_H
#define GT_IMPORT_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "base/sink/sink.h"
#include "format/records.h"

struct gt_strings;

/*
 * Makes captures of what other profilers wrote down: one for each process, one after the other, as
 * the process itself would have written it (format/file/writer.h). Records go to the capture as
 * they come; ranges and API calls stay in memory until the end of the capture, which brings them in
 * order.
 *
 * Times are nanoseconds of any one clock of the file, host and GPU alike, also below 0. A later
 * record says where that clock stands (gt_builder_process).
 */

/* Where captures are written: each is begun, and gets its name, "HOST-PID-1", at its end. */
struct gt_capture_place {
	int (*begin)(void *context, struct gt_sink *sink, struct gt_error *err);
	int (*end)(void *context, const char *name, struct gt_error *err);
	void *context;
};

/* How much was imported. */
struct gt_import_counts {
	uint64_t kernels;
	uint64_t copies;
	uint64_t fills;
	uint64_t graphs; /* launches of CUDA graphs that were recorded as a whole */
	uint64_t calls;
	uint64_t ranges; /* and marks */
	uint64_t processes;
	uint64_t unsized;  /* copies and fills of which the file does not say how much they were */
	bool cut;          /* the file ends early: what stands before is imported */
	char remarks[512]; /* sentences about what there is not, with blanks between */
};

/* A time that is not known. */
#define GT_NO_TIME INT64_MIN

/* Fields that no file says: all bits set. */
#define GT_NOT_SAID UINT32_MAX

/* A range, or a mark (marks: both times are the same). */
struct gt_built_range {
	int64_t start_ns;
	int64_t end_ns; /* GT_NO_TIME: it was not seen to end */
	uint64_t payload;
	uint32_t payload_type; /* nvtxPayloadType_t, 0: none */
	uint32_t tid;
	uint32_t end_tid; /* of what was started and ended, else that of its thread */
	uint32_t text;    /* of gt_builder_text or gt_builder_text_once */
	uint32_t domain;  /* number of the domain, 0: the default one */
	uint32_t category;
	uint32_t color; /* ARGB */
	uint32_t kind;  /* GT_RANGE_STEP_STACK, GT_RANGE_STEP_ID or GT_RANGE_STEP_MARK */
};

struct gt_built_call {
	int64_t start_ns;
	int64_t end_ns;
	uint32_t correlation;
	uint32_t tid;
	int32_t result; /* cudaError_t or CUresult; 0 where the file does not say */
	uint32_t flags;
	uint32_t function; /* the builder's, as below */
	uint32_t waiting;
};

/*
 * Facts about a call that waits, orders work or records an event, beside the call itself: those of
 * its correlation id.
 */
struct gt_built_wait {
	int64_t start_ns; /* GT_NO_TIME: only the call has times */
	int64_t end_ns;
	uint32_t correlation;
	uint32_t kind; /* a line of format/kinds/sync.def */
	uint32_t context;
	uint32_t stream; /* GT_NOT_SAID: none, as below */
	uint32_t event;
};

/* A stream that work was seen on. */
struct gt_built_stream {
	int64_t first_ns;
	uint32_t context;
	uint32_t stream;
};

struct gt_build_rows {
	uint8_t *rows; /* room for GT_CHUNK_MAX_RECORDS; NULL: there was none yet */
	size_t count;
};

struct gt_builder {
	const struct gt_capture_place *place;
	struct gt_import_counts counts;

	/* The capture at hand. */
	struct gt_writer *writer; /* NULL: none was begun */
	void *memory;             /* the writer's */
	int result;               /* of the first failure */
	struct gt_error err;
	struct gt_build_rows pending[GT_RECORD_KIND_COUNT];
	struct gt_strings *interned;
	gt_array(uint32_t) ids;  /* of interned texts */
	gt_array(uint8_t) texts; /* a payload of kind STRINGS that is not written yet */
	uint32_t texts_pending;
	uint32_t text_count;
	struct gt_build_shape *shapes;
	uint32_t shape_count;
	gt_array(struct gt_built_range) ranges;
	gt_array(struct gt_built_call) calls;
	gt_array(struct gt_built_wait) waits;
	gt_array(struct gt_built_stream) streams;
	int64_t anchor_ns; /* the first time that was seen; GT_NO_TIME: none */
	int64_t first_ns;
	int64_t last_ns;
};

void gt_builder_init(struct gt_builder *builder, const struct gt_capture_place *place);
void gt_builder_release(struct gt_builder *builder);

/* Begins the capture of a process. */
int gt_builder_begin(struct gt_builder *builder, struct gt_error *err);

/* Facts about a process; what is NULL, 0 or GT_NO_TIME is not known. */
struct gt_built_process {
	uint32_t pid;
	const char *host;
	const char *program;
	const char *environment;    /* lines as gt_environment_text makes them */
	uint32_t cuda_driver;       /* 13000 for 13.0 */
	uint32_t cupti;             /* cuptiGetVersion */
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - the clock of the file */
};

/*
 * Ends the capture: writes what is in memory, facts and clocks, and, unless the file was cut, the
 * end. Says what could not be written since its begin.
 */
int gt_builder_end(struct gt_builder *builder, const struct gt_built_process *process,
                   struct gt_error *err);

/* The file ends early, or is damaged from some place on; why: a sentence's end. */
void gt_builder_cut(struct gt_builder *builder, const char *name, const char *why);

/* Ids of texts in the capture at hand: of one that may come again, and of one that hardly will. */
uint32_t gt_builder_text(struct gt_builder *builder, const char *text, size_t size);
uint32_t gt_builder_text_once(struct gt_builder *builder, const char *text, size_t size);

/* The id of a launch's shape, which has none in the record; equal ones have one. */
uint32_t gt_builder_shape(struct gt_builder *builder, const struct gt_record_shape *shape);

/* Time in the capture, for the fields of records; sees that it is in the recording. */
uint64_t gt_builder_time(struct gt_builder *builder, int64_t time_ns);

/* Adds a record: gt_builder_add(builder, kernel, .start_ns = ...). */
void gt_builder_record(struct gt_builder *builder, uint32_t kind, const void *record);
#define gt_builder_add(builder, name, ...)                                                         \
	gt_builder_record((builder), GT_RECORD_##name, &(struct gt_record_##name){__VA_ARGS__})

void gt_builder_range(struct gt_builder *builder, const struct gt_built_range *range);
void gt_builder_call(struct gt_builder *builder, const struct gt_built_call *call,
                     const char *function);
void gt_builder_wait(struct gt_builder *builder, const struct gt_built_wait *wait);

/* Work ran on a stream: names it, so that waits can. */
void gt_builder_stream(struct gt_builder *builder, uint32_t context, uint32_t stream,
                       int64_t time_ns);

/* A device, with what its compute capability says and the file does not. */
void gt_builder_device(struct gt_builder *builder, const struct gt_record_device *device);

/* A sentence for the notes of the capture at hand. */
__attribute__((format(printf, 2, 3))) void gt_builder_note(struct gt_builder *builder,
                                                           const char *fmt, ...);

/* One for who imports, too. */
__attribute__((format(printf, 2, 3))) void gt_builder_remark(struct gt_builder *builder,
                                                             const char *fmt, ...);

/* ---- between the files of the builder ---- */

void gt_builder_write_ranges(struct gt_builder *builder);
void gt_builder_write_calls(struct gt_builder *builder);

/* Which line of waits.def, from 1, a function's is; 0: it does not wait. */
uint32_t gt_builder_waiting(const char *function);

#endif
