"""Our own writers keep the contract."""

from __future__ import annotations

import csv

import numpy as np

from simreel.recorders import CSVFile, NPZFile
from simreel.testing import RecorderContract


class TestNPZFile(RecorderContract):
    def make_options(self, folder):
        return NPZFile(folder / "run.npz")

    def read(self, folder):
        with np.load(folder / "run.npz") as file:
            return file["data"]


class TestNPZFileDeflated(TestNPZFile):
    def make_options(self, folder):
        return NPZFile(folder / "run.npz", compression="deflate", hz=50)


class TestNPZFileByEpisode(RecorderContract):
    def make_options(self, folder):
        return NPZFile(folder / "run.npz", save_on_reset=True)

    def read(self, folder):
        rows = []
        for path in sorted(folder.glob("run_*.npz")):
            with np.load(path) as file:
                rows += list(file["data"])
        return rows


class TestNPZFileOfKeys(TestNPZFile):
    def sample(self, index, n_envs):
        value = super().sample(index, n_envs)
        return {"value": value, "nested": {"image": np.full((n_envs, 4, 4) if n_envs else (4, 4), index % 256, "u1")}}

    def read(self, folder):
        with np.load(folder / "run.npz") as file:
            images = file["nested/image"]
            return [{"value": v, "nested": {"image": i}} for v, i in zip(file["value"], images, strict=True)]


class TestCSVFile(RecorderContract):
    def make_options(self, folder):
        return CSVFile(folder / "run.csv")

    def read(self, folder):
        with open(folder / "run.csv", newline="", encoding="utf-8") as file:
            return [float(row["data"]) for row in csv.DictReader(file)]


class TestCSVFileRowByRow(TestCSVFile):
    def make_options(self, folder):
        return CSVFile(folder / "run.csv", save_every_write=True, buffer_size=5)


class TestCSVFileThatMayDrop(TestCSVFile):
    """What a recorder may drop, it does not where the contract gives it time."""

    def make_options(self, folder):
        return CSVFile(folder / "run.csv", when_full="drop_oldest", buffer_size=2)
