# SPDX-License-Identifier: Apache-2.0
"""The first thing that a Python below `gputrace run` with --pytorch or --allocators runs: it has
what was asked for wait for the packages that it is about, and gives way to the program's own
sitecustomize, as if this file had never been there.

Any Python may come by here, also one that the program starts for other ends: this file is read by
all of them from 2.7 on, says nothing and never fails by itself.
"""
import os
import sys


def leave_path():
    """Nothing of ours is found along sys.path any more; children have it by PYTHONPATH."""
    place = os.path.dirname(__file__)
    sys.path[:] = [entry for entry in sys.path if entry != place]
    sys.path_importer_cache.pop(place, None)


def wait_for_packages():
    """Each variable that is set, and not empty, has its file wait for what the program imports."""
    if sys.version_info < (3, 8):
        return
    for variable, name in (("GPUTRACE_PYTORCH", "gputrace_pytorch"),
                           ("GPUTRACE_ALLOCATORS", "gputrace_allocators")):
        try:
            if os.environ.get(variable):
                __import__(name).wait()
        except Exception:  # the program must not notice
            pass


def find_next():
    """Never this file again, should it still be found in some way."""
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        spec = find_spec(__name__, None) if find_spec else None
        if spec is not None:
            return spec if spec.origin != __file__ else None
    return None


def run_next():
    """Becomes the program's own sitecustomize; without one there is none, as the import says."""
    spec = find_next()
    if spec is None:
        raise ImportError("No module named 'sitecustomize'", name=__name__)
    import _frozen_importlib
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules[__name__] = module
    spec.loader.exec_module(module)


def run_next_of_old():
    """The same for a Python without specs; not finding one is the ImportError that site expects."""
    import imp
    found = imp.find_module(__name__, sys.path)
    try:
        imp.load_module(__name__, *found)
    finally:
        if found[0]:
            found[0].close()


wait_for_packages()
leave_path()
if sys.version_info < (3, 5):
    run_next_of_old()
else:
    run_next()
