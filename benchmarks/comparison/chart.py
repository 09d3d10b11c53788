"""Points on a logarithmic axis as SVG, a row a contender, a panel a group. Readable on light and dark pages."""

import math
from html import escape

WIDTH, LEFT, RIGHT, ROW = 800, 300, 720, 22
OURS, PRIVATE, PLAIN = "#0b6e99", "#c2410c", "#94a3b8"


def number(value):
    """Three significant digits, thousands separated."""
    if value >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def time_of(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def point_chart(title, unit, groups, legend):
    """`groups`: [(heading, [(label, value, colour, standard error or 0)])]. `legend`: [(colour, text)]."""
    values = [value for _, points in groups for _, value, _, _ in points]
    low = 10 ** math.floor(math.log10(min(values) * 0.8))
    high = max(values) * 1.3
    height = 92 + sum(ROW * len(points) + 34 for _, points in groups)

    def across(value):
        return LEFT + (RIGHT - LEFT) * (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
           f'font-size="13">', f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="16" y="26" font-size="15" font-weight="bold">{escape(title)}</text>']
    x = 16
    for colour, text in legend:
        out.append(f'<circle cx="{x + 6}" cy="44" r="5" fill="{colour}"/>'
                   f'<text x="{x + 18}" y="49">{escape(text)}</text>')
        x += 34 + 7 * len(text)
    bottom = height - 36
    decade = low
    while decade <= high:
        out.append(f'<line x1="{across(decade):.1f}" y1="60" x2="{across(decade):.1f}" y2="{bottom}" stroke="#e2e8f0"/>'
                   f'<text x="{across(decade):.1f}" y="{bottom + 16}" text-anchor="middle">{decade:,g}</text>')
        decade *= 10
    out.append(f'<text x="{(LEFT + RIGHT) / 2}" y="{height - 4}" text-anchor="middle">{escape(unit)}</text>')
    y = 64
    for heading, points in groups:
        out.append(f'<text x="16" y="{y + 14}" font-weight="bold">{escape(heading)}</text>')
        y += 22
        for label, value, colour, error in points:
            end = across(value)
            out.append(f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(label)}</text>'
                       f'<line x1="{LEFT}" y1="{y + 10.5}" x2="{end:.1f}" y2="{y + 10.5}" stroke="{colour}" '
                       f'stroke-opacity="0.35"/>'
                       f'<circle cx="{end:.1f}" cy="{y + 10.5}" r="5" fill="{colour}"/>')
            text_at = end + 10
            if error > 0:
                left, right = across(max(value - error, low)), across(value + error)
                out.append(f'<line x1="{left:.1f}" y1="{y + 10.5}" x2="{right:.1f}" y2="{y + 10.5}" stroke="#0f172a"/>')
                text_at = max(text_at, right + 4)
            out.append(f'<text x="{text_at:.1f}" y="{y + 14}" stroke="#ffffff" stroke-width="4" '
                       f'paint-order="stroke">{number(value)}</text>')
            y += ROW
        y += 12
    return "\n".join(out) + "\n</svg>\n"
