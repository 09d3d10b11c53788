"""Every campaign has its results, and they have the counts that the pages say."""

import json
import re
import subprocess
import sys

from pages import count, mistake, repository, root

# Counts that stand on a page by hand and in a source as a constant, so that a change of one alone shows. An entry has the
# page, the words behind the count, the source, the constant, and the campaign's result with the text that it has to hold;
# without a result, a test demands the count itself.
COUNTS = [("docs/privacy.md", "pairs", "tests/simulation/coupling_test.cpp", "in_the_campaign",
           "coupling", '"pairs": "{}"'),
          ("docs/privacy.md", "pairs of this kind", "tests/simulation/coupled_users_test.cpp", "users_in_the_campaign",
           "coupling_users", '"pairs": {}'),
          ("docs/privacy.md", "more under faults", "tests/simulation/coupling_test.cpp",
           "under_faults_in_the_campaign", "coupling", '"pairs": "{}"'),
          ("docs/privacy.md", "histories", "tests/simulation/simulation_test.cpp", "in_the_campaign",
           "simulation", '"histories": "{}"'),
          ("docs/privacy.md", "combinations", "tests/unit/engine_epoch_rules_test.cpp", "combinations_of_all", None, ""),
          ("tests/campaign/README.md", "histories", "tests/simulation/simulation_test.cpp", "in_the_campaign",
           "simulation", '"histories": "{}"')]


def check_result_counts(result, said):
    path = root / f"docs/results/{result}.json"
    if path.exists() and said not in re.sub(r"e\+0?(\d+)", lambda zeros: "0" * int(zeros[1]), path.read_text()):
        mistake(f"docs/results/{result}.json", f"it does not say {said}: the campaign ran with another count")


def code_of(main_file):
    return subprocess.run([sys.executable, "tests/campaign/code_of.py", main_file], cwd=root, capture_output=True,
                          text=True).stdout.strip()


def check_names_of_code():
    """code_of.py finds what is linked by headers: of the command it has to find the whole product."""
    beside = subprocess.run([sys.executable, "tests/campaign/code_of.py", "streaming/cli/main.cpp", "--beside"], cwd=root,
                            capture_output=True, text=True, check=True).stdout.split()
    count("programs whose code is named")
    # asio.cpp is Boost's own code. A file of the three rooms may be without a command that uses it.
    if [path for path in beside if not re.search("/(moments|ranges|users)/", path)] != ["streaming/serve/asio.cpp"]:
        mistake("tests/campaign/code_of.py", f"it does not find by headers that the command runs {beside}")


def check_fuzz_counts():
    """The result has the kinds of which a part is done. With --all-results it has every kind, whole and of this code."""
    path = root / "docs/results/fuzz.json"
    if not path.exists():
        return
    executed = json.loads(path.read_text())
    kinds = {each.name for each in (root / "tests/fuzz/corpus").iterdir()}
    if executed.keys() - kinds or ("--all-results" in sys.argv and kinds - executed.keys()):
        mistake("docs/results/fuzz.json", f"it has other kinds than tests/fuzz/corpus: {executed.keys() ^ kinds}")
    for kind, of in executed.items():
        count("counts of campaigns")
        if "--all-results" not in sys.argv:
            continue
        if of["executions"] < (10_000 if kind in ("compressed", "archive") else 10_000_000):
            mistake("docs/results/fuzz.json", f"{kind} had {of['executions']} executions")
        code = code_of(f"tests/fuzz/{kind}.cpp")
        if of["sources"] != code:
            mistake("docs/results/fuzz.json", f"{kind} is of other code ({of['sources']}) than this ({code})")


AUDITED = {"independent": "independent", "nu": "exact ν", "rational": "rational",
           "every-coordinate": "rational, in every coordinate", "windowed": "windowed", "tree": "tree",
           "two-passes": "rational, two passes", "two-stages": "rational, two stages"}


def check_audit_rows():
    """The table of docs/audit.md shows the rows that were played. With --all-results all are, and with this code."""
    rows = {row["row"]: row for row in json.loads((root / "docs/results/audit.json").read_text())}
    played = re.findall(r'^ +\{"([\w-]+)",', (root / "benchmarks/audit_bars.cpp").read_text(), re.M)
    if sorted(played) != sorted(AUDITED):
        mistake("tests/docs/campaigns.py", f"audit_bars plays other rows: {set(played) ^ set(AUDITED)}")
    page = (root / "docs/audit.md").read_text()
    code = code_of("benchmarks/audit_bars.cpp") if "--all-results" in sys.argv else None
    for correlation, title in AUDITED.items():
        names = [f"{correlation}-{epsilon}" for epsilon in ("0.5", "1", "2", "4", "1-later")]
        count("results of campaigns")
        if "--all-results" in sys.argv:
            for name in names:
                if name not in rows or rows[name]["sources"] != code or not rows[name]["met"]:
                    mistake("docs/results/audit.json", f"{name} was not played with this code ({code}), or missed its bar")
        if not all(name in rows for name in names):
            continue
        share = lambda row: f"{row['epsilon_share']:.3f}, {row['mu_share']:.3f}".replace("0.", ".")
        cells = [share(rows[name]) for name in names]
        line = f"| {title} | {' | '.join(cells)} (step {rows[names[-1]]['at']}) |"
        if line not in page:
            mistake("docs/audit.md", f"the table's line is not that of the result: {line}")


USERS_LIMITS = {f"{name}{key}": f"{model}{limits}" for name, model in {"": "", "sums-": "sums, "}.items()
                for key, limits in {"k1": "k = 1", "k4": "k = 4, b = 3", "k16": "k = 16", "mass1": "W = 1",
                                    "mass4": "W = 4"}.items()}
USERS_STRETCHES = ("one-epoch", "two-epochs", "two-epochs-counts-lost", "two-windows", "two-epochs-of-two-windows")


def check_audited_users():
    """The table of canary users likewise. A cell is the share of the claimed epsilon that was proven. Where a pattern cannot
    reach the claim, the share of its own epsilon follows in brackets."""
    path = root / "docs/results/audit_users.json"
    if not path.exists():
        return
    rows = {row["row"]: row for row in json.loads(path.read_text())}
    page = (root / "docs/audit.md").read_text()
    code = code_of("benchmarks/audit_users_bars.cpp") if "--all-results" in sys.argv else None
    for limits, title in USERS_LIMITS.items():
        names = [f"users-{limits}-{stretches}" for stretches in USERS_STRETCHES]
        count("results of campaigns")
        for name in names if code else ():
            if name not in rows or rows[name]["sources"] != code or not rows[name]["met"]:
                mistake("docs/results/audit_users.json", f"{name} was not played with this code ({code}), or missed its bar")
        if not all(name in rows for name in names):
            continue
        cells = []
        for row in (rows[name] for name in names):
            of_pattern = row["epsilon_proven"] / row["epsilon_of_the_pattern"]
            cells.append(f"{row['epsilon_share']:.3f}" + (f" ({of_pattern:.3f})" if "pattern" in row["bar"] else ""))
        line = f"| {title} | {' | '.join(cells)} |".replace(" 0.", " .").replace("(0.", "(.")
        if line not in page:
            mistake("docs/audit.md", f"the table's line is not that of the result: {line}")


def check_planted_bugs():
    """The result is of bugs that the page has, and with --all-results of all of them."""
    path = root / "docs/results/planted_bugs.json"
    if not path.exists():
        return
    planted = {case["name"].partition("/")[2].replace("_", "-") for suite in json.loads(path.read_text())["testsuites"]
               if suite["name"] == "Of/PlantedBugs" for case in suite["testsuite"]}
    tabled = set(re.findall(r"^\| `([\w-]+)` \|", (root / "docs/planted-bugs.md").read_text(), re.M))
    count("counts of campaigns")
    if planted - tabled or ("--all-results" in sys.argv and tabled - planted):
        mistake("docs/results/planted_bugs.json", f"it has other bugs than docs/planted-bugs.md: {planted ^ tabled}")


def check_campaigns():
    listed = re.findall(r"^\| `(\w+)` \|", (root / "tests/campaign/README.md").read_text(), re.M)
    if sorted(listed) != sorted(repository.campaigns):
        mistake("tests/campaign/README.md", f"other campaigns than ./test has: {set(listed) ^ set(repository.campaigns)}")
    for campaign in repository.campaigns:
        for name in sorted(repository.results(campaign)):
            count("results of campaigns")
            path = root / f"docs/results/{name}.json"
            if not path.exists():
                if "--all-results" in sys.argv:
                    mistake("docs/results", f"{name}.json is not here: ./test --campaign {campaign}")
                continue
            text = path.read_text()
            result = json.loads(text)
            reports = [result, *result.values()] if isinstance(result, dict) else []
            if any(not report["tests"] or report["failures"] or report.get("errors") or '"SKIPPED"' in text
                   for report in reports if isinstance(report, dict) and "tests" in report):
                mistake("docs/results", f"{name}.json holds failures, or tests that were skipped, or none")
    check_names_of_code()
    check_fuzz_counts()
    check_audit_rows()
    check_audited_users()
    check_planted_bugs()
    for page, what, source, constant, result, form in COUNTS:
        count("counts of campaigns")
        said = {found.replace(",", "") for found in re.findall(rf"(\d[\d,]*) {what}", (root / page).read_text())}
        run = re.search(rf"\b{constant} = ([\d']+);", (root / source).read_text())[1].replace("'", "")
        if said != {run}:
            mistake(page, f"it says {' and '.join(said) or 'nothing'} of {what}; {source} has {run}")
        if result:
            check_result_counts(result, form.format(run))
