/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_GRAPHS_NODES_H
#define GT_INJECTION_SNAPSHOT_GRAPHS_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "injection/calls/launch.h"
#include "injection/snapshot/launch/function.h"

struct gt_capture_driver;
struct gt_error;

/*
 * The work of a CUDA graph, as the driver tells of its nodes: kernels with their parameters byte by
 * byte, copies and fills, and who waits for whom. Graphs inside of nodes are part of it. Read from
 * a graph of the program's, which may be gone as soon as it was instantiated.
 */

enum {
	GT_GRAPH_NODES = 16384,
	GT_GRAPH_EDGES = 131072,
	GT_GRAPH_BYTES = 16 << 20, /* parameters and names of all of its kernels */
	GT_GRAPH_DEPTH = 16,       /* graphs inside of nodes of graphs */
};

enum gt_graph_node_kind {
	GT_GRAPH_NODE_NOTHING, /* it only orders others */
	GT_GRAPH_NODE_KERNEL,
	GT_GRAPH_NODE_COPY,
	GT_GRAPH_NODE_FILL,
};

/* Whether the name of a kernel is one that is looked for: whoever uses the graph finds it out. */
enum gt_graph_node_named {
	GT_GRAPH_NODE_UNASKED,
	GT_GRAPH_NODE_WANTED,
	GT_GRAPH_NODE_UNWANTED,
};

struct gt_graph_node {
	enum gt_graph_node_kind kind;
	bool disabled;      /* it does nothing, as the program switched it off */
	CUgraphNode handle; /* of the graph that was read */
	uint32_t first_edge;
	uint32_t edge_count;
	/* For kernels: */
	CUcontext context;             /* NULL: that of the function, or of the launch */
	struct gt_launch_shape launch; /* without parameters, which are: */
	uint32_t block;                /* offset in bytes */
	uint32_t block_bytes;
	uint32_t block_room;
	uint32_t name; /* mangled: offset in bytes */
	uint32_t name_room;
	enum gt_graph_node_named named; /* of this name */
	/*
	 * For nodes with a graph inside, which only order others then: the nodes of it. Where these
	 * were changed block and block_room are all of their bytes.
	 */
	uint32_t first_inside;
	uint32_t inside_count;
	/* For the others: */
	union {
		CUDA_MEMCPY3D copy;
		CUDA_MEMSET_NODE_PARAMS fill;
	};
};

/* The node waits for that one. */
struct gt_graph_edge {
	uint32_t from;
	bool programmatic; /* only until it lets others begin */
};

struct gt_graph_nodes {
	uint32_t node_count;
	uint32_t edge_count;
	uint32_t byte_count;
	struct gt_graph_node *nodes;
	struct gt_graph_edge *edges;
	uint8_t *bytes;
};

/* The mangled name of a node that is a kernel. */
static inline const char *gt_graph_node_name(const struct gt_graph_nodes *nodes, uint32_t number)
{
	return (const char *)nodes->bytes + nodes->nodes[number].name;
}

/* Room for a graph that is being read; memory that is touched as far as it is needed. */
struct gt_graph_reader {
	const struct gt_capture_driver *driver;
	struct gt_graph_nodes read; /* in the arrays below */
	struct gt_captured_function function;
	CUgraphNode handles[GT_GRAPH_NODES];
	bool leads_on[GT_GRAPH_NODES]; /* another node of its graph waits for it */
	CUgraphNode before[GT_GRAPH_NODES];
	CUgraphEdgeData before_edges[GT_GRAPH_NODES];
	struct gt_graph_node nodes[GT_GRAPH_NODES];
	struct gt_graph_edge edges[GT_GRAPH_EDGES];
	uint8_t bytes[GT_GRAPH_BYTES];
};

/*
 * Into reader->read. Fails with a sentence, -ENOTSUP where nodes are of a kind that cannot be
 * captured, -E2BIG where it is too large, -EIO where the driver does not tell.
 */
int gt_graph_read(struct gt_graph_reader *reader, CUgraph graph, struct gt_error *err);

/*
 * Reads a kernel node's launch into reader->function and the shape; the name is the driver's. Also
 * for parameters that a call changes a node to.
 */
int gt_graph_read_kernel(struct gt_graph_reader *reader, const CUDA_KERNEL_NODE_PARAMS *asked,
                         struct gt_launch_shape *shape, const char **name, struct gt_error *err);

#endif
