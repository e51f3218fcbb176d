"""Optimal decision trees and full tables: the parts that PCART and FT are made of (see README.md here)."""
