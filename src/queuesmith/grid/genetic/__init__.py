"""Genetic schedulers (Carretero, Xhafa, Abraham): populations of mappings that evolve."""
