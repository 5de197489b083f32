"""The page of a report: one file of HTML, readable without scripts, light and dark."""

import base64
import gzip
import html
import math
import re
from pathlib import Path

from charts import PUBLISHED, Cells, Lines, Rows
from draw import THEME, colour_name, dashes_of, draw

# Marks of a legend, by colour, as draw.MARKS has them: paths about (15, 6).
MARK_PATHS = (
    "M15 2a4 4 0 1 0 .01 0z",
    "M11 2h8v8h-8z",
    "M15 1.5l4.5 8.5h-9z",
    "M15 1l5 5-5 5-5-5z",
    "M15 10.5l4.5-8.5h-9z",
    "M15 1.5l4.8 3.5-1.8 5.5h-6l-1.8-5.5z",
    "M12.5 1.5l2.5 2.5 2.5-2.5 2 2-2.5 2.5 2.5 2.5-2 2-2.5-2.5-2.5 2.5-2-2 2.5-2.5-2.5-2.5z",
    "M13.5 1.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
)

READING = (
    "<h2>How to read this</h2>\n<p><em>Time</em> is the median of the runs, from samples in memory "
    "to samples in memory. <em>Kernel</em> is the time of a GPU alone: the median of other runs, "
    "which begin with empty caches and are not counted in <em>runs</em>. <em>Spread</em> is the "
    "distance of the quartiles, in percent of the median. Above 10 % (bold) something disturbed "
    "the measurement. <em>GFLOP/s</em> counts 2 w h operations for a sample and a filter of w times h "
    "weights, whatever an implementation does to need fewer.</p>\n"
)


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


def table(heads, rows, caption=""):
    """A table of texts, and of numbers, which stand at the right. None: an empty cell. A head that
    begins with '#' is one of numbers."""
    lines = [f"<div class=\"scroll\"><table>{caption and element('caption', caption)}<thead><tr>"]
    lines += [
        element('th class="n"', h[1:]) if h.startswith("#") else element("th", h) for h in heads
    ]
    lines.append("</tr></thead><tbody>\n")
    for row in rows:
        lines.append("<tr>" + "".join(map(cell, row)) + "</tr>\n")
    lines.append("</tbody></table></div>\n")
    return "".join(lines)


class Markup(str):
    """A whole cell of a table."""


def cell(value):
    if isinstance(value, Markup):
        return value
    if value is None:
        return "<td></td>"
    if isinstance(value, str):
        return element("td", value)
    return f'<td class="n">{number(value)}</td>'


def details(summary, content, is_open):
    state = ' open="open"' if is_open else ""
    return f"<details{state}><summary>{summary}</summary>{content}</details>\n"


# ---- The head ----


def style():
    light, dark = (
        ":root{" + "".join(f"--{name}:{pair[i]};" for name, pair in THEME.items()) + "}"
        for i in (0, 1)
    )
    rules = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    return (
        f"<style>:root{{color-scheme:light dark}}{light}"
        f"@media (prefers-color-scheme:dark){{{dark}}}{rules}"
        f"@media print{{:root{{color-scheme:light}}{light}}}</style>\n"
    )


def verdicts(study):
    right = sum(p.verdict in ("exact", "rounded once", "within bound") for p in study.points)
    wrong = sum(p.verdict == "WRONG" for p in study.points)
    refused = sum(p.verdict == "not usable" for p in study.points)
    how = (
        "Numbers of each result were compared with sums in double"
        if study.preset == "fft-locality"
        else "Each result was compared with the serial reference before it was timed"
    )
    line = f"<p>{how}: {right} {'is' if right == 1 else 'are'} right"
    line += f", {refused} could not run" if refused else ""
    line += ", none is wrong.</p>\n" if not wrong else ".</p>\n"
    if wrong:
        are = "is" if wrong == 1 else "are"
        line += (
            f'<p class="warn"><strong>{wrong} {are} WRONG</strong> and in no chart: see the table '
            "of all results.</p>\n"
        )
    return line


def head(study, data):
    facts = "".join(
        element("dt", name)
        + (f"<dd><code>{text(fact)}</code></dd>" if name == "command" else element("dd", fact))
        for name, fact in study.facts
    )
    packed = base64.b64encode(gzip.compress(data, mtime=0)).decode()
    name = re.sub(r"[^\w.-]+", "-", study.title, flags=re.ASCII).lower() + ".json.gz"
    return (
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n<head>'
        '<meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        + element("title", study.title)
        + style()
        + "</head>\n<body>\n"
        + element("h1", study.title)
        + element("p", study.subject)
        + f"<dl>{facts}</dl>\n"
        + verdicts(study)
        + f'<p>All data of this page: <a download="{name}" href="data:application/gzip;base64,'
        + f'{packed}">{name}</a></p>\n'
    )


# ---- Charts ----


def legend(chart):
    items = []
    if isinstance(chart, Lines):
        for series in chart.series:
            colour = f"var(--{colour_name(series.colour)})"
            dashes = dashes_of(series)
            dash = f' stroke-dasharray="{dashes[0] * 1.5} {dashes[1] * 1.5}"' if dashes else ""
            line = f'<path d="M1 6H29" stroke="{colour}" stroke-width="2"{dash}/>'
            fill = "var(--paper)" if series.role == "published" else colour
            mark = f'<path d="{MARK_PATHS[series.mark]}" stroke="{colour}" fill="{fill}"/>'
            key = ("" if series.role == "marks" else line) + (
                "" if series.role == "limit" else mark
            )
            items.append(f'<svg viewBox="0 0 30 12">{key}</svg>{text(series.name)}')
    elif isinstance(chart, Cells):
        for letter, (name, colour) in zip("abcdefghijklmnopqrstuvwxyz" * 3, chart.colours.items()):
            paint = f"background:color-mix(in srgb,var(--{colour_name(colour)}) 40%,transparent)"
            items.append(f'<b style="{paint}">{letter}</b>{text(name)}')
    return (
        f'<ul class="legend">{"".join(f"<li>{item}</li>" for item in items)}</ul>' if items else ""
    )


def chart_table(chart):
    if isinstance(chart, Rows):
        return table(["name", "#" + chart.x_label], [(row[0], row[2]) for row in chart.rows])
    if isinstance(chart, Cells):
        heads = ["height \\ width"] + [f"#{x}" for x in chart.columns]
        rows = [
            [Markup(f"<th>{y}</th>")] + [chart.cells.get((x, y)) for x in chart.columns]
            for y in chart.rows
        ]
        return table(heads, rows, chart.value_label)
    if not chart.own_ticks:
        rows = [(s.name, dot[0], dot[1]) for s in chart.series for dot in s.dots]
        return table(["name", "#" + chart.x_label, "#" + chart.y_label], rows)
    columns = [{dot[0]: dot[1] for dot in reversed(series.dots)} for series in chart.series]
    xs = sorted({x for column in columns for x in column})
    heads = [chart.x_label] + ["#" + series.name for series in chart.series]
    return table(heads, [[str(x)] + [c.get(x) for c in columns] for x in xs], chart.y_label)


def panel(chart, index, caption):
    name = f"chart-{index}"
    return (
        f'<figure id="{name}">'
        + element("h3", chart.title)
        + legend(chart)
        + draw(chart, name + "-", text(chart.title))
        + "\n"
        + (element('p class="note"', chart.note.strip()) if chart.note else "")
        + details("Figures", chart_table(chart), False)
        + f"<figcaption>{caption}</figcaption></figure>\n"
    )


def panels(study, charts):
    if not charts:
        return ""
    parts = ["<h2>Charts</h2>\n"]
    if len(charts) > 3:
        titles = [text(chart.title) for chart in charts]
        links = [
            f'<li><a href="#chart-{i + 1}">{title}</a></li>' for i, title in enumerate(titles)
        ]
        parts.append(details("List of charts", f"<ol>{''.join(links)}</ol>", False))
    # Machine, driver, compiler, commit and command under every chart, because charts are copied.
    facts = dict(study.facts)
    keys = ("GPU", "driver", "processor", "build", "program", "command", "date")
    caption = " · ".join(text(facts[key]) for key in keys if key in facts)
    parts.append('<div class="charts">\n')
    parts += [panel(chart, i + 1, caption) for i, chart in enumerate(charts)]
    return "".join(parts) + "</div>\n"


# ---- Published figures ----


def counterpart(study, row, names):
    """The best point that repeats a published one, by the first of these names that was measured.
    For any filter that is the highest rate of all."""
    # Those of two passes and the Gaussian of the lecture are of rank 1.
    first = "".join(row.implementations[:1])
    rank1 = row.preset == "lecture" or first.startswith("twopass")
    points = [
        p
        for p in study.points
        if p.counts
        and p.rank1 == rank1
        and row.filter_width in (0, p.filter_width)
        and (row.filter_width == 0 or row.filter_height == p.filter_height)
        and (row.image == 0 or row.image == p.width == p.height)
    ]
    for name in names:
        spatial = name == "spatial"  # all on a GPU without transforms
        meant = [
            p for p in points if (p.on_gpu and not p.transforms if spatial else p.name == name)
        ]
        if meant and row.filter_width == 0:
            return max(meant, key=lambda p: p.gflops)
        if meant:
            return min(meant, key=lambda p: p.time)
    return None


def measured_value(study, row):
    """What was measured here of the same quantity, and the name of what did; 0: nothing was."""
    point = counterpart(study, row, row.implementations)
    if point is None:
        return 0, (row.implementations or [""])[0]
    other = counterpart(study, row, row.over)
    value = {
        "seconds for 100 images": 100 * point.time,
        "milliseconds": 1e3 * point.time,
        "GFLOP/s": point.gflops,
        "GFLOP/s allowed": 1e-9 * point.theory_flops,
        "speed-up": other.counted_seconds / point.counted_seconds if other else 0,
        "tiling factor": point.factor,
    }[row.quantity]
    return value, point.name


def published(study):
    rows = {True: [], False: []}
    for row in PUBLISHED:
        if row.preset != study.preset:
            continue
        value, name = measured_value(study, row)
        unit = row.quantity
        if unit == "speed-up":
            unit = f"times as fast as {row.over[0]}"
        rows[value > 0].append(
            (
                f"{row.source}, {row.place}",
                row.device or "not named",
                f"{row.image}x{row.image}" if row.image else "any",
                f"{row.filter_width}x{row.filter_height}" if row.filter_width else "any",
                row.step,
                name,
                unit,
                Markup(f'<td class="n">{row.value:.6g}</td>'),
                value or None,
                Markup(f'<td class="n">{number(value / row.value, 3) if value else ""}</td>'),
            )
        )
    if not rows[True] and not rows[False]:
        return ""
    heads = ["source", "their device", "image", "filter", "step", "here", "unit"]
    heads += ["#published", "#measured", "#ratio"]
    parts = [
        "<h2>Published figures and these</h2>\n<p>Figures that the source prints, on the device "
        "that it used, and what was measured here on the same sizes. None is read off a curve. The "
        "ratio is measured over published: a time below 1, and a rate above 1, is better here. Of "
        "rates for any filter the highest is taken.</p>\n"
    ]
    for there, word in ((True, "with"), (False, "without")):
        if rows[there]:
            summary = f"{len(rows[there])} {word} a counterpart here"
            parts.append(details(summary, table(heads, rows[there]), there))
    return "".join(parts)


# ---- All results ----


def result_row(p, with_gpu):
    label = p.name
    if p.name == "auto" != p.implementation:
        label += f": {p.implementation}"
    bad = ' class="bad"' if p.verdict == "WRONG" else ""
    verdict = f"<span{bad}>{text(p.verdict)}</span>{p.reason and ': ' + text(p.reason)}</td>"
    if p.runs == 0:
        return [label, Markup(f'<td colspan="{11 if with_gpu else 7}">{verdict}')]
    spread = (p.upper_quartile_seconds - p.lower_quartile_seconds) or p.spread_seconds
    spread = f"{100 * spread / p.seconds:.1f}" if p.seconds else ""
    if spread and float(spread) > 10:
        spread = f"<strong>{spread}</strong>"
    parts = (p.border_seconds, p.convert_seconds, p.transfer_seconds) if with_gpu else ()
    row = [p.kernel_seconds * 1e3] if with_gpu else []
    row += [p.seconds * 1e3, p.pixels_per_second * 1e-6, p.gflops]
    row += [Markup(f'<td class="n">{spread}</td>'), p.shortest_seconds * 1e3, p.runs]
    row += [seconds * 1e3 for seconds in parts]
    return [label, *(value or None for value in row), Markup(f"<td>{verdict}")]


def results(study):
    """By image and filter, the fastest first. HTML without scripts cannot sort."""
    heads = [
        "implementation",
        *(["#kernel ms"] if study.has_gpu else []),
        "#time ms",
        "#Msample/s",
    ]
    heads += ["#GFLOP/s", "#spread %", "#shortest ms", "#runs"]
    heads += ["#border ms", "#conversion ms", "#transfers ms"] if study.has_gpu else []
    heads.append("verdict")
    cases = {}
    for p in study.points:
        if p.width > 0:
            case = f"{p.width}x{p.height}, filter {p.filter}" + (p.samples and f", {p.samples}")
            cases.setdefault(case, []).append(p)
    rows = []
    for case, points in cases.items():
        rows.append([Markup(f'<th class="case" colspan="{len(heads)}">{text(case)}</th>')])
        points.sort(key=lambda p: (p.verdict == "not usable", not p.counts, p.time))
        rows += [result_row(p, study.has_gpu) for p in points]
    count = len(rows) - len(cases)
    note = (
        '<p class="note">Time is that of a whole run, from samples in memory to samples in memory.'
    )
    if study.has_gpu:
        note += (
            " On a GPU kernel is the part from its memory to its memory. Of it, border extends the "
            "image and conversion turns samples into numbers and back. Transfers to the GPU and "
            "back may overlap with each other and with computing."
        )
    folded = details(f"{count} results", table(heads, rows) + note + "</p>", count <= 80)
    return "<h2>All results</h2>\n" + folded


def refused(study):
    """The implementations that cannot run here; those that share a reason, together."""
    names = {}
    for p in study.points:
        if p.width == 0:
            alone = re.sub(
                r"^'([^']*)' ", lambda m: "" if p.name.startswith(m[1]) else m[0], p.reason
            )
            names.setdefault(alone, []).append(f"<code>{text(p.name)}</code>")
    if not names:
        return ""
    items = [
        f"<li>{', '.join(those)}: {'each ' if len(those) > 1 else ''}{text(reason)}</li>\n"
        for reason, those in names.items()
    ]
    return f"<h2>Not usable here</h2>\n<ul>{''.join(items)}</ul>\n"


def page(study, charts, data):
    """`data`: the JSON that the study was read from."""
    return (
        head(study, data)
        + panels(study, charts)
        + published(study)
        + results(study)
        + refused(study)
        + READING
        + "</body>\n</html>\n"
    )
