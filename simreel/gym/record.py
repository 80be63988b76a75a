"""A Gymnasium environment with recorders on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from simreel.errors import MissingExtraError, OptionsError, SimreelError
from simreel.gym.clock import clock_of

try:
    import gymnasium
    import numpy as np
    from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
except ImportError as error:
    raise MissingExtraError("gymnasium", "gym", "simreel.gym") from error

if TYPE_CHECKING:
    from simreel.options.recorders import RecorderOptions
    from simreel.recorders.base import Recorder

__all__ = ["Record", "RecordEnv", "RecordVectorEnv"]

Recordings = Sequence[tuple[Callable[[], Any], "RecorderOptions"]]


class Record:
    """Records an environment; is itself an `Env` or `VectorEnv`, as the one that it is given.

    One step of the environment is one step of the clock. The sample of step k is taken before `step` is called, and the
    last state of an episode before its reset: an episode of n steps gives n + 1 rows.

    Args:
        env: a `gymnasium.Env` or `VectorEnv`.
        recordings: pairs of a data function and what to do with its data, as `Scene.start_recording` takes them.
    """

    def __new__(cls, env: gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any], recordings: Recordings) -> Self:
        """Picks the class for the kind of environment.

        Raises:
            OptionsError: it is no environment, or the recordings are not pairs.
            SimreelError: a recorder cannot be opened.
        """
        if not isinstance(env, gymnasium.Env | VectorEnv):
            raise OptionsError("gym.Record", [f"env = {env!r}: a gymnasium.Env or VectorEnv is needed"])
        if cls is Record:
            return object.__new__(RecordVectorEnv if isinstance(env, VectorEnv) else RecordEnv)  # type: ignore[return-value]
        return object.__new__(cls)

    def _start(self, env: gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any], recordings: Recordings) -> None:
        self._clock = clock_of(env)
        for recording in recordings:
            if not (isinstance(recording, tuple | list) and len(recording) == 2):
                raise OptionsError(
                    "gym.Record", [f"recordings: {recording!r} found, pairs of (data_func, rec_options) are needed"]
                )
            self._clock.start_recording(*recording)
        self._clock.build(env.num_envs if isinstance(env, VectorEnv) else 0)

    @property
    def recorders(self) -> tuple[Recorder[Any], ...]:
        """The recorders that run, in the order of the recordings."""
        return self._clock.recorders

    def stop_recording(self) -> None:
        """Takes the last sample, completes all files and leaves the environment open. May be called twice.

        Raises:
            SimreelError: a recorder failed and that was not raised yet.
        """
        self._clock.stop_recording()

    def _stepped(self, step: Callable[[], Any]) -> Any:
        """Samples, then has the step taken, whatever becomes of the recorders."""
        try:
            self._clock.sample()
        except SimreelError:
            step()
            raise
        return step()


class RecordEnv(Record, gymnasium.Wrapper[Any, Any, Any, Any]):
    """`Record` of a single environment."""

    def __init__(self, env: gymnasium.Env[Any, Any], recordings: Recordings) -> None:
        gymnasium.Wrapper.__init__(self, env)
        self._start(env, recordings)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Ends the episode, then resets the environment."""
        self._clock.mark_reset()
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Lets the due recorders sample, then steps the environment."""
        return self._stepped(lambda: super(RecordEnv, self).step(action))  # type: ignore[no-any-return]

    def close(self) -> None:
        """Completes all files, then closes the environment."""
        try:
            self.stop_recording()
        finally:
            super().close()


class RecordVectorEnv(Record, VectorWrapper):
    """`Record` of a vector of environments; the episode of each world ends by the vector's autoreset mode.

    next-step: the row of the terminal state belongs to the old episode. same-step, and disabled with `reset_mask`: the
    terminal state stands in no row.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], recordings: Recordings) -> None:
        VectorWrapper.__init__(self, env)
        self._mode = (env.metadata or {}).get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self._ended = np.zeros(env.num_envs, bool)
        self._start(env, recordings)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Ends the episodes of all worlds, or of those in `options["reset_mask"]`, then resets them."""
        mask = None if options is None else options.get("reset_mask")
        self._clock.mark_reset(mask)
        self._ended[:] = False if mask is None else self._ended & ~np.asarray(mask, bool)
        return super().reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Lets the due recorders sample, then steps all environments."""
        result = self._stepped(lambda: super(RecordVectorEnv, self).step(actions))
        ended = np.logical_or(result[2], result[3])
        if self._mode == AutoresetMode.NEXT_STEP:
            # This step has reset what the last one ended.
            ended, self._ended = self._ended, ended
        if self._mode != AutoresetMode.DISABLED and ended.any():
            self._clock.mark_reset(ended)
        return result  # type: ignore[no-any-return]

    def close(self, **kwargs: Any) -> None:
        """Completes all files, then closes the environments."""
        try:
            self.stop_recording()
        finally:
            super().close(**kwargs)
