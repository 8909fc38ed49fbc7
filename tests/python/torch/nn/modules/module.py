# SPDX-License-Identifier: Apache-2.0
import warnings
from collections import OrderedDict

_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()
_global_forward_hooks_always_called = OrderedDict()


_global_forward_hooks_with_kwargs = OrderedDict()


class RemovableHandle:
    def __init__(self, hooks, hook):
        self.id = id(hook)
        hooks[self.id] = hook


def _has_any_global_hook():
    return (_global_forward_pre_hooks or _global_forward_hooks or _global_forward_hooks_always_called
            or _global_forward_hooks_with_kwargs)


def register_module_forward_pre_hook(hook):
    return RemovableHandle(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    assert not with_kwargs
    handle = RemovableHandle(_global_forward_hooks, hook)
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


class Module:
    def __init__(self):
        object.__setattr__(self, "_modules", {})

    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self._modules[name] = value
        object.__setattr__(self, name, value)

    def named_modules(self, memo=None, prefix=""):
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            yield from module.named_modules(memo, prefix + ("." if prefix else "") + name)

    def __call__(self, *args, **kwargs):
        if not (_global_forward_hooks or _global_forward_pre_hooks):
            return self.forward(*args, **kwargs)
        called, result = set(), None

        def inner():
            nonlocal result, args
            for hook in _global_forward_pre_hooks.values():
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
            result = self.forward(*args, **kwargs)
            for number, hook in _global_forward_hooks.items():
                if number in _global_forward_hooks_always_called:
                    called.add(number)
                changed = hook(self, args, result)
                if changed is not None:
                    result = changed
            return result

        try:
            return inner()
        except Exception:
            for number, hook in _global_forward_hooks.items():
                if number in _global_forward_hooks_always_called and number not in called:
                    try:
                        hook(self, args, result)
                    except Exception as error:
                        warnings.warn("global module forward hook raised %s" % error)
            raise
