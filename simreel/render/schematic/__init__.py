"""Pictures without GL: every pixel's ray is met with the geoms, in numpy."""
