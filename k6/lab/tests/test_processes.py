import os
import socket
import sys
import tempfile
import unittest
from pathlib import Path

from ..processes import Failure, Process, free_ports


class Ports(unittest.TestCase):
    def test_a_port_that_is_taken_is_not_given(self):
        (port,) = free_ports(1)
        with socket.socket() as taken:
            # The next one that would be given.
            try:
                taken.bind(("127.0.0.1", port + 1))
            except OSError:
                self.skipTest("somebody else has it")
            self.assertNotIn(port + 1, free_ports(3))

    def test_no_port_is_given_twice_in_a_row(self):
        ports = [port for _ in range(10) for port in free_ports(2)]
        self.assertEqual(len(ports), len(set(ports)))


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, script, cores=None):
        cores = cores or os.sched_getaffinity(0)
        return Process([sys.executable, "-c", script], self.folder / "log", cores, cwd=self.folder)

    def test_it_runs_on_its_cores_alone(self):
        core = min(os.sched_getaffinity(0))
        with self.start("import os; print(os.sched_getaffinity(0))", {core}) as process:
            process.popen.wait(30)
        self.assertEqual(process.tail(), f"{{{core}}}")

    def test_it_ends_with_its_block(self):
        with self.start("import time; time.sleep(60)") as process:
            process.check_alive()
        self.assertIsNotNone(process.popen.returncode)

    def test_what_has_ended_says_why(self):
        with self.start("raise SystemExit('no configuration')") as process:
            process.popen.wait(30)
            with self.assertRaisesRegex(Failure, "no configuration"):
                process.check_alive()

    def test_what_cannot_be_started_is_a_failure(self):
        with self.assertRaises(Failure):
            Process(["/nothing/here"], self.folder / "log", os.sched_getaffinity(0))


if __name__ == "__main__":
    unittest.main()
