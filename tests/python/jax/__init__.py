# SPDX-License-Identifier: Apache-2.0
"""As much of jax as python/gputrace_jax_memory.py touches, for tests without JAX.

Names and the order of calls are those of JAX 0.11's sources (jax/_src/xla_bridge.py, jax/_src/api.py,
jaxlib/py_device.cc, jaxlib/py_executable.cc).
"""
import atexit
import os

from ._src import xla_bridge

__version__ = os.environ.get("STUB_VERSION", "0.11.0")


def local_devices():
    return xla_bridge.backends()["cuda"].local_devices()


@atexit.register
def clean_up():
    """As in JAX, whose backends are gone before Python ends."""
    xla_bridge._backends = {}
