"""`dact serve`: a page on this machine that shows searches while they run."""
