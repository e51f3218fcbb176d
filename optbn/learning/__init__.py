"""The main job: data in, the optimal network with parameters and an honest report out."""
