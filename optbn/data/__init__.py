"""Data: typed columns, and everything that reads them."""
