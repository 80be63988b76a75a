"""A Gymnasium environment with recorders on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from simreel.errors import FieldError, MissingExtraError, OptionsError
from simreel.gym.clock import EnvClock

try:
    import gymnasium
    import numpy as np
    from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
except ImportError as error:
    # 1.0 has no AutoresetMode.
    raise MissingExtraError("gymnasium>=1.1", "gym", "simreel.gym") from error

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
            OptionsError: it is no environment, its dt or autoreset mode is not known, or the recordings are not pairs.
            SimreelError: a recorder cannot be opened.
        """
        if not isinstance(env, gymnasium.Env | VectorEnv):
            raise OptionsError("gym.Record", [f"env = {env!r}: a gymnasium.Env or VectorEnv is needed"])
        if cls is Record:
            return object.__new__(RecordVectorEnv if isinstance(env, VectorEnv) else RecordEnv)  # type: ignore[return-value]
        return object.__new__(cls)

    def _start(self, env: gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any], recordings: Recordings) -> None:
        self._clock = EnvClock(env)
        for recording in _pairs(recordings):
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


class RecordEnv(Record, gymnasium.Wrapper[Any, Any, Any, Any]):
    """`Record` of a single environment."""

    def __init__(self, env: gymnasium.Env[Any, Any], recordings: Recordings) -> None:
        gymnasium.Wrapper.__init__(self, env)
        self._start(env, recordings)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Ends the episode, then resets the environment.

        Raises:
            SimreelError: a recorder failed. The environment was reset.
        """
        reset = super().reset
        return self._clock.restart(lambda: reset(seed=seed, options=options))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Lets the due recorders sample, then steps the environment.

        Raises:
            SimreelError: a recorder failed. The others sampled, and the step was taken.
        """
        step = super().step
        return self._clock.take(self.env, lambda: step(action))

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
        self._mode = _mode_of(env)
        self._ended = np.zeros(env.num_envs, bool)
        """The worlds that the next step resets."""
        self._start(env, recordings)
        # Last: what is refused must not close the environment when it is collected, as a vector of Gymnasium 1.1 does.
        VectorWrapper.__init__(self, env)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Ends the episodes of all worlds, or of those in `options["reset_mask"]`, and resets them.

        Raises:
            FieldError: `reset_mask` is no mask.
            SimreelError: a recorder failed. The worlds were reset.
        """
        mask, whole = _mask_of(options, self.num_envs), super().reset

        def reset() -> tuple[Any, dict[str, Any]]:
            result = whole(seed=seed, options=options)
            self._ended &= False if mask is None else ~mask
            return result

        return self._clock.restart(reset) if mask is None else self._clock.restart_worlds(mask, reset)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Lets the due recorders sample, then steps all environments.

        Raises:
            SimreelError: a recorder failed. The others sampled, and the step was taken.
        """
        whole = super().step

        def step() -> tuple[Any, Any, Any, Any, dict[str, Any]]:
            result = whole(actions)
            self._turn_over(np.logical_or(result[2], result[3]))
            return result

        return self._clock.take(self.env, step)

    def _turn_over(self, ended: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        if self._mode is AutoresetMode.NEXT_STEP:
            # This step has reset what the last one ended.
            ended, self._ended = self._ended, ended
        if self._mode is not AutoresetMode.DISABLED and ended.any():
            self._clock.end_worlds(ended)

    def close(self, **kwargs: Any) -> None:
        """Completes all files, then closes the environments."""
        try:
            self.stop_recording()
        finally:
            super().close(**kwargs)


def _pairs(recordings: Recordings) -> list[tuple[Callable[[], Any], RecorderOptions]]:
    needed = "pairs of (data_func, rec_options) are needed"
    if not isinstance(recordings, Iterable):
        raise OptionsError("gym.Record", [f"recordings = {recordings!r}: a list of {needed}"])
    pairs = list(recordings)
    for recording in pairs:
        if not (isinstance(recording, tuple | list) and len(recording) == 2):
            raise OptionsError("gym.Record", [f"recordings: {recording!r} found, {needed}"])
        for part in recording:
            if getattr(part, "reads_scene", False):
                raise OptionsError(
                    "gym.Record",
                    [
                        f"recordings: {type(part).__name__} records a simreel.Scene, and an environment is none; give "
                        "other options, such as simreel.recorders.NPZFile(...), with a function that returns its state"
                    ],
                )
    return pairs


def _mode_of(env: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    mode = (env.metadata or {}).get("autoreset_mode", AutoresetMode.NEXT_STEP)
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(f"AutoresetMode.{each.name} or {each.value!r}" for each in AutoresetMode)
        raise OptionsError(
            "gym.Record", [f"env.metadata['autoreset_mode'] = {mode!r}: one of {known} is needed"]
        ) from None


def _mask_of(options: dict[str, Any] | None, n_envs: int) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """The worlds that are to be reset; None: all. A copy: it may be an array that the reset writes to."""
    if options is None or "reset_mask" not in options:
        return None
    given = options["reset_mask"]
    try:
        mask = np.array(given)
    except ValueError:
        mask = np.array(None)
    if mask.dtype != bool or mask.shape != (n_envs,):
        raise FieldError("options['reset_mask']", repr(given), f"an array ({n_envs},) bool is needed")
    return mask
