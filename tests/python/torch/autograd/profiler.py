# SPDX-License-Identifier: Apache-2.0
import enum
import threading

from .. import _C
from .._C._profiler import _ExperimentalConfig

here = threading.local()


class ProfilerState(enum.Enum):
    KINETO = 1
    NVTX = 4


class ProfilerConfig:
    def __init__(self, state, report_input_shapes, profile_memory, with_stack, with_flops, with_modules,
                 experimental_config, trace_id=""):
        assert isinstance(experimental_config, _ExperimentalConfig)
        assert not (profile_memory or with_stack or with_flops or with_modules) or state != ProfilerState.NVTX
        self.state = state
        self.report_input_shapes = report_input_shapes


def _enable_profiler(config, activities, scopes=frozenset()):
    if getattr(here, "config", None):
        raise RuntimeError("Profiler is already enabled on this thread")
    here.config = config
    _C._nvtx.log("enable", "%s %s" % (config.state.name, config.report_input_shapes))


def _disable_profiler():
    if not getattr(here, "config", None):
        raise RuntimeError("Can't disable Kineto profiler when it's not running")
    _C._nvtx.log("disable", here.config.state.name)
    here.config = None


class profile:
    """The program's own profiler, which finds the two functions by their names in this module."""

    def __enter__(self):
        _enable_profiler(ProfilerConfig(ProfilerState.KINETO, False, False, False, False, False,
                                        _ExperimentalConfig()), set())
        return self

    def __exit__(self, *error):
        _disable_profiler()
