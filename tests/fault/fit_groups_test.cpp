// Features that `nustream fit` makes of public lists: the bins of a column's numbers, and what is in none of a list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fit_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Ages from 0 to 80, and a y that is 1 below 18, 2 from there to 30, then 3 to 45, 4 to 65 and 5, with noise of .1.
std::string ages() {
  std::string csv = "age,y\n";
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> years(0, 80);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 12'000; ++i) {
    const double age = years(random);
    const int step = 1 + (age >= 18) + (age >= 30) + (age >= 45) + (age >= 65);
    csv += fmt::format("{:.3f},{:.6f}\n", age, step + 0.1 * normal(random));
  }
  return csv;
}

/// Four texts in turns, whose y is 3, 5, 4 and 4, with noise of .1.
std::string cities() {
  std::string csv = "city,y\n";
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  const std::vector<std::pair<std::string, double>> means{{"a", 3}, {"b", 5}, {"x", 4}, {"y", 4}};
  for (std::size_t i = 0; i < 12'000; ++i) {
    const auto& [city, mean] = means[i % means.size()];
    csv += fmt::format("{},{:.6f}\n", city, mean + 0.1 * normal(random));
  }
  return csv;
}

const std::vector<std::string> at_rho{"--target", "y", "--rho", "1", "--insecure-seed", "3", "--json"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), at_rho.begin(), at_rho.end());
  return more;
}

// The column itself is no feature then, and all coefficients compare with what lies outside of the bins.
TEST_F(Fit, MakesAFeatureOfEachBinInPlaceOfTheColumn) {
  folder.write("table.csv", ages());
  const CommandResult result = fit(with({"--bins", "age=18,30,45,65,inf"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(member(result, "estimate", "intercept"), 1, 0.1);
  EXPECT_NEAR(member(result, "estimate", "age[18,30)"), 1, 0.1);
  EXPECT_NEAR(member(result, "estimate", "age[30,45)"), 2, 0.1);
  EXPECT_NEAR(member(result, "estimate", "age[45,65)"), 3, 0.1);
  EXPECT_NEAR(member(result, "estimate", "age[65,inf)"), 4, 0.1);
  EXPECT_THAT(result.out, Not(HasSubstr("\"age\":")));
}

// The sides make the set full, and its first feature is then the intercept's.
TEST_F(Fit, MakesFeaturesOfBothSidesOfTheBins) {
  folder.write("table.csv", ages());
  const CommandResult result = fit(with({"--bins", "age=18,30,45,65", "--other", "age"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(member(result, "estimate", "age[18,30)"), 1, 0.1);
  EXPECT_NEAR(member(result, "estimate", "age[65,inf)"), 4, 0.1);
  EXPECT_THAT(result.out, AllOf(Not(HasSubstr("-inf")), HasSubstr("\"not_determined\":[]")));
}

TEST_F(Fit, MakesAFeatureOfTheTextsThatAreNotListed) {
  folder.write("table.csv", cities());
  const CommandResult result = fit(with({"--features", "city=a|b", "--other", "city"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(member(result, "estimate", "intercept"), 3, 0.1);
  EXPECT_NEAR(member(result, "estimate", "city=b"), 2, 0.1);
  EXPECT_NEAR(member(result, "estimate", "city=other"), 1, 0.1);
  EXPECT_THAT(result.out, Not(HasSubstr("city=a")));
}

TEST_F(Fit, BinsOfJsonLinesAreAList) {
  std::string lines;
  std::mt19937_64 random(7);
  for (int i = 0; i < 12'000; ++i) {
    const std::size_t age = random() % 80;
    lines +=
        fmt::format("{{\"age\":{},\"y\":{}}}\n", age, static_cast<double>(random() % 100) / 100 + (age < 40 ? 0 : 3));
  }
  const std::string path = folder.write("ages.jsonl", lines);
  std::vector<std::string> options = with({"--bins", "age=40,80"});
  options.insert(options.begin(), {"fit", path});
  const CommandResult result = run_command(NUSTREAM_COMMAND, options);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(member(result, "estimate", "age[40,80)"), 3, 0.1);
}

TEST_F(Fit, WritesAConfigurationOfItsBins) {
  folder.write("table.csv", ages());
  const std::string config = (folder.path() / "ages.toml").string();
  const CommandResult result = fit(with({"--bins", "age=18,30,45,65,inf", "--write-config", config}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(read_file(config), AllOf(HasSubstr("column = \"age\"\nbins = [18, 30]\ncenter = "),
                                       HasSubstr("bins = [65, inf]\n"), HasSubstr("\"age[65,inf)\" = ")));
  const CommandResult run = run_command(NUSTREAM_COMMAND, {"replay", config, "--insecure-seed", "4", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NEAR(member(run, "estimate", "age[45,65)"), 3, 0.1);
}

TEST_F(Fit, ShowsAPageWhereNoConfigurationMakesItsFeatures) {
  folder.write("table.csv", cities());
  const std::string page = (folder.path() / "fit.html").string();
  const std::vector<std::string> options = with({"--features", "city=a|b", "--other", "city", "--report", page});
  ASSERT_EQ(fit(options).code, 0);
  EXPECT_THAT(read_file(page), AllOf(HasSubstr("--other city"), HasSubstr("city=other"),
                                     HasSubstr("are of this model"), Not(HasSubstr("[[features]]"))));
  const CommandResult refused =
      fit(with({"--features", "city=a|b", "--other", "city", "--write-config", (folder.path() / "x.toml").string()}));
  EXPECT_EQ(refused.code, 64);
  EXPECT_THAT(refused.err, HasSubstr("leave out --write-config or --other"));
}

// Whoever gives bins of a column asks for it. A column of text that was only found in the header is left out instead.
TEST_F(Fit, StopsAtBinsOfAColumnWithoutNumbers) {
  const CommandResult found = fit(with({}));
  EXPECT_EQ(found.code, 0) << found.err;
  const CommandResult asked = fit(with({"--bins", "c=18,30"}));
  EXPECT_EQ(asked.code, 65) << asked.out;
  EXPECT_THAT(asked.err, HasSubstr("have no number for 'c': most often"));
  EXPECT_THAT(asked.err, HasSubstr("hardly any"));
}

TEST_F(Fit, RefusesBinsAndOthersThatAreNone) {
  const auto expect = [&](const std::vector<std::string>& options, int code, const std::string& text) {
    std::vector<std::string> all{"--target", "y"};
    all.insert(all.end(), options.begin(), options.end());
    const CommandResult result = fit(all);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(file + ".fit")) << text;
  };
  expect({"--bins", "a"}, 64, "--bins 'a': name a column and its edges, such as age=18,30,45");
  expect({"--bins", "a=1"}, 64, "--bins 'a=1': that is one edge; the edges of 'a' are two or more numbers that rise");
  expect({"--bins", "a=2,1"}, 64, "--bins 'a=2,1': they do not rise; the edges of 'a'");
  expect({"--bins", "a=1,1"}, 64, "they do not rise");
  expect({"--bins", "a=-inf,inf"}, 64, "--bins 'a': one interval from -inf to inf holds every number");
  expect({"--bins", "a=1,x"}, 64, "--bins 'a=1,x': 'x' is no number; the edges of 'a'");
  expect({"--bins", "a=1,2", "--bins", "a=3,4"}, 64, "--bins: 'a' is there twice");
  expect({"--bins", "y=1,2"}, 64, "--bins 'y=1,2': 'y' is the target");
  expect({"--bins", "age=1,2"}, 78, "--bins: no column 'age' in ");
  expect({"--mean", "--bins", "a=1,2"}, 64, "");
  const std::string what =
      "': that is a map of 'a', and bins and texts are those of a column as it is: name the "
      "column, and its edges on its own scale, such as --bins a=18,30,45\n";
  expect({"--bins", "log(a)=1,2"}, 64, "--bins 'log(a)" + what);
  expect({"--bins", "log( a )=1,2"}, 64, "--bins 'log( a )" + what);
  expect({"--bins", "a=1,2", "--other", "hash(a)"}, 64, "--other 'hash(a)" + what);
  expect({"--other", "c"}, 64, "--other 'c': no list says which values of 'c' are not the other ones");
  expect({"--features", "c=red", "--other", "c,c"}, 64, "--other: 'c' is there twice");
  expect({"--features", "zz=red"}, 78, "--features: no column 'zz' in ");
}

}  // namespace
}  // namespace nustream::tests
