"""What files and instances may look like, for the short tests and for `make fuzz`."""
