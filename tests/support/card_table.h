// The columns of Card's table in a configuration: a model with instruments of real data, for tests and benchmarks.
#pragma once

#include <string>

#include <fmt/format.h>

namespace nustream::tests {

/// A column of a model, as a table [[kind]].
inline std::string column(const std::string& kind, const std::string& name, double center = 0, double scale = 1) {
  return fmt::format("[[{}]]\ncolumn = \"{}\"\ncenter = {}\nscale = {}\n", kind, name, center, scale);
}

/// Card: log wages on years of schooling, with the colleges near by and the parents' schooling as instruments. The
/// centres and scales are those of the file. They are public settings here; in a private table such figures would be
/// traps. `folder` holds the table.
inline std::string card_columns(const std::string& folder) {
  return "[stream]\nname = \"card\"\ninput = \"" + folder + "/card_complete_2191.csv\"\n" +
         "[target]\ncolumn = \"lwage\"\ncenter = 6.286494135149316\n" +
         column("instruments", "nearc2", 0.43541761752624375, 0.49581157295288125) +
         column("instruments", "nearc4", 0.686444545869466, 0.46393796063216225) +
         column("instruments", "fatheduc", 10.084892743039708, 3.702060681036529) +
         column("instruments", "motheduc", 10.61889548151529, 3.054411309378248) +
         column("endogenous", "educ", 13.642172523961662);
}

}  // namespace nustream::tests
