"""Compiled code of predictions: plain numbers in, plain numbers out."""
