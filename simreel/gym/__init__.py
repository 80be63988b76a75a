"""Recorders on any Gymnasium environment (extra `gym`)."""

from simreel.gym.record import Record, RecordEnv, RecordVectorEnv

__all__ = ["Record", "RecordEnv", "RecordVectorEnv"]
