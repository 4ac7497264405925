"""The page in a real browser. `make test-web` installs what this needs."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from web_client import BAKERY, HARBOUR, ISLANDS, Client

from dact.instances import check, read, read_solution, simplest_routes
from dact.plotting.animation import page as film_page
from dact.plotting.frames import Frame

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = "is not installed, so the page is not tried: `make test-web` installs it"
playwright = pytest.importorskip("playwright.sync_api", reason=f"Playwright {MISSING}")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason=f"Chromium {MISSING}")]
expect = playwright.expect
PATIENCE = 60_000
"""Milliseconds: machines may be busy."""
Open = Callable[..., "playwright.Page"]


@pytest.fixture(scope="module")
def browser() -> Iterator["playwright.Browser"]:
    """Chromium without a window."""
    expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: "playwright.Browser", server: Client) -> Iterator[Open]:
    """Opens the page in a tab of its own. What goes wrong in a tab, or leaves this machine, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    faults: list[str] = []

    def opened(scheme: str = "light") -> "playwright.Page":
        page = context.new_page()
        page.emulate_media(color_scheme=scheme)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: _check_address(request.url, server.address, faults))
        page.goto(server.address)
        expect(page.locator("#facts")).to_contain_text("Click nodes")
        return page

    yield opened
    context.close()
    assert faults == []


def _check_address(url: str, address: str, faults: list[str]) -> None:
    if not url.startswith((address, "blob:")):
        faults.append(url)


def start(page: "playwright.Page", path: Path, seconds: float) -> None:
    """Choose a file and start its search."""
    page.set_input_files("#file", path)
    expect(page.locator("#facts")).to_contain_text(path.stem)
    page.fill("#seconds", str(seconds))
    page.click("#start")


def run_of(page: "playwright.Page") -> str:
    """The server's name for the search that the page shows."""
    return page.evaluate("import('/page.js').then(({ state }) => state.run.id)")


def map_place(page: "playwright.Page", node: int) -> tuple[float, float]:
    """Where a node is on the screen; nodes are asked of the server's file, places of what the page drew."""
    box = page.locator("#map").bounding_box()
    points = page.evaluate("import('/page.js').then(({ state }) => state.run.instance.points)")
    low, span = np.min(points, axis=0), np.ptp(points, axis=0)
    size = np.array([box["width"], box["height"]])
    scale = np.min((size - 2 * 28) / span)
    x, y = size / 2 + (np.array(points[node]) - low - span / 2) * scale * [1, -1]
    return box["x"] + x, box["y"] + y


def test_a_file_is_solved(open_page: Open, tmp_path: Path):
    """A chosen file is searched for the seconds given; the answer that is downloaded is the one shown."""
    page = open_page()
    start(page, HARBOUR, 1)
    expect(page.locator("#status")).to_have_text("done")
    expect(page.locator("#routes button")).to_have_count(8)
    shown = float(page.locator("#best").inner_text().replace(",", ""))
    instance = read(HARBOUR)
    for name, suffix in ((".sol", ".sol"), ("CSV", ".csv"), ("PNG", ".png"), ("GIF", ".gif")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name, exact=True).click()
        assert waiting.value.suggested_filename == f"harbour60{suffix}"
        waiting.value.save_as(tmp_path / f"a{suffix}")
    for suffix in (".sol", ".csv"):
        assert check(instance, read_solution(tmp_path / f"a{suffix}", instance)).cost == shown


def test_a_bad_file_is_explained(open_page: Open, tmp_path: Path):
    """What is wrong with a dropped file is said, and goes away with the next good one."""
    page = open_page()
    drop = """(text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "mine.csv"));
        document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
    }"""
    page.evaluate(drop, "x,y\n0,0\n1,abc\n")
    expect(page.locator("#error")).to_have_text("mine.csv: line 3: y is 'abc', not a number")
    page.evaluate(drop, "x,y,demand\n0,0,0\n1,1,3\n")
    expect(page.locator("#error")).to_contain_text("no capacity")
    page.fill("#capacity", "5")
    page.press("#capacity", "Tab")
    expect(page.locator("#error")).to_be_hidden()
    expect(page.locator("#facts")).to_have_text("mine · CVRP · 2 nodes · capacity 5")


def test_files_go_with_the_file(open_page: Open, tmp_path: Path):
    """A matrix gives a table its distances, an old solution a search its start; the next file has neither."""
    table, roads, old = (tmp_path / name for name in ("towns.csv", "roads.csv", "old.csv"))
    table.write_text("# capacity: 3\nname,demand\nBase,0\nAnn,2\nBen,1\n")
    roads.write_text(",Base,Ann,Ben\nBase,0,4,6\nAnn,5,0,3\nBen,6,2,0\n")
    old.write_text("route,name\n1,Ann\n")
    page = open_page()
    page.set_input_files("#file", table)
    expect(page.locator("#error")).to_contain_text("towns.csv")
    page.click("summary")
    page.set_input_files("#matrix", roads)
    expect(page.locator("#error")).to_be_hidden()
    expect(page.locator("#facts")).to_have_text("towns · CVRP · 3 nodes · capacity 3")
    page.set_input_files("#old", old)
    expect(page.locator("#note")).to_contain_text("Ben")
    page.fill("#seconds", "0.3")
    page.click("#start")
    expect(page.locator("#status")).to_have_text("done")
    expect(page.locator("#best")).to_have_text("13")
    page.set_input_files("#file", BAKERY)
    expect(page.locator("#facts")).to_contain_text("bakery40")
    assert (
        page.evaluate("document.getElementById('matrix').files.length + document.getElementById('old').files.length")
        == 0
    )


def test_a_search_is_paused_and_stopped(open_page: Open):
    """Pause, go on and stop do so, and the buttons say what is possible."""
    page = open_page()
    start(page, BAKERY, 600)
    expect(page.locator("#status")).to_have_text("running")
    page.click("#pause")
    expect(page.locator("#status")).to_have_text("paused")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#status")).to_have_text("running")
    page.click("#stop")
    expect(page.locator("#status")).to_have_text("stopped")
    expect(page.locator("#pause")).to_be_disabled()
    expect(page.locator("#downloads")).to_be_enabled()


def test_nodes_are_clicked_and_typed(open_page: Open):
    """Nodes come by mouse and by keys, can be taken back, and are solved as one tour or with vehicles."""
    page = open_page()
    for x, y in ((300, 200), (500, 200), (400, 400)):
        page.click("#map", position={"x": x, "y": y})
    page.focus("#map")
    for key in ("ArrowRight", "Shift+ArrowUp", "Enter", "ArrowLeft", " ", "Backspace"):
        page.keyboard.press(key)
    expect(page.locator("#facts")).to_have_text("sketch · 4 nodes")
    page.fill("#seconds", "0.3")
    page.click("#start")
    expect(page.locator("#status")).to_have_text("done")
    page.click("#sketch")
    page.select_option("#kind", "many")
    page.fill("#capacity", "2")
    page.click("#start")
    expect(page.locator("#facts")).to_have_text("sketch · CVRP · 4 nodes · capacity 2")
    expect(page.locator("#status")).to_have_text("done")
    expect(page.locator("#routes button")).to_have_count(2)


def test_routes_are_told_and_picked_out(open_page: Open):
    """A route under the pointer tells load and length; keys and clicks pick one out, and Escape shows all."""
    page = open_page()
    start(page, HARBOUR, 0.5)
    expect(page.locator("#status")).to_have_text("done")
    page.mouse.move(*map_place(page, 29))
    tip = page.locator("#tip")
    expect(tip).to_contain_text("customer 29, demand")
    assert ", load " in tip.inner_text()
    assert ", length " in tip.inner_text()
    picked = page.locator('#routes button[aria-pressed="true"]')
    page.mouse.click(*map_place(page, 29))
    expect(picked).to_have_count(1)
    page.focus("#map")
    page.keyboard.press("Escape")
    expect(picked).to_have_count(0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#routes button").nth(1)).to_have_attribute("aria-pressed", "true")


def test_two_tabs_search_at_once(open_page: Open, server: Client):
    """Each tab shows its own search; closing one ends that one only."""
    first, second = open_page(), open_page()
    start(first, HARBOUR, 600)
    start(second, ISLANDS, 600)
    for page, title in ((first, "CVRP"), (second, "TSP")):
        expect(page.locator("#status")).to_have_text("running")
        expect(page.locator("#facts")).to_contain_text(title)
    closed, open_still = run_of(first), run_of(second)
    first.close()
    assert server.wait_until_over(closed)
    assert not server.runs[open_still].over
    second.reload()
    assert server.wait_until_over(open_still)


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 29)")])
def test_large_maps_in_light_and_dark(open_page: Open, tmp_path: Path, scheme: str, paper: str):
    """A thousand nodes are drawn in the colours of the system, which a button changes."""
    points = np.random.default_rng(0).uniform(0, 1000, (1000, 2)).round(1)
    path = tmp_path / "thousand.csv"
    path.write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in points))
    page = open_page(scheme)
    start(page, path, 600)
    expect(page.locator("#status")).to_have_text("running")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    inked = """() => {
        const map = document.getElementById("map");
        const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
        return data.filter((value, index) => index % 4 === 3 && value > 0).length;
    }"""
    assert page.evaluate(inked) > 10_000
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper


def test_everything_can_be_done_with_keys(open_page: Open):
    """Tab reaches every control that is enabled, in the order of the page."""
    page = open_page()
    page.click("#scatter")
    page.focus("#theme")
    reached = [""]
    while reached[-1] != "map" and len(reached) < 40:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    wanted = ["file", "sketch", "scatter", "undo", "clear", "kind", "capacity", "search", "seconds", "walks", "seed"]
    assert [each for each in reached if each in (*wanted, "start", "map")] == [*wanted, "start", "map"]


def test_films_are_played(browser: "playwright.Browser", tmp_path: Path):
    """The page that `dact solve --animate` writes plays to its end, and shows any moment that is asked for."""
    instance = read(HARBOUR)
    routes = [tuple((node,) for node in range(1, 61)), simplest_routes(instance)]
    frames = [Frame(routes=each, cost=100.0 - at, seconds=float(at)) for at, each in enumerate(routes)]
    path = tmp_path / "film.html"
    path.write_bytes(film_page(instance, frames))
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(path.as_uri())
    expect(page.locator("#cost")).to_contain_text("cost 99")
    page.click("#play")
    expect(page.locator("#play")).to_have_text("Play")
    page.fill("#at", "0")
    expect(page.locator("#cost")).to_have_text("cost 100, 60 routes")
    assert page.title() == "harbour60"
    page.close()
    assert faults == []
