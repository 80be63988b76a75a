"""MuJoCo, one world."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from simreel.errors import FieldError, SceneStateError, UnstableError
from simreel.scene.engines.callbacks import without_callbacks
from simreel.scene.engines.keyframes import keyframe_id
from simreel.scene.engines.model_engine import ModelEngine
from simreel.scene.engines.rollout import Rollout, needs_python
from simreel.scene.engines.state_parts import INTEGRATION

if TYPE_CHECKING:
    from mujoco.batch import Batch

    from simreel.recorders.worlds import WorldIds
    from simreel.scene.engines.mujoco_batch import MuJoCoBatchEngine

__all__ = ["MuJoCoEngine"]

Call = Callable[[], object]
# The state, and how often MuJoCo has warned of what.
_Mark = tuple[np.ndarray[Any, Any], list[int], list[int]]

_BAD = slice(int(mujoco.mjtWarning.mjWARN_BADQPOS), int(mujoco.mjtWarning.mjWARN_BADQACC) + 1)


class MuJoCoEngine(ModelEngine):
    """Steps one `mujoco.MjData`."""

    n_envs = 0

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, substeps: int = 1) -> None:
        super().__init__(model, substeps)
        self.data = data
        self._ctrl = data.ctrl
        # Indexing a memoryview costs a third of what reading data.time does.
        self._bad = memoryview(data.warning.number[_BAD])
        self._state = np.empty(mujoco.mj_stateSize(model, INTEGRATION))
        self._signatures = self.state_parts.signatures
        self._refreshed: tuple[bytes, bytes] | None = None
        self._rollout = Rollout(self, substeps)
        self._ahead: Batch | None = None
        self._configure()

    def build(self, n_envs: int) -> None:
        """Remembers the state that stands as the one that `reset` returns to.

        Raises:
            SceneStateError: worlds are asked for; `worlds` makes an engine for them.
        """
        if n_envs:
            raise SceneStateError(f"build(n_envs={n_envs})", "this engine steps one world; n_envs must be 0")
        self._configure()
        self._built = self._get_state().copy()

    def worlds(self, n_envs: int) -> MuJoCoBatchEngine:
        """An engine of many worlds that start from the state that stands."""
        # Not at the top: mujoco.batch compiles a model when it is imported.
        with without_callbacks():
            from simreel.scene.engines.mujoco_batch import MuJoCoBatchEngine

        return MuJoCoBatchEngine(self.model, self.data, n_envs, self._substeps)

    def _configure(self) -> None:
        """Reads what a step depends on: asking the model at each step would cost more than a sample."""
        self._was_bad = sum(self._bad)
        self.sampled_step = self._make_sampled_step()
        self.state_step = self._make_state_step()

    def step(self) -> None:
        """Advances by `substeps` physics steps.

        Raises:
            UnstableError: MuJoCo found NaN, infinite or huge values, and has reset itself.
        """
        mujoco.mj_step(self.model, self.data, self._substeps)
        bad = self._bad
        if bad[0] + bad[1] + bad[2] != self._was_bad:
            self._raise_unstable()

    def _make_state_step(self) -> Callable[[Callable[[int], None], int], None]:
        """`state_step`: one whole mj_step, which costs less than its two halves. Local names here too."""
        check_pos: Call = partial(mujoco.mj_checkPos, self.model, self.data)
        check_vel: Call = partial(mujoco.mj_checkVel, self.model, self.data)
        mj_step: Call = partial(mujoco.mj_step, self.model, self.data, self._substeps)
        bad, was_bad = self._bad, self._was_bad
        was_bad_state = bad[0] + bad[1]

        def state_step(sample: Callable[[int], None], step: int) -> None:
            check_pos()
            check_vel()
            if bad[0] + bad[1] != was_bad_state:
                self._raise_unstable()
            sample(step)
            mj_step()
            if bad[0] + bad[1] + bad[2] != was_bad:
                self._raise_unstable()

        return state_step

    def _make_sampled_step(self) -> Callable[[Callable[[int], None], int], None]:
        """`sampled_step` for the options that the model has now.

        It is mj_step (engine_forward.c of MuJoCo) in two halves with the sample between them: the same bits at the same
        cost, and there poses and sensors belong to qpos, qvel and ctrl. Local names, since it is the hot path.
        """
        model, data, option = self.model, self.data, self.model.opt
        integrator, flags = option.integrator, option.enableflags
        check_pos: Call = partial(mujoco.mj_checkPos, model, data)
        check_vel: Call = partial(mujoco.mj_checkVel, model, data)
        forward: Call = partial(mujoco.mj_forward, model, data)
        check_acc: Call = partial(mujoco.mj_checkAcc, model, data)
        integrate: Call
        if integrator == mujoco.mjtIntegrator.mjINT_DISCRETE:
            check_pos = check_vel = check_acc = _nothing
            forward, integrate = partial(mujoco.mj_step1, model, data), partial(mujoco.mj_step2, model, data)
        elif integrator == mujoco.mjtIntegrator.mjINT_EULER:
            integrate = partial(mujoco.mj_Euler, model, data)
        elif integrator == mujoco.mjtIntegrator.mjINT_RK4:
            integrate = partial(mujoco.mj_RungeKutta, model, data, 4)
        else:
            integrate = partial(mujoco.mj_implicit, model, data)
        if flags & mujoco.mjtEnableBit.mjENBL_FWDINV:
            integrate = _both(partial(mujoco.mj_compareFwdInv, model, data), integrate)
        if self._substeps > 1:
            integrate = _both(integrate, partial(mujoco.mj_step, model, data, self._substeps - 1))
        ctrl, bad, was_bad = self._ctrl, self._bad, self._was_bad
        was_bad_state = bad[0] + bad[1]
        ctrl_bytes = ctrl.tobytes

        def sampled_step(sample: Callable[[int], None], step: int) -> None:
            if option.integrator != integrator or option.enableflags != flags:
                # Somebody wrote to the model, not by `edit_model`.
                self._configure()
                self.sampled_step(sample, step)
                return
            check_pos()
            check_vel()
            forward()
            if bad[0] + bad[1] != was_bad_state:
                self._raise_unstable()
            before = ctrl_bytes()
            sample(step)
            after = ctrl_bytes()
            if after == before:
                check_acc()
                integrate()
            else:
                ctrl[:] = np.frombuffer(before)
                # The sample may have called refresh, which computes with the controls of that moment.
                forward()
                check_acc()
                integrate()
                ctrl[:] = np.frombuffer(after)
            if bad[0] + bad[1] + bad[2] != was_bad:
                self._raise_unstable()

        return sampled_step

    def refresh(self) -> None:
        """Runs mj_forward unless the derived quantities are those of the state and inputs already."""
        state = self._get_state().tobytes()
        if (state, self._derived()) != self._refreshed:
            mujoco.mj_forward(self.model, self.data)
            self._refreshed = state, self._derived()

    def _derived(self) -> bytes:
        """What shows that somebody has computed with another state since, and put this one back."""
        derived: bytes = self.data.xpos.tobytes() + self.data.qacc.tobytes()
        return derived

    def reset(self, envs_idx: WorldIds | None = None, keyframe: int | str | None = None) -> None:
        """Puts the data back to the built state, or to a keyframe.

        Raises:
            UnknownNameError: the model has no such keyframe.
        """
        del envs_idx
        if keyframe is None:
            mujoco.mj_resetData(self.model, self.data)
            mujoco.mj_setState(self.model, self.data, self._built, INTEGRATION)
        else:
            mujoco.mj_resetDataKeyframe(self.model, self.data, keyframe_id(self.model, keyframe))
        self._refreshed = None
        self._configure()
        self.refresh()

    def mark(self) -> _Mark | None:
        """As `BlockEngine.mark`."""
        if needs_python(self):
            return None
        warning = self.data.warning
        return self._get_state().copy(), warning.number.tolist(), warning.lastinfo.tolist()

    def skip(self, n: int) -> bool:
        """As `BlockEngine.skip`."""
        try:
            mujoco.mj_step(self.model, self.data, n * self._substeps)
        except mujoco.FatalError:
            return False
        return sum(self._bad) == self._was_bad

    def run(self, mark: _Mark, rows: np.ndarray[Any, Any]) -> bool:
        """As `BlockEngine.run`: a batch of one world goes ahead, which is exact where the state is all that counts."""
        batch = self._batch_ahead()
        batch.state[0] = mark[0]
        self._rollout.spread(batch.state[:, None], rows[:1])
        if not self._rollout.advance(batch, len(rows) - 1, rows[1:]):
            return False
        # The last step as any other: what it leaves is derived.
        mujoco.mj_setState(self.model, self.data, batch.state[0], INTEGRATION)
        return self.skip(1)

    def rewind(self, mark: _Mark, steps: int) -> None:
        """As `BlockEngine.rewind`."""
        state, numbers, infos = mark
        mujoco.mj_setState(self.model, self.data, state, INTEGRATION)
        self.data.warning.number[:] = numbers
        self.data.warning.lastinfo[:] = infos
        if steps:
            mujoco.mj_step(self.model, self.data, steps * self._substeps)
        self._refreshed = None

    def _batch_ahead(self) -> Batch:
        # Not at the top, as in `worlds`.
        from mujoco.batch import Batch

        if self._ahead is None:
            self._ahead = Batch(self.model, 1, nthread=1)
        # The model itself; it is to be told anew after each change.
        self._ahead.set_models(self.model)
        return self._ahead

    def forgive(self, envs_idx: WorldIds | None) -> None:
        """As `ModelEngine.forgive`."""
        del envs_idx
        self.data.warning.number[_BAD] = 0
        self._refreshed = None
        self._configure()

    def model_changed(self) -> None:
        """As `ModelEngine.model_changed`."""
        self._refreshed = None
        self._configure()

    def read_state(self, out: np.ndarray[Any, Any]) -> None:
        """As `Engine.read_state`."""
        mujoco.mj_getState(self.model, self.data, out, self._signatures[len(out)])

    def write_state(self, row: np.ndarray[Any, Any], envs_idx: WorldIds | None = None) -> None:
        """As `Engine.write_state`."""
        del envs_idx
        state = self.state_parts.row(row)
        signature = self.state_parts.signature(len(state))
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, state, signature)
        self._refreshed = None
        self._configure()

    sampled_step: Callable[[Callable[[int], None], int], None]
    """As `SplitEngine.sampled_step`."""

    state_step: Callable[[Callable[[int], None], int], None]
    """As `SplitEngine.state_step`."""

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """A live view of a field of `mujoco.MjData`."""
        return getattr(self.data, name)  # type: ignore[no-any-return]

    @property
    def state_owners(self) -> list[object]:
        """As `ModelEngine.state_owners`."""
        return [self.data, self.data.qpos, self.data.qvel, self.data.act, self.data.ctrl]

    def picture_data(self, env: int) -> mujoco.MjData:
        """As `ModelEngine.picture_data`."""
        if env != 0:
            raise FieldError("env", str(env), "the scene has one world; leave it out, or build(n_envs=...)")
        self.refresh()
        return self.data

    def _get_state(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        mujoco.mj_getState(self.model, self.data, self._state, INTEGRATION)
        return self._state

    def _raise_unstable(self) -> None:
        # Which of the counts rose does not matter where several are above 0: the latest has the highest stage.
        kind = max(i for i, count in enumerate(self._bad) if count) + _BAD.start
        self._was_bad = sum(self._bad)
        name = mujoco.mjtWarning(kind).name.removeprefix("mjWARN_BAD").lower()
        raise UnstableError(f"NaN, infinite or huge value in {name} at index {self.data.warning[kind].lastinfo}.")


def _nothing() -> None: ...


def _both(first: Call, second: Call) -> Call:
    def both() -> None:
        first()
        second()

    return both
