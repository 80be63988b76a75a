"""Who computes the physics."""
