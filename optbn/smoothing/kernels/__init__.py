"""Compiled leaves of the smoothers: arrays in, arrays out."""
