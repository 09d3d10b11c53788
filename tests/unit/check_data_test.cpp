// A dry run over rows: what it counts, against what is known of the rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "check/data_check.h"
#include "check/findings.h"
#include "check/first_look.h"
#include "check/look.h"
#include "config/unicode.h"
#include "decode/reader.h"
#include "temporary_folder.h"

namespace nustream::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr const char* settings = R"([stream]
name = "dry"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
center = 10
scale = 2
clamp = [0, 30]
[[features]]
column = "kind"
transform = "indicator"
equals = "b"
[descent]
step_size = 0.01
clip_norm = 2.0
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
)";

Findings look_at(const std::string& rows, const std::vector<std::string>& overrides = {}) {
  const tests::TemporaryFolder folder;
  static_cast<void>(folder.write("rows.csv", rows));
  const config::Config config = config::read_config(folder.write("dry.toml", settings), overrides);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  DataCheck check(config, &mechanism);
  const std::string source = look_at_files(config, std::nullopt, check);
  return check.findings(source);
}

TEST(DataCheck, ProfilesUsableRecordsInOriginalUnits) {
  const Findings found = look_at("x,kind,y\n8,a,1\n12,a,0\nx,a,1\n40,c,0\n10,a,\n");
  EXPECT_EQ(found.tally.records, 5U);
  EXPECT_EQ(found.tally.rejected, 2U);
  EXPECT_EQ(found.tally.reasons.at("column 'x': not a number").first, Position{2});
  EXPECT_EQ(found.tally.reasons.at("column 'y': empty").first, Position{4});
  ASSERT_EQ(found.columns.size(), 2U);
  const ColumnFinding& x = found.columns[0];
  EXPECT_EQ(x.profile.count(), 3U);
  EXPECT_DOUBLE_EQ(x.profile.smallest(), 8);
  EXPECT_DOUBLE_EQ(x.profile.quantile(0.5), 12);
  EXPECT_DOUBLE_EQ(x.profile.largest(), 30) << "clamped";
  EXPECT_EQ(x.at_bounds, 1U);
  EXPECT_EQ(found.columns[1].never, "b");
  EXPECT_EQ(found.target->profile.count(), 3U);
}

TEST(DataCheck, AnIndicatorsTextThatOccursIsNoFinding) {
  EXPECT_FALSE(look_at("x,kind,y\n8,a,1\n12,b,0\n").columns[1].never);
  EXPECT_FALSE(look_at("x,kind,y\n8,a,z\n").columns[1].never) << "of no usable record nothing is known";
}

// For the linear loss at θ = 0 the gradient is -y·(1, (x - 10)/2, kind), whose length is |y|·√(1 + ((x - 10)/2)² +
// kind).
TEST(DataCheck, CountsGradientsThatAreClippedWhereARunBegins) {
  const Findings found = look_at("x,kind,y\n10,a,1.9\n10,a,2.1\n10,a,-2.1\n12,a,1.4\n12,a,1.5\n12,b,1.2\nx,a,9\n");
  EXPECT_EQ(found.tally.gradients, 6U);
  EXPECT_EQ(found.tally.clipped, 4U);  // the lengths 2.1, 2.1, 1.5·√2 and 1.2·√3
  EXPECT_EQ(found.start, "theta = 0");
}

TEST(DataCheck, CountsThemAtTheStartThatIsSet) {
  const std::vector<std::string> start{"descent.start=[2.1, 0, 0]"};
  const Findings found = look_at("x,kind,y\n10,a,1.9\n10,a,2.1\n10,a,-2.1\n", start);
  EXPECT_EQ(found.tally.clipped, 1U);
  EXPECT_EQ(found.start, "theta = descent.start");
}

TEST(DataCheck, ListsLabelsThatWereRefused) {
  const std::string rows = "x,kind,y\n8,a,-1\n8,a,1\n8,a,-1\n8,b, 0\n8,b,yes\n";
  const std::vector<std::string> logistic{"model.loss=\"logistic\""};
  const Findings found = look_at(rows, logistic);
  EXPECT_EQ(found.tally.rejected, 3U);
  EXPECT_THAT(found.refused_labels, ElementsAre(Pair("-1", 2U), Pair("yes", 1U)));
  EXPECT_EQ(found.columns.size(), 2U) << "the texts are no column of the model's";
  EXPECT_THAT(label_advice(found.tally), HasSubstr("model.labels"));

  const Findings named = look_at(rows, {"model.loss=\"logistic\"", "model.labels=[\"-1\",\"1\"]"});
  EXPECT_EQ(named.tally.rejected, 2U);
  EXPECT_THAT(named.refused_labels, ElementsAre(Pair("0", 1U), Pair("yes", 1U)));
  EXPECT_DOUBLE_EQ(named.target->profile.mean(), 1.0 / 3);
}

// Names are proposed only where they can be typed as they are.
TEST(DataCheck, ProposesNoLabelsThatCannotBeTyped) {
  const std::vector<std::string> logistic{"model.loss=\"logistic\""};
  const auto of = [&](const std::string& one) { return look_at("x,kind,y\n8,a," + one + "\n8,a,no\n", logistic); };
  EXPECT_EQ(of(std::string(64, 'a')).label_setting, "model.labels = [\"" + std::string(64, 'a') + "\", \"no\"]");
  const Findings longer = of(std::string(65, 'a'));
  EXPECT_EQ(longer.label_setting, "");
  EXPECT_EQ(longer.label_fault, "some labels are longer than 64 bytes, and are not shown whole");
  const std::string control = "some labels are not UTF-8, or hold control characters: write them otherwise";
  for (const auto& [text, fault] :
       {std::pair{"caf\xe9", config::not_utf8("some labels are")}, {"a\x7f", control}, {"a\tb", control}}) {
    const Findings odd = of(text);
    EXPECT_EQ(odd.label_setting, "") << text;
    EXPECT_EQ(odd.label_fault, fault);
    EXPECT_TRUE(simdjson::validate_utf8(to_json(odd)));
  }
}

// The number of classes may be in the settings, where another number of names would be refused.
TEST(DataCheck, ProposesTheNumberOfClassesWithTheirNames) {
  const std::vector<std::string> three{"model={loss=\"multinomial\",classes=3}"};
  const Findings four = look_at("x,kind,y\n8,a,a\n8,a,b\n8,a,c\n8,a,d\n", three);
  EXPECT_EQ(four.label_setting, R"(model.classes = 4, model.labels = ["a", "b", "c", "d"])");
  const Findings two = look_at("x,kind,y\n8,a,a\n8,a,b\n", three);
  EXPECT_EQ(two.label_setting, R"(model.classes = 2, model.labels = ["a", "b"])");
  const Findings as_many = look_at("x,kind,y\n8,a,a\n8,a,b\n8,a,c\n", three);
  EXPECT_EQ(as_many.label_setting, R"(model.labels = ["a", "b", "c"])");
}

TEST(DataCheck, KnowsWhichTargetsHaveUnitsOfTheirOwn) {
  const std::string rows = "x,kind,y\n8,a,1\n8,b,0\n";
  EXPECT_TRUE(look_at(rows, {"model.loss=\"poisson\""}).target_has_units);
  EXPECT_TRUE(look_at(rows, {"model.loss=\"logistic\""}).target_has_units);
  EXPECT_FALSE(look_at(rows).target_has_units);
}

TEST(DataCheck, NamesAFileEachTimeItIsRead) {
  const tests::TemporaryFolder folder;
  static_cast<void>(folder.write("rows.csv", "x,kind,y\n8,a,1\n"));
  config::Config config = config::read_config(folder.write("dry.toml", settings), {});
  config.input.files.push_back(config.input.files.front());
  DataCheck check(config, nullptr);
  const std::string file = config.input.files.front();
  EXPECT_EQ(look_at_files(config, std::nullopt, check), file + ", " + file);
}

// Of a record that is too long only the beginning is known, and no number of fields.
TEST(DataCheck, CountsNoFieldsOfARecordThatIsTooLong) {
  const tests::TemporaryFolder folder;
  static_cast<void>(folder.write("rows.csv", "x,kind,y\n8,a,1\n" + std::string(300, '9') + ",a,1\n"));
  const config::Config config =
      config::read_config(folder.write("dry.toml", settings), {"stream.record_bytes_max=100"});
  DataCheck check(config, nullptr);
  static_cast<void>(look_at_files(config, std::nullopt, check));
  const auto examples = examples_of(check.findings("").tally, config.input, config.schema);
  EXPECT_THAT(examples, ElementsAre(Pair(HasSubstr("longer than record_bytes_max"), "line 3")));
}

const std::vector<std::string> by_user{"privacy.unit=user", "privacy.user=kind", "users.participations=4",
                                       "descent.minibatch=2"};

// What a run clips is the sum of a user's gradients in a step: of two records each, the first two steps have one
// contribution, of length 2.4 and of nothing, and the last step has two, of 1.2 and 2.1.
TEST(DataCheck, CountsContributionsOfUsersWhereTheyAreTheUnit) {
  std::vector<std::string> one_text = by_user;
  one_text.emplace_back("features.1.equals=none");
  const Findings found = look_at("x,kind,y\n10,a,1.2\n10,a,1.2\n10,a,1.2\n10,a,-1.2\n10,a,1.2\n10,b,2.1\n", one_text);
  EXPECT_EQ(found.tally.gradients, 4U);
  EXPECT_EQ(found.tally.clipped, 2U);
  EXPECT_EQ(look_at("x,kind,y\n10,a,1.2\n10,a,1.2\n").tally.clipped, 0U) << "record by record";
}

// Two records of a step are one contribution, of which each user has one: of a's records the last three are beyond
// it, and of b's the last one. The last step is not whole, and none of a run either.
TEST(DataCheck, CountsRecordsThatWouldBeBeyondTheLimitsOfTheirUsers) {
  std::vector<std::string> once = by_user;
  once[2] = "users.participations=1";
  const Findings found =
      look_at("x,kind,y\n10,a,1\n10,a,1\n10,a,1\n10,b,1\n10,a,1\n10,b,1\n10,a,1\n10,,1\n10,a,1\n", once);
  EXPECT_EQ(found.tally.used_up, 4U);
  EXPECT_THAT(to_json(found), HasSubstr("\"used_up\":4,"));
  EXPECT_EQ(look_at("x,kind,y\n10,a,1\n10,a,1\n10,a,1\n10,b,1\n", by_user).tally.used_up, 0U);
  EXPECT_THAT(to_json(look_at("x,kind,y\n10,a,1\n")), Not(HasSubstr("used_up"))) << "records have no limits";
}

// Nobody begins anew where no time can be read.
TEST(DataCheck, SeesThatWindowsDoNotEndWhereTimesCannotBeRead) {
  std::vector<std::string> daily = by_user;
  for (const char* more : {"users.period=P1D", "users.times=trusted", "stream.time=x", "features.0.column=y"}) {
    daily.emplace_back(more);
  }
  daily[2] = "users.participations=1";
  const auto rows = [](const std::string& first, const std::string& second) {
    return "x,kind,y\n" + first + ",a,1\n" + first + ",b,1\n" + second + ",a,1\n" + second + ",b,1\n";
  };
  EXPECT_EQ(look_at(rows("2024-01-01T00:00", "2024-01-03T00:00"), daily).tally.used_up, 0U);
  const Tally unread = look_at(rows("1/1/2024", "1/3/2024"), daily).tally;
  EXPECT_EQ(unread.used_up, 2U);
  EXPECT_THAT(used_up_advice(unread), HasSubstr("4 of 4 records have no time there that can be read"));
}

TEST(DataCheck, SaysThatAnInputIsTooShortForAStep) {
  const std::string rows = "x,kind,y\n10,a,1\n10,a,1\n";
  EXPECT_THAT(look_at(rows, {"descent.minibatch=3"}).no_step,
              HasSubstr("2 records are fewer than a step takes (descent.minibatch = 3), so that no step is taken"));
  EXPECT_EQ(look_at(rows, {"descent.minibatch=2"}).no_step, "");
}

constexpr const char* sums = R"([stream]
name = "dry"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[model]
estimator = "moments"
intercept = false
[moments]
row_norm = 2.0
residual_bound = 2.0
[privacy]
unit = "user"
user = "who"
rho = 0.5
delta = 1e-6
)";

/// Looks at rows of users of running sums, of which each step takes `every`; all where that is 0.
Tally clips_of_sums(const std::string& rows, std::uint64_t every) {
  const tests::TemporaryFolder folder;
  static_cast<void>(folder.write("rows.csv", "x,who,y\n" + rows));
  const config::Config config =
      config::read_config(folder.write("dry.toml", sums),
                          {"users.participations=1", "release.every=" + std::to_string(every == 0 ? 1000 : every)});
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  DataCheck check(config, &mechanism, every == 0);
  static_cast<void>(look_at_files(config, std::nullopt, check));
  return check.findings("").tally;
}

// In running sums a run shortens a user's sums where that of x² is longer than row_norm², 4, or that of r·x longer
// than row_norm·residual_bound, 4. No row of these is so long by itself. Where a step takes two rows, a's come
// to 4.5 of x², b's to 4.5 of both, and c's and d's to less.
TEST(DataCheck, CountsContributionsOfUsersToRunningSums) {
  const std::string rows = "1.5,a,0\n1.5,a,0\n1.5,b,1.5\n1.5,b,1.5\n1.5,c,0\n1.5,d,0\n";
  const Tally by_two = clips_of_sums(rows, 2);
  EXPECT_EQ(by_two.gradients, 4U);
  EXPECT_EQ(by_two.clipped, 2U);
  EXPECT_EQ(clips_of_sums(rows, 1).gradients, 6U);
  EXPECT_EQ(clips_of_sums(rows, 1).clipped, 0U) << "row by row";
  EXPECT_THAT(clipped_line(by_two), HasSubstr("2 of 4 contributions of users (50%) were clipped"));
}

// Of x² all of a's rows have 4.5, wherever they are in the table.
TEST(DataCheck, TakesATableThatIsOneStepAsOneStep) {
  std::string rows = "1.5,a,0\n";
  for (int i = 0; i < 5000; ++i) rows += "1,user " + std::to_string(i) + ",0\n";
  const Tally found = clips_of_sums(rows + "1.5,a,0\n", 0);
  EXPECT_EQ(found.gradients, 5001U);
  EXPECT_EQ(found.clipped, 1U);
}

// What is said of the first records has the same unit. The last step is cut off behind its first row.
TEST(FirstLook, CountsContributionsOfUsersWhereTheyAreTheUnit) {
  const tests::TemporaryFolder folder;
  const config::Config config =
      config::read_config(folder.write("dry.toml", sums), {"users.participations=1", "release.every=2"});
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const std::vector<double> x{1.5, 1.5, 1.5, 1.5, 1.5};
  const std::vector<double> y(5);
  const std::vector<record::RowUser> who{{1, 1, 0}, {1, 1, 0}, {2, 2, 0}, {3, 3, 0}, {1, 1, 0}};
  const ClipCount found = count_clips(config, mechanism, {1, 5, x.data(), y.data(), nullptr, who.data()}, 5);
  EXPECT_EQ(found.gradients, 4U);
  EXPECT_EQ(found.clipped, 1U);
  Tally nearly_all;
  nearly_all.gradients = nearly_all.clipped = 40;
  EXPECT_THAT(clipped_at_first(nearly_all, clip_of(config), config.input.look),
              HasSubstr("of the first 40 contributions of users 40 (100%) are longer than one row may be by "
                        "moments.row_norm = 2 where the run begins"));
}

// Attached, a user counts in the lane of its hash alone: in one of two partitions about half of the users do.
TEST(DataCheck, CountsRecordsOfUsersOfAnotherLane) {
  std::string rows = "x,kind,y\n";
  for (int who = 1; who <= 2000; ++who) rows += "10,user " + std::to_string(who) + ",1\n";
  const tests::TemporaryFolder folder;
  static_cast<void>(folder.write("rows.csv", rows));
  const config::Config config = config::read_config(folder.write("dry.toml", settings), by_user);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  DataCheck check(config, &mechanism);
  const record::Schema schema = check.schema_of_lane({LaneId{1}, 2});
  const auto reader = decode::open_reader(config.input, schema);
  record::RowBatch batch;
  batch.dimension = check.schema().dimension();
  while (reader->read(batch, 5000)) continue;
  check.take(batch);
  const Findings found = check.findings("a partition");
  EXPECT_EQ(found.tally.records, 2000U);
  EXPECT_NEAR(static_cast<double>(found.tally.rejected), 1000, 150);
  ASSERT_EQ(found.tally.reasons.size(), 1U);
  EXPECT_THAT(found.tally.reasons.begin()->first, HasSubstr("a user of another lane"));
}

TEST(DataCheck, ItsJsonIsMarkedAndReadable) {
  const std::string text = to_json(look_at("x,kind,y\n8,a,1\n,a,1\n"));
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(text);
  EXPECT_FALSE(bool(json["private"]));
  EXPECT_THAT(std::string(json["note"]), HasSubstr("not covered by the promise"));
  EXPECT_EQ(std::uint64_t(json["records"]), 2U);
  EXPECT_EQ(std::uint64_t(json["usable"]), 1U);
  EXPECT_EQ(std::uint64_t(json["reasons"].at(0)["record"]), 1U);
  EXPECT_EQ(std::string(json["columns"].at(1)["never"]), "b");
  EXPECT_EQ(double(json["columns"].at(0)["median"]), 8);
}

// Values, labels and names of files are bytes, and JSON is UTF-8.
TEST(DataCheck, ItsJsonIsUtf8WhateverTheRecordsHold) {
  Findings found = look_at("x,kind,y\n8,a,caf\xe9\n", {"model.loss=\"logistic\""});
  found.source = "caf\xe9.csv";
  for (const auto& [reason, refused] : found.tally.reasons) found.examples[reason] = "line 2: 'caf\xe9'";
  const std::string text = to_json(found);
  EXPECT_TRUE(simdjson::validate_utf8(text)) << text;
  EXPECT_THAT(text, HasSubstr("\"source\":\"caf\xef\xbf\xbd.csv\""));
}

}  // namespace
}  // namespace nustream::check
