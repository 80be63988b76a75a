"""Each program runs in a process of its own: a process has one GL, and what matters is also how it ends."""

import pytest

BACKENDS = ["egl", "osmesa"]

START = """
import gc, os, sys, threading
import mujoco, numpy as np
from simreel import models
from simreel.render import RenderError, View, choose_backend, make_renderer
def load(name="arm"):
    model = mujoco.MjModel.from_xml_path(str(models.path(name)))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    return model, data
model, data = load()
side = View((64, 48), camera="side")
"""


@pytest.fixture(params=BACKENDS)
def start(request, run, usable):
    """Runs a program after START with one backend."""
    usable(request.param)

    def go(program, **variables):
        return run(START + program, **({"SIMREEL_RENDERER": request.param} | variables))

    go.backend = request.param
    return go


@pytest.fixture
def start_any(run, usable):
    """As `start`, with the first backend that there is: for what does not depend on it."""
    backend = next(filter(usable.works, BACKENDS), BACKENDS[0])
    usable(backend)
    return lambda program: run(START + program, SIMREEL_RENDERER=backend)


def test_pictures_are_those_of_mujocos_own_renderer(start):
    # In full quality, to the bit; MuJoCo's two eyes are put in one place.
    program = """
model.cam_ipd[:] = 0
data.qpos += 0.1; mujoco.mj_forward(model, data)
ours = make_renderer(model, (10, 10), quality="full")
theirs = mujoco.Renderer(model, 48, 64)
for _ in range(2):
    rgb, depth, seen = ours.render(data, side, depth=True, segmentation=True)
    theirs.update_scene(data, "side")
    print((theirs.render() == rgb).all())
    theirs.enable_segmentation_rendering()
    print((theirs.render() == seen).all())
    theirs.disable_segmentation_rendering()
    theirs.enable_depth_rendering()
    print(np.allclose(theirs.render(), depth, rtol=1e-3))
    theirs.disable_depth_rendering()
print(rgb.dtype, depth.dtype, seen.dtype, rgb.shape, depth.shape, seen.shape)
theirs.close()
ours.close()
"""
    words = start(program, MUJOCO_GL=start.backend)
    assert words[:6] == ["True"] * 6
    assert " ".join(words[6:]) == "uint8 float32 int32 (48, 64, 3) (48, 64) (48, 64, 2)"


def test_mujocos_renderer_may_come_first_or_be_made_in_between(start):
    program = """
theirs = mujoco.Renderer(model, 48, 64)
theirs.update_scene(data, "side")
first = theirs.render()
ours = make_renderer(model, (64, 48))
one = ours.render(data, side)
another = mujoco.Renderer(model, 48, 64)
another.update_scene(data, "side")
print((another.render() == first).all(), (ours.render(data, side) == one).all(), (theirs.render() == first).all())
another.close()
print((ours.render(data, side) == one).all(), (theirs.render() == first).all())
ours.close()
print((theirs.render() == first).all())
theirs.close()
"""
    assert start(program, MUJOCO_GL=start.backend) == ["True"] * 6


def test_depth_and_segmentation_agree_with_the_schematic_renderer(start_any):
    program = """
from simreel.render.schematic.renderer import SchematicRenderer
from_above = View((96, 72), pos=(2, 1, 1.5), lookat=(0, 0, 0.3), up=(0, 1, 1), fov=70)
for name in ("quadruped", "cloth"):
    model, data = load(name)
    for _ in range(100):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    ours = make_renderer(model, (96, 72))
    for view in (View((96, 72), camera="side"), from_above):
        depth, seen = ours.render(data, view, rgb=False, depth=True, segmentation=True)
        _, other, found = SchematicRenderer(model).render(data, view, depth=True, segmentation=True)
        same = (seen == found).all(axis=-1)
        # The schematic cloth has no thickness.
        print(same.mean() > 0.97, np.quantile(abs(depth - other)[same] / other[same], 0.9) < 0.03)
"""
    assert start_any(program) == ["True"] * 8


def test_nothing_that_is_given_is_changed(start_any):
    program = """
for name in ("arm", "cloth"):
    model, data = load(name)
    size = mujoco.mj_sizeModel(model)
    before, after = np.empty(size, np.uint8), np.empty(size, np.uint8)
    kept = {field: getattr(data, field).copy() for field in dir(data) if isinstance(getattr(data, field), np.ndarray)}
    environment, modules = dict(os.environ), set(sys.modules)
    mujoco.mj_saveModel(model, None, before)
    with make_renderer(model, (32, 24)) as renderer:
        renderer.render(data, View((32, 24), camera="side"), depth=True, segmentation=True)
    mujoco.mj_saveModel(model, None, after)
    print((before == after).all(), all(np.array_equal(getattr(data, f), v, equal_nan=v.dtype.kind == "f")
                                       for f, v in kept.items()))
    print(environment == dict(os.environ), not any("OpenGL" in name for name in set(sys.modules) - modules))
"""
    assert start_any(program) == ["True"] * 8


def test_views_of_any_size_share_one_renderer(start_any):
    program = """
renderer = make_renderer(model, (8, 8))
first = renderer.render(data, side)
for size in ((1, 1), (641, 481), (3, 200), (200, 3), (64, 48)):
    print(renderer.render(data, View(size, camera="side")).shape == (size[1], size[0], 3))
print((renderer.render(data, side) == first).all())
try:
    renderer.render(data, View((100000, 10)))
except RenderError as error:
    print("too large" in str(error))
print((renderer.render(data, side) == first).all())
"""
    assert start_any(program) == ["True"] * 8


def test_use_on_another_thread_is_an_error_and_harms_nothing(start):
    program = """
renderer = make_renderer(model, (64, 48))
first = renderer.render(data, side)
def misuse():
    for call in (lambda: renderer.render(data, side), renderer.close):
        try:
            call()
        except RenderError as error:
            print("'other'" in str(error) and "'MainThread'" in str(error))
for _ in range(2):
    thread = threading.Thread(target=misuse, name="other")
    thread.start(); thread.join()
print((renderer.render(data, side) == first).all())
renderer.close(); renderer.close()
try:
    renderer.render(data, side)
except RenderError as error:
    print("closed" in str(error))
"""
    assert start(program) == ["True"] * 6


def test_each_thread_can_have_renderers_of_its_own(start):
    program = """
first = make_renderer(model, (64, 48))
expected = first.render(data, side)
def work():
    own = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, own, 0); mujoco.mj_forward(model, own)
    with make_renderer(model, (64, 48)) as renderer, make_renderer(model, (64, 48)) as second:
        same.append(all((r.render(own, side) == expected).all() for _ in range(5) for r in (renderer, second)))
same = []
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*same, (first.render(data, side) == expected).all())
"""
    assert start(program) == ["True"] * 4


@pytest.mark.parametrize(
    "end",
    [
        "",
        "loop = [renderer]; loop.append(loop); del renderer; sys.exit(0)",
        "threading.Thread(target=lambda: globals().pop('renderer')).start()",
        "pid = os.fork(); os.waitpid(pid, 0) if pid else sys.exit(0)",
    ],
)
def test_a_forgotten_renderer_ends_in_silence(start, end):
    program = f"""
renderer = make_renderer(model, (64, 48))
renderer.render(data, side)
print("drawn", flush=True)
{end}
"""
    assert start(program)[0] == "drawn"


@pytest.mark.parametrize("ends", [False, True])
def test_a_forgotten_renderer_of_a_worker_ends_in_silence(start, ends):
    program = f"""
kept, drawn = [], threading.Event()
def work():
    kept.append(make_renderer(model, (64, 48)))
    kept[0].render(data, side)
    drawn.set()
    if not {ends}:
        threading.Event().wait()
thread = threading.Thread(target=work, daemon=not {ends})
thread.start()
drawn.wait()
if {ends}:
    thread.join()
print("drawn")
"""
    assert start(program) == ["drawn"]


def test_a_renderer_that_another_thread_drops_is_freed_by_its_own(start_any):
    program = """
from simreel.render.gl import renderer as module
freed = []
real = module._Held.let_go
def let_go(held):
    real(held)
    if held.owner.is_here():
        freed.append(threading.current_thread().name)
module._Held.let_go = let_go
box = [make_renderer(model, (64, 48))]
box[0].render(data, side)
thread = threading.Thread(target=box.clear)
thread.start(); thread.join()
print(len(freed))
other = make_renderer(model, (64, 48))
print(*freed)
"""
    assert start_any(program) == ["0", "MainThread"]


def test_draft_is_the_default_where_the_processor_draws_and_has_no_shadows(start_any):
    program = """
pictures = {}
for quality in (None, "draft", "full"):
    with make_renderer(model, (64, 48), quality=quality) as renderer:
        pictures[quality] = renderer.render(data, View((160, 120), camera="side"))
        software = renderer._held.context.is_software
default = pictures["draft" if software else "full"]
print((pictures[None] == default).all(), (pictures["draft"] != pictures["full"]).any())
"""
    assert start_any(program) == ["True"] * 2


def test_cloth_sites_tendons_and_mocap_bodies_follow_the_state(start_any):
    program = """
model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
  <body mocap="true" pos="0 0 1"><geom type="sphere" size="0.1"/><site name="a" size="0.05"/></body>
  <body pos="0 1 1"><freejoint/><geom type="sphere" size="0.1"/><site name="b" size="0.12"/></body>
  </worldbody><tendon><spatial width="0.02"><site site="a"/><site site="b"/></spatial></tendon></mujoco>''')
data = mujoco.MjData(model)
view = View((120, 90), pos=(4, 0.5, 1), lookat=(0, 0.5, 1))
with make_renderer(model, (96, 72)) as renderer:
    last = None
    for z in (1.0, 1.5):
        data.mocap_pos[0, 2] = z
        mujoco.mj_forward(model, data)
        seen = renderer.render(data, view, rgb=False, segmentation=True)
        print({int(k) for k in np.unique(seen[..., 1])} == {-1, 5, 6, 18}, last is None or (seen != last).any())
        last = seen
model, data = load("cloth")
side = View((96, 72), camera="side")
with make_renderer(model, (96, 72)) as renderer:
    before = renderer.render(data, side)
    for _ in range(200):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    print((renderer.render(data, side) != before).any())
"""
    assert start_any(program) == ["True"] * 5


def test_a_gl_that_mujoco_would_not_find_is_refused(run, usable):
    usable("egl")
    usable("osmesa")
    # MuJoCo follows its own variable, whatever is asked of us.
    program = (
        START
        + """
try:
    make_renderer(model)
except RenderError as error:
    print("osmesa" in str(error), "egl" in str(error))
"""
    )
    assert run(program, MUJOCO_GL="osmesa", SIMREEL_RENDERER="egl") == ["True", "True"]
    assert run(program, MUJOCO_GL="egl", SIMREEL_RENDERER="osmesa") == ["True", "True"]


def test_osmesa_follows_an_egl_without_a_driver(run, usable):
    usable("egl")
    usable("osmesa")
    # The library is there and loads, and finds no driver: as on a machine with libegl1 alone.
    program = (
        START
        + """
print(choose_backend(), make_renderer(model, (64, 48)).render(data, side).max() > 0)
"""
    )
    nowhere = "/nonexistent.json"
    assert run(program, __EGL_VENDOR_LIBRARY_FILENAMES=nowhere) == ["osmesa", "True"]


def test_a_library_that_other_code_loaded_first_does_no_harm(run, usable):
    usable("egl")
    program = (
        """
import ctypes
for name in ("libGL.so.1", "libEGL.so.1"):
    try:
        ctypes.CDLL(name, mode={mode})
    except OSError:
        pass
"""
        + START.replace("{", "{{").replace("}", "}}")
        + """
print(choose_backend(), make_renderer(model, (64, 48)).render(data, side).max() > 0)
"""
    )
    for mode in ("ctypes.RTLD_GLOBAL", "ctypes.RTLD_LOCAL"):
        assert run(program.format(mode=mode)) == ["egl", "True"]


@pytest.mark.parametrize(("device", "told"), [("0", "True"), ("7", "libEGL"), ("first", "libEGL")])
def test_the_device_that_mujoco_is_told_is_taken(run, usable, device, told):
    usable("egl")
    program = (
        START
        + """
try:
    print(make_renderer(model, (64, 48)).render(data, side).max() > 0)
except RenderError as error:
    print("libEGL" if "MUJOCO_EGL_DEVICE_ID" in str(error) and "libEGL has the device" in str(error) else error)
"""
    )
    assert run(program, SIMREEL_RENDERER="egl", MUJOCO_EGL_DEVICE_ID=device) == [told]
