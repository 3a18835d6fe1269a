"""What a test of tests/e2e prints: a line for each promise, and the count at the end."""

import sys
import traceback


class Verdicts:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, holds, why=""):
        """Notes whether the promise `name` holds; `why` tells what was found instead."""
        if holds:
            self.passed += 1
            print(f"ok {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL {name}: {why}", flush=True)

    def skip(self, name, why):
        print(f"skip {name}: {why}", flush=True)

    def run(self, name, part, *arguments):
        """Runs a part of a test; an exception in it is a failure of the promise `name`."""
        try:
            part(*arguments)
        except Exception as problem:  # noqa: BLE001: whatever went wrong is the finding
            traceback.print_exc(file=sys.stderr)
            self.check(name, False, f"{type(problem).__name__}: {problem}")

    def end(self):
        """Prints the last line; gives the exit status."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0
