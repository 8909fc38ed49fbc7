# SPDX-License-Identifier: Apache-2.0
"""Tells when the program itself imports a package, which is never imported here."""
import sys

from gputrace_notes import Notes

notes = Notes()


class Finder:
    """Finds a package as the other finders of sys.meta_path do, and tells when it is imported."""

    def __init__(self, package):
        self.package = package
        self.waiting = []
        self.looking = False

    def find_spec(self, name, path=None, target=None):
        if name != self.package or self.looking:
            return None
        self.looking = True
        try:
            for finder in list(sys.meta_path):
                find_spec = getattr(finder, "find_spec", None)
                spec = find_spec(name, path, target) if find_spec else None
                if spec is not None:
                    self.follow(spec.loader)
                    return spec
        finally:
            self.looking = False
        return None

    def follow(self, loader):
        """The loader stays what it is but for this one call, which puts itself out of the way."""
        execute = getattr(loader, "exec_module", None)

        def exec_module(module):
            execute(module)
            if module.__name__ != self.package:
                return
            try:
                del loader.exec_module
                sys.meta_path.remove(self)
            except Exception:
                pass
            for imported in self.waiting:
                imported(module)

        try:
            if execute is not None:
                loader.exec_module = exec_module
        except Exception as error:
            notes.failed("The import of " + self.package, error)


def when_imported(package, imported):
    """Calls imported with the module, now or when the program has imported it. It must not raise."""
    if package in sys.modules:  # a .pth file of site-packages imported it
        imported(sys.modules[package])
        return
    for finder in sys.meta_path:
        if isinstance(finder, Finder) and finder.package == package:
            finder.waiting.append(imported)
            return
    finder = Finder(package)
    finder.waiting.append(imported)
    sys.meta_path.insert(0, finder)


def version_of(module):
    """(2, 11) of "2.11.0+cu130"; (0, 0) of what is no version."""
    try:
        parts = str(module.__version__).split(".")
        return int(parts[0]), int("".join(digit for digit in parts[1] if digit.isdigit()) or 0)
    except Exception:
        return 0, 0
