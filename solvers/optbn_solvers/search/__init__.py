"""Constraint search on clusters with integer multipliers; see README.md in this folder."""
