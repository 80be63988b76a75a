"""The scene: what is simulated, the clock, and the recorders that watch it."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import mujoco

from simreel.errors import OptionsError, SceneStateError, SimreelError
from simreel.options.morphs import Morph
from simreel.options.recorders import RecorderOptions
from simreel.options.sim import SimOptions
from simreel.options.viewer import ViewerOptions
from simreel.scene.camera import Camera
from simreel.scene.channels import Channels
from simreel.scene.compile import CompiledScene, compile_scene, load_morph, scene_timestep
from simreel.scene.engines.model_engine import ModelEngine
from simreel.scene.engines.mujoco_engine import MuJoCoEngine
from simreel.scene.entity import Entity
from simreel.scene.files import SceneFiles
from simreel.scene.ids import count, free_name
from simreel.scene.messages import hold_messages, release_messages
from simreel.scene.progress import Ticker
from simreel.scene.reading import reads_state
from simreel.scene.replays import Replays
from simreel.scene.source import SceneSource
from simreel.scene.studio import Studio
from simreel.scene.viewer import Viewer, open_viewer

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np

    from simreel.recorders.base import Recorder
    from simreel.recorders.manager import RecorderManager
    from simreel.recorders.worlds import WorldIds
    from simreel.scene.description.recorded import RecordedSources
    from simreel.scene.engines.protocol import Engine

__all__ = ["Scene"]


class Scene(Replays, SceneFiles, Channels):
    """Simulates and records.

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
        self._parts: list[tuple[str, Morph, mujoco.MjSpec]] = []
        self._loaded_ns: list[int] = []
        """When each of them was loaded [ns of the system's clock]."""
        self._entities: list[Entity] = []
        self._recorded: RecordedSources | None = None
        self._compiled_digest: str | None = None
        self._release: weakref.finalize[[], Scene] | None = None
        super().__init__(self._dt_before_build() if engine is None else engine.dt, engine)
        self._studio = Studio(self._clock, self._mujoco_built)

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
        name = name or morph.name or free_name(type(morph).__name__.lower(), [entity.name for entity in self._entities])
        if any(entity.name == name for entity in self._entities):
            raise OptionsError("add_entity", [f"name = {name!r}: another entity has that name"])
        return self._add(name, morph, load_morph(morph))

    def _add(self, name: str, morph: Morph, spec: mujoco.MjSpec) -> Entity:
        self._parts.append((name, morph, spec))
        self._loaded_ns.append(time.time_ns())
        self._entities.append(Entity(name, morph))
        self._clock.dt = self._dt_before_build()
        return self._entities[-1]

    def add_camera(
        self,
        name: str | None = None,
        *,
        res: tuple[int, int] = (640, 480),
        pos: tuple[float, float, float] = (3, 0, 2),
        lookat: tuple[float, float, float] = (0, 0, 0.5),
        up: tuple[float, float, float] = (0, 0, 1),
        fov: float = 45,
        body: str | int | None = None,
    ) -> Camera:
        """Adds a camera; before or after `build`.

        Args:
            name: its name.
            res: width and height of its pictures [pixels].
            pos: where it stands, (3,) [m].
            lookat: the point in the middle of its pictures, (3,) [m].
            up: what points up in its pictures, (3,).
            fov: the vertical field of view [degrees].
            body: the name or number of a body that carries it; `pos`, `lookat` and `up` are measured in it.

        Raises:
            OptionsError: a value is out of range, or another camera has that name.
        """
        self._check_alive("scene.add_camera()")
        return self._studio.place(name, res, pos=pos, lookat=lookat, up=up, fov=fov, body=body)

    def camera(self, name: str) -> Camera:
        """A camera that was added, or one of the model.

        Raises:
            UnknownNameError: there is no such camera.
        """
        return self._studio.find(name)

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
        n_envs = count("build", "n_envs", n_envs)
        engine = self._engine or self._compile()
        if n_envs and isinstance(engine, MuJoCoEngine):
            engine = engine.worlds(n_envs)
        if self._release is None:
            hold_messages()
            self._release = weakref.finalize(self, release_messages)
        engine.build(n_envs)
        if isinstance(engine, ModelEngine):
            for entity in self._entities:
                entity._bind(engine, self._note_set)
        self._clock.dt = engine.dt
        self._clock.set_worlds(engine.n_envs)
        self._manager.open()
        self._engine = engine
        self._is_built = True
        self._show()
        self._allow_steps()

    def _compile(self) -> MuJoCoEngine:
        from simreel.scene.description.digest import digest

        compiled = self._compile_parts()
        self._compiled_digest = digest(compiled.model)
        engine = MuJoCoEngine(compiled.model, mujoco.MjData(compiled.model), self._sim_options.substeps)
        for entity, index in zip(self._entities, compiled.entities, strict=True):
            entity._index = index
        engine.refresh()
        return engine

    def _compile_parts(self) -> CompiledScene:
        if self._recorded is not None:
            return self._recorded.compile(self._sim_options, self._parts)
        return compile_scene(self._sim_options, self._parts)

    def _show(self) -> None:
        if self._viewer_options is None or not isinstance(self._engine, MuJoCoEngine):
            return
        self._viewer = open_viewer(self._engine.model, self._engine.data, self._viewer_options)
        if self._viewer is not None:
            self._tickers.append(Ticker(self._viewer.sync, 1 / self._viewer_options.fps))

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
        if rec_options.reads_scene and data_func is None:
            source: Any = SceneSource(self)
            return self._manager.add(source, rec_options)
        if not callable(data_func):
            found = "missing" if data_func is None else f"{data_func!r}"
            needs = f"{type(rec_options).__name__} needs a function without arguments that returns data"
            raise OptionsError("start_recording", [f"data_func is {found}: {needs}"])
        worlds = getattr(rec_options, "worlds", None)
        camera = getattr(data_func, "__self__", None)
        if worlds is not None and isinstance(camera, Camera) and data_func == camera.render:
            # A camera draws one world at a time; these are the ones that the video is of.
            clock = self._clock
            # Pictures of all worlds are taken in the order of their numbers.
            return self._manager.add(
                lambda: camera.render_worlds(worlds if len(worlds) < clock.n_envs else range(clock.n_envs)), rec_options
            )
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
            self._studio.close()
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
    def cameras(self) -> tuple[Camera, ...]:
        """The cameras in the order of adding."""
        return tuple(self._studio.cameras)

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
        if not isinstance(engine, MuJoCoEngine):
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

    def _reads_state(self, data_func: Callable[[], Any]) -> bool:
        engine = self._engine
        return isinstance(engine, ModelEngine) and reads_state(data_func, [self, *engine.state_owners, *self._entities])

    def _dt_before_build(self) -> float:
        return scene_timestep(self._sim_options, self._parts) * self._sim_options.substeps

    def _note_set(self, reason: str, envs_idx: WorldIds | None) -> None:
        self._manager.tell(lambda sampler: sampler.start_segment(reason, envs_idx))


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
