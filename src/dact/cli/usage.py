"""Mistakes in the command line itself: one sentence that names the option and its value."""

import typer

USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
"""Of Click, or of Typer's own copy of it, by its version."""
KINDS = {
    "int_parsing": "not a whole number",
    "int_from_float": "not a whole number",
    "float_parsing": "not a number",
}
"""What Typer's parser finds, in a few words."""


def usage_sentence(error: Exception) -> str:
    """What is wrong, and which help to ask for; empty where Typer has printed the help instead."""
    text = str(getattr(error, "format_message", error.__str__)()).strip().rstrip(".")
    if type(error).__name__ == "NoArgsIsHelpError" or not text:
        return text
    text = _with_value(error) or text[0].lower() + text[1:]
    context = getattr(error, "ctx", None)
    if context is None or text.endswith("?"):
        return text
    return f"{text}; try '{context.command_path} --help'"


def _with_value(error: Exception) -> str:
    """The option and its value, where the parser tells what it was given: Typer's own sentence leaves it out."""
    try:
        (first, *_), (option, *_) = error.__cause__.errors(), error.param.opts  # type: ignore[union-attr,attr-defined]
        kind, given, message = first["type"], first["input"], first["msg"]
    except (AttributeError, KeyError, TypeError, ValueError):
        return ""
    from dact.instances.errors import shown  # NumPy comes with it, for which --help should not wait

    value = shown(given) if isinstance(given, str) else str(given)
    if kind in KINDS:
        return f"{option} is {value}, {KINDS[kind]}"
    return f"{option} is {value}: {message.replace('Input should', 'it must')}"
