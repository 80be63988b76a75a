"""A recorded run: its frames, and the scene put back to any of them."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from simreel.errors import FieldError, FrameIndexError, SimreelWarning, UnknownNameError
from simreel.reel.record import version_text
from simreel.replay.episodes import find_episodes
from simreel.replay.finding import frame_at_time
from simreel.replay.notes import Notes
from simreel.replay.parameters import Parameters
from simreel.replay.recording import open_recording
from simreel.replay.values import Values

if TYPE_CHECKING:
    from pathlib import Path

    from simreel.options.viewer import ViewerOptions
    from simreel.replay.kinds import DataKind
    from simreel.replay.report import VerifyReport
    from simreel.replay.stage import Stage
    from simreel.scene import Scene

__all__ = ["Trajectory"]

_logger = logging.getLogger("simreel")


class Trajectory:
    """What `Scene.load_trajectory` gives. Frame i is the state that step i starts from, with the inputs of that step.

    A frame's number may be negative, from the end. Opening reads the head and the index only; the scene is built when
    it is first needed.

        with Scene.load_trajectory("run.reel") as traj:
            qpos = traj.field("qpos")[1000:2000]
            traj.seek(500)
            traj.scene.step(100)

    Args:
        path: of the file.
        scene: to put the frames into; it is built if it was not yet. None: one that is made of what the file holds.
        show_viewer: shows MuJoCo's viewer, where there is a display.
        viewer_options: how it does.

    Raises:
        MissingFileError: there is no such file.
        ReadError: the system does not give it.
        DamagedFileError: it is no reel, or nothing of it can be read.
        FileVersionError: it needs another release of simreel.
        NotATrajectoryError: it is a reel of something else.
        SceneDiffersError: `scene` is not the one that was recorded.
        FieldError: `path` or `scene` is none.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        scene: Scene | None = None,
        *,
        show_viewer: bool = False,
        viewer_options: ViewerOptions | None = None,
    ) -> None:
        if scene is not None:
            from simreel.scene import Scene

            if not isinstance(scene, Scene):
                raise FieldError("scene", f"{scene!r:.100}", "a simreel.Scene, or None, is needed")
        self._recording = open_recording(path)
        self._reel = self._recording.reel
        self._notes = Notes(self._reel)
        self._given = scene
        self._viewer = (show_viewer, viewer_options)
        self._has_told = False
        try:
            if scene is not None or show_viewer:
                _ = self._stage
        except BaseException:
            self._reel.close()
            raise

    def close(self) -> None:
        """Closes the file; the scene stays. Twice is fine."""
        self._reel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        worlds = f", {self.n_envs} worlds" if self.n_envs else ""
        exact = "exact" if self.is_exact else "compact"
        return f"<Trajectory {self.path.name}: {len(self)} frames of {self.dt * self.stride:g} s, {exact}{worlds}>"

    # What it is.

    def __len__(self) -> int:
        """Frames, lost ones included."""
        return len(self._reel)

    @property
    def path(self) -> Path:
        """Of the file."""
        return self._reel.path

    @property
    def is_exact(self) -> bool:
        """Whether the scene steps on bit for bit from a frame; else solver warm starts and delays are not there."""
        return self._recording.is_exact

    @property
    def is_complete(self) -> bool:
        """Whether the recording was ended, not cut off."""
        return self._reel.is_complete

    @property
    def n_envs(self) -> int:
        """Worlds; 0 without worlds."""
        return self._recording.n_envs

    @property
    def dt(self) -> float:
        """Time of one step [s]."""
        return self._reel.dt

    @property
    def stride(self) -> int:
        """Steps from one frame to the next."""
        return self._recording.stride

    @cached_property
    def episodes(self) -> list[tuple[int, int]]:
        """First frame of each episode, and the first after it. With worlds: those that resets of all worlds ended."""
        return find_episodes(self._recording, self._notes)

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """The spans of frames that are lost. The first time this reads the whole file and checks it."""
        return self._reel.gaps

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels."""
        return tuple(self._recording.channels)

    def info(self) -> dict[str, Any]:
        """What there is to tell about the file, as JSON values. Reads the whole file the first time."""
        from simreel.replay.names import names_in

        return {
            **self._reel.info(),
            **names_in(self._reel),
            "kind": self._recording.kind,
            "is_exact": self.is_exact,
            "n_envs": self.n_envs,
            "stride": self.stride,
            "episodes": [list(episode) for episode in self.episodes],
            "channels": list(self.channels),
            "parameters": self._parameters.names,
        }

    # What it holds.

    def time(self, i: int) -> float | np.ndarray[Any, Any]:
        """Simulated time of a frame [s], `step * dt`; with worlds that of each, (n_envs,) float64.

        Raises:
            FrameIndexError: there is no such frame.
            GapError: the frame is lost.
        """
        if isinstance(i, slice):
            needed = "the number of a frame is needed; traj.field('step')[a:b] has the steps of many"
            raise FieldError("time", f"{i!r}", needed)
        times = self._reel.field("step")[i] * self.dt
        return times if self.n_envs else float(times[0])

    def field(self, name: str) -> Values:
        """A field of all frames: `traj.field("qpos")[a:b]` is (b - a, nq), with worlds (b - a, n_envs, nq).

        Only this field is decoded.

        Raises:
            UnknownNameError: there is no such field.
            FieldError: `name` is no text.
        """
        _check_name(name)
        column = self._reel.field(name)
        return Values(column, self._recording.shape(column.field))

    def channel(self, name: str) -> Values:
        """A channel of all frames: `traj.channel("tip")[a:b]` is (b - a, ...).

        Raises:
            UnknownNameError: there is no such channel.
            FieldError: `name` is no text.
        """
        _check_name(name)
        if name not in self._recording.channels:
            raise UnknownNameError("channel", name, self._recording.channels)
        return self.field(f"channel/{name}")

    def frame(self, i: int, kinds: DataKind | Iterable[DataKind] | None = None) -> dict[str, np.ndarray[Any, Any]]:
        """A frame: arrays by name, each (width,), with worlds (n_envs, width).

        Args:
            i: its number.
            kinds: which parts; None: all that the file has of it. DERIVED, CONFIG and CONSTANT build the scene.

        Raises:
            FrameIndexError: there is no such frame.
            GapError: the frame is lost.
        """
        from simreel.replay.frame import read_frame

        return read_frame(self._recording, i, kinds, lambda: self._stage)

    # Putting it back.

    @property
    def scene(self) -> Scene:
        """The scene that the frames are put into, with the recorded entities, cameras and names; built when asked for.

        Raises:
            SceneFileError: the file holds no scene that can be built.
        """
        return self._stage.scene

    def seek(self, i: int) -> None:
        """Puts the scene to a frame: state, inputs, parameters, user state and clock; it steps on from there.

        From an exact trajectory it does so bit for bit. A scene that is recording ends its episode, as in a reset.

        Args:
            i: its number.

        Raises:
            FrameIndexError: there is no such frame.
            GapError: the frame is lost.
            SimreelError: a recorder of the scene failed; the scene is at the frame.
        """
        self._check_frames(i)
        self._stage.seek(i)
        if not self.is_exact and not self._has_told:
            self._has_told = True
            _logger.info("%s is compact: from a frame of it the scene steps on nearly as it did", self.path)
        if self._recording.sleeps and np.any(self._stage.scene.step_count):
            warnings.warn(
                f"{self.path}: bodies of this model sleep, and which of them do stands in no frame: from frame {i} the "
                "scene may step on otherwise than it did. The first frame of an episode is exact",
                SimreelWarning,
                stacklevel=2,
            )

    def seek_time(self, t: float) -> int:
        """Puts the scene to the frame that is nearest to a time [s].

        The time is that of the episode of the last seek, or of the first episode. With worlds it is the time since the
        last reset of them all.

        Returns:
            The number of the frame.

        Raises:
            FieldError: the episode has no such time.
            FrameIndexError: the trajectory has no frame.
        """
        self._check_frames(0)
        at = self._stage.frame
        episode = next((found for found in self.episodes if found[0] <= at < found[1]), (0, 0))
        frame = frame_at_time(self._recording, t, episode)
        self.seek(frame)
        return frame

    def play(
        self, loop: bool = False, *, speed: float = 1.0, start: int | None = None, stop: int | None = None
    ) -> None:
        """Puts the scene to one frame after the other, each at its time, until the last or until the viewer is closed.

        Deadlines are absolute: where a frame takes too long, those that are late are left out. Lost frames are too.

        Args:
            loop: begin again after the last frame; with a viewer only.
            speed: simulated time for wall time.
            start: the first frame; negative from the end.
            stop: the first that is not played.

        Raises:
            SceneStateError: `loop` without a viewer.
            FieldError: `speed` is not above 0, or no frame is left.
            FrameIndexError: the trajectory has no frame.
        """
        from simreel.replay.playing import play

        self._check_frames(0)
        play(self._recording, self._stage, loop=loop, speed=speed, start=start, stop=stop)

    def verify(self, *, on_progress: Callable[[int, int], None] | None = None) -> VerifyReport:
        """Runs the recording again, from its inputs, and compares each state to the bit.

        The scene is left as it is.

        Args:
            on_progress: called with the frames that are done, and all.

        Returns:
            Whether each state was reached, or the first that was not, in which field, by how much.

        Raises:
            NotExactError: the recording is compact, or does not hold every step.
            FrameIndexError: the trajectory has no frame.
        """
        from simreel.replay.verify import verify

        self._check_frames(0)
        return verify(self._recording, self._notes, self._stage, on_progress)

    def _check_frames(self, i: int) -> None:
        # Before the scene is built: a file that was cut before its first frame may lack that too.
        if not len(self):
            raise FrameIndexError(self.path, i, 0, version_text(self._reel.head.version))

    @cached_property
    def _parameters(self) -> Parameters:
        return Parameters(self._reel)

    @cached_property
    def _stage(self) -> Stage:
        from simreel.replay.setting import set_up

        return set_up(self._recording, self._notes, self._parameters, self._given, *self._viewer)


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise FieldError("name", f"{name!r:.100}", "a text is needed")
