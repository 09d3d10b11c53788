// Real tables with instruments, and what a model of them says. The project may not ship the tables: they are read
// from NUSTREAM_TABLES_DIR, and tests of real data are skipped without them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "card_table.h"
#include "configured_command.h"

namespace nustream::tests {

inline const std::string tables = NUSTREAM_TABLES_DIR;

class RealTables : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(tables + "/card_complete_2191.csv")) GTEST_SKIP() << "no tables in " << tables;
  }
};

/// A model of Card's table that descends.
inline std::string card(const std::string& sections) {
  return card_columns(tables) + R"([model]
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
