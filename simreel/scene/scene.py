"""The scene: what is simulated, the clock, and the recorders that watch it."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Self

import mujoco

from simreel.errors import OptionsError, SceneStateError, SimreelError, UnstableError
from simreel.options.morphs import Morph
from simreel.options.recorders import RecorderOptions
from simreel.options.sim import SimOptions
from simreel.options.viewer import ViewerOptions
from simreel.recorders.manager import RecorderManager
from simreel.scene.clock import Clock
from simreel.scene.compile import compile_scene, load_morph, scene_timestep
from simreel.scene.engines.keyframes import keyframe_id
from simreel.scene.engines.mujoco_batch import MuJoCoBatchEngine
from simreel.scene.engines.mujoco_engine import MuJoCoEngine
from simreel.scene.engines.protocol import Engine, SplitEngine
from simreel.scene.entity import Entity
from simreel.scene.ids import world_ids
from simreel.scene.messages import hold_messages, release_messages
from simreel.scene.progress import Progress, Ticker
from simreel.scene.viewer import Viewer, open_viewer

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np
    from numpy.typing import ArrayLike

    from simreel.recorders.base import Recorder
    from simreel.recorders.worlds import WorldIds

__all__ = ["Scene"]


class Scene:
    """Simulates and records.

    A sample belongs to step k, at time `k * dt`, with the state that step k starts from and the inputs it will consume.
    `step()` first lets the due recorders sample, then advances.

    Args:
        sim_options: step, gravity and integrator.
        engine: who computes the physics instead of MuJoCo with the added entities.
        show_viewer: shows MuJoCo's viewer from `build` on, where there is a display.
        viewer_options: how it does.
    """

    def __init__(
        self,
        sim_options: SimOptions | None = None,
        *,
        engine: Engine | None = None,
        show_viewer: bool = False,
        viewer_options: ViewerOptions | None = None,
    ) -> None:
        self._viewer_options = (viewer_options or ViewerOptions()) if show_viewer else None
        self._viewer: Viewer | None = None
        self._sim_options = SimOptions() if sim_options is None else sim_options
        self._engine = engine
        self._parts: list[tuple[str, Morph, mujoco.MjSpec]] = []
        self._entities: list[Entity] = []
        self._clock = Clock(self._dt_before_build() if engine is None else engine.dt)
        self._manager = RecorderManager(self._clock, self._refresh_engine)
        self._agenda = self._manager.agenda
        self._tickers: list[Ticker] = []
        self._is_built = False
        self._is_destroyed = False
        self._release: weakref.finalize[[], Scene] | None = None
        self._advance: Callable[[], None]
        self._sampled_step: Callable[[Callable[[int], None], int], None]
        self._refuse_steps(SceneStateError("scene.step()", "the scene is not built: call scene.build() first"))

    @classmethod
    def from_mujoco(cls, model: mujoco.MjModel, data: mujoco.MjData | None = None, *, substeps: int = 1) -> Scene:
        """A scene of a model and data that stay the caller's.

        Args:
            model: the compiled model.
            data: its data, the state to start from; None makes new data.
            substeps: physics steps in one `scene.step()`.
        """
        if not isinstance(model, mujoco.MjModel):
            raise OptionsError("Scene.from_mujoco", [f"model = {model!r}: a mujoco.MjModel is needed"])
        if data is not None and not isinstance(data, mujoco.MjData):
            raise OptionsError("Scene.from_mujoco", [f"data = {data!r}: a mujoco.MjData is needed"])
        options = SimOptions(substeps=substeps)
        data = mujoco.MjData(model) if data is None else data
        return cls(options, engine=MuJoCoEngine(model, data, options.substeps))

    # What is simulated.

    def add_entity(self, morph: Morph, name: str | None = None) -> Entity:
        """Adds a robot, body or world part; its getters work from `build` on.

        Raises:
            MissingFileError: the morph names a file that is not there.
            ModelError: its model is broken.
            SceneStateError: the scene is built already, or its engine has a model of its own.
        """
        if self._is_built or self._engine is not None:
            raise SceneStateError("scene.add_entity()", "entities are added before build(), to a scene of morphs")
        if not isinstance(morph, Morph):
            raise OptionsError("add_entity", [f"morph = {morph!r}: one of simreel.morphs is needed"])
        name = name or morph.name or self._free_name(type(morph).__name__.lower())
        if any(entity.name == name for entity in self._entities):
            raise OptionsError("add_entity", [f"name = {name!r}: another entity has that name"])
        self._parts.append((name, morph, load_morph(morph)))
        self._entities.append(Entity(name, morph))
        self._clock.dt = self._dt_before_build()
        return self._entities[-1]

    def build(self, n_envs: int = 0) -> None:
        """Compiles what was added and opens the recorders that were started. The state that stands is step 0.

        Args:
            n_envs: worlds to simulate side by side, on all cores; 0 simulates one without a leading axis.

        Raises:
            ModelError: the entities do not compile together.
            OptionsConflictError: two model files differ in an option that the scene can have only once.
            SimreelError: a recorder cannot be opened. It is discarded; `build` may be called again.
        """
        self._check_alive("scene.build()")
        if self._is_built:
            raise SceneStateError("scene.build()", "the scene is built already")
        if operator.index(n_envs) < 0:
            raise OptionsError("build", [f"n_envs = {n_envs}: 0 or more is needed"])
        engine = self._engine or self._compile()
        if n_envs and isinstance(engine, MuJoCoEngine):
            engine = engine.worlds(n_envs)
        if self._release is None:
            hold_messages()
            self._release = weakref.finalize(self, release_messages)
        engine.build(n_envs)
        if isinstance(engine, MuJoCoEngine | MuJoCoBatchEngine):
            for entity in self._entities:
                entity._bind(engine)
        self._clock.dt = engine.dt
        self._clock.set_worlds(engine.n_envs)
        self._manager.open()
        self._engine = engine
        self._is_built = True
        self._show()
        self._allow_steps()

    def _compile(self) -> MuJoCoEngine:
        compiled = compile_scene(self._sim_options, self._parts)
        engine = MuJoCoEngine(compiled.model, mujoco.MjData(compiled.model), self._sim_options.substeps)
        for entity, index in zip(self._entities, compiled.entities, strict=True):
            entity._index = index
        engine.refresh()
        return engine

    def _show(self) -> None:
        if self._viewer_options is None or not isinstance(self._engine, MuJoCoEngine):
            return
        self._viewer = open_viewer(self._engine.model, self._engine.data, self._viewer_options)
        if self._viewer is not None:
            self._tickers.append(Ticker(self._viewer.sync, 1 / self._viewer_options.fps))

    # Steps.

    def step(self, n: int = 1) -> None:
        """Lets the due recorders sample, then advances, n times.

        Raises:
            UnstableError: the simulation has NaN or huge values; `reset` goes on.
            SimreelError: a recorder failed. The step was taken and the others sampled.
        """
        if n != 1:
            for _ in range(_count(n)):
                self.step()
            return
        clock, agenda = self._clock, self._agenda
        step = clock.step
        try:
            if step < agenda.next_step:
                self._advance()
            # A report that waits says nothing of whether somebody samples.
            elif agenda.next_step >= 0 or self._manager.is_due(step):
                self._sampled_step(self._manager.sample, step)
            else:
                self._advance()
        except UnstableError as error:
            self._stop_at(error)
        clock.step = step + 1
        if agenda.reports:
            self._manager.raise_reports()
        if self._tickers:
            self._tick()

    def _stop_at(self, error: UnstableError) -> NoReturn:
        clock = self._clock
        if clock.unstable:
            # It was refused, not taken.
            raise error
        unstable = UnstableError(error.reason, clock.step, error.worlds)
        clock.fail(error.worlds)
        if error.worlds:
            # The other worlds have taken the step.
            clock.step += 1
        self._refuse_steps(unstable)
        raise unstable from None

    def _tick(self) -> None:
        for ticker in self._tickers:
            ticker.tick()

    def _allow_steps(self) -> None:
        engine = self._engine
        assert engine is not None
        self._advance = engine.step
        self._sampled_step = engine.sampled_step if isinstance(engine, SplitEngine) else _sample_and_step(engine)

    def _refuse_steps(self, error: SimreelError) -> None:
        def refuse(*_: object) -> None:
            raise error

        self._advance = self._sampled_step = refuse

    def reset(self, envs_idx: ArrayLike | None = None, keyframe: int | str | None = None) -> None:
        """Ends the episode and returns to the built state, or to a keyframe.

        Args:
            envs_idx: the worlds to reset, by number or as a mask, (k,) int or (n_envs,) bool; the others run on, and no
                sample is taken. None: all worlds, after a last sample where it is due; the clock starts from 0.
            keyframe: its name or number.

        Raises:
            UnknownNameError: the model has no such keyframe.
            FieldError: there is no such world.
            SimreelError: a recorder failed; the scene was reset.
        """
        engine = self._built_engine("scene.reset()")
        if keyframe is not None:
            if not isinstance(engine, MuJoCoEngine | MuJoCoBatchEngine):
                raise SceneStateError(f"scene.reset(keyframe={keyframe!r})", "only MuJoCo models have keyframes")
            keyframe = keyframe_id(engine.model, keyframe)
        ids = self._end_episode("scene.reset", envs_idx)
        if isinstance(engine, MuJoCoEngine | MuJoCoBatchEngine):
            engine.reset(ids, keyframe)
        else:
            engine.reset(ids)
        if not self._clock.unstable:
            self._allow_steps()
        self._manager.raise_reports()

    def _end_episode(self, call: str, envs_idx: ArrayLike | None) -> WorldIds | None:
        ids = None if envs_idx is None else world_ids(call, envs_idx, self._clock.n_envs)
        self._manager.end_episode(ids)
        self._clock.reset(ids)
        return ids

    def refresh(self) -> None:
        """Brings poses and sensors up to date with the state, which a step leaves one step behind."""
        self._built_engine("scene.refresh()").refresh()

    def sample(self) -> None:
        """Takes the due samples of the state that stands, then counts one step that somebody else is about to take.

        For a loop of your own: call it before each of your steps. Poses and sensors are brought up to date first, which
        leaves the run as it is.

        Raises:
            SimreelError: a recorder failed. The others sampled, and the step is counted.
        """
        engine, clock = self._built_engine("scene.sample()"), self._clock
        if self._manager.is_due(clock.step):
            engine.refresh()
            self._manager.sample(clock.step)
        clock.step += 1
        self._manager.raise_reports()
        self._tick()

    def mark_reset(self, envs_idx: ArrayLike | None = None) -> None:
        """Ends the episode where somebody else resets, and touches no state.

        Args:
            envs_idx: the worlds that are being reset, by number or as a mask; nothing is sampled. None: all worlds;
                call it before that reset: the state that stands is sampled if due, and the clock starts from 0.

        Raises:
            FieldError: there is no such world.
            SimreelError: a recorder failed; the episode was ended.
        """
        self._built_engine("scene.mark_reset()")
        self._end_episode("scene.mark_reset", envs_idx)
        self._manager.raise_reports()

    def on_progress(self, callback: Callable[[Progress], None]) -> None:
        """Calls `callback` with a Progress after a step, at most twice a second of wall time."""

        def call() -> None:
            clock = self._clock
            statuses = tuple((recorder.label, recorder.status) for recorder in self.recorders)
            callback(Progress(clock.step, clock.step * clock.dt, statuses))

        self._tickers.append(Ticker(call))

    # Recording.

    def start_recording(
        self,
        data_func: Callable[[], Any] | RecorderOptions | None = None,
        rec_options: RecorderOptions | None = None,
    ) -> Recorder[Any]:
        """Records what `data_func` returns at each due step; from now on, or from `build` on.

        Args:
            data_func: called on the stepping thread; returns a number, bool, str (CSV only), array, sequence of
                numbers, or a dict of these. What it returns is copied.
            rec_options: what to do with it, such as `simreel.recorders.NPZFile(...)`.

        Returns:
            The handle of this recorder.

        Raises:
            OptionsError: the arguments are not what is needed.
            TargetExistsError: the file exists and the options do not say `overwrite`.
            TargetError: the file cannot be written.
            DuplicateTargetError: another recorder of this scene writes that file.
        """
        self._check_alive("scene.start_recording()")
        if rec_options is None and isinstance(data_func, RecorderOptions):
            data_func, rec_options = None, data_func
        if not isinstance(rec_options, RecorderOptions):
            found = "missing" if rec_options is None else f"{rec_options!r}"
            raise OptionsError(
                "start_recording", [f"rec_options is {found}: give options such as simreel.recorders.NPZFile(...)"]
            )
        if not callable(data_func):
            found = "missing" if data_func is None else f"{data_func!r}"
            needs = f"{type(rec_options).__name__} needs a function without arguments that returns data"
            raise OptionsError("start_recording", [f"data_func is {found}: {needs}"])
        return self._manager.add(data_func, rec_options)

    add_recorder = start_recording

    @contextmanager
    def recording(
        self,
        data_func: Callable[[], Any] | RecorderOptions | None = None,
        rec_options: RecorderOptions | None = None,
    ) -> Iterator[Recorder[Any]]:
        """As `start_recording`, for the length of a `with` block."""
        recorder = self.start_recording(data_func, rec_options)
        with _closing(recorder.stop):
            yield recorder

    def stop_recording(self) -> None:
        """Takes the last sample where it is due, writes what is queued and closes all recorders. May be called twice.

        Raises:
            SimreelError: a recorder failed and that was not raised yet; several make a RecorderErrorGroup.
        """
        self._manager.stop()

    def destroy(self) -> None:
        """Stops all recorders, closes the viewer and lets go of the model and data. May be called twice."""
        if self._is_destroyed:
            return
        try:
            self.stop_recording()
        finally:
            self._is_destroyed = True
            self._refuse_steps(SceneStateError("scene.step()", "the scene was destroyed"))
            self._engine = None
            if self._viewer is not None:
                self._viewer.close()
            if self._release is not None:
                self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _closing(self.stop_recording):
            if error is not None:
                raise error

    # What there is.

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The entities in the order of adding."""
        return tuple(self._entities)

    @property
    def recorders(self) -> tuple[Recorder[Any], ...]:
        """The recorders that were started and not stopped."""
        return self._manager.recorders

    @property
    def recorder_manager(self) -> RecorderManager:
        """What drives the recorders."""
        return self._manager

    @property
    def engine(self) -> Engine:
        """Who computes the physics."""
        return self._any_engine("scene.engine")

    @property
    def model(self) -> mujoco.MjModel:
        """The compiled model."""
        return self._mujoco("scene.model").model

    @property
    def data(self) -> mujoco.MjData:
        """State, inputs, and what is derived from them; without worlds only."""
        engine = self._mujoco("scene.data")
        if isinstance(engine, MuJoCoBatchEngine):
            raise SceneStateError("scene.data", "many worlds have no single MjData; use scene.engine.batch")
        return engine.data

    @property
    def dt(self) -> float:
        """Time of one step [s]."""
        return self._clock.dt

    @property
    def n_envs(self) -> int:
        """Worlds; 0 without worlds."""
        return self._clock.n_envs

    @property
    def step_count(self) -> int | np.ndarray[Any, np.dtype[np.int64]]:
        """Steps since the last reset; with worlds that of each, (n_envs,) int64."""
        clock = self._clock
        return clock.step - clock.worlds.start if clock.n_envs else clock.step

    def get_time(self) -> float | np.ndarray[Any, np.dtype[np.floating[Any]]]:
        """Simulated time since the last reset [s], `step_count * dt`; with worlds that of each, (n_envs,) float64."""
        return self.step_count * self._clock.dt

    @property
    def is_built(self) -> bool:
        """Whether `build` was called."""
        return self._is_built and not self._is_destroyed

    @property
    def is_recording(self) -> bool:
        """Whether a recorder was started and neither stopped nor failed."""
        return any(recorder.is_alive or not self._is_built for recorder in self.recorders)

    def _dt_before_build(self) -> float:
        return scene_timestep(self._sim_options, self._parts) * self._sim_options.substeps

    def _free_name(self, stem: str) -> str:
        names = {entity.name for entity in self._entities}
        name, number = stem, 1
        while name in names:
            number += 1
            name = f"{stem}_{number}"
        return name

    def _refresh_engine(self) -> None:
        if self._engine is not None:
            self._engine.refresh()

    def _check_alive(self, call: str) -> None:
        if self._is_destroyed:
            raise SceneStateError(call, "the scene was destroyed")

    def _any_engine(self, call: str) -> Engine:
        self._check_alive(call)
        if self._engine is None:
            raise SceneStateError(call, "the scene is not built: call scene.build() first")
        return self._engine

    def _built_engine(self, call: str) -> Engine:
        engine = self._any_engine(call)
        if not self._is_built:
            raise SceneStateError(call, "the scene is not built: call scene.build() first")
        return engine

    def _mujoco(self, call: str) -> MuJoCoEngine | MuJoCoBatchEngine:
        engine = self._any_engine(call)
        if not isinstance(engine, MuJoCoEngine | MuJoCoBatchEngine):
            raise SceneStateError(call, f"the engine is a {type(engine).__name__}, not MuJoCo")
        return engine


def _sample_and_step(engine: Engine) -> Callable[[Callable[[int], None], int], None]:
    """`sampled_step` for an engine that has none."""

    def sampled_step(sample: Callable[[int], None], step: int) -> None:
        engine.refresh()
        sample(step)
        engine.step()

    return sampled_step


@contextmanager
def _closing(close: Callable[[], None]) -> Iterator[None]:
    """Closes in any case; an error of the block goes first, with that of closing as a note."""
    try:
        yield
    except BaseException as error:
        try:
            close()
        except SimreelError as second:
            error.add_note(f"and while closing: {second}")
        raise
    close()


def _count(n: int) -> int:
    try:
        count = operator.index(n)
    except TypeError:
        count = -1
    if count < 0:
        raise OptionsError("step", [f"n = {n!r}: a whole number of at least 0 is needed"])
    return count
