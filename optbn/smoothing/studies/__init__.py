"""Declared experiments that say which smoother to use when: `optbn bench results/smoothing-density/spec.toml`."""
