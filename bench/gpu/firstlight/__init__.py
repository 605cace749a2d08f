"""Measures mokume on a GPU machine that is lent for minutes."""
