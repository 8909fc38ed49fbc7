# SPDX-License-Identifier: Apache-2.0
"""The build, its fakes, and the ways in which the tests run gputrace and programs."""
import json
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path("build/dev")
SOURCE = pathlib.Path(__file__).resolve().parents[3]
GPUTRACE = BUILD / "bin" / "gputrace"
FAKES = BUILD / "fakes"
PATIENCE_S = 60
SECOND = 10 ** 9


def find_injection():
    found = sorted(BUILD.rglob("libgputrace-injection.so"))
    if not found:
        sys.exit(f"e2e: no libgputrace-injection.so under {BUILD}")
    return found[0]


def environment(script="", fakes=FAKES, **extra):
    """The tests' own environment, without settings of gputrace that lie around in it."""
    result = {name: value for name, value in os.environ.items()
              if not name.startswith(("GPUTRACE_", "CUDA_INJECTION", "NVTX_INJECTION"))}
    result["LD_LIBRARY_PATH"] = str(fakes)
    result["FAKE_CUPTI"] = script
    # programs die as they are told to, and are no place to look for leaks
    result["ASAN_OPTIONS"] = "detect_leaks=0:handle_segv=0:handle_abort=0"
    result.update(extra)
    return result


# Replay writes twice as much before each run with a cold cache, which takes the host's memory its time.
SMALL_CACHE = "l2_bytes=1048576"


def tool(*words, **keywords):
    """A gputrace command that must succeed; its standard output."""
    done = subprocess.run([GPUTRACE, *map(str, words)], capture_output=True, text=True,
                          env=environment(), timeout=PATIENCE_S, **keywords)
    if done.returncode:
        raise AssertionError(f"gputrace {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def shown_by(reader, *words, errors="strict"):
    """Rows that one of the tests' own readers prints, a line of JSON each."""
    done = subprocess.run([BUILD / "bin" / reader, *words], capture_output=True, text=True, errors=errors,
                          env=environment(), timeout=PATIENCE_S, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def finish(recording):
    return subprocess.run([GPUTRACE, "finish", recording], capture_output=True, text=True,
                          env=environment(), timeout=PATIENCE_S, check=False)
