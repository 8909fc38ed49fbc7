# SPDX-License-Identifier: Apache-2.0
"""As much of torch as the files of python/ touch, for tests without PyTorch.

Names, signatures and the order of calls are those of PyTorch 2.11's sources (torch/nn/modules/module.py,
torch/optim/optimizer.py, torch/autograd/profiler.py, torch/csrc/autograd/engine.cpp). Backward runs on
a thread of its own, as for a GPU, and takes the node with the largest sequence number first.
"""
import os

__version__ = os.environ.get("STUB_VERSION", "2.11.0+cu130")
if __version__ == "fails":
    raise ImportError("libcudart.so.13: cannot open shared object file")


class Tensor:
    def __init__(self, grad_fn=None):
        self.grad_fn = grad_fn

    def backward(self):
        autograd.run_backward(self.grad_fn)


def operation(name, *inputs):
    """Does as some function of torch does: a result, and a node of autograd where gradients go."""
    _C._nvtx.launch(name)
    return Tensor(autograd.Node(name, [tensor.grad_fn for tensor in inputs]))


from . import _C, autograd, compiler, cuda, nn, optim  # noqa: E402,F401
