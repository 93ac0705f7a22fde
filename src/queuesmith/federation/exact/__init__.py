"""Placements with a proof: searches, bounds, and the methods that join them."""
