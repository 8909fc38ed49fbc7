/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_ORACLE_WORLD_H
#define GT_TESTS_ORACLE_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A made-up world: what some programs did on some GPUs. Everything has its true time on one
 * timeline, nanoseconds since boot. make.c and readings.c invent it, list.c tells it in plain words
 * (world.json), record.c writes it as the captures of a recording. Neither of the two knows
 * anything of the other.
 */

enum {
	MOST_PROCESSES = 4,
	MOST_GPUS = 4,
	MOST_THREADS = 16,
	MOST_STREAMS = 64,
	MOST_EVENTS = 64,
	MOST_EXECS = 8,
	MOST_NODES = 8,
	MOST_RANGES = 512,
	MOST_MARKS = 128,
	MOST_CALLS = 2048,
	MOST_WORK = 1024,
	MOST_WAITS = 1024,
	MOST_BLOCKS = 256,
	MOST_READINGS = 1024,
	MOST_OPEN = 8,
	NONE = -1,
};

enum work_kind { KERNEL, COPY, FILL, WHOLE_GRAPH };
enum wait_kind {
	NO_WAIT,
	STREAM_SYNCHRONIZE,
	CONTEXT_SYNCHRONIZE,
	EVENT_SYNCHRONIZE,
	STREAM_WAIT_EVENT,
	EVENT_RECORD,
	BLOCKING_COPY,
	BLOCKING_FREE,
};
enum graph_level { NO_GRAPHS, BY_NODE, AS_A_WHOLE, SAMPLED };

struct process {
	uint32_t pid;
	const char *program;
	uint64_t begin, end;             /* of its recording */
	uint64_t death;                  /* 0: it ended well */
	int64_t host_offset, gpu_offset; /* of its clocks */
	enum graph_level level;
	uint32_t dropped; /* records that CUPTI says it dropped */
	uint32_t next_correlation;
};

struct thread {
	int process;
	uint32_t tid;
	const char *name;
	uint64_t now;
	bool helper; /* it works for others and opens no ranges of its own, but operations */
	int open[MOST_OPEN];
	int depth;
	uint32_t order; /* of its NVTX events */
};

struct stream {
	int process, gpu;
	uint32_t number;
	int priority;
	bool is_default;
	uint64_t free_at; /* when all that was asked for is done */
	int last;         /* work that it was asked for last */
};

struct event {
	int process;
	int gpu;    /* that it belongs to: only streams of it can record it */
	int stream; /* that it was recorded on last, NONE */
	uint64_t ready_at;
};

struct node {
	int kernel;
	int capture_call;
};

struct exec {
	int process, gpu;
	int node_count;
	struct node nodes[MOST_NODES];
	int begin_call, end_call, instantiate_call;
	int stream; /* of the capture */
	uint32_t launches;
};

struct range {
	int thread;
	int parent; /* that was open on its thread, NONE */
	char name[48];
	uint64_t begin, end; /* 0: it was still open */
	uint32_t begin_order, end_order;
	int depth;
	int sequence; /* of an operation of PyTorch, NONE */
	bool gone;
};

struct mark {
	int thread;
	char name[16];
	uint64_t at;
	uint32_t order;
	bool gone;
};

struct call {
	int thread;
	const char *function;
	uint64_t begin, end; /* 0: it had not returned */
	int result;
	uint32_t correlation;
	enum wait_kind wait;
	int stream, event; /* that it is about, NONE */
	bool captured;     /* made a node of a graph */
	int exec;          /* that it launches or makes, NONE */
	int block;         /* of memory, NONE */
	bool lost;         /* its kernel was dropped */
	bool gone;         /* its process died before; so below */
};

struct work {
	enum work_kind kind;
	int kernel; /* which name and shape, NONE */
	int stream;
	int call;
	int exec, node;      /* of a graph, NONE */
	uint64_t begin, end; /* 0: unfinished */
	uint64_t bytes;
	int copy; /* 0 to the GPU, 1 to the host, 2 inside, 3 to another GPU */
	int peer; /* that GPU, NONE */
	bool pageable;
	bool profiled;
	uint64_t held_from, held_to; /* of a profiled one: when the program was held up */
	uint32_t activities;         /* of a whole graph that was put together */
	uint64_t activities_ns;
	bool gone;
};

struct block {
	int process, gpu; /* NONE: pinned memory of the host */
	uint64_t address, bytes;
	int made_by, freed_by; /* calls */
	bool gone;
};

/* A process reads a GPU's power. */
struct reading {
	int process, gpu;
	uint64_t at;
	uint64_t power_mw; /* 0: it got none */
};

struct kernel {
	const char *mangled, *name;
	uint32_t grid, threads;
};

struct world {
	uint64_t seed, random;
	uint64_t begin, end;
	unsigned features;
	int process_count, gpu_count, thread_count, stream_count, event_count, exec_count,
		range_count, mark_count, call_count, work_count, block_count, reading_count;
	struct process processes[MOST_PROCESSES];
	struct thread threads[MOST_THREADS];
	struct stream streams[MOST_STREAMS];
	struct event events[MOST_EVENTS];
	struct exec execs[MOST_EXECS];
	struct range ranges[MOST_RANGES];
	struct mark marks[MOST_MARKS];
	struct call calls[MOST_CALLS];
	struct work work[MOST_WORK];
	struct block blocks[MOST_BLOCKS];
	struct reading readings[MOST_READINGS];
	int next_sequence;
};

enum feature {
	SEVERAL_PROCESSES = 1,
	SEVERAL_GPUS = 2,
	SEVERAL_THREADS = 4,
	RANGES = 8,
	OPERATIONS = 16,
	HELPERS = 32,
	GRAPHS = 64,
	PROFILED = 128,
	DEATH = 256,
	LOSS = 512,
	WAITS = 1024,
	MEMORY = 2048,
	FAILURES = 4096,
	SKEW = 8192,
};

#define KERNELS 7
extern const struct kernel kernels[KERNELS];

/* make.c */
void make_world(struct world *world, uint64_t seed);

/* readings.c: when all else has happened. */
void read_power(struct world *world);

/* list.c */
void list_world(const struct world *world, FILE *file);

/* record.c: into the folder that is the working directory. */
void record_world(const struct world *world);

#endif
