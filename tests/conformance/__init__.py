"""The validators against the standard, and against each other."""
