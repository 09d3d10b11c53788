// A folder with a small table, and `nustream fit` over it.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {

/// Rows with y = 3 + 2a − b + noise of 1. c is text, and nine tenths of d are empty.
inline std::string fit_table(std::size_t rows = 6000) {
  std::string csv = "a,b,c,d,y\n";
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = 100 + 3 * normal(random);
    const double b = normal(random);
    csv += std::to_string(a) + "," + std::to_string(b) + ",red," + (i % 10 == 0 ? "1.5" : "") + "," +
           std::to_string(3 + 2 * a - b + normal(random)) + "\n";
  }
  return csv;
}

class Fit : public ::testing::Test {
 protected:
  [[nodiscard]] CommandResult fit(std::vector<std::string> options, const std::string& program = NUSTREAM_COMMAND,
                                  const std::vector<std::string>& variables = {}) const {
    std::vector<std::string> arguments{"fit", file, "--key-directory", (folder.path() / "keys").string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_command(program, arguments, {}, variables);
  }
  [[nodiscard]] std::string ledger_rho(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{"inspect", file + ".fit", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser own;
    return std::to_string(own.parse(result.out)["total_rho"].get_double().value());
  }
  [[nodiscard]] double member(const CommandResult& result, const char* object, const char* name) {
    return parser.parse(result.out)[object][name].get_double().value();
  }

  const TemporaryFolder folder;
  const std::string file = folder.write("table.csv", fit_table());
  simdjson::dom::parser parser;
};

}  // namespace nustream::tests
