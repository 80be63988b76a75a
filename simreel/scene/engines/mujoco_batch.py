"""MuJoCo, many worlds of one model."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from mujoco.batch import Batch, SimulationError

from simreel.errors import FieldError, SceneStateError, UnstableError
from simreel.scene.engines.keyframes import keyframe_id
from simreel.scene.engines.model_engine import ModelEngine
from simreel.scene.engines.rollout import Rollout, needs_python
from simreel.scene.engines.state_parts import INTEGRATION

if TYPE_CHECKING:
    from simreel.recorders.worlds import WorldIds

__all__ = ["MuJoCoBatchEngine"]

_BAD = slice(int(mujoco.mjtWarning.mjWARN_BADQPOS), int(mujoco.mjtWarning.mjWARN_BADQACC) + 1)
_NONE, _VEL, _ACC = (
    int(stage) for stage in (mujoco.mjtStage.mjSTAGE_NONE, mujoco.mjtStage.mjSTAGE_VEL, mujoco.mjtStage.mjSTAGE_ACC)
)
# A persistent batch keeps the MjData of each world, which makes derived fields nearly free. This much [bytes] of it.
_PERSISTENT_BYTES = 2**31
# Derived fields that exist when positions and velocities are known; the others need the accelerations.
# fmt: off
_BEFORE_ACCELERATION = frozenset({
    "xpos", "xquat", "xmat", "xipos", "xiquat", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xquat", "geom_xmat",
    "site_xpos", "site_xquat", "site_xmat", "cam_xpos", "cam_xmat", "light_xpos", "light_xdir", "subtree_com",
    "subtree_linvel", "subtree_angmom", "flexvert_xpos", "flexedge_length", "flexedge_velocity", "ten_length",
    "ten_velocity", "actuator_length", "actuator_velocity", "cvel", "qfrc_bias", "qfrc_passive",
})
# fmt: on
# The states, and how often MuJoCo has warned of what.
_Mark = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


class _Batch(Batch):  # type: ignore[misc] # mujoco has no stubs
    """A batch that knows which derived fields somebody reads, and gives the same array each time."""

    def __init__(self, model: mujoco.MjModel, n_envs: int, *, persistent: bool) -> None:
        super().__init__(model, n_envs, persistent=persistent)
        self.derived: set[str] = set()
        self._bound: dict[str, np.ndarray[Any, Any]] = {}

    def bind(self, name: str) -> np.ndarray[Any, Any]:
        if name not in self._bound:
            self._bound[name] = array = super().bind(name)
            if not array.flags.writeable:
                self.derived.add(name)
                # A field that is bound between calls is zero until the next one.
                self.forward(stage=_ACC)
        return self._bound[name]


class MuJoCoBatchEngine(ModelEngine):
    """Steps `n_envs` worlds on all cores; each world's run is to the bit what it is alone.

    Args:
        model: the compiled model, the same for all worlds.
        data: the state that every world starts from.
        n_envs: worlds.
        substeps: physics steps in one step.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, n_envs: int, substeps: int = 1) -> None:
        super().__init__(model, substeps)
        self.n_envs = n_envs
        fits = n_envs * _touched_bytes(data) <= _PERSISTENT_BYTES
        self.batch = _Batch(model, n_envs, persistent=self.sleeps or fits)
        state = np.empty(mujoco.mj_stateSize(model, INTEGRATION))
        mujoco.mj_getState(model, data, state, INTEGRATION)
        self.batch.state[:] = state
        self._column_table: dict[int, Sequence[slice]] = {}
        self._rollout = Rollout(self, substeps)
        self._picture: mujoco.MjData | None = None
        self._bad = self.batch.warning[:, _BAD, 1]
        self._was_bad: bytes = self._bad.tobytes()
        self._qpos, self._qvel, self._ctrl = (self.batch.bind(name) for name in ("qpos", "qvel", "ctrl"))

    def build(self, n_envs: int) -> None:
        """Remembers the states that stand as those that `reset` returns to."""
        del n_envs
        try:
            self.batch.forward(stage=_NONE)
        except ValueError as error:
            raise _refusal(error) from None
        self._built = self.batch.state.copy()

    def step(self) -> None:
        """Advances all worlds by `substeps` physics steps.

        Raises:
            UnstableError: MuJoCo found NaN, infinite or huge values in some worlds; the others have advanced.
        """
        try:
            self.batch.step(nstep=self._substeps)
        except SimulationError as error:
            ids = tuple(error.ids.tolist())
            raise UnstableError(self.batch.error(ids[0]) + ".", worlds=ids) from None
        except ValueError as error:
            raise _refusal(error) from None
        if self._bad.tobytes() != self._was_bad:
            self._raise_unstable()

    def sampled_step(self, sample: Callable[[int], None], step: int) -> None:
        """As `SplitEngine.sampled_step`."""
        if self.batch.derived:
            self.refresh()
            if self._bad.tobytes() != self._was_bad:
                # Worlds that went astray were reset: what is derived of them now is no sample of this step.
                self.step()
        ctrl = self._ctrl
        before = ctrl.tobytes()
        sample(step)
        after = ctrl.tobytes()
        if after == before:
            self.step()
            return
        ctrl[:] = np.frombuffer(before).reshape(ctrl.shape)
        self.step()
        ctrl[:] = np.frombuffer(after).reshape(ctrl.shape)

    def state_step(self, sample: Callable[[int], None], step: int) -> None:
        """As `SplitEngine.state_step`."""
        sample(step)
        self.step()

    def refresh(self) -> None:
        """Computes the derived fields that somebody has bound, at the states and inputs that stand."""
        if self.batch.derived:
            try:
                self.batch.forward(stage=self._stage())
            except ValueError as error:
                raise _refusal(error) from None

    def reset(self, envs_idx: WorldIds | None = None, keyframe: int | str | None = None) -> None:
        """Puts all worlds or some back to their built states, or to a keyframe.

        Raises:
            UnknownNameError: the model has no such keyframe.
        """
        ids = np.arange(self.n_envs) if envs_idx is None else envs_idx
        if keyframe is None:
            self.batch.reset(ids, stage=_NONE)
            self.batch.state[ids] = self._built[ids]
        else:
            self.batch.reset(ids, keyframe_id(self.model, keyframe), stage=_NONE)
        if self.batch.derived:
            self.batch.forward(ids, stage=self._stage())
        self._was_bad = self._bad.tobytes()

    def mark(self) -> _Mark | None:
        """As `BlockEngine.mark`."""
        return None if needs_python(self) else (self.batch.state.copy(), self.batch.warning.copy())

    def skip(self, n: int) -> bool:
        """As `BlockEngine.skip`."""
        try:
            self.batch.step(nstep=n * self._substeps)
        except SimulationError:
            return False
        bad: bytes = self._bad.tobytes()
        return bad == self._was_bad

    def run(self, mark: _Mark, rows: np.ndarray[Any, Any]) -> bool:
        """As `BlockEngine.run`."""
        self._rollout.spread(mark[0][:, None], rows[:1])
        return self._rollout.advance(self.batch, len(rows), rows[1:])

    def rewind(self, mark: _Mark, steps: int) -> None:
        """As `BlockEngine.rewind`."""
        self.batch.state[:], self.batch.warning[:] = mark
        if steps:
            self.batch.step(nstep=steps * self._substeps)

    def forgive(self, envs_idx: WorldIds | None) -> None:
        """As `ModelEngine.forgive`."""
        self._bad[slice(None) if envs_idx is None else envs_idx] = 0
        self._was_bad = self._bad.tobytes()

    def model_changed(self) -> None:
        """As `ModelEngine.model_changed`: the batch reads the model in place of its copy from now on."""
        try:
            self.batch.set_models(self.model)
        except ValueError as error:
            raise SceneStateError("worlds", f"{error}: give each world its parameters there") from None

    def read_state(self, out: np.ndarray[Any, Any]) -> None:
        """As `Engine.read_state`."""
        state, end = self.batch.state, 0
        for columns in self._columns(out.shape[-1] if out.ndim > 1 else out.size // self.n_envs):
            part = state[:, columns]
            start, end = end, end + (part.shape[1] if out.ndim > 1 else part.size)
            if out.ndim > 1:
                out[:, start:end] = part
            else:
                out[start:end].reshape(part.shape)[...] = part

    def write_state(self, row: np.ndarray[Any, Any], envs_idx: WorldIds | None = None) -> None:
        """As `Engine.write_state`."""
        rows = self.state_parts.row(row)
        ids = np.arange(self.n_envs) if envs_idx is None else envs_idx
        columns = self._columns(rows.shape[1])
        self.batch.reset(ids, stage=_NONE)
        self.batch.state[ids[:, None], np.r_[tuple(columns)]] = rows[ids]
        if self.batch.derived:
            self.batch.forward(ids, stage=self._stage())
        self._was_bad = self._bad.tobytes()

    def _columns(self, width: int) -> Sequence[slice]:
        if width not in self._column_table:
            self._column_table[width] = self.state_parts.columns(width)
        return self._column_table[width]

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """A live (n_envs, ...) array of a field of `mujoco.MjData`."""
        return self.batch.bind(name)

    @property
    def state_owners(self) -> list[object]:
        """As `ModelEngine.state_owners`."""
        return [self.batch.state, self._qpos, self._qvel, self._ctrl]

    def picture_data(self, env: int) -> mujoco.MjData:
        """As `ModelEngine.picture_data`."""
        if not 0 <= operator.index(env) < self.n_envs:
            raise FieldError("env", str(env), f"a world from 0 to {self.n_envs - 1} is needed")
        if self._picture is None:
            self._picture = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, self._picture, self.batch.state[env], INTEGRATION)
        mujoco.mj_forward(self.model, self._picture)
        return self._picture

    def _stage(self) -> int:
        early = set(_BEFORE_ACCELERATION)
        if not (self.model.sensor_needstage == _ACC).any():
            early.add("sensordata")
        # The next step of a persistent batch goes on from there, so that the earlier stages cost next to nothing.
        return _VEL if self.batch.derived <= early else _ACC

    def _raise_unstable(self) -> None:
        before = np.frombuffer(self._was_bad, self._bad.dtype).reshape(self._bad.shape)
        worlds = np.flatnonzero((self._bad != before).any(axis=1))
        self._was_bad = self._bad.tobytes()
        kind = int(np.flatnonzero(self._bad[worlds[0]])[-1]) + _BAD.start
        name = mujoco.mjtWarning(kind).name.removeprefix("mjWARN_BAD").lower()
        raise UnstableError(f"NaN, infinite or huge value in {name}.", worlds=tuple(worlds.tolist()))


def _refusal(error: ValueError) -> SceneStateError:
    """Worlds are stepped without Python, so that callbacks in Python cannot take part."""
    return SceneStateError("worlds", f"{error}, or build with n_envs=0")


def _touched_bytes(data: mujoco.MjData) -> int:
    """What an MjData takes when it is stepped: its arrays, and of its arena what contacts have used so far."""
    return int(data.nbuffer) + max(int(data.maxuse_arena), 2**16)
