"""Control groups, on folders that look like them."""

import tempfile
import unittest
from pathlib import Path

from ..limits import Refused, Throttling
from ..limits.affinity import Affinity
from ..limits.cgroup import CgroupV1, CgroupV2, Hierarchy, hierarchies, own_paths

MOUNTS_V1 = """\
22 1 8:1 / / rw - ext4 /dev/vda rw
30 22 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
31 22 0:28 /docker/abc /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory
"""
MOUNTS_V2 = "35 22 0:30 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"


class Reading(unittest.TestCase):
    def test_finds_hierarchies_of_version_1(self):
        cpu, memory = hierarchies(MOUNTS_V1)
        self.assertEqual((cpu.mounted, cpu.root, cpu.version), (Path("/sys/fs/cgroup/cpu,cpuacct"), "/", 1))
        self.assertLessEqual({"cpu", "cpuacct"}, cpu.controllers)
        self.assertEqual(memory.root, "/docker/abc")

    def test_finds_the_hierarchy_of_version_2(self):
        (mount,) = hierarchies(MOUNTS_V2)
        self.assertEqual((mount.mounted, mount.version), (Path("/sys/fs/cgroup"), 2))

    def test_reads_own_paths_of_both_versions(self):
        paths = own_paths("5:cpu,cpuacct:/a\n4:memory:/b:c\n0::/user.slice/x.scope\n")
        self.assertEqual(paths["cpu"], "/a")
        self.assertEqual(paths["memory"], "/b:c")
        self.assertEqual(paths[""], "/user.slice/x.scope")


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def enterContext(self, manager):  # in unittest since Python 3.11
        entered = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return entered

    def kernel(self, files):
        """Creates the files of a group when it is made, as the kernel does."""
        make = Path.mkdir

        def mkdir(folder, *arguments, **more):
            make(folder, *arguments, **more)
            if folder.name.startswith("portcullis-bench-"):
                for name in files:
                    (folder / name).touch()

        Path.mkdir = mkdir
        self.addCleanup(setattr, Path, "mkdir", make)


class Version1(Folders):
    FILES = ["cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.stat", "cgroup.procs", "memory.limit_in_bytes"]

    def limiter(self):
        for name in ("cpu", "memory"):
            (self.folder / name).mkdir()
        self.kernel(self.FILES)
        mounts = [Hierarchy(self.folder / name, "/", 1, frozenset([name])) for name in ("cpu", "memory")]
        return CgroupV1(mounts, {"cpu": "/", "memory": "/out/of/sight"})

    def test_sets_quota_and_memory_as_the_kubelet_does(self):
        group = self.limiter().group("bare", 512 << 20)
        group.limit_cpu(250)
        cpu, memory = group.folders
        self.assertEqual((cpu / "cpu.cfs_period_us").read_text(), "100000")
        self.assertEqual((cpu / "cpu.cfs_quota_us").read_text(), "25000")
        self.assertEqual((memory / "memory.limit_in_bytes").read_text(), str(512 << 20))

    def test_enters_every_hierarchy(self):
        group = self.limiter().group("bare", 1 << 20)
        group.enter()
        self.assertEqual([(folder / "cgroup.procs").read_text() for folder in group.folders], ["0", "0"])

    def test_reads_throttling_in_nanoseconds(self):
        group = self.limiter().group("bare", 1 << 20)
        (group.folders[0] / "cpu.stat").write_text(
            "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n"
        )
        self.assertEqual(group.throttling(), Throttling(10, 4, 1.5))

    def test_a_limit_that_the_kernel_refuses_is_no_limit(self):
        group = self.limiter().group("bare", 1 << 20)
        (group.folders[0] / "cpu.cfs_quota_us").unlink()
        with self.assertRaises(Refused):
            group.limit_cpu(250)

    def test_refuses_without_the_controllers(self):
        with self.assertRaises(Refused):
            CgroupV1([Hierarchy(self.folder, "/", 1, frozenset(["pids"]))], {})


class Version2(Folders):
    def limiter(self, handed_down):
        own = self.folder / "user.slice" / "own.scope"
        own.mkdir(parents=True)
        for folder in (own, own.parent, self.folder):
            controllers = handed_down if folder == own.parent else ""
            (folder / "cgroup.subtree_control").write_text(controllers)
        self.kernel(["cpu.max", "cpu.stat", "cgroup.procs", "memory.max"])
        mount = Hierarchy(self.folder, "/", 2, frozenset())
        return CgroupV2([mount], {"": "/user.slice/own.scope"})

    def test_makes_groups_where_the_controllers_are_handed_down(self):
        group = self.limiter("cpu memory pids").group("bare", 1 << 20)
        group.limit_cpu(70)
        (folder,) = group.folders
        self.assertEqual(folder.parent, self.folder / "user.slice")
        self.assertEqual((folder / "cpu.max").read_text(), "7000 100000")
        self.assertEqual((folder / "memory.max").read_text(), str(1 << 20))

    def test_reads_throttling_in_microseconds(self):
        group = self.limiter("cpu memory").group("bare", 1 << 20)
        (group.folders[0] / "cpu.stat").write_text(
            "usage_usec 1\nnr_periods 7\nnr_throttled 2\nthrottled_usec 2500000\n"
        )
        self.assertEqual(group.throttling(), Throttling(7, 2, 2.5))

    def test_refuses_where_nothing_is_handed_down(self):
        with self.assertRaisesRegex(Refused, "does not hand down"):
            self.limiter("pids").group("bare", 1 << 20)


class WholeCores(unittest.TestCase):
    def test_parts_of_a_core_are_refused(self):
        limiter = Affinity()
        self.assertFalse(limiter.supports(500))
        self.assertTrue(limiter.supports(1000))
        self.assertFalse(limiter.supports(1_000_000))
        with self.assertRaises(Refused):
            limiter.group("bare", 1).limit_cpu(500)


if __name__ == "__main__":
    unittest.main()
