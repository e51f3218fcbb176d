"""The front door: solve by name and check, the chooser, parts, the next best graphs, posteriors."""
