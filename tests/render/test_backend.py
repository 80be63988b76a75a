import logging

import mujoco
import pytest

from simreel.errors import UnknownNameError
from simreel.render import BackendError, backend, choose_backend, make_renderer
from simreel.render.gl import renderer as gl_renderer
from simreel.render.schematic.renderer import SchematicRenderer


class Context:
    def free(self):
        pass


@pytest.fixture
def machine(monkeypatch):
    """A machine that has some backends of GL; returns which were tried."""
    monkeypatch.setattr(backend, "_chosen", None)
    for name in ("SIMREEL_RENDERER", "MUJOCO_GL"):
        monkeypatch.delenv(name, raising=False)

    def have(*names):
        tried = []

        def context(name):
            def make():
                tried.append(name)
                if name not in names:
                    raise BackendError(name, f"no lib of {name}", f"the-{name}-package")
                return Context()

            return make

        monkeypatch.setattr(gl_renderer, "CONTEXTS", {name: context(name) for name in ("egl", "osmesa")})
        return tried

    return have


@pytest.mark.parametrize(
    ("there", "chosen", "tried"),
    [
        (("egl", "osmesa"), "egl", ["egl"]),
        (("osmesa",), "osmesa", ["egl", "osmesa"]),
        ((), "schematic", ["egl", "osmesa"]),
    ],
)
def test_the_first_that_works_is_taken_once(machine, there, chosen, tried):
    seen = machine(*there)
    assert choose_backend() == choose_backend() == chosen
    assert seen == tried


def test_the_way_out_is_told_once_and_names_the_packages(machine, caplog):
    machine()
    with caplog.at_level(logging.INFO, "simreel"):
        choose_backend()
        choose_backend()
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    for word in ("schematic", "libegl1", "libosmesa6", "no lib of egl", "no lib of osmesa"):
        assert word in record.getMessage()


def test_nothing_is_told_where_the_user_chose_it(machine, monkeypatch, caplog):
    tried = machine("egl")
    monkeypatch.setenv("SIMREEL_RENDERER", "schematic")
    with caplog.at_level(logging.INFO, "simreel"):
        assert choose_backend() == "schematic"
    assert not caplog.records
    assert not tried


@pytest.mark.parametrize(
    ("variable", "value", "chosen"),
    [
        ("SIMREEL_RENDERER", "osmesa", "osmesa"),
        ("SIMREEL_RENDERER", " EGL ", "egl"),
        ("SIMREEL_RENDERER", "", "egl"),
        ("MUJOCO_GL", "osmesa", "osmesa"),
        ("MUJOCO_GL", "egl", "egl"),
        ("MUJOCO_GL", "off", "schematic"),
        ("MUJOCO_GL", "Disable", "schematic"),
        ("MUJOCO_GL", "glfw", "egl"),  # a window: what is closest without one
        ("MUJOCO_GL", "", "egl"),
    ],
)
def test_the_user_is_followed(machine, monkeypatch, variable, value, chosen):
    machine("egl", "osmesa")
    monkeypatch.setenv(variable, value)
    assert choose_backend() == chosen


def test_our_variable_goes_before_mujocos(machine, monkeypatch):
    machine("egl", "osmesa")
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    monkeypatch.setenv("SIMREEL_RENDERER", "schematic")
    assert choose_backend() == "schematic"


def test_an_unknown_name_is_an_error_with_the_nearest(machine, monkeypatch):
    machine("egl")
    monkeypatch.setenv("SIMREEL_RENDERER", "shematic")
    with pytest.raises(UnknownNameError, match=r"no renderer named 'shematic'.*Did you mean 'schematic'\?"):
        choose_backend()


@pytest.mark.parametrize("variable", ["SIMREEL_RENDERER", "MUJOCO_GL"])
@pytest.mark.parametrize("name", ["egl", "osmesa"])
def test_what_was_asked_for_by_name_and_is_not_there_is_an_error_that_names_the_package(
    machine, monkeypatch, variable, name
):
    machine()
    monkeypatch.setenv(variable, name)
    with pytest.raises(BackendError, match=f"'{name}' cannot be used: .*the-{name}-package"):
        choose_backend()


def test_an_error_is_not_the_last_word(machine, monkeypatch):
    machine()
    monkeypatch.setenv("SIMREEL_RENDERER", "egl")
    with pytest.raises(BackendError):
        choose_backend()
    monkeypatch.delenv("SIMREEL_RENDERER")
    assert choose_backend() == "schematic"


def test_an_osmesa_that_the_user_imported_is_taken(machine, monkeypatch):
    machine("egl", "osmesa")
    monkeypatch.setitem(__import__("sys").modules, "mujoco.osmesa", object())
    assert choose_backend() == "osmesa"


def test_make_renderer_makes_the_chosen_one(machine):
    machine()
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    renderer = make_renderer(model, (32, 24))
    assert isinstance(renderer, SchematicRenderer)
    assert renderer.backend == "schematic"
    with pytest.raises(UnknownNameError, match="Did you mean 'draft'"):
        make_renderer(model, quality="draff")


PICTURE = """
import mujoco
from simreel.render import choose_backend, make_renderer, View, RenderError
try:
    backend = choose_backend()
except RenderError as error:
    print(str(error).replace(" ", "_"))
else:
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    picture = make_renderer(model, (32, 24)).render(data, View((32, 24)))
    print(backend, picture.max() > 0)
"""


def test_without_any_library_pictures_are_schematic(run, hidden):
    assert run(PICTURE, LD_LIBRARY_PATH=hidden("EGL", "OSMesa")) == ["schematic", "True"]


def test_without_egl_osmesa_draws(run, usable, hidden):
    usable("osmesa")
    assert run(PICTURE, LD_LIBRARY_PATH=hidden("EGL")) == ["osmesa", "True"]


@pytest.mark.parametrize(("name", "package"), [("egl", "libegl1"), ("osmesa", "libosmesa6")])
def test_a_hidden_library_that_was_asked_for_is_an_error_that_names_the_package(run, hidden, name, package):
    (told,) = run(PICTURE, LD_LIBRARY_PATH=hidden("EGL", "OSMesa"), SIMREEL_RENDERER=name)
    assert f"{name!r}_cannot_be_used" in told
    assert package in told
