"""What the user asks for: frozen pydantic models, checked before the first byte is written."""

from simreel.options import morphs, recorders
from simreel.options.base import Options
from simreel.options.sim import SimOptions
from simreel.options.viewer import ViewerOptions

__all__ = ["Options", "SimOptions", "ViewerOptions", "morphs", "recorders"]
