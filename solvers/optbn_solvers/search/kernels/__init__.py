"""The compiled part of the search: families, acyclicity, multipliers, and the search itself."""
