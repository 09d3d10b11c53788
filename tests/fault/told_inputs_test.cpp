// What is said of inputs that name a file twice, that no window of time meets, or whose numbers another program
// wrote, and what a plan promises to persons with several records before anything is measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "first_contact_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ToldInputs : public FirstContact {
 protected:
  ToldInputs() {
    first_ = write("part-1.csv", rows());
    static_cast<void>(write("part-2.csv", rows()));
  }
  static std::string rows() {
    return "x,y\n" + lines_of(40, [](int i) { return fmt::format("{},{}", i % 5, i % 3); });
  }
  Words set(const std::vector<std::string>& configured) const {
    Words words;
    for (const std::string& each : configured) words.insert(words.end(), {"--set", each});
    return words;
  }
  bool has_state() const { return std::filesystem::exists(folder_.path() / "state"); }

  std::string first_;
};

TEST_F(ToldInputs, OneFileTwiceIsRefusedWhereverItIsNamed) {
  const std::string link = (folder_.path() / "link.csv").string();
  std::filesystem::create_symlink(first_, link);
  const std::string once = ": each of its records would take part twice and be charged once; name it once";
  const std::string passes = once + "; to read it several times: --passes\n";
  const CommandResult linked = run("replay", {first_, link});
  EXPECT_EQ(linked.code, 64) << linked.out;
  EXPECT_THAT(linked.err, HasSubstr(fmt::format("'{}' and '{}' are the same file{}", first_, link, passes)));
  const CommandResult plain = run("replay", {first_, first_});
  EXPECT_EQ(plain.code, 64) << plain.out;
  EXPECT_THAT(plain.err, HasSubstr(fmt::format("'{}' is named twice{}", first_, passes)));
  const Words pattern = set({"stream.input=[\"part-1.csv\", \"part-?.csv\"]"});
  for (const char* command : {"replay", "check"}) {
    const CommandResult matched = run(command, pattern);
    EXPECT_EQ(matched.code, 78) << matched.out;
    EXPECT_THAT(matched.err, HasSubstr(config_ + ": stream.input: '" + first_ + "' is named twice" + passes))
        << command;
  }
  EXPECT_EQ(check({first_, link}).code, 64);
  const CommandResult piped = run_command(NUSTREAM_COMMAND, {"check", config_, "--data", "-", first_}, first_);
  EXPECT_EQ(piped.code, 64) << piped.out;
  EXPECT_FALSE(has_state()) << "nothing is spent";
  EXPECT_EQ(run("replay", set({"stream.input=[\"part-?.csv\"]"})).code, 0) << "other files may be equal";
}

TEST_F(ToldInputs, ATableReadsAFileOnceToo) {
  Words words{first_, first_};
  const Words table = set({"estimate.steps=5", "noise={}"});
  words.insert(words.end(), table.begin(), table.end());
  const CommandResult result = run("estimate", words);
  EXPECT_EQ(result.code, 64) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("is named twice"), Not(HasSubstr("--passes"))));
}

TEST_F(ToldInputs, AWindowOfTimeThatNothingMatchesSaysWhy) {
  const auto told = [&](const std::string& time, const std::string& state) {
    const std::string file =
        write("timed.csv", "at,x,y\n" + lines_of(20, [&](int i) { return fmt::format("{},{},1", time, i % 3); }));
    Words words{file, "--from", "2024-01-01T00:00:00Z"};
    const Words times =
        set({"stream.time=at", "stream.times_public=true", "state.directory=" + (folder_.path() / state).string()});
    words.insert(words.end(), times.begin(), times.end());
    const CommandResult result = run("replay", words);
    EXPECT_THAT(result.err, HasSubstr("no record of the input lies from 2024-01-01T00:00:00Z to its end"));
    return result.err;
  };
  const std::string operators = "operator only, not private: the first 20 times of column 'at' ";
  EXPECT_THAT(told("01.02.2024 03:04", "one"), HasSubstr(operators + "cannot be read: write them as ISO 8601"));
  EXPECT_THAT(told("1704164645000", "two"), HasSubstr(operators + "lie beyond the year 9999"));
  EXPECT_THAT(told("2023-01-01T00:00:00Z", "three"), Not(HasSubstr(operators)));
}

// The dry run shows what stands there, with what to do.
TEST_F(ToldInputs, NumbersThatAnotherProgramWroteAreKnown) {
  const auto told = [&](const std::string& value, const std::string& envelope) {
    const std::string row = fmt::format(R"({{"x":{},"y":1}})", value);
    const std::string record = envelope == "none" ? row : R"({"op":"c","after":)" + row + "}";
    const std::string file = write("rows.jsonl", record + "\n" + R"({"x":1,"y":1})" + "\n");
    Words words{file};
    Words configured = set({"stream.format=jsonl"});
    if (envelope != "none") configured = set({"stream.format=jsonl", "stream.envelope=" + envelope});
    words.insert(words.end(), configured.begin(), configured.end());
    return check(words).out;
  };
  const std::string as_double = "set decimal.handling.mode=double in the connector that writes it (Debezium)";
  EXPECT_THAT(told("\"AfQ=\"", "none"), HasSubstr("'AfQ='; if this is a decimal in base64, " + as_double));
  EXPECT_THAT(told("\"AeJA\"", "debezium"), HasSubstr("'AeJA'; if this is a decimal in base64, " + as_double));
  EXPECT_THAT(told(R"({"scale":2,"value":"AfQ="})", "debezium"),
              HasSubstr("; this is a decimal in bytes: " + as_double));
  EXPECT_THAT(told("\"0,5\"", "none"),
              HasSubstr(R"('0,5'; write it with a dot: sed -E 's/("[-+]?[0-9]+),([0-9]+")/)"));
  EXPECT_THAT(told("\"0,095\"", "none"), HasSubstr("; a comma between thousands is to be taken out; where it is"));
  EXPECT_THAT(told("\"none\"", "none"), HasSubstr("(line 1: 'none')\n"));
  EXPECT_THAT(told("\"caf\xe9\"", "none"), HasSubstr("(line 1: 'caf\\xe9'; this is not UTF-8: iconv"));
}

TEST_F(ToldInputs, APlanOfWhatIsToBeMeasuredNamesPersonsWithSeveralRecords) {
  const auto plan = [&](const std::vector<std::string>& configured, Words more = {}) {
    Words words = set(configured);
    words.insert(words.begin(), {"plan", config_, "--records", "30000"});
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = run_command(NUSTREAM_COMMAND, words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  const std::string center = "features.0.center=private";
  EXPECT_THAT(plan({center}),
              AllOf(HasSubstr("a person with  10 records: rho at most "),
                    HasSubstr("a person with 100 records: rho at most "), Not(HasSubstr("far above"))));
  EXPECT_THAT(plan({center, "privacy.delta=0.01"}),
              HasSubstr("privacy.delta = 0.01 is far above 1/n of 30000 records"));
  simdjson::dom::parser parser;
  const auto rho = [&](const std::string& text) {
    const simdjson::dom::element json = parser.parse(text);
    EXPECT_EQ(json["groups"].get_array().size(), 2U);
    EXPECT_EQ(std::uint64_t(json["groups"].at(0)["records"]), 10U);
    return double(json["groups"].at(0)["rho"]);
  };
  // Where the correlation is known, the run behind the measuring costs less than by the square.
  const double known = rho(plan({center}, {"--json"}));
  EXPECT_GT(known, 0.5);
  EXPECT_LT(known, 50);
  EXPECT_GE(known, 100 * 0.1) << "what the measuring costs, by the square";
  // Several passes, minibatches and a correlation that is yet to be chosen have the square of the number alone.
  EXPECT_NEAR(rho(plan({center}, {"--json", "--passes", "2"})), 50, 1e-9);
  EXPECT_NEAR(rho(plan({center, "descent.minibatch=2"}, {"--json"})), 50, 1e-9);
  EXPECT_NEAR(rho(plan({center, "noise.nu=private"}, {"--json"})), 50, 1e-9);
  const std::string users =
      plan({center, "privacy.unit=user", "privacy.user=x", "users.participations=3"}, {"--json"});
  EXPECT_EQ(parser.parse(users)["groups"].get_array().size(), 0U) << "the promise is about all of a person's records";
}

}  // namespace
}  // namespace nustream::tests
