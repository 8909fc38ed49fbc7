/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/world.h"

#include <inttypes.h>

/* Tells a world in plain words: what happened, when, and who asked for it. Rows are named by their
 * numbers. */

static bool first;

static void begin_list(FILE *file, const char *name)
{
	fprintf(file, ",\n\"%s\": [", name);
	first = true;
}

static void begin_row(FILE *file, int id)
{
	fprintf(file, "%s\n {\"id\": %d", first ? "" : ",", id);
	first = false;
}

static void number(FILE *file, const char *name, int64_t value)
{
	fprintf(file, ", \"%s\": %" PRId64, name, value);
}

/* A number of a row, or nothing. */
static void maybe(FILE *file, const char *name, int64_t value, bool known)
{
	if (known)
		number(file, name, value);
	else
		fprintf(file, ", \"%s\": null", name);
}

static void text(FILE *file, const char *name, const char *value)
{
	fprintf(file, ", \"%s\": \"%s\"", name, value);
}

static void flag(FILE *file, const char *name, bool value)
{
	fprintf(file, ", \"%s\": %s", name, value ? "true" : "false");
}

static void time_of(FILE *file, const char *name, uint64_t value)
{
	maybe(file, name, (int64_t)value, value != 0);
}

static void list_processes(const struct world *world, FILE *file)
{
	static const char *const levels[] = {"none", "node", "whole", "sampled"};

	begin_list(file, "processes");
	for (int i = 0; i < world->process_count; i++) {
		const struct process *process = &world->processes[i];

		begin_row(file, i);
		number(file, "pid", process->pid);
		text(file, "name", process->program);
		time_of(file, "begin", process->begin);
		time_of(file, "end", process->death ? 0 : process->end);
		flag(file, "died", process->death != 0);
		text(file, "graphs", levels[process->level]);
		number(file, "dropped", process->dropped);
		fprintf(file, "}");
	}
	fprintf(file, "]");
	begin_list(file, "threads");
	for (int i = 0; i < world->thread_count; i++) {
		begin_row(file, i);
		number(file, "process", world->threads[i].process);
		number(file, "tid", world->threads[i].tid);
		text(file, "name", world->threads[i].name);
		fprintf(file, "}");
	}
	fprintf(file, "]");
	begin_list(file, "streams");
	for (int i = 0; i < world->stream_count; i++) {
		begin_row(file, i);
		number(file, "process", world->streams[i].process);
		number(file, "gpu", world->streams[i].gpu);
		number(file, "number", world->streams[i].number);
		number(file, "priority", world->streams[i].priority);
		flag(file, "default", world->streams[i].is_default);
		fprintf(file, "}");
	}
	fprintf(file, "]");
}

static void list_ranges(const struct world *world, FILE *file)
{
	begin_list(file, "ranges");
	for (int i = 0; i < world->range_count; i++) {
		const struct range *range = &world->ranges[i];

		if (range->gone)
			continue;
		begin_row(file, i);
		number(file, "thread", range->thread);
		text(file, "name", range->name);
		maybe(file, "parent", range->parent, range->parent != NONE);
		time_of(file, "begin", range->begin);
		time_of(file, "end", range->end);
		maybe(file, "sequence", range->sequence, range->sequence != NONE);
		fprintf(file, "}");
	}
	fprintf(file, "]");
	begin_list(file, "marks");
	for (int i = 0; i < world->mark_count; i++) {
		const struct mark *mark = &world->marks[i];

		if (mark->gone)
			continue;
		begin_row(file, i);
		number(file, "thread", mark->thread);
		text(file, "name", mark->name);
		time_of(file, "at", mark->at);
		fprintf(file, "}");
	}
	fprintf(file, "]");
}

static void list_calls(const struct world *world, FILE *file)
{
	static const char *const waits[] = {"",
	                                    "stream synchronize",
	                                    "context synchronize",
	                                    "event synchronize",
	                                    "stream wait event",
	                                    "event record",
	                                    "blocking copy",
	                                    "blocking free"};

	begin_list(file, "calls");
	for (int i = 0; i < world->call_count; i++) {
		const struct call *call = &world->calls[i];

		if (call->gone)
			continue;
		begin_row(file, i);
		number(file, "thread", call->thread);
		fprintf(file, ", \"function\": \"%s\"", call->function);
		time_of(file, "begin", call->begin);
		time_of(file, "end", call->end);
		number(file, "result", call->result);
		maybe(file, "stream", call->stream, call->stream != NONE);
		maybe(file, "event", call->event, call->event != NONE);
		maybe(file, "exec", call->exec, call->exec != NONE);
		maybe(file, "block", call->block, call->block != NONE);
		flag(file, "captured", call->captured);
		flag(file, "lost", call->lost);
		text(file, "wait", waits[call->wait]);
		fprintf(file, "}");
	}
	fprintf(file, "]");
}

static void list_work(const struct world *world, FILE *file)
{
	static const char *const kinds[] = {"kernel", "copy", "fill", "graph"};
	static const char *const copies[] = {"HtoD", "DtoH", "DtoD", "PtoP"};

	begin_list(file, "work");
	for (int i = 0; i < world->work_count; i++) {
		const struct work *work = &world->work[i];

		if (work->gone)
			continue;
		begin_row(file, i);
		text(file, "kind", kinds[work->kind]);
		maybe(file, "kernel", work->kernel, work->kernel != NONE);
		number(file, "stream", work->stream);
		number(file, "call", work->call);
		maybe(file, "exec", work->exec, work->exec != NONE);
		maybe(file, "node", work->node, work->node != NONE);
		time_of(file, "begin", work->begin);
		time_of(file, "end", work->end);
		number(file, "bytes", (int64_t)work->bytes);
		if (work->kind == COPY) {
			text(file, "copy", copies[work->copy]);
			flag(file, "pageable", work->pageable);
			maybe(file, "peer", work->peer, work->peer != NONE);
		}
		flag(file, "profiled", work->profiled);
		maybe(file, "held_from", (int64_t)work->held_from, work->profiled);
		maybe(file, "held_to", (int64_t)work->held_to, work->profiled);
		number(file, "activities", work->activities);
		number(file, "activities_ns", (int64_t)work->activities_ns);
		fprintf(file, "}");
	}
	fprintf(file, "]");
}

static void list_graphs(const struct world *world, FILE *file)
{
	begin_list(file, "execs");
	for (int i = 0; i < world->exec_count; i++) {
		const struct exec *exec = &world->execs[i];

		if (world->calls[exec->instantiate_call].gone)
			continue;
		begin_row(file, i);
		number(file, "process", exec->process);
		number(file, "gpu", exec->gpu);
		number(file, "instantiate", exec->instantiate_call);
		fprintf(file, ", \"nodes\": [");
		for (int j = 0; j < exec->node_count; j++)
			fprintf(file, "%s{\"kernel\": %d, \"call\": %d}", j ? ", " : "",
			        exec->nodes[j].kernel, exec->nodes[j].capture_call);
		fprintf(file, "]}");
	}
	fprintf(file, "]");
	begin_list(file, "blocks");
	for (int i = 0; i < world->block_count; i++) {
		const struct block *block = &world->blocks[i];

		if (block->gone)
			continue;
		begin_row(file, i);
		number(file, "process", block->process);
		maybe(file, "gpu", block->gpu, block->gpu != NONE);
		number(file, "bytes", (int64_t)block->bytes);
		number(file, "made", block->made_by);
		maybe(file, "freed", block->freed_by, block->freed_by != NONE);
		fprintf(file, "}");
	}
	fprintf(file, "]");
}

static void list_readings(const struct world *world, FILE *file)
{
	begin_list(file, "readings");
	for (int i = 0; i < world->reading_count; i++) {
		const struct reading *reading = &world->readings[i];

		begin_row(file, i);
		number(file, "process", reading->process);
		number(file, "gpu", reading->gpu);
		number(file, "at", (int64_t)reading->at);
		maybe(file, "power", (int64_t)reading->power_mw, reading->power_mw != 0);
		fprintf(file, "}");
	}
	fprintf(file, "]");
}

void list_world(const struct world *world, FILE *file)
{
	fprintf(file, "{\"seed\": %" PRIu64 ", \"features\": %u, \"gpus\": %d", world->seed,
	        world->features, world->gpu_count);
	begin_list(file, "kernels");
	for (int i = 0; i < KERNELS; i++) {
		begin_row(file, i);
		text(file, "name", kernels[i].name);
		text(file, "mangled", kernels[i].mangled);
		number(file, "grid", kernels[i].grid);
		number(file, "threads", kernels[i].threads);
		fprintf(file, "}");
	}
	fprintf(file, "]");
	list_processes(world, file);
	list_ranges(world, file);
	list_calls(world, file);
	list_work(world, file);
	list_graphs(world, file);
	list_readings(world, file);
	fprintf(file, "}\n");
}
