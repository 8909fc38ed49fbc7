# SPDX-License-Identifier: Apache-2.0
"""A program under gputrace run that is told what to do while it is recorded."""
import subprocess

from cases.support.bench import expect


class Told:
    """Its standard input takes orders, each answered with a line, unless it hangs."""

    def __init__(self, bench, name, program, *options):
        self.bench = bench
        self.recording = bench.recording(name)
        self.process = subprocess.Popen([bench.gputrace, "run", "--no-export", *options, "-o", str(self.recording), "--", *program],
                                        env=bench.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.communicate()

    def order(self, text):
        """The program carries it out, and answers with its launches so far."""
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        expect(answer, f"told {text!r} it ended: {self.said() if not answer else ''}")
        return int(answer)

    def tell(self, command, word=None):
        done = self.bench.run([self.bench.gputrace, command, str(word or self.recording)])
        expect(done.status == 0, f"gputrace {command} exits with {done.status}: {done.tail()}")
        return done

    def said(self):
        _, stderr = self.process.communicate(timeout=self.bench.time_left())
        return stderr

    def end(self):
        """Closes its standard input and waits for the end of gputrace run."""
        said = self.said()
        expect(self.process.returncode == 0, f"gputrace run ends with {self.process.returncode}: {said[-400:]}")
        return self.recording
