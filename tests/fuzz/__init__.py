"""Odd inputs for the reader and the checker, by the thousand."""
