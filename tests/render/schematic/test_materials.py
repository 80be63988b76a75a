import mujoco
import numpy as np

from simreel.render.schematic.materials import Textures, look_of

MODEL = """
<mujoco>
  <asset>
    <texture name="checks" type="2d" builtin="checker" rgb1="0.2 0.4 0.6" rgb2="0.8 0.6 0.4" width="64" height="64"
      mark="edge" markrgb="1 1 1"/>
    <texture name="flat" type="2d" builtin="flat" rgb1="0.2 0.4 0.6" width="8" height="8"/>
    <texture name="cube" type="cube" builtin="checker" rgb1="1 0 0" rgb2="0 0 1" width="32" height="32"/>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="1 1 1" rgb2="0 0 0" width="64" height="64"/>
    <material name="red" rgba="1 0 0 1" texture="checks" texrepeat="3 4" texuniform="true" specular="0.25"/>
  </asset>
  <worldbody>
    <geom size="1" material="red"/><geom size="1" material="red" rgba="0 1 0 1"/><geom size="1" rgba="0 0 1 0.5"/>
  </worldbody>
</mujoco>
"""


def test_checkers_are_found_and_other_textures_are_not():
    model = mujoco.MjModel.from_xml_string(MODEL)
    textures = Textures(model)
    checker = textures.checker(model.texture("checks").id)
    np.testing.assert_allclose(checker.colors, [(0.2, 0.4, 0.6), (0.8, 0.6, 0.4)], atol=0.01)
    assert textures.checker(model.texture("flat").id) is None
    assert textures.checker(model.texture("cube").id) is None
    assert textures.checker(-1) is None


def test_a_texture_counts_with_its_mean_and_none_is_white():
    model = mujoco.MjModel.from_xml_string(MODEL)
    textures = Textures(model)
    np.testing.assert_allclose(textures.mean(model.texture("cube").id), (0.5, 0, 0.5), atol=0.01)
    np.testing.assert_allclose(textures.mean(-1), 1)


def test_the_sky_is_that_of_the_model():
    textures = Textures(mujoco.MjModel.from_xml_string(MODEL))
    above, around, below = textures.skybox().mean(axis=1)
    assert above > around > below
    assert Textures(mujoco.MjModel.from_xml_string("<mujoco/>")).skybox() is None


def test_a_colour_of_its_own_goes_before_the_materials():
    model = mujoco.MjModel.from_xml_string(MODEL)
    looks = [look_of(model, int(model.geom_matid[geom]), model.geom_rgba[geom]) for geom in range(3)]
    assert [look.rgba for look in looks] == [(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 0.5)]
    assert looks[0].repeat == (3, 4)
    assert looks[0].uniform
    assert looks[0].specular == 0.25
    assert looks[2].texture == -1
