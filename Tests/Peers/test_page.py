"""The benchmark's page in headless Chromium: phone and desktop, light, dark and on paper."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from emulator import ROOT, binary
from page import CHROMIUM, Browser

PLOTS = ["pareto", "day", "distribution", "charge", "intervals"]
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or shutil.which("gnuplot") is None,
    reason="Chromium or gnuplot is not installed: Tools/install page")


def bench(path, *options, environment=None):
    """Runs a short benchmark that writes its page."""
    return subprocess.run(
        [str(binary()), "bench", "--profile", str(ROOT / "Profiles/adaptive-tag.yaml"),
         "--duration", "1d", "--precision", "20%", "--scanner", "android-13-balanced",
         "--scanner", "ios-foreground", "--html", str(path), *options],
        capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, **(environment or {})})


@pytest.fixture(scope="module", name="page")
def made_page(tmp_path_factory):
    """The page of a day."""
    path = tmp_path_factory.mktemp("page") / "day.html"
    done = bench(path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module", name="browser")
def started_browser():
    """One browser for all tests."""
    browser = Browser()
    yield browser
    browser.close()


def pictures():
    """Where pictures are left for people."""
    folder = Path(os.environ.get("PERIPHERAL_EMU_PICTURES", ROOT / ".build/pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


BRIGHTNESS = """(() => {
  const of = text => { const [r, g, b] = text.match(/[0-9.]+/g).map(Number);
                       return (r + g + b) / 3; };
  const path = document.querySelector('figure svg path[stroke="var(--ink)"],' +
                                      "figure svg path[stroke='var(--ink)']");
  return [of(getComputedStyle(document.body).backgroundColor),
          of(getComputedStyle(document.body).color), of(getComputedStyle(path).stroke)];
})()"""


@needs_browser
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_whole_on_phones_and_desks(browser, page, width, scheme):
    browser.open(page.as_uri(), width, scheme)
    browser.picture(pictures() / f"bench-{width}-{scheme}.png")
    assert not browser.errors()
    assert browser.run("document.querySelectorAll('script').length") == 0
    assert browser.run("document.querySelector('.missing') === null")
    assert browser.run("[...document.querySelectorAll('figure')].map(f => f.id)") == PLOTS
    assert browser.run("document.documentElement.scrollWidth") <= width
    for plot in PLOTS:
        box = browser.run(f"(() => {{ const b = document.querySelector('#{plot} svg')"
                          ".getBoundingClientRect(); return [b.left, b.right, b.height]; })()")
        assert 0 <= box[0] and box[1] <= width and box[2] > 60, (plot, box)
        # Something is drawn in it beyond the axes.
        assert browser.run(
            f"document.querySelectorAll(\"#{plot} svg [id^='{plot}_plot'] *\").length") > 1, plot
    # A label is read without glasses: at least 8 pixels of the screen's own.
    smallest = browser.run(
        "Math.min(...[...document.querySelectorAll('svg text')].map("
        "t => t.getBoundingClientRect().height))")
    assert smallest >= 8, smallest
    paper, ink, line = browser.run(BRIGHTNESS)
    assert (paper > 200 and ink < 60 and line < 60) if scheme == "light" else (
        paper < 60 and ink > 200 and line > 200), (paper, ink, line)


@needs_browser
def test_on_paper_the_page_is_dark_on_white_whatever_the_screen(browser, page):
    browser.open(page.as_uri(), 794, "dark", media="print")
    browser.picture(pictures() / "bench-print.png")
    paper, ink, line = browser.run(BRIGHTNESS)
    assert paper == 255 and ink == 0 and line == 0


def test_the_page_names_nothing_outside_itself(page):
    text = page.read_text(encoding="utf-8")
    for word in ("src=", "@import", "url(http", "<link", "<script", "file:"):
        assert word not in text, word
    assert "href=" not in text.replace("xlink:href='#", "").replace('xlink:href="#', "")


def test_without_gnuplot_the_page_says_how_to_get_it(tmp_path):
    path = tmp_path / "day.html"
    done = bench(path, environment={"PATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    text = path.read_text(encoding="utf-8")
    assert "apt install gnuplot-nox" in text and "<svg" not in text
    assert "Time to discovery" in text
