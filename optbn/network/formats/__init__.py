"""File formats of networks; see the registry below."""
