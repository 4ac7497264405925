"""Descents to local optima, and rounds of kick and descent."""
