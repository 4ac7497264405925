"""Upper limits on the sizes of the networks, so that a config cannot exhaust the memory."""

MOST = {"layers": 64, "heads": 64, "dim": 1024, "hidden": 4096, "last": 4096, "head_dim": 1024, "features": 1024}


def check_sizes(config: object, component: str, *names: str) -> None:
    """Refuse sizes that are not whole numbers from 1 to the limit."""
    for name in names:
        value = getattr(config, name)
        if type(value) is not int or not 1 <= value <= MOST[name]:
            raise ValueError(f"{component} {name} is {value}, but must be a whole number from 1 to {MOST[name]}")
