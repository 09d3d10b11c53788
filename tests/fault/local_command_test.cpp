// `nustream local randomize` as users meet it: retries, what is kept, and bad input with its message and exit code.
// Signals go to both commands.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <thread>

#include "local_command.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Local, ARetrySendsTheSameBytes) {
  const CommandResult first = randomize();
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(lines_of(first.out).size(), 400u);
  EXPECT_THAT(first.err, HasSubstr("400 reports, 0 of them kept from before"));
  const CommandResult again = randomize();
  EXPECT_EQ(again.out, first.out);
  EXPECT_THAT(again.err, HasSubstr("400 reports, 400 of them kept from before"));
}

// A record has one report by its key, wherever it stands and whatever it says by now.
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
  // A crash came in the middle of the last commit; what it left means nothing.
  std::ofstream(world.path("reports/reports"), std::ios::app | std::ios::binary) << "0123456789abcdef torn";
  EXPECT_EQ(randomize().out, out);
  EXPECT_EQ(read_file(world.path("reports/reports")), store);
  // A second commit shows that the first was durable.
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

// A missing report would show with certainty that a record is broken.
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

/// A lock as another run would hold it.
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

/// Waits at most five minutes, which is no bound on speed: it ends a test that hangs.
void wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 60'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
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
