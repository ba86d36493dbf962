"""LeRobot datasets, version 3.0: written, checked and read without LeRobot or torch."""

from heedful.store.datasets.check import check_dataset
from heedful.store.datasets.episode import EpisodeFrames
from heedful.store.datasets.read import load_demonstrations
from heedful.store.datasets.staging import Staging
from heedful.store.datasets.summary import DatasetSummary
from heedful.store.datasets.write import write_dataset

__all__ = [
    "DatasetSummary",
    "EpisodeFrames",
    "Staging",
    "check_dataset",
    "load_demonstrations",
    "write_dataset",
]
