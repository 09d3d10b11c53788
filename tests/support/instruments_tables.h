// Real tables with instruments, and what a model of them says. The project may not ship the tables: they are read
// from NUSTREAM_TABLES_DIR, and tests of real data are skipped without them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "configured_command.h"

namespace nustream::tests {

inline const std::string tables = NUSTREAM_TABLES_DIR;

class RealTables : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(tables + "/card_complete_2191.csv")) GTEST_SKIP() << "no tables in " << tables;
  }
};

/// A column of a model, as a table [[kind]].
inline std::string column(const std::string& kind, const std::string& name, double center = 0, double scale = 1) {
  return "[[" + kind + "]]\ncolumn = \"" + name + "\"\ncenter = " + std::to_string(center) +
         "\nscale = " + std::to_string(scale) + "\n";
}

/// Card: wages on years of schooling, with the colleges near by and the parents' schooling as instruments. The
/// centres and scales are those of the file. They are public settings here; in a private table such figures would be
/// traps.
inline std::string card(const std::string& sections) {
  return "[stream]\nname = \"card\"\ninput = \"" + tables + "/card_complete_2191.csv\"\n" +
         "[target]\ncolumn = \"lwage\"\ncenter = 6.286494135149316\n" +
         column("instruments", "nearc2", 0.43541761752624375, 0.49581157295288125) +
         column("instruments", "nearc4", 0.686444545869466, 0.46393796063216225) +
         column("instruments", "fatheduc", 10.084892743039708, 3.702060681036529) +
         column("instruments", "motheduc", 10.61889548151529, 3.054411309378248) +
         column("endogenous", "educ", 13.642172523961662) + R"([model]
intercept = false
[descent]
step_size = 0.38283
clip_norm = 4
[first_stage]
step_size = 0.84091
)" + sections;
}

/// The file with one of its columns moved behind all others. No field of it has quotation marks.
inline std::string with_column_last(const std::string& path, const std::string& name) {
  std::istringstream rows(read_file(path));
  std::string text;
  std::ptrdiff_t at = -1;
  for (std::string row; std::getline(rows, row);) {
    std::vector<std::string> fields;
    std::istringstream of_row(row);
    for (std::string field; std::getline(of_row, field, ',');) fields.push_back(field);
    if (at < 0) at = std::find(fields.begin(), fields.end(), name) - fields.begin();
    std::rotate(fields.begin() + at, fields.begin() + at + 1, fields.end());
    for (const std::string& field : fields) text += field + ",";
    text.back() = '\n';
  }
  return text;
}

}  // namespace nustream::tests
