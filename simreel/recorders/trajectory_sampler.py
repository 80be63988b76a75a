"""Writes the state of a scene to a reel at due steps, on the stepping thread."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.recorders.sampler import Sampler
from simreel.recorders.trajectory_channels import ChannelFields
from simreel.recorders.trajectory_side import SideRecords
from simreel.reel import Field, Layout
from simreel.reel.limits import MAX_CHUNK_BYTES

if TYPE_CHECKING:
    from simreel.recorders.source import StateSource
    from simreel.recorders.trajectory import TrajectoryFileWriter
    from simreel.recorders.worlds import WorldIds, WorldSteps
    from simreel.reel import ReelWriter

__all__ = ["TrajectorySampler"]

logger = logging.getLogger("simreel")

_VERSION = 1
_NEVER = -1
# Of a step. The engine adds up its own time, and loses that much after 10^9 steps at the earliest.
_TIME_TOLERANCE = 1e-6
_CONTACTS = (
    Field("contact/geom", np.dtype("i4"), 2, kind="contact", ragged=True),
    Field("contact/pos", np.dtype("f8"), 3, unit="m", kind="contact", ragged=True),
    Field("contact/frame", np.dtype("f8"), 9, kind="contact", ragged=True),
    Field("contact/force", np.dtype("f8"), 6, kind="contact", ragged=True),
)


class TrajectorySampler(Sampler):
    """Fills rows of the reel's own ring: nothing is copied twice, and no queue lies between.

    Args:
        recorder: whose frames they are.
        source: the scene.
        reads_state: whether a function reads state and inputs only.
    """

    takes_last = True

    def __init__(
        self,
        recorder: TrajectoryFileWriter,
        source: StateSource,
        reads_state: Callable[[Callable[[], Any]], bool],
    ) -> None:
        super().__init__(recorder, source, reads_state)  # type: ignore[arg-type] # nobody calls it
        self._writer = recorder
        self._source = source
        self._n_envs = recorder.timing.n_envs
        # Its own: the recorder's clock is set by the recorder's thread.
        self._worlds = recorder.worlds.anew()
        self._episode = 0
        self._segment: dict[str, Any] | None = None
        """Why the next frame does not follow from the one before."""
        self.last = self._next = _NEVER
        """The step of the last frame of this episode, and of the frame that follows from it."""
        self._ended = _NEVER
        """The step at which the episode before has ended, until a frame is taken."""
        self._time: Any = math.nan
        """What the engine's own time is to be at that frame [s], of each world; NaN: anything."""
        self._await_file()

    def _await_file(self) -> None:
        """Has the next frame open a file."""
        self._reel: ReelWriter | None = None
        self._side: SideRecords | None = None
        self._taken = 0
        """Frames of the file."""
        self._first = 0
        """The first frame of the episode."""
        self._look_at = self._keep_at = 0
        """The next frames at which to look at parameters, and to keep the user's own state."""
        self._changed = _NEVER
        """The frame before which somebody has changed parameters last."""
        self._block: np.ndarray[Any, Any] | None = None
        self._part = ("", "")
        """The first and the last field of the state."""
        self._is_plain = False
        """Whether frames have nothing but the state."""
        self.take = self._take_first

    def took(self, step: int) -> bool:
        """Whether this episode's frame of that step was taken."""
        return self._ended == step or (self.last == step and (self._reel is None or self._reel.frames >= self._taken))

    def _take_first(self, step: int) -> None:
        try:
            self._open_file()(step)
        except BaseException:
            # The next step opens it anew, where this was Ctrl-C.
            if self._writer.drop():
                self._await_file()
            raise

    def _open_file(self) -> Callable[[int], None]:
        """Opens the file, whose layout the first values of the channels fix, and gives what takes its first frame."""
        source, options = self._source, self._writer.options
        listed = source.channels()
        exact, state = self._state_layout()
        # Before the channels, as in `take`.
        stands = np.empty(sum(field.width for field in state.fields))
        source.reader()(stands)
        channels = ChannelFields(listed) if listed else None
        worlds = max(1, self._n_envs)
        fields = [*state.fields, *(Field(name, np.dtype("i8"), worlds, kind="info") for name in ("step", "episode"))]
        fields += channels.fields if channels else ()
        fields += _CONTACTS if options.contacts else ()
        described, blobs = source.describe(options.embed)
        meta = {
            "kind": "trajectory",
            "version": _VERSION,
            "exact": exact,
            "n_envs": self._n_envs,
            "stride": self.stride,
            "channels": channels.meta if channels else [],
            "watch": options.watch_model,
            **described,
        }
        self._ended = _NEVER
        reel = self._writer.begin(Layout(tuple(fields), state.joints), meta, blobs)
        self._reel, self._side = reel, SideRecords(reel, source, self.recorder.label)
        self._segment = None
        self.reads_state = not options.contacts and all(self._reads_state(channel.func) for channel in listed)
        self._is_plain = not (listed or options.contacts)
        self.take = self._make_take(reel, state, channels, source.reader())
        return self._make_take(reel, state, channels, lambda part: np.copyto(part, stands))

    def _state_layout(self) -> tuple[bool, Layout]:
        layout, compact = self._source.layout(True), self._source.layout(False)
        exact = self._writer.options.exact
        if layout == compact:
            return True, layout
        if exact is None:
            exact = not self._n_envs
            kind = "exact, to go on from any frame bit for bit" if exact else "compact, without solver warm starts"
            logger.info("%s: %s; exact=%s records it otherwise", self.recorder.label, kind, not exact)
        return exact, layout if exact else compact

    def _make_take(
        self,
        reel: ReelWriter,
        state: Layout,
        channels: ChannelFields | None,
        read_state: Callable[[np.ndarray[Any, Any]], None],
    ) -> Callable[[int], None]:
        """A function that takes a frame. Local names, since it is the hot path."""
        first, last = self._part = state.fields[0].name, state.fields[-1].name
        next_part, commit = reel.next_part, reel.commit
        stride, n_envs, worlds = self.stride, self._n_envs, self._worlds
        read_contacts = self._source.contacts if self._writer.options.contacts else None
        interval = stride * self.recorder.timing.dt
        tolerance = interval * _TIME_TOLERANCE if first == "time" else math.inf

        def take(step: int) -> None:
            if step != self._next and not self._begin(step):
                return
            part = next_part(first, last)
            read_state(part)
            # After the state: the inputs that a channel sets do not count for this step.
            packed = channels.read() if channels is not None else None
            if self._taken >= self._look_at:
                self._look()
            counts = next_part("step", "episode")
            if n_envs:
                time = part[:n_envs]
                self._check_times(time, tolerance)
                np.subtract(step, worlds.start, out=counts[:n_envs])
                counts[n_envs:] = worlds.episode
            else:
                time = part.item(0)
                if abs(time - self._time) > tolerance:
                    self._note_segment({"reason": "time"})
                counts[0] = step
                counts[1] = self._episode
            if channels is not None and packed is not None:
                channels.write(packed, reel)
            if read_contacts is not None:
                for name, items in read_contacts().items():
                    reel.ragged(name, items)
            # Ctrl-C is raised after a call, not after a store: it finds all of them done, or none.
            self._time = time + interval
            self.last = step
            self._next = step + stride
            self._taken += 1
            commit()

        return take

    def _begin(self, step: int) -> bool:
        """Makes ready for a frame that does not plainly follow; False where it was taken already."""
        assert self._reel is not None
        if self.took(step):
            self._compare()
            return False
        self._settle()
        self._ended = _NEVER
        if self._segment is None and step - self.last > self.stride and self.last != _NEVER:
            self._segment = {"reason": "pause"}
        if self._segment is not None:
            self._note_segment(self._segment)
            self._segment = None
        self._time = math.nan
        return True

    def _compare(self) -> None:
        """Notes where Ctrl-C came between a frame and its step, and somebody has set something meanwhile.

        The step starts from what stands now; the frame has what stood then.
        """
        assert self._reel is not None
        state = self._reel.last_part(*self._part)
        stands = np.empty_like(state)
        self._source.reader()(stands)
        if self._changed == self._taken or stands.tobytes() != state.tobytes():
            self.start_segment("interrupt", None)

    def _note_segment(self, value: dict[str, Any]) -> None:
        assert self._side is not None
        if self._taken:
            self._side.segment(value)

    def _check_times(self, times: np.ndarray[Any, Any], tolerance: float) -> None:
        jumped = np.abs(times - self._time) > tolerance
        if jumped.any():
            worlds = {"worlds": np.flatnonzero(jumped).tolist()} if self._n_envs else {}
            self._note_segment({"reason": "time", **worlds})

    def _look(self) -> None:
        """Looks at what is recorded every so many frames."""
        assert self._side is not None
        options = self._writer.options
        self._side.look(self._taken, is_taken_now=True)
        if self._taken >= self._keep_at:
            self._side.user_state()
            self._keep_at = self._taken + options.chunk_size - self._taken % options.chunk_size
        self._look_at = self._taken + 1 if options.watch_model == "step" else self._keep_at

    # Taking many frames.

    def room(self, step: int) -> int:
        """As `Sampler.room`."""
        if not self._is_plain or step != self._next or self.stride != 1:
            return 0
        assert self._reel is not None
        return min(self._look_at - self._taken, MAX_CHUNK_BYTES // self._reel.layout.row_bytes)

    def rows(self, n: int) -> np.ndarray[Any, Any]:
        """As `Sampler.rows`."""
        assert self._reel is not None
        if self._block is None or len(self._block) < n:
            self._block = np.empty(n, self._reel.layout.row_dtype)
        # All fields have 8 bytes, and the last two are step and episode.
        return self._block[:n].view("f8").reshape(n, -1)[:, : -2 * max(1, self._n_envs)]

    def append(self, step: int, n: int) -> None:
        """As `Sampler.append`."""
        reel, block = self._reel, self._block
        assert reel is not None
        assert block is not None
        steps = np.arange(step, step + n)
        block["step"][:n] = self._worlds.steps(steps) if self._n_envs else steps[:, None]
        block["episode"][:n] = self._worlds.episode if self._n_envs else self._episode
        interval = self.recorder.timing.dt
        times = block["time"] if reel.layout.fields[0].name == "time" else None
        if times is not None:
            self._check_times(times[0], interval * _TIME_TOLERANCE)
        try:
            reel.append(block[:n])
            self._count(step, times)
        except BaseException:
            # Ctrl-C may come when some of them are in the file, or while they are counted.
            self._count(step, times)
            raise

    def _count(self, step: int, times: np.ndarray[Any, Any] | None) -> None:
        """Counts the rows of a block that are in the file, the first of which is that of a step."""
        assert self._reel is not None
        frames = self._reel.frames
        added = frames - self._taken
        if not added:
            return
        # No calls from here: Ctrl-C finds all of them done, or none.
        if times is not None:
            self._time = times[added - 1] + self.recorder.timing.dt
        self.last = step + added - 1
        self._next = step + added
        self._taken = frames

    def _settle(self) -> None:
        """Forgets a frame that Ctrl-C has kept from being committed."""
        if self._reel is not None and self._reel.frames < self._taken:
            self._taken = self._reel.frames
            self.last = self._next = _NEVER

    # What happens between steps.

    def end_episode(self, envs_idx: WorldIds | None, step: int, reason: str) -> None:
        """As `Sampler.end_episode`: notes the bounds, and of single worlds the last states."""
        self._settle()
        if envs_idx is not None:
            self._end_worlds(envs_idx, step)
            return
        if self._ended == step:
            # Ctrl-C has come between this and the reset, which is tried again.
            return
        if self._side is not None:
            self._side.look(self._taken, is_taken_now=False)
            if self._first < self._taken:
                self._side.episode(self._first, self._taken, reason)
        self._first = self._look_at = self._keep_at = self._taken
        self._episode += 1
        self._worlds.restart(None, step)
        self._segment = {"reason": reason}
        self.last = self._next = _NEVER
        self._ended = step
        if self._writer.options.save_on_reset:
            self._await_file()
            self._writer.next_episode()

    def _end_worlds(self, envs_idx: WorldIds, step: int) -> None:
        ended = envs_idx[self._worlds.start[envs_idx] < step]
        if self._side is not None and ended.size:
            self._side.world_end(ended, self._states(ended), sorted(self._source.unstable() & set(ended.tolist())))
        self._worlds.restart(envs_idx, step)
        if np.ndim(self._time):
            self._time[envs_idx] = math.nan

    def _states(self, worlds: WorldIds) -> dict[str, np.ndarray[Any, Any]]:
        fields = self._source.layout(True).fields
        widths = [field.width // self._n_envs for field in fields]
        rows = np.empty((self._n_envs, sum(widths)))
        self._source.reader()(rows)
        parts = np.split(rows[worlds], np.cumsum(widths)[:-1], axis=1)
        return {field.name: part for field, part in zip(fields, parts, strict=True)}

    def start_at(self, start: WorldSteps) -> None:
        """As `Sampler.start_at`."""
        self._worlds.start[:] = start
        self._ended = _NEVER

    def start_segment(self, reason: str, envs_idx: WorldIds | None) -> None:
        """As `Sampler.start_segment`: the next frame says so."""
        if self._segment is None:
            self._segment = {"reason": reason}
            if envs_idx is not None:
                self._segment["worlds"] = envs_idx.tolist()
        elif "worlds" in self._segment and envs_idx is not None:
            self._segment["worlds"] = sorted({*self._segment["worlds"], *envs_idx.tolist()})
        else:
            self._segment.pop("worlds", None)
        self._next = _NEVER

    def parameters_change(self) -> None:
        """As `Sampler.parameters_change`."""
        self._look_between()

    def parameters_changed(self) -> None:
        """As `Sampler.parameters_changed`: the next frame is the first that has them."""
        self._look_between()
        self._look_at = self._taken

    def _look_between(self) -> None:
        self._settle()
        self._changed = self._taken
        if self._side is not None:
            self._side.look(self._taken, is_taken_now=False)
