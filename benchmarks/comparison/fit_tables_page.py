"""The table of the comparison of `nustream fit` with grids on public tables."""


def shown(value):
    return "none" if value is None else f"{value:.2g}"


def of(settings):
    return ", ".join(f"{value:g}" for value in settings.values())


def of_row(table, row):
    stopped = f", {row['stopped']} stopped" if row["stopped"] else ""
    return (f"| {row['rho']:g} | {shown(row['median'])} ({shown(row['worst'])}{stopped}) | {shown(row['descent']['median'])} "
            f"({of(row['descent']['settings'])}) | {shown(row['sums']['median'])} ({of(row['sums']['settings'])}) | "
            f"{shown(row['bar'])} | {'yes' if row['met'] else '**no**'} |")


def page(result):
    """What stands between the page's markers."""
    settings, tables = result["settings"], result["tables"]
    met = sum(row["met"] for table in tables for row in table["rows"])
    number = sum(len(table["rows"]) for table in tables)
    lines = [f"{len(tables)} tables{'' if result['enough'] else ', which is too few'}; {met} of {number} bars are met. Excess: "
             f"{result['error']}; median (and the worst) of {settings['seeds']} keys for `fit`, median of {settings['grid_keys']} "
             "keys for the best setting of each grid. In brackets beside the descent are its steps, step size and clip norm, and "
             "beside the sums R_x and the bound of targets.", ""]
    for table in tables:
        lines += [f"**{table['table']}** ({table['origin']}): n = {table['records']:,}, d = {table['dimension']}",
                  "", f"`--target '{table['target']}' --features '{table['features']}'`", "",
                  "| ρ | `fit` | best descent | best sums | bar | met |", "|---|---|---|---|---|---|",
                  *(of_row(table, row) for row in table["rows"]), ""]
    return "\n".join(lines).rstrip() + "\n"
