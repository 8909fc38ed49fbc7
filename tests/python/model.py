# SPDX-License-Identifier: Apache-2.0
"""A training step of the stub: a root with two layers, each a linear and an activation, and its loss."""
import torch
from torch.autograd import AccumulateGrad


class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.Tensor(AccumulateGrad("weight"))

    def forward(self, x):
        return torch.operation("addmm", x, torch.operation("t", self.weight))


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = Linear()

    def forward(self, x):
        # Before and behind the call of proj: the layer's own.
        y = self.proj(x=torch.operation("norm", x))
        return {"hidden": torch.operation("add", y, x)}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Layer()
        self.second = Layer()

    def forward(self, x):
        x = self.first(x)["hidden"]
        return self.second(torch.operation("gelu", x))


def step(net, optimizer):
    out = net(torch.Tensor(AccumulateGrad("input")))["hidden"]
    torch.operation("loss", out).backward()
    optimizer.step()


if __name__ == "__main__":
    net, optimizer = Net(), torch.optim.AdamW()
    for _ in range(2):
        step(net, optimizer)
    print("trained")
