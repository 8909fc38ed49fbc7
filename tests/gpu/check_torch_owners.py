#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what torch_owners.py reads out of a trace of PyTorch's profiler, on one made by hand."""
import unittest

from programs.python.torch_owners import sums_of

NAMES = {"nn.Module: Net_0": "Net", "nn.Module: Linear_0": "proj"}


def shown(category, name, ts, dur, tid=1, **arguments):
    return {"ph": "X", "cat": category, "name": name, "tid": tid, "ts": ts, "dur": dur, "args": arguments}


def operation(name, ts, dur, number=None, forward=0, tid=1):
    numbers = {} if number is None else {"Sequence number": number, "Fwd thread id": forward}
    return shown("cpu_op", name, ts, dur, tid, **numbers)


def launch(ts, correlation, took, tid=1):
    return [shown("cuda_runtime", "cudaLaunchKernel", ts, 0.5, tid, correlation=correlation),
            shown("kernel", "gemm", ts + 100, took, 7, correlation=correlation)]


FORWARD = [shown("python_function", "nn.Module: Net_0", 0, 100), shown("python_function", "nn.Module: Linear_0", 10, 40),
           operation("aten::linear", 12, 30, 4), operation("aten::addmm", 15, 20, 5), *launch(20, 1, 3),
           operation("aten::relu", 60, 20, 6), *launch(65, 2, 4)]
BACKWARD = [operation("autograd::engine::evaluate_function: AddmmBackward0", 200, 30, tid=2),
            operation("AddmmBackward0", 202, 18, 5, 1, 2), operation("aten::mm", 205, 10, tid=2), *launch(206, 3, 5, 2),
            operation("aten::sum", 222, 6, tid=2), *launch(223, 7, 9, 2),
            operation("autograd::engine::evaluate_function: ReluBackward0", 240, 30, tid=2),
            operation("ReluBackward0", 245, 20, 6, 1, 2), *launch(250, 4, 6, 2)]
STEP = [shown("user_annotation", "Optimizer.step#AdamW.step", 300, 50), operation("aten::_foreach_add_", 310, 10),
        *launch(311, 5, 7)]


class Owners(unittest.TestCase):
    def setUp(self):
        outside = [operation("aten::copy_", 400, 10), *launch(401, 6, 8)]
        self.sums = sums_of(FORWARD + BACKWARD + STEP + outside, NAMES)

    def test_work_belongs_to_the_innermost_operation(self):
        self.assertEqual(self.sums["ops"], {
            "aten::addmm": [1, 3], "aten::relu": [1, 4], "aten::mm": [1, 5], "aten::_foreach_add_": [1, 7],
            "ReluBackward0": [1, 6], "aten::copy_": [1, 8], "aten::sum": [1, 9]})

    def test_work_of_backward_belongs_to_the_module_that_its_forward_was_called_in(self):
        self.assertEqual(self.sums["owners"], {
            "forward proj": [1, 3], "forward Net": [1, 4], "backward proj": [2, 14], "backward Net": [1, 6],
            "AdamW.step": [1, 7], "": [1, 8]})


unittest.main()
