// --report and --chart of fit, audit and plan: they show what the command prints, and they refer to no other file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "example_config.h"
#include "release_text.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// A folder with a page and a picture that a command is to make, and the JSON that the command printed.
struct Made {
  explicit Made(const TemporaryFolder& folder)
      : page_file((folder.path() / "report.html").string()), chart_file((folder.path() / "chart.svg").string()) {}

  void run(std::vector<std::string> arguments) {
    for (const std::string& more :
         {std::string("--json"), std::string("--report"), page_file, std::string("--chart"), chart_file}) {
      arguments.push_back(more);
    }
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments, std::nullopt);
    ASSERT_EQ(result.code, 0) << result.err;
    ASSERT_EQ(parser.parse(result.out).get(json), simdjson::SUCCESS) << result.out;
    page = read_file(page_file);
    chart = read_file(chart_file);
    for (const char* const reference : {"http:", "https:", "src=", "href=", "<link", "url(\"", "@import"}) {
      EXPECT_THAT(page, Not(HasSubstr(reference)));
    }
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_THAT(chart, HasSubstr("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  }

  std::string page_file;
  std::string chart_file;
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  std::string page;
  std::string chart;
};

std::string rows() {
  std::string csv = "price,<b>note,demand\n";
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20000; ++i) {
    const double x = 5 + 2 * normal(random);
    const double z = normal(random);
    csv += std::to_string(x) + ',' + std::to_string(z) + ',' + std::to_string(40 - 3 * x + z + normal(random)) + '\n';
  }
  return csv;
}

TEST(FitReport, HoldsTheAnswerItsCostAndTheRanges) {
  const TemporaryFolder folder;
  const std::string file = folder.write("rows.csv", rows());
  Made made(folder);
  made.run({"fit", file, "--target", "demand", "--rho", "0.5", "--key-directory", (folder.path() / "keys").string()});
  if (HasFatalFailure()) return;
  for (const auto field : simdjson::dom::object(made.json["estimate"])) {
    EXPECT_THAT(made.page, HasSubstr(exact(double(field.value)))) << field.key;
  }
  EXPECT_THAT(made.page, HasSubstr("ρ " + exact(double(made.json["rho"]))));
  EXPECT_THAT(made.page, HasSubstr("ε " + exact(double(made.json["epsilon"]))));
  EXPECT_THAT(made.page, HasSubstr(exact(double(made.json["bound_inputs"]))));
  EXPECT_THAT(made.page, HasSubstr("--target demand --rho 0.5 --delta 1e-06</code>"));
  EXPECT_THAT(made.page, HasSubstr("&lt;b&gt;note")) << "names of columns are text";
  EXPECT_THAT(made.page, Not(HasSubstr("<b>")));
  EXPECT_THAT(made.page, HasSubstr("times in 100"));
  EXPECT_THAT(made.chart, HasSubstr("demand: slopes</text>"));
}

// The seed is fixed because the noise hides the intervals under one random key of some hundred.
TEST(FitReport, HoldsTheIntervals) {
  const TemporaryFolder folder;
  const std::string file = folder.write("rows.csv", rows());
  Made made(folder);
  made.run({"fit", file, "--target", "demand", "--rho", "0.5", "--insecure-seed", "1"});
  if (HasFatalFailure()) return;
  for (const char* const end : {"lower", "upper"}) {
    for (const auto field : simdjson::dom::object(made.json["interval"][end])) {
      EXPECT_THAT(made.page, HasSubstr(exact(double(field.value)))) << end << ' ' << field.key;
    }
  }
}

// The settings to copy, with what was measured, are a configuration that runs.
TEST(FitReport, HasSettingsThatAreTheWrittenConfiguration) {
  const TemporaryFolder folder;
  const std::string file = folder.write("rows.csv", rows());
  const std::string written = (folder.path() / "written.toml").string();
  Made made(folder);
  made.run(
      {"fit", file, "--target", "demand", "--features", "price", "--insecure-seed", "3", "--write-config", written});
  if (HasFatalFailure()) return;
  const std::size_t begin = made.page.find("aria-label=\"Settings\">");
  ASSERT_NE(begin, std::string::npos);
  std::string shown = made.page.substr(begin + 22, made.page.find("</pre>", begin) - begin - 22);
  for (const auto& [mark, letter] : {std::pair{"&quot;", "\""}, std::pair{"&#39;", "'"}}) {
    for (std::size_t at; (at = shown.find(mark)) != std::string::npos;) shown.replace(at, std::strlen(mark), letter);
  }
  EXPECT_EQ(shown, read_file(written));
  EXPECT_THAT(made.page, HasSubstr("These figures promise nothing"));
}

TEST(FitReport, IsRefusedBeforeAnythingIsSpent) {
  const TemporaryFolder folder;
  const std::string file = folder.write("rows.csv", rows());
  const CommandResult result =
      run_command(NUSTREAM_COMMAND, {"fit", file, "--target", "demand", "--report", "/no/such/folder/r.html"});
  EXPECT_EQ(result.code, 74) << result.err;
  EXPECT_FALSE(std::filesystem::exists(file + ".fit"));
}

TEST(AuditReport, HoldsWhatIsClaimedAndWhatWasProven) {
  const TemporaryFolder folder;
  const std::string config = folder.write("model.toml", example_config());
  Made made(folder);
  made.run({"audit", config, "--runs", "4000", "--set", "privacy.rho=2"});
  if (HasFatalFailure()) return;
  for (const char* const key : {"epsilon", "epsilon_lower_bound", "epsilon_provable", "mu", "mu_lower_bound"}) {
    EXPECT_THAT(made.page, HasSubstr(exact(double(made.json[key])))) << key;
  }
  EXPECT_THAT(made.page, HasSubstr("The claim holds"));
  EXPECT_THAT(made.page, HasSubstr("--set privacy.rho=2 --steps 8 --runs 4000 --delta 0.01</code>"));
  EXPECT_THAT(made.chart, HasSubstr("claimed and proven"));
}

const std::vector<std::string> guesses{"--set", "plan.records=20000", "--set", "plan.residual=0.4",
                                       "--set", "plan.distance=1"};

// The file holds every cell of the two sliders. The cell that is set is what the plan itself says.
TEST(PlanReport, HoldsWhatThePlanExpectsOfEachEstimator) {
  const TemporaryFolder folder;
  const std::string config = folder.write("model.toml", example_config());
  Made made(folder);
  std::vector<std::string> arguments{"plan", config};
  arguments.insert(arguments.end(), guesses.begin(), guesses.end());
  made.run(arguments);
  if (HasFatalFailure()) return;
  const std::size_t begin = made.page.find("<tbody data-rho=\"2\" data-records=\"2\">");
  ASSERT_NE(begin, std::string::npos) << "the cell that is set, which is not hidden";
  const std::string cell = made.page.substr(begin, made.page.find("</tbody>", begin) - begin);
  for (const char* const kind : {"best", "as_set"}) {
    for (const auto field : simdjson::dom::object(made.json["expected"][kind])) {
      EXPECT_THAT(cell, HasSubstr(exact(double(field.value["error"])))) << kind << ' ' << field.key;
    }
  }
  std::size_t hidden = 0;
  for (std::size_t at = begin; (at = made.page.find(" hidden>", at + 1)) != std::string::npos;) ++hidden;
  EXPECT_EQ(hidden, 24U - 12U) << "twelve cells before it, twelve behind";
  EXPECT_THAT(made.page, ContainsRegex("script-src 'sha256-[A-Za-z0-9+/]+='"));
  EXPECT_THAT(made.page, HasSubstr("nu = "));
  EXPECT_THAT(made.page, HasSubstr("binary tree of 2^15 steps"));
  EXPECT_THAT(made.chart, HasSubstr("Predicted error over records</text>"));
}

TEST(PlanReport, HasEveryConversionAtEveryDelta) {
  const TemporaryFolder folder;
  const std::string config = folder.write("model.toml", example_config());
  Made made(folder);
  made.run({"plan", config, "--set", "privacy.delta=[1e-6, 1e-9]"});
  if (HasFatalFailure()) return;
  const simdjson::dom::array spend = made.json["spend"];
  for (const auto at : simdjson::dom::array(spend.at(spend.size() - 1)["epsilons"])) {
    for (const char* const conversion : {"gaussian", "zcdp", "zcdp-simple"}) {
      EXPECT_THAT(made.page, HasSubstr("<td>" + exact(double(at[conversion])))) << conversion;
    }
  }
}

TEST(PlanReport, IsOfATableToo) {
  const TemporaryFolder folder;
  const std::string config = folder.write("model.toml", example_config());
  Made made(folder);
  made.run({"plan", config, "--set", "estimate.steps=40", "--records", "20000"});
  if (HasFatalFailure()) return;
  EXPECT_THAT(made.page, HasSubstr("Steps: <output"));
  const auto reach = simdjson::dom::array(made.json["predicted_stddev"]);
  ASSERT_EQ(reach.size(), 5U);
  EXPECT_THAT(made.page, HasSubstr(exact(double(reach.at(2)["stddev"]))));
}

// Of four steps there is no sixteenth part, so that the settings' own number is not in the middle.
TEST(PlanReport, BeginsAtTheSettingsWhereTheyAreNotInTheMiddle) {
  const TemporaryFolder folder;
  const std::string config = folder.write("model.toml", example_config());
  Made made(folder);
  made.run({"plan", config, "--set", "estimate.steps=4", "--records", "20000"});
  if (HasFatalFailure()) return;
  EXPECT_THAT(made.page, AllOf(HasSubstr("<span data-records=\"0\" hidden>1</span>"),
                               HasSubstr("<span data-records=\"1\">4</span>"),
                               HasSubstr("id=\"records\" min=\"0\" max=\"3\" value=\"1\"")));
}

TEST(PlanReport, IsNotOfSettingsThatAreStillToBeMeasured) {
  const TemporaryFolder folder;
  const std::string config = folder.write("model.toml", example_config());
  const std::string file = (folder.path() / "report.html").string();
  const CommandResult result = run_command(NUSTREAM_COMMAND, {"plan", config, "--set", "descent.clip_norm=private",
                                                              "--records", "20000", "--report", file});
  EXPECT_EQ(result.code, 64) << result.err;
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace nustream::tests
