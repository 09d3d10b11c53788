// `nustream local randomize` and `collect` as users and a server meet them: retries, what is kept and counted, and
// bad input with its message and exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "command.h"
#include "local_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void expect_failure(const CommandResult& result, int code, const std::string& mentions) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_THAT(result.err, AllOf(StartsWith("nustream: error: "), HasSubstr(mentions), EndsWith("\n")));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << "one line: " << result.err;
}

class Local : public ::testing::Test {
 protected:
  const LocalWorld world{400};
  simdjson::dom::parser parser;

  [[nodiscard]] CommandResult run(const std::string& command, std::vector<std::string> more,
                                  const std::optional<std::string>& input = {}) const {
    std::vector<std::string> arguments{"local", command, world.config()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(NUSTREAM_COMMAND, arguments, input);
  }
  [[nodiscard]] CommandResult randomize(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), world.path("records.csv"));
    return run("randomize", std::move(more));
  }
  /// The reports of the world's records, in a file.
  [[nodiscard]] std::string reports(std::vector<std::string> more = {}) const {
    const CommandResult result = randomize(std::move(more));
    EXPECT_EQ(result.code, 0) << result.err;
    return world.write("reports.jsonl", result.out);
  }
  simdjson::dom::element collect(std::vector<std::string> more) {
    more.emplace_back("--json");
    const CommandResult result = run("collect", std::move(more));
    EXPECT_EQ(result.code, 0) << result.err;
    return parser.parse(result.out);
  }
  static std::uint64_t count(simdjson::dom::element json, const char* pointer) {
    return json.at_pointer(pointer).get_uint64().value();
  }
  static std::vector<std::string> set(const std::string& setting) { return {"--set", setting}; }
};

// ---- the user's side

TEST_F(Local, ARetrySendsTheSameBytes) {
  const CommandResult first = randomize();
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(lines_of(first.out).size(), 400u);
  EXPECT_THAT(first.err, HasSubstr("400 reports, 0 of them kept from before"));
  const CommandResult again = randomize();
  EXPECT_EQ(again.out, first.out);
  EXPECT_THAT(again.err, HasSubstr("400 reports, 400 of them kept from before"));
}

// By its key: wherever a record stands, and whatever it says by now.
TEST_F(Local, ARecordHasOneReportWhereverItStandsAndWhateverItBecomes) {
  std::map<std::string, std::string> report_of;
  const Lines records = lines_of(read_file(world.path("records.csv")));
  const Lines first = lines_of(randomize({"--quiet"}).out);
  for (std::size_t i = 0; i < first.size(); ++i) {
    report_of[records[i + 1].substr(0, records[i + 1].find(','))] = first[i];
  }
  Lines moved{"y,user,b,a"};
  for (const auto& [user, report] : report_of) moved.push_back("1," + user + ",0.25,-0.5");
  moved.push_back("0,somebody-new,0.1,0.1");
  moved.push_back("0,somebody-new,0.1,0.1");
  std::shuffle(moved.begin() + 1, moved.end(), std::mt19937_64(3));
  const std::string file = world.write("moved.csv", text_of(moved));
  const CommandResult result = run("randomize", {file});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("402 reports, 401 of them kept from before"));
  const Lines second = lines_of(result.out);
  ASSERT_EQ(second.size(), 402u);
  std::set<std::string> of_new;
  for (std::size_t i = 0; i < second.size(); ++i) {
    const std::string user = moved[i + 1].substr(2, moved[i + 1].find(',', 2) - 2);
    if (user == "somebody-new") {
      of_new.insert(second[i]);
    } else {
      ASSERT_EQ(second[i], report_of.at(user)) << user;
    }
  }
  EXPECT_EQ(of_new.size(), 1u) << "twice in one input, once drawn";
}

TEST_F(Local, WithoutAKeyTheirPositionNamesThem) {
  const std::vector<std::string> by_position = set("local.record_key=\"\"");
  const CommandResult first = randomize(by_position);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(randomize(by_position).out, first.out);
  // Appended records get reports of their own.
  world.write("records.csv", read_file(world.path("records.csv")) + "x,0.1,0.1,1\n");
  const std::string more = randomize(by_position).out;
  EXPECT_EQ(more.substr(0, first.out.size()), first.out);
  EXPECT_EQ(lines_of(more).size(), 401u);
}

TEST_F(Local, AnotherStoreDrawsAnew) {
  const Lines first = lines_of(randomize().out);
  const Lines second = lines_of(randomize(set("local.reports_directory=\"" + world.path("other") + "\"")).out);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], second[i]);
}

TEST_F(Local, AStoreOfOtherSettingsIsRefusedAndUnchanged) {
  ASSERT_EQ(randomize().code, 0);
  const std::string before = read_file(world.path("reports/reports"));
  expect_failure(randomize(set("local.epsilon=4")), 65, "reports");
  expect_failure(randomize(set("local.record_key=\"\"")), 65, "reports");
  expect_failure(randomize(set("stream.name=other")), 65, "costs its epsilon again");
  EXPECT_EQ(read_file(world.path("reports/reports")), before);
}

TEST_F(Local, ADamagedStoreIsRefusedAndATornEndIsNot) {
  const std::string out = randomize().out;
  const std::string store = read_file(world.path("reports/reports"));
  // A crash in the middle of the last commit: what it left means nothing.
  std::ofstream(world.path("reports/reports"), std::ios::app | std::ios::binary) << "0123456789abcdef torn";
  EXPECT_EQ(randomize().out, out);
  EXPECT_EQ(read_file(world.path("reports/reports")), store);
  // A second commit, after which the first is known to have been durable.
  world.write("records.csv", read_file(world.path("records.csv")) + "new,0.1,0.1,1\n");
  ASSERT_EQ(randomize().code, 0);
  std::string damaged = read_file(world.path("reports/reports"));
  damaged[damaged.size() / 2] ^= 1;
  world.write("reports/reports", damaged);
  expect_failure(randomize(), 65, "lost reports that were shown");
  EXPECT_EQ(read_file(world.path("reports/reports")), damaged);
}

// That a record was unusable must not show: it is reported like any other.
TEST_F(Local, UnusableRecordsAreReportedAsNull) {
  const std::string file = world.write("bad.csv",
                                       "user,a,b,y\nu1,x,1,1\nu2,,1,1\nu3,nan,1,0\nu4,inf,1,0\nu5,1e999,1,0\n"
                                       "u6,0.1,0.2,1\nu7,100,200,9\n");
  const CommandResult result = run("randomize", {file});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).size(), 7u);
  EXPECT_THAT(result.err, HasSubstr("5 unusable records, reported as null"));
  EXPECT_THAT(result.err, HasSubstr("1 records whose features were beyond the bounds"));
  EXPECT_THAT(result.err, HasSubstr("1 records whose label was beyond the bounds"));
  EXPECT_THAT(result.err, Not(HasSubstr("100")));
  EXPECT_EQ(run("randomize", {file, "--quiet"}).err, "");
}

// That one is missing would show, with certainty, that a record is broken.
TEST_F(Local, RecordsWithoutAKeyHaveAReportOfNobody) {
  const std::string file = world.write(
      "bad.csv", "user,a,b,y\n,0.1,0.2,1\n" + std::string(1025, 'k') + ",0.1,0.2,1\nu,0.1,0.2\nv,1,1,1\n");
  const CommandResult result = run("randomize", {file});
  ASSERT_EQ(result.code, 0) << result.err;
  const Lines reports = lines_of(result.out);
  ASSERT_EQ(reports.size(), 4u);
  EXPECT_EQ(std::set(reports.begin(), reports.end()).size(), 4u);
  EXPECT_THAT(result.err, HasSubstr("3 records without a readable key"));
  EXPECT_EQ(lines_of(run("randomize", {file}).out), reports) << "a retry sends the same bytes";
}

TEST_F(Local, EqualLinesWithoutAKeyAreRecordsOfTheirOwn) {
  const std::string file = world.write("twice.csv", "user,a,b,y\nu,0.1,0.2\nu,0.1,0.2\n");
  const CommandResult result = run("randomize", {file});
  ASSERT_EQ(result.code, 0) << result.err;
  const Lines reports = lines_of(result.out);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_NE(reports[0], reports[1]);
}

TEST_F(Local, JsonRecordsAndTheirKeys) {
  const std::string file = world.write("records.jsonl", R"({"user":"u1","a":0.1,"b":0.2,"y":1})"
                                                        "\n"
                                                        R"({"y":true,"b":0.2,"a":0.1,"user":17,"other":[1]})"
                                                        "\n"
                                                        R"({"user":17,"a":0.3,"b":0.2,"y":0})"
                                                        "\n"
                                                        R"({"user":1.5,"a":0.3,"b":0.2,"y":0})"
                                                        "\n"
                                                        R"({"user":"u1","user":"u2","a":0.3,"b":0.2,"y":0})"
                                                        "\nnothing\n");
  const CommandResult result = run("randomize", {file, "--set", "stream.format=jsonl"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Lines reports = lines_of(result.out);
  ASSERT_EQ(reports.size(), 6u);
  EXPECT_NE(reports[0], reports[1]);
  EXPECT_EQ(reports[1], reports[2]) << "17 is 17";
  EXPECT_THAT(result.err, HasSubstr("3 records without a readable key"));
}

TEST_F(Local, ReadsAPipeAndWritesAFile) {
  const std::string output = world.path("out.jsonl");
  const CommandResult result = run("randomize", {"-", "--output", output}, world.path("records.csv"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(read_file(output)).size(), 400u);
  const std::string before = read_file(output);
  ASSERT_EQ(run("randomize", {"--output", output}, world.path("records.csv")).code, 0) << "without FILE, too";
  EXPECT_EQ(read_file(output), before);
}

TEST_F(Local, BadInputOfTheUsersSide) {
  expect_failure(run("randomize", {"none.csv"}), 74, "none.csv");
  expect_failure(run("randomize", {world.write("empty.csv", "1,2\n3,4\n")}), 65, "header");
  expect_failure(run("randomize", {world.write("other.csv", "user,aa,b,y\nu,1,2,3\n")}), 78, "'a'");
  expect_failure(run("randomize", {world.write("keyless.csv", "id,a,b,y\nu,1,2,3\n")}), 78, "'user'");
  expect_failure(randomize({"--output", world.path("none/out")}), 74, "none/out");
  expect_failure(randomize({"--output", "/dev/full"}), 74, "the same command sends the same ones again");
  world.write("occupied", "a file, not a folder");
  expect_failure(randomize(set("local.reports_directory=\"" + world.path("occupied/store") + "\"")), 74, "occupied");
  expect_failure(randomize(set("local.epsilom=1")), 78, "did you mean 'epsilon'");
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"local"}).code, 64);
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"local", "collect"}).code, 64);
  EXPECT_FALSE(std::filesystem::exists(world.path("sums")));
}

TEST_F(Local, ItsSettingsAreCheckedWithoutARun) {
  const auto check = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"check", world.config()});
    return run_command(NUSTREAM_COMMAND, more);
  };
  EXPECT_THAT(check({}).out, AllOf(HasSubstr("valid; stream survey, 2 features"), HasSubstr("costs epsilon 8 at")));
  EXPECT_THAT(check({"--json"}).out, StartsWith("{\"valid\":true,\"stream\":\"survey\",\"digest\":\""));
  expect_failure(check(set("local.split=2")), 78, "0 < split < 1");
}

/// A lock that another run would hold.
class HeldLock {
 public:
  explicit HeldLock(const std::string& file) : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_EQ(::flock(descriptor_, LOCK_EX | LOCK_NB), 0);
  }
  ~HeldLock() { ::close(descriptor_); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

 private:
  int descriptor_;
};

TEST_F(Local, AFolderIsOfOneRunAtATime) {
  const std::string file = reports();
  collect({file});
  const HeldLock store(world.path("reports/lock"));
  expect_failure(randomize(), 75, "local.reports_directory");
  const HeldLock sums(world.path("sums/lock"));
  expect_failure(run("collect", {file}), 75, "local.directory");
  EXPECT_EQ(count(collect({"--show"}), "/reports"), 400u) << "looking at it needs no lock";
}

TEST_F(Local, StoredReportsAreForTheUserAlone) {
  static_cast<void>(reports());
  const auto permissions = [&](const char* name) {
    return std::filesystem::status(world.path(name)).permissions() & std::filesystem::perms::all;
  };
  using std::filesystem::perms;
  EXPECT_EQ(permissions("reports"), perms::owner_all);
  EXPECT_EQ(permissions("reports/reports"), perms::owner_read | perms::owner_write);
}

// ---- the server's side

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

// In any order, in any pieces, over restarts: the same sums to the bit.
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

// A million users are not needed at ε = 10,000: the model of the table, and a verdict that it can be used.
TEST_F(Local, EstimatesTheModel) {
  world.write("records.csv", LocalWorld::records(60'000, 5));
  const std::vector<std::string> loud{"--set", "local.epsilon=10000"};
  const CommandResult randomized = randomize({loud[0], loud[1], "--quiet"});
  ASSERT_EQ(randomized.code, 0) << randomized.err;
  const simdjson::dom::element json = collect({world.write("reports.jsonl", randomized.out), loud[0], loud[1]});
  // Truth 2 and −1; four standard errors of the table itself are .12, and uniform features bend the lemma by a per
  // cent.
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
  // n at which 2σ_1 √(p/n) is the smallest eigenvalue of the public rows, 1/12.
  const double sd = json.at_pointer("/noise/second_moment").get_double().value();
  EXPECT_NEAR(json.at_pointer("/second_moment/reports_needed").get_double().value() / (4 * sd * sd * 2 * 144), 1,
              0.2);
  const CommandResult table = run("collect", {"--show", "--set", quiet});
  EXPECT_THAT(table.out, AllOf(HasSubstr("still larger than the signal"), HasSubstr("reports on")));
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

// A constant or collinear column: no number of reports helps, and that is said.
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

// ---- signals

/// A FIFO that the test holds open, so that its reader waits.
class Fifo {
 public:
  explicit Fifo(const std::string& path) : path_(path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Fifo() { ::close(descriptor_); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;
  void write(const std::string& text) const {
    EXPECT_EQ(::write(descriptor_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

 private:
  std::string path_;
  int descriptor_;
};

void wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(condition());
}

TEST_F(Local, SignalsEndARunInOrder) {
  const Lines good = lines_of(read_file(reports()));
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 0}}) {
    const std::string name = world.path("pipe" + std::to_string(signal));
    const std::string sums = world.path("sums" + std::to_string(signal));
    const Fifo fifo(name);
    Command command(NUSTREAM_COMMAND, {"local", "collect", world.config(), name, "--json", "--set",
                                       "local.directory=\"" + sums + "\""});
    fifo.write(good[0] + "\n" + good[1] + "\n");
    wait_until([&] { return std::filesystem::exists(sums + "/state"); });
    command.signal(signal);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.out, HasSubstr("\"reports\":2")) << result.err;
  }
  const std::string name = world.path("records.pipe");
  const std::size_t before = read_file(world.path("reports/reports")).size();
  const Fifo fifo(name);
  Command command(NUSTREAM_COMMAND, {"local", "randomize", world.config(), name});
  fifo.write("user,a,b,y\nuser-0,0.1,0.1,1\nnobody,0.1,0.1,1\n");
  wait_until([&] { return read_file(world.path("reports/reports")).size() > before; });
  command.signal(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.code, 130) << result.err;
  ASSERT_EQ(lines_of(result.out).size(), 2u);
  EXPECT_EQ(lines_of(result.out)[0], good[0]);
}

}  // namespace
}  // namespace nustream::tests
