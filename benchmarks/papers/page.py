"""Makes docs/reproduction.md of docs/reproduction/*.json and the figures in docs/results.

docs/reproduction/page.json has the title, the introduction and the papers in their order. A paper's file has

    title, intro    its heading, and what was run
    numbered        every numbered figure, table, theorem … of the paper that states something: each is in some row
    rows            its table, an item a row:
        item        what is looked at
        place       where it stands in the paper; `numbered` is compared with this
        paper       the paper's own value or claim; claims in quotation marks are its own words
        other       what another implementation gives, where the paper has a picture; empty where nobody said
        here        what this project measures, with references to docs/results (values.py)
        command     what measures it, or the test that asserts it; one or a list
        verdict     one of VERDICTS, and `because`: why, or a remark
    after           what follows the table: texts, further tables and pictures

benchmarks/figures --page writes the page; the documentation test compares."""

import json

from .values import Results, Unknown, filled

VERDICTS = {"reproduced": "reproduced", "differs": "differs because ", "false": "false claim: ",
            "left out": "left out because "}
HEAD = ["item", "the paper's own value or claim (place)", "another implementation", "here (standard error)", "command",
        "verdict"]


def papers(root):
    """The parts of the page: what stands before the papers, and each paper by its name."""
    folder = root / "docs/reproduction"
    page = json.loads((folder / "page.json").read_text())
    return page, {name: json.loads((folder / f"{name}.json").read_text()) for name in page["papers"]}


def commands_of(row):
    """The commands of a row, which are none, one or several."""
    command = row.get("command", [])
    return [command] if isinstance(command, str) else command


def verdict_of(row):
    said, because = VERDICTS.get(row["verdict"], "?"), row.get("because", "")
    if row["verdict"] == "reproduced":
        return f"{said}: {because}" if because else said
    return said + because


def cells_of(row):
    paper = f"{row['paper']} ({row['place']})" if row["paper"] else f"({row['place']})"
    commands = ", ".join(f"`{command}`" for command in commands_of(row))
    return [row["item"], paper, row.get("other", ""), row.get("here", ""), commands, verdict_of(row)]


def table(head, rows):
    line = lambda cells: "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)
    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def wrapped(text):
    """The text in lines of at most 120 characters, as the other pages have them."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > 120:
            lines.append(word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def block(part):
    if isinstance(part, str):
        return wrapped(part)
    if "table" in part:
        return table(part["head"], part["table"])
    if "picture" in part:
        return f"![{part['picture']}](results/{part['file']}.svg)"
    links = ", ".join(f"[{title}](results/{file}.svg)" for title, file in part["pictures"].items())
    return wrapped(f"More pictures: {links}.")


def filled_in(results, value, mistakes):
    """Every text of a paper's file with its figures in their places; what cannot be filled in is among the mistakes."""
    if isinstance(value, dict):
        return {key: filled_in(results, each, mistakes) for key, each in value.items()}
    if isinstance(value, list):
        return [filled_in(results, each, mistakes) for each in value]
    try:
        return filled(results, value)
    except (Unknown, KeyError, TypeError, ValueError, IndexError) as error:
        mistakes.append(f"{error}: {value}")
        return value


def written(root):
    """The page, what is wrong with its references (file: what), and the results that it is made of."""
    results, mistakes = Results(root / "docs/results"), []
    page, each = papers(root)
    text = [f"# {page['title']}", *map(block, page["intro"])]
    for name, paper in each.items():
        wrong = []
        paper = filled_in(results, paper, wrong)
        mistakes += [f"docs/reproduction/{name}.json: {what}" for what in wrong]
        text += [f"## {paper['title']}", *map(block, paper["intro"]), table(HEAD, map(cells_of, paper["rows"])),
                 *map(block, paper.get("after", []))]
    return "\n\n".join(text) + "\n", mistakes, results.used
