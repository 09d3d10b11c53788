// A table is in memory once, as doubles, whatever is compared with it.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>

#include <fmt/format.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

constexpr std::size_t columns = 10;

void write_table(const std::string& path, std::size_t rows) {
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> digits(-1, 1);
  // The rows are written line by line, because a child begins with the memory of its parent.
  std::ofstream out(path);
  for (std::size_t j = 0; j < columns; ++j) out << fmt::format("x{},", j);
  out << "y\n";
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out << fmt::format("{:.4f},", digits(random));
    out << fmt::format("{:.4f}\n", digits(random));
  }
}

std::string settings(const std::string& more) {
  std::string text = "[stream]\nname = \"table\"\n[target]\ncolumn = \"y\"\n";
  for (std::size_t j = 0; j + 2 < columns; ++j) text += fmt::format("[[features]]\ncolumn = \"x{}\"\n", j);
  return text + more +
         "[descent]\nstep_size = 0.1\nclip_norm = 1.0\n[privacy]\nrho = 1\ndelta = 1e-6\n[estimate]\nsteps = 3\n";
}

class EstimateMemory : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, EstimateMemory,
                         ::testing::Values("[[features]]\ncolumn = \"x8\"\n[[features]]\ncolumn = \"x9\"\n",
                                           "[[instruments]]\ncolumn = \"x9\"\n[[endogenous]]\ncolumn = \"x8\"\n"
                                           "[first_stage]\nstep_size = 0.1\nclip_norm = 1.0\n"));

// From 50,000 to 450,000 rows the process grows by the rows alone, which have 12 doubles each with the intercept.
TEST_P(EstimateMemory, GrowsByOneTable) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer has memory of its own";
#endif
  const TemporaryFolder folder;
  const std::string config = folder.write("table.toml", settings(GetParam()));
  const auto largest_with = [&](std::size_t rows) {
    const std::string table = (folder.path() / fmt::format("{}.csv", rows)).string();
    write_table(table, rows);
    const CommandResult result =
        run_command(NUSTREAM_COMMAND, {"estimate", config, table, "--compare-nonprivate", "--set",
                                       fmt::format("state.directory=\"{}/{}\"", folder.path().string(), rows)});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.resident_kib;
  };
  const long few = largest_with(50'000);
  const long many = largest_with(450'000);
  const double table_kib = 400'000 * (columns + 2) * sizeof(double) / 1024.0;
  EXPECT_GT(static_cast<double>(many - few), 0.9 * table_kib) << "nothing was measured";
  EXPECT_LT(static_cast<double>(many - few), 1.3 * table_kib);
}

}  // namespace
}  // namespace nustream::tests
