"""The routines worth a kernel: a folder each, with the plain-PyTorch truth beside the fast form."""
