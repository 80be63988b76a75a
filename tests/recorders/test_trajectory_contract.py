"""A trajectory keeps to the contract of recorders; its samples are a channel."""

from simreel.recorders import TrajectoryFile
from simreel.reel import Reel
from simreel.testing import RecorderContract


class TestTrajectoryFile(RecorderContract):
    sizes = (0, 1, 2, 255, 256, 257, 1025)

    def make_options(self, folder):
        return TrajectoryFile(filename=folder / "run.reel")

    def read(self, folder):
        with Reel.open(folder / "run.reel") as reel:
            rows = reel.field("channel/sample")[:]
            return [row if len(row) > 1 else row[0] for row in rows]


class TestTrajectoryFileInSmallChunks(TestTrajectoryFile):
    sizes = (0, 1, 15, 16, 17, 33)

    def make_options(self, folder):
        return TrajectoryFile(filename=folder / "run.reel", chunk_size=16)
