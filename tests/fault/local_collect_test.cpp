// `nustream local collect` as a server meets it: what counts, what a model is made from, and what is refused.
#include <map>
#include <random>
#include <set>

#include "local_command.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Local, CountsEachReportOnce) {
  const std::string file = reports();
  simdjson::dom::element json = collect({file});
  EXPECT_EQ(count(json, "/reports"), 400u);
  EXPECT_EQ(count(json, "/this_run/added"), 400u);
  json = collect({file, file});
  EXPECT_EQ(count(json, "/reports"), 400u);
  EXPECT_EQ(count(json, "/this_run/added"), 0u);
  EXPECT_EQ(count(json, "/this_run/duplicates"), 800u);
}

// In any order, in any pieces and over restarts, the sums are the same to the bit.
TEST_F(Local, NeitherOrderNorPiecesChangeTheModel) {
  const std::string file = reports();
  collect({file});
  const std::string whole = run("collect", {"--show", "--json"}).out;
  Lines shuffled = lines_of(read_file(file));
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(1));
  const std::vector<std::string> elsewhere = set("local.directory=\"" + world.path("pieces") + "\"");
  for (std::size_t begin = 0; begin < shuffled.size(); begin += 97) {
    const Lines piece(shuffled.begin() + static_cast<std::ptrdiff_t>(begin),
                      shuffled.begin() + static_cast<std::ptrdiff_t>(std::min(shuffled.size(), begin + 97)));
    ASSERT_EQ(run("collect", {world.write("piece", text_of(piece)), elsewhere[0], elsewhere[1]}).code, 0);
  }
  EXPECT_EQ(run("collect", {"--show", "--json", elsewhere[0], elsewhere[1]}).out, whole);
}

TEST_F(Local, OnlyReportsCount) {
  const Lines good = lines_of(read_file(reports()));
  const std::string other_settings =
      randomize({"--set", "local.epsilon=4", "--set", "local.reports_directory=\"" + world.path("o") + "\""}).out;
  const std::string junk = "\nnot json\n{}\n[]\n" + std::string(100'000, 'x') + "\n" + lines_of(other_settings)[0] +
                           "\n" + good[0].substr(0, 200) + "\n" + std::string("\0\0\n", 3);
  const std::string file = world.write("mixed", good[0] + "\n" + junk + good[1] + "\n" + good[1]);
  const simdjson::dom::element json = collect({file});
  EXPECT_EQ(count(json, "/reports"), 2u);
  EXPECT_EQ(count(json, "/this_run/duplicates"), 1u);
  EXPECT_EQ(count(json, "/this_run/rejected/too-long"), 1u);
  EXPECT_EQ(count(json, "/this_run/rejected/members"), 1u);
  EXPECT_EQ(count(json, "/this_run/rejected/other-mechanism"), 1u);
  EXPECT_EQ(count(json, "/this_run/rejected/not-json"), 5u);
}

TEST_F(Local, RecordsInPlaceOfReportsAre65AndLaterCountedAndPassed) {
  const CommandResult result = run("collect", {world.path("records.csv")});
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, HasSubstr("not the records"));
  static_cast<void>(collect({reports()}));
  EXPECT_EQ(run("collect", {world.path("records.csv")}).code, 0) << "the model of what was counted";
}

TEST_F(Local, AnEmptyInputIsNoModel) {
  const simdjson::dom::element json = collect({world.write("empty", "")});
  EXPECT_EQ(count(json, "/reports"), 0u);
  EXPECT_TRUE(json.at_key("estimate").is_null());
  EXPECT_THAT(run("collect", {"--show"}).out, HasSubstr("no report yet"));
}

// At ε = 10,000 there is no need for a million users: the model is that of the table, and the verdict is that it can
// be used.
TEST_F(Local, EstimatesTheModel) {
  world.write("records.csv", LocalWorld::records(60'000, 5));
  const std::vector<std::string> loud{"--set", "local.epsilon=10000"};
  const CommandResult randomized = randomize({loud[0], loud[1], "--quiet"});
  ASSERT_EQ(randomized.code, 0) << randomized.err;
  const simdjson::dom::element json = collect({world.write("reports.jsonl", randomized.out), loud[0], loud[1]});
  // The truth is 2 and −1. Four standard errors of the table itself are .12, and uniform features bend the lemma by a
  // percent.
  EXPECT_NEAR(json.at_pointer("/estimate/a").get_double().value(), 2, 0.15);
  EXPECT_NEAR(json.at_pointer("/estimate/b").get_double().value(), -1, 0.15);
  EXPECT_FALSE(json.at_key("noise_exceeds_signal").get_bool().value());
  EXPECT_TRUE(json.at_pointer("/spectrum/definite").get_bool().value());
  EXPECT_EQ(std::string_view(json.at_pointer("/spectrum/repair").get_string().value()), "none");
  EXPECT_TRUE(json.at_pointer("/scale/exists").get_bool().value());
  EXPECT_TRUE(json.at_key("private").get_bool().value());
  EXPECT_LE(json.at_key("epsilon").get_double().value(), 10'000);
}

TEST_F(Local, SaysWhenTheNoiseIsStillLarger) {
  const std::string quiet = "local.epsilon=0.5";
  const CommandResult randomized = randomize({"--set", quiet});
  ASSERT_EQ(randomized.code, 0) << randomized.err;
  const std::string file = world.write("noisy", randomized.out);
  const simdjson::dom::element json = collect({file, "--set", quiet});
  EXPECT_TRUE(json.at_key("noise_exceeds_signal").get_bool().value());
  EXPECT_GT(json.at_key("reports_needed").get_double().value(), 400);
  EXPECT_EQ(std::string_view(json.at_pointer("/spectrum/repair").get_string().value()), "ridge");
  // The number of reports n at which 2σ_1 √(p/n) is the smallest eigenvalue of the public rows, 1/12.
  const double sd = json.at_pointer("/noise/second_moment").get_double().value();
  EXPECT_NEAR(json.at_pointer("/second_moment/reports_needed").get_double().value() / (4 * sd * sd * 2 * 144), 1,
              0.2);
  const CommandResult table = run("collect", {"--show", "--set", quiet});
  EXPECT_THAT(table.out, AllOf(HasSubstr("still larger than the signal"),
                               HasSubstr("reports the signal is as large as the noise")));
  const CommandResult cut = run("collect", {"--show", "--set", quiet, "--set", "local.repair=pseudo-inverse"});
  EXPECT_THAT(cut.out, HasSubstr("pseudo-inverse of rank"));
}

TEST_F(Local, WithoutPublicRowsThereIsADirectionOnly) {
  const simdjson::dom::element json = collect({reports(), "--set", "local.public_rows=\"\""});
  EXPECT_TRUE(json.at_key("estimate").is_null());
  EXPECT_TRUE(json.at_key("scale").is_null());
  EXPECT_TRUE(json.at_pointer("/least_squares/a").is_double());
}

TEST_F(Local, PublicRowsThatCannotBeUsed) {
  const std::string file = reports();
  const auto with = [&](const std::string& text) {
    world.write("public.csv", text);
    return run("collect", {file});
  };
  expect_failure(with("a,c\n1,2\n"), 78, "'b'");
  expect_failure(with("a,b\n"), 65, "local.public_rows");
  expect_failure(with("a,b\nx,1\n,2\n"), 65, "no usable row");
  expect_failure(with(""), 65, "public.csv");
  expect_failure(run("collect", {file, "--set", "local.public_rows=none.csv"}), 74, "none.csv");
  EXPECT_FALSE(std::filesystem::exists(world.path("sums"))) << "nothing was counted before that was known";
  world.write("public.csv", "b,other,a\n0.1,5,0.2\nx,5,0.2\n3,5,4\n-0.1,7,-0.3\n");
  const simdjson::dom::element json = collect({file});
  EXPECT_EQ(count(json, "/public_rows/rows"), 3u);
  EXPECT_EQ(count(json, "/public_rows/unusable"), 1u);
  EXPECT_EQ(count(json, "/public_rows/projected"), 1u);
}

// With a constant or collinear column no number of reports helps, and the output says so.
TEST_F(Local, FeaturesThatDetermineOneAnother) {
  world.write("public.csv", "a,b\n0.2,0.4\n-0.1,-0.2\n0.3,0.6\n");
  const std::string file = reports();
  EXPECT_THAT(run("collect", {file}).out, HasSubstr("no number of reports changes that"));
  const simdjson::dom::element json = collect({"--show"});
  EXPECT_TRUE(json.at_key("noise_exceeds_signal").get_bool().value());
}

// The model has no intercept: public rows that are far from their centre are pointed out.
TEST_F(Local, PublicRowsThatAreNotCentredAreNamed) {
  world.write("public.csv", "a,b\n0.5,0.4\n0.4,0.5\n0.6,0.5\n");
  EXPECT_THAT(run("collect", {reports()}).out, HasSubstr("needs E x = 0"));
}

TEST_F(Local, SumsOfOtherReportsAreRefused) {
  collect({reports()});
  const std::string before = read_file(world.path("sums/state"));
  expect_failure(run("collect", {"--show", "--set", "local.epsilon=4"}), 65, "local.directory");
  expect_failure(run("collect", {"--show", "--set", "stream.name=other"}), 65, "'survey'");
  EXPECT_EQ(run("collect", {"--show", "--set", "local.ridge=0.1"}).code, 0) << "how it is solved is free";
  for (const std::size_t at : {0UL, 9UL, 40UL, before.size() - 1}) {
    std::string damaged = before;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    world.write("sums/state", damaged);
    EXPECT_EQ(run("collect", {"--show"}).code, 65) << at;
  }
  world.write("sums/state", before.substr(0, before.size() / 2));
  expect_failure(run("collect", {"--show"}), 65, "damaged");
  world.write("sums/state", before);
  world.write("sums/ids", "");
  expect_failure(run("collect", {reports()}), 65, "lost ids");
}

TEST_F(Local, OneKindOfInputAtATime) {
  expect_failure(run("collect", {"-b", "127.0.0.1:1", "-t", "reports", reports()}), 64, "one of the two");
  expect_failure(run("collect", {reports(), "--from-start"}), 64, "for a topic");
}

}  // namespace
}  // namespace nustream::tests
