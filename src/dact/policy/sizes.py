"""Upper limits on the networks' sizes, so that a config cannot ask for absurd amounts of memory."""

MOST = {"layers": 64, "heads": 64, "dim": 1024, "hidden": 4096, "last": 4096, "head_dim": 1024, "features": 1024}


def check_sizes(config: object, component: str, *names: str) -> None:
    """Refuse sizes that are no whole numbers, below 1 or beyond reason."""
    for name in names:
        value = getattr(config, name)
        if type(value) is not int or not 1 <= value <= MOST[name]:
            raise ValueError(f"{component} {name} is {value}, but must be a whole number from 1 to {MOST[name]}")
