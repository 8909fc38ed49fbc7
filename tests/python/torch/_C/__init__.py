# SPDX-License-Identifier: Apache-2.0
import threading

from . import _nvtx, _profiler  # noqa: F401

graph_task = threading.local()


def _current_graph_task_id():
    return getattr(graph_task, "number", -1)
