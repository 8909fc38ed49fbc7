# SPDX-License-Identifier: Apache-2.0
"""The whole way from a program to a report, on the fakes: python3 tests/injection/e2e BUILD_FOLDER [CLASS[.TEST]...]

Every test runs a program that says itself what it did, under gputrace or by environment alone, and compares that with
the recording. Each class of a file test_*.py of this folder is found here, and becomes the test e2e/CLASS of ctest.
"""
import importlib
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True


def add_classes():
    """Puts the test classes of all files here, where unittest looks for names."""
    for path in sorted(pathlib.Path(__file__).parent.glob("test_*.py")):
        module = importlib.import_module(path.stem)
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == path.stem:
                if name in globals():
                    sys.exit(f"e2e: two classes are called {name}; one is in {path.name}")
                globals()[name] = value


if __name__ == "__main__":
    add_classes()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
