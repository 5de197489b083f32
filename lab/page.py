"""The page of a report: one file of HTML, readable without scripts, light and dark."""

import base64
import gzip
import html
import math
import re

from charts import HERE, NOTES, PUBLISHED
from draw import LETTERS, STYLE, colour_name, dashes_of, draw, mark_path
from points import RIGHT


class Markup(str):
    """A whole cell of a table."""


def text(value):
    """Escaped for HTML; control characters as \\xNN."""
    plain = re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\x{ord(m[0]):02x}", str(value))
    return html.escape(plain)


def element(tag, content):
    return f"<{tag}>{text(content)}</{tag.split()[0]}>"


def number(value, digits=4):
    """Digits that count, and all before the point; no exponents."""
    if value == 0 or value == int(value) and value < 1e6:
        return f"{value:.0f}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def figure(content):
    return Markup(f'<td class="n">{content}</td>')


def cell(value):
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return element("td", value)
    return "<td></td>" if value is None else figure(number(value))


def table(heads, rows, caption=""):
    """A table of texts, and of numbers, which stand at the right. None: an empty cell. A head that
    begins with '#' is one of numbers."""
    tops = (element('th class="n"' if h[0] == "#" else "th", h.removeprefix("#")) for h in heads)
    lines = "".join(f"<tr>{''.join(map(cell, row))}</tr>\n" for row in rows)
    return (
        f"<div class=\"scroll\"><table>{caption and element('caption', caption)}<thead><tr>"
        f"{''.join(tops)}</tr></thead><tbody>\n{lines}</tbody></table></div>\n"
    )


def details(summary, content, is_open=False):
    state = ' open="open"' if is_open else ""
    return f"<details{state}><summary>{summary}</summary>{content}</details>\n"


def is_are(count):
    return f"{count} {'is' if count == 1 else 'are'}"


# ---- Charts ----


def legend(chart):
    items = []
    for series in chart.series:
        colour, dashes = f"var(--{colour_name(series.colour)})", dashes_of(series)
        lengths = " ".join(str(length * 1.5) for length in dashes or ())
        dash = f' stroke-dasharray="{lengths}"' if dashes else ""
        fill = "var(--paper)" if series.role == "published" else colour
        line = f'<path d="M1 6H29" stroke="{colour}" stroke-width="2"{dash}/>'
        mark = f'<path d="{mark_path(series.mark)}" stroke="{colour}" fill="{fill}"/>'
        key = {"marks": mark, "limit": line}.get(series.role, line + mark)
        items.append(f'<svg viewBox="0 0 30 12">{key}</svg>{text(series.name)}')
    for letter, (name, colour) in zip(LETTERS, chart.colours.items()):
        paint = f"background:color-mix(in srgb,var(--{colour_name(colour)}) 40%,transparent)"
        items.append(f'<b style="{paint}">{letter}</b>{text(name)}')
    return f'<ul class="legend">{"".join(map("<li>{}</li>".format, items))}</ul>' if items else ""


def chart_table(chart):
    if chart.rows:
        return table(["name", "#" + chart.label], [(row[0], row[2]) for row in chart.rows])
    if chart.cells:
        heads = ["height \\ width"] + [f"#{x}" for x in chart.widths]
        rows = [
            [Markup(f"<th>{y}</th>")] + [chart.cells.get((x, y)) for x in chart.widths]
            for y in chart.heights
        ]
        return table(heads, rows, chart.label)
    if not chart.own_ticks:
        rows = [(series.name, *dot[:2]) for series in chart.series for dot in series.dots]
        return table(["name", "#" + chart.x_label, "#" + chart.label], rows)
    columns = [{dot[0]: dot[1] for dot in reversed(series.dots)} for series in chart.series]
    heads = [chart.x_label] + ["#" + series.name for series in chart.series]
    rows = [[f"{x:g}"] + [c.get(x) for c in columns] for x in sorted(set().union(*columns))]
    return table(heads, rows, chart.label)


def panels(study, charts):
    # Machine, driver, compiler, commit and command under every chart, because charts are copied.
    keys = ("GPU", "driver", "processor", "build", "CUDA module", "program", "command", "date")
    caption = " · ".join(text(study.facts[key]) for key in keys if key in study.facts)
    links, figures = "", ""
    for i, chart in enumerate(charts, 1):
        title = text(chart.title)
        links += f'<li><a href="#chart-{i}">{title}</a></li>'
        figures += (
            f'<figure id="chart-{i}"><h3>{title}</h3>{legend(chart)}{draw(chart, str(i), title)}\n'
            + (element('p class="note"', chart.note.strip()) if chart.note else "")
            + details("Figures", chart_table(chart))
            + f"<figcaption>{caption}</figcaption></figure>\n"
        )
    content = details("List of charts", f"<ol>{links}</ol>") if len(charts) > 3 else ""
    return f'<h2>Charts</h2>\n{content}<div class="charts">\n{figures}</div>\n' if charts else ""


# ---- Published figures ----


def counterpart(study, row, names):
    """The best point that repeats a published one, by the first of these names that was measured.
    For any filter that is the highest rate of all."""
    # Those of two passes and the Gaussian of the lecture are of rank 1.
    rank1 = row.preset == "lecture" or row.implementations[0].startswith("twopass")
    any_size = row.size[0] == 0
    points = [
        p
        for p in study.points
        if p.counts and p.rank1 == rank1 and (any_size or row.size == p.size)
        if row.image == 0 or row.image == p.width == p.height
    ]
    for name in names:
        spatial = [p for p in points if p.on_gpu and not p.transforms]
        meant = spatial if name == "spatial" else [p for p in points if p.name == name]
        if meant:
            return max(meant, key=lambda p: p.gflops if any_size else -p.time)
    return None


def speed_ups(study, row):
    """Those of all filters of full rank that both were measured with."""
    seconds = {name: {} for name in (row.implementations[0], row.over[0])}
    for p in study.points:
        if p.counts and not p.rank1 and p.width == row.image and p.name in seconds:
            seconds[p.name][p.size] = p.counted_seconds
    mine, theirs = seconds.values()
    return [theirs[size] / mine[size] for size in mine.keys() & theirs]


def measured_value(study, row):
    """What was measured here of the same quantity, and the name of what did; 0: nothing was."""
    if row.quantity in ("mean speed-up", "largest speed-up"):
        ratios = speed_ups(study, row) or [0]
        value = max(ratios) if row.quantity[0] == "l" else sum(ratios) / len(ratios)
        return value, row.implementations[0]
    point = counterpart(study, row, row.implementations)
    if point is None:
        return 0, row.implementations[0]
    other = counterpart(study, row, row.over)
    value = {
        "seconds for 100 images": 100 * point.time,
        "milliseconds": 1e3 * point.time,
        "GFLOP/s": point.gflops,
        "GFLOP/s allowed": 1e-9 * point.theory_flops,
        "FLOP/byte": point.intensity,
        "speed-up": other.counted_seconds / point.counted_seconds if other else 0,
        "tiling factor": point.factor,
    }[row.quantity]
    return value, point.name


def published(study):
    heads = ["source", "their device", "image", "filter", "step", "here", "unit"]
    heads += ["#published", "#measured", "#ratio"]
    rows = {"with": [], "without": []}
    for row in (row for row in PUBLISHED if row.preset == study.preset):
        value, name = measured_value(study, row)
        cells = [f"{row.source}, {row.place}", row.device or "not named"]
        cells.append(f"{row.image}x{row.image}" if row.image else "any")
        cells.append("{}x{}".format(*row.size) if row.size[0] else "any")
        unit = f"{row.quantity} over {row.over[0]}" if row.over[0] else row.quantity
        cells += row.step, name, unit
        cells += figure(f"{row.value:.6g}"), value or None
        cells.append(figure(number(value / row.value, 3) if value else ""))
        rows["with" if value > 0 else "without"].append(cells)
    tables = "".join(
        details(f"{len(some)} {word} a counterpart here", table(heads, some), word == "with")
        for word, some in rows.items()
        if some
    )
    head = f"<h2>Published figures and these</h2>\n{element('p', NOTES['published'])}\n"
    return tables and head + tables


# ---- All results ----


def result_row(p, with_gpu):
    label = f"auto: {p.implementation}" if p.name == "auto" != p.implementation else p.name
    bad = ' class="bad"' if p.verdict == "WRONG" else ""
    verdict = f"<span{bad}>{text(p.verdict)}</span>{p.reason and ': ' + text(p.reason)}</td>"
    if p.runs == 0:
        return [label, Markup(f'<td colspan="{11 if with_gpu else 7}">{verdict}')]
    spread = (p.upper_quartile_seconds - p.lower_quartile_seconds) or p.spread_seconds
    spread = f"{100 * spread / p.seconds:.1f}" if p.seconds else ""
    if spread and float(spread) > 10:
        spread = f"<strong>{spread}</strong>"
    numbers = [p.kernel_seconds * 1e3] if with_gpu else []
    numbers += [p.seconds * 1e3, p.pixels_per_second * 1e-6, p.gflops]
    numbers += [figure(spread), p.shortest_seconds * 1e3, p.runs]
    parts = (p.border_seconds, p.convert_seconds, p.transfer_seconds) if with_gpu else ()
    numbers += [seconds * 1e3 for seconds in parts]
    return [label, *(value or None for value in numbers), Markup(f"<td>{verdict}")]


def results(study):
    """By image and filter, the fastest first. HTML without scripts cannot sort."""
    gpu = study.has_gpu
    heads = "#time ms,#Msample/s,#GFLOP/s,#spread %,#shortest ms,#runs".split(",")
    parts = "#border ms,#conversion ms,#transfers ms".split(",")
    heads = ["#kernel ms", *heads, *parts] if gpu else heads
    heads = ["implementation", *heads, "verdict"]
    cases = {}
    for p in study.points:
        if p.width > 0:
            cases.setdefault(f"{p.image}, filter {p.case}", []).append(p)
    rows = []
    for case, points in cases.items():
        rows.append([Markup(f'<th class="case" colspan="{len(heads)}">{text(case)}</th>')])
        points.sort(key=lambda p: (p.verdict == "not usable", not p.counts, p.time))
        rows += [result_row(p, gpu) for p in points]
    count = len(rows) - len(cases)
    return "<h2>All results</h2>\n" + details(f"{count} results", table(heads, rows), count <= 80)


def refused(study):
    """The implementations that cannot run here; those that share a reason, together."""
    names = {}
    for p in (p for p in study.points if p.width == 0):
        quoted = re.match(r"'([^']*)' ", p.reason)
        own = quoted and p.name.startswith(quoted[1])
        names.setdefault(p.reason[quoted.end() :] if own else p.reason, []).append(p.name)
    items = []
    for reason, those in names.items():
        codes = ", ".join(f"<code>{text(name)}</code>" for name in those)
        items.append(f"{codes}: {'each ' if len(those) > 1 else ''}{text(reason)}")
    return f'<p class="note">Not usable here: {"; ".join(items)}.</p>\n' if items else ""


# ---- The page ----


def verdicts(study):
    right, wrong, lacking = (
        sum(p.verdict in meant for p in study.points if not p.is_beside)
        for meant in (RIGHT, ("WRONG",), ("not usable",))
    )
    how = "Each result was compared with the serial reference before it was timed"
    if study.preset == "fft-locality":
        how = "Numbers of each result were compared with sums in double"
    line = f"{how}: {is_are(right)} right" + (f", {lacking} could not run" if lacking else "")
    warning = (
        f'<p class="warn"><strong>{is_are(wrong)} WRONG</strong> and in no chart: see the table '
        "of all results.</p>\n"
    )
    return (line + ".", warning) if wrong else (line + ", none is wrong.", "")


def page(study, charts, data):
    """`data`: the JSON that the study was read from."""
    facts = ""
    for name, fact in study.facts.items():
        inner = f"<code>{text(fact)}</code>" if name == "command" else text(fact)
        facts += f"{element('dt', name)}<dd>{inner}</dd>"
    line, warning = verdicts(study)
    parts = panels(study, charts), published(study), results(study), refused(study)
    return (HERE / "page.html").read_text(encoding="utf-8").format(
        title=text(study.title),
        style=STYLE,
        subject=text(study.subject),
        facts=facts,
        verdicts=line,
        warning=warning,
        name=re.sub(r"[^\w.-]+", "-", study.title, flags=re.ASCII).lower() + ".json.gz",
        packed=base64.b64encode(gzip.compress(data, mtime=0)).decode(),
        parts="".join(parts),
    )
