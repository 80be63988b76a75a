"""MuJoCo's own pictures, in GL contexts that are made here through ctypes."""
