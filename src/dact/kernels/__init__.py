"""Routines with a kernel: one folder each, with a plain-PyTorch reference beside the fast form."""
