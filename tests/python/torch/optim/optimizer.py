# SPDX-License-Identifier: Apache-2.0
from collections import OrderedDict

_global_optimizer_pre_hooks = OrderedDict()
_global_optimizer_post_hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook):
    _global_optimizer_pre_hooks[id(hook)] = hook


def register_optimizer_step_post_hook(hook):
    _global_optimizer_post_hooks[id(hook)] = hook


class Optimizer:
    def step(self, *args, **kwargs):
        for hook in _global_optimizer_pre_hooks.values():
            result = hook(self, args, kwargs)
            if result is not None:
                args, kwargs = result
        out = self.work(*args, **kwargs)
        for hook in _global_optimizer_post_hooks.values():
            hook(self, args, kwargs)
        return out
