// Intervals of `nustream estimate` by runs, checkpoints and means of batches: what they cost and what they say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <simdjson.h>

#include "bike_estimate.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

TEST(Estimate, IntervalsByRunsShareTheBudget) {
  const TemporaryFolder folder;
  JsonOutput found = estimate(folder, bike("[intervals]\nkind = \"runs\"\ncount = 4\n"),
                              {"--insecure-seed", "4", "--set", "privacy.rho=2", "--set", "descent.clip_norm=4",
                               "--set", "estimate.steps=120"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_EQ(lines_in((folder.path() / "state") / "releases.jsonl"), 4U * 120U);
  EXPECT_NEAR(found.json["rho"].get_double().value(), 2, 1e-9);
  EXPECT_NEAR(found.json["ledger_rho"].get_double().value(), 2, 1e-9);
  EXPECT_LT(found.json["intervals"]["lower"]["temp"].get_double().value(),
            found.json["intervals"]["upper"]["temp"].get_double().value());
}

TEST(Estimate, EveryKindOfIntervalSaysWhatItCovers) {
  for (const char* kind : {"batch-means", "checkpoints", "runs"}) {
    const TemporaryFolder folder;
    JsonOutput found = estimate(folder, bike("[intervals]\nkind = \"" + std::string(kind) + "\"\nburn_in = 50\n"),
                                {"--insecure-seed", "4", "--set", "privacy.rho=5", "--set", "descent.clip_norm=4",
                                 "--set", "estimate.steps=600"});
    ASSERT_EQ(found.command.code, 0) << found.command.err;
    simdjson::dom::element withheld;
    if (found.json["intervals"].get(withheld) != simdjson::SUCCESS) {
      // The path may not have settled. Releases say so of means of batches, and the estimate of the other kinds.
      EXPECT_NE(found.json["verdict"].get_string().value(), "settled");
      if (std::string(kind) != "batch-means") continue;
      std::ifstream lines(folder.path() / "state" / "releases.jsonl");
      std::string last;
      for (std::string line; std::getline(lines, line);) last = line;
      EXPECT_THAT(last, HasSubstr(R"("interval":null,"status":{"verdict":)"));
      EXPECT_EQ(last.find(R"("verdict":"settled")"), std::string::npos);
      continue;
    }
    const auto intervals = found.json["intervals"];
    EXPECT_EQ(intervals["kind"].get_string().value(), kind);
    EXPECT_THAT(std::string(intervals["covers"].get_string().value()), HasSubstr("minimiser of the clipped loss"));
    EXPECT_EQ(found.json["verdict"].get_string().value(), "settled");
    const std::uint64_t effective = intervals["effective_steps"].get_uint64().value();
    EXPECT_GT(effective, 0U);
    if (std::string(kind) != "batch-means") {
      EXPECT_EQ(effective, 10U) << "each of ten values is one iterate";
    }
  }
}

/// Epoch, step and value of one coefficient's last iterate in each release of the folder.
struct Shown {
  std::uint64_t epoch, step;
  double value;
};
std::vector<Shown> shown_of(const TemporaryFolder& folder, const char* coefficient) {
  std::ifstream lines(folder.path() / "state" / "releases.jsonl");
  simdjson::dom::parser parser;
  std::vector<Shown> all;
  for (std::string line; std::getline(lines, line);) {
    const simdjson::dom::element release = parser.parse(line);
    all.push_back({release["epoch"].get_uint64().value(), release["step"].get_uint64().value(),
                   release["estimate"][coefficient].get_double().value()});
  }
  return all;
}

// ψ of each run or checkpoint is the mean of its last iterates, computed here from the releases.
TEST(Estimate, AveragedEndsAreMeansOfReleasedIterates) {
  for (const char* kind : {"checkpoints", "runs"}) {
    const bool runs = std::string(kind) == "runs";
    const std::uint64_t distance = 100;
    const std::uint64_t steps = runs ? 50 : 20 + 3 * distance;
    const TemporaryFolder folder;
    JsonOutput found = estimate(folder, bike(),
                                {"--insecure-seed", "4", "--set", std::string("intervals.kind=") + kind, "--set",
                                 "intervals.count=3", "--set", "intervals.averaged=8", "--set",
                                 "intervals.burn_in=20", "--set", "estimate.steps=" + std::to_string(steps), "--set",
                                 "release.every=2", "--set", "privacy.rho=1", "--set", "descent.clip_norm=4"});
    ASSERT_EQ(found.command.code, 0) << found.command.err;
    const std::vector<Shown> all = shown_of(folder, "temp");
    std::vector<double> values;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::uint64_t epoch = runs ? all.front().epoch + i : all.front().epoch;
      const std::uint64_t end = runs ? steps : 20 + (i + 1) * distance;
      double sum = 0;
      int count = 0;
      for (const Shown& one : all) {
        if (one.epoch != epoch || one.step > end || one.step + 8 <= end) continue;
        sum += one.value;
        ++count;
      }
      ASSERT_EQ(count, 4);
      values.push_back(sum / count);
    }
    const double mean = (values[0] + values[1] + values[2]) / 3;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const double half = 4.302652729911275 * std::sqrt(squares / 2 / 3);  // t with 2 degrees of freedom at 97.5%
    EXPECT_NEAR(found.json["intervals"]["mean"]["temp"].get_double().value(), mean, 1e-9);
    EXPECT_NEAR(found.json["intervals"]["lower"]["temp"].get_double().value(), mean - half, 1e-9);
    EXPECT_NEAR(found.json["intervals"]["upper"]["temp"].get_double().value(), mean + half, 1e-9);
    EXPECT_EQ(found.json["intervals"]["effective_steps"].get_uint64().value(), 24U);
    // Three runs cost what one with all of ρ costs, and averages of what is public cost nothing.
    EXPECT_NEAR(found.json["ledger_rho"].get_double().value(), 1, 1e-9);
  }
}

}  // namespace
}  // namespace nustream::tests
