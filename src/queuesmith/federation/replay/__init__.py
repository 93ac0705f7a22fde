"""The compiled replay of a federation, and how a federation is laid out for it."""
