"""The pages as a site: complete, linked, and without anything from elsewhere."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from blocks import ROOT

import dact

DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?!https?:)([^)#]+)#?([^)]*)\)")
"""The page and the heading of a link."""
LABEL = re.compile(r"^\[([^\]]+)\]: #(\S+)$", re.MULTILINE)
"""A name for a heading of the same page, and the heading."""


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_every_page_is_in_the_menu():
    """No page can be reached by search alone; those that `dact reproduce` writes are linked from the list of them."""
    menu = set(re.findall(r"([\w/-]+\.md)", (ROOT / "mkdocs.yml").read_text()))
    assert {path.name for path in DOCS.glob("*.md")} <= menu
    assert [page for page in menu if not (DOCS / page).is_file()] == []


def test_every_public_name_is_in_the_api():
    """What `import dact` offers is documented."""
    documented = set(re.findall(r"^::: dact\.[\w.]+\.(\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE))
    assert set(dact.__all__) <= documented


def test_every_page_of_results_is_linked():
    """Pages below a folder of the documentation are linked from it or from another page."""
    pages = sorted(DOCS.rglob("*.md"))
    linked = {(page.parent / target).resolve() for page in pages for target, _ in LINK.findall(page.read_text())}
    assert [path for path in pages if path.parent != DOCS and path.name != "README.md" and path not in linked] == []


def _headings(page: Path) -> set[str]:
    """What headings are linked by."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    return {re.sub(r"[-\s]+", "-", title) for title in titles}


@pytest.mark.parametrize("page", [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))], ids=_name)
def test_links_lead_somewhere(page: Path):
    """Links to other pages and to pictures have a file at their end, and the heading that they name."""
    for target, heading in LINK.findall(page.read_text()):
        path = page.parent / target
        assert path.is_file(), target
        assert not heading or heading in _headings(path), f"{target}#{heading}"


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=_name)
def test_labels_lead_somewhere(page: Path):
    """Names for headings of a page, as the log's table has them, name headings that are there."""
    headings = _headings(page)
    assert [name for name, heading in LABEL.findall(page.read_text()) if heading not in headings] == []


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed: make docs")
def test_the_site_loads_nothing_from_elsewhere(tmp_path: Path):
    """Neither pages nor styles name a script, font, style or picture of another site."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path / "site")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    pages = [*(tmp_path / "site").rglob("*.html"), *(tmp_path / "site").rglob("*.css")]
    assert len(pages) > 20
    for page in pages:
        text = page.read_text()
        assert not re.search(r"<(script|img|iframe|source)[^>]+src=[\"']?(https?:)?//", text), page
        assert not re.search(r"<link[^>]+href=[\"']?(https?:)?//[^>]+", text), page
        assert not re.search(r"url\([\"']?(https?:)?//|@import", text), page
