#!/usr/bin/env python3
"""The documentation, held against the program. Usage: documentation.py ROOT NUSTREAM [--all-results]

Each module checks one kind of thing that pages say. With --all-results every campaign's result has to be there."""

import sys

sys.dont_write_bytecode = True
from architecture import check_architecture  # noqa: E402
from campaigns import check_campaigns  # noqa: E402
from commands import check_commands  # noqa: E402
from configurations import check_configurations  # noqa: E402
from data import check_data  # noqa: E402
from examples import check_examples  # noqa: E402
from figures import check_figures  # noqa: E402
from first_output import check_first_output  # noqa: E402
from format_examples import check_format_examples  # noqa: E402
from keys import check_keys  # noqa: E402
from names import check_names  # noqa: E402
from pages import checked, mistakes  # noqa: E402
from plan_figures import check_plan_figures  # noqa: E402
from reproduction import check_reproduction  # noqa: E402
from symbols import check_notation  # noqa: E402
from versions import check_versions  # noqa: E402
from walks import run_deployment_page, run_local_page, run_pages_of_one_stream  # noqa: E402

for check in (check_configurations, check_keys, check_commands, run_pages_of_one_stream, run_local_page,
              run_deployment_page, check_names, check_campaigns, check_figures, check_reproduction, check_examples, check_data,
              check_first_output, check_plan_figures, check_notation, check_architecture, check_versions, check_format_examples):
    check()
for line in mistakes:
    print(line, file=sys.stderr)
print(", ".join(f"{number} {what}" for what, number in checked.items()))
sys.exit(1 if mistakes else 0)
