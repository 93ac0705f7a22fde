"""Mappings with a proof: bounds by prices, searches guided by them, solvers."""
