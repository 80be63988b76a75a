"""What is simulated: the scene, its entities and clock, and the engines that compute the physics."""

from simreel.scene.camera import Camera
from simreel.scene.engines.function_engine import FunctionEngine
from simreel.scene.engines.protocol import Engine, SplitEngine
from simreel.scene.entity import Entity
from simreel.scene.progress import Progress
from simreel.scene.scene import Scene

__all__ = ["Camera", "Engine", "Entity", "FunctionEngine", "Progress", "Scene", "SplitEngine"]
