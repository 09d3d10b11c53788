// A table of numbers from a gzipped CSV of tests/golden/data, and rows of standardised columns from it.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "nustream/record/batch.h"

namespace nustream::tests {

/// Columns by name; every entry is a number.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;

  [[nodiscard]] const std::vector<double>& column(const std::string& name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw std::runtime_error("no column " + name);
    return columns[static_cast<std::size_t>(found - names.begin())];
  }
};

inline std::string read_gzip(const std::string& path) {
  gzFile const file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path);
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (int size = 0; (size = gzread(file, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  gzclose(file);
  return text;
}

inline Table read_table(const std::string& file) {
  std::istringstream text(read_gzip(std::string(NUSTREAM_TESTS_DIR) + "/golden/data/" + file));
  Table table;
  std::string line;
  std::getline(text, line);
  std::istringstream header(line);
  for (std::string name; std::getline(header, name, ',');) table.names.push_back(name);
  table.columns.resize(table.names.size());
  while (std::getline(text, line)) {
    std::istringstream fields(line);
    std::string field;
    for (auto& column : table.columns) {
      std::getline(fields, field, ',');
      column.push_back(std::stod(field));
    }
  }
  return table;
}

/// The numeric predictors of covtype.csv.gz.
inline const std::vector<std::string> covtype_columns = {"Elevation",
                                                         "Aspect",
                                                         "Slope",
                                                         "Horizontal_Distance_To_Hydrology",
                                                         "Vertical_Distance_To_Hydrology",
                                                         "Horizontal_Distance_To_Roadways",
                                                         "Hillshade_9am",
                                                         "Hillshade_Noon",
                                                         "Hillshade_3pm",
                                                         "Horizontal_Distance_To_Fire_Points"};

/// Mean and standard deviation with ddof 0, as the references standardise.
struct Placement {
  double mean;
  double stddev;
};
inline Placement placement_of(const std::vector<double>& v) {
  const auto n = static_cast<double>(v.size());
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
  double squares = 0;
  for (const double entry : v) squares += (entry - mean) * (entry - mean);
  return {mean, std::sqrt(squares / n)};
}

inline std::vector<double> standardised(std::vector<double> v) {
  const Placement placement = placement_of(v);
  for (double& entry : v) entry = (entry - placement.mean) / placement.stddev;
  return v;
}

/// Rows [1, columns…] with the targets y.
inline record::RowBatch design(const std::vector<std::vector<double>>& columns, const std::vector<double>& y) {
  record::RowBatch rows;
  rows.dimension = columns.size() + 1;
  for (std::size_t i = 0; i < y.size(); ++i) {
    rows.x.push_back(1);
    for (const auto& column : columns) rows.x.push_back(column[i]);
    rows.y.push_back(y[i]);
    rows.next.push_back(i + 1);
  }
  return rows;
}

}  // namespace nustream::tests
