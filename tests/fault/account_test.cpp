// Commands over streams of the same people that share an account: what they are charged, when they are stopped, and
// what a kill leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Rows y = 1 + x/2, and settings whose whole epoch spends at most `rho`.
class World {
 public:
  World() {
    std::string rows = "x,y\n";
    for (int i = 0; i < 3000; ++i) rows += std::to_string(i % 7) + ',' + std::to_string(1 + (i % 7) / 2.0) + '\n';
    folder_.write("rows.csv", rows);
    EXPECT_EQ(run({"account", "new", path("people"), "--rho", "1"}).code, 0);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// The configuration of a stream of that name.
  [[nodiscard]] std::string stream(const std::string& name, double rho, const std::string& budget = {}) const {
    return folder_.write(name + ".toml", "[stream]\nname = \"" + name +
                                             "\"\ninput = \"rows.csv\"\n[[features]]\ncolumn = \"x\"\nscale = "
                                             "7.0\n[target]\ncolumn = \"y\"\n[descent]\nstep_size = 0.05\nclip_norm "
                                             "= 1.0\n[noise]\nnu = 0.05\n[release]\nevery = 100\n[privacy]\nrho = " +
                                             std::to_string(rho) + "\ndelta = 1e-6\naccount = \"" + path("people") +
                                             "\"\n" + budget + "[state]\ndirectory = \"" + path("run-" + name) +
                                             "\"\nkey_directory = \"" + path("keys") + "\"\n");
  }

  [[nodiscard]] static CommandResult run(const std::vector<std::string>& arguments) {
    return run_command(NUSTREAM_COMMAND, arguments);
  }
  [[nodiscard]] std::string shown() const { return run({"account", "show", path("people"), "--json"}).out; }

  TemporaryFolder folder_;
};

double total_of(const std::string& shown) {
  return std::stod(shown.substr(shown.find("\"total\":") + 8));
}

TEST(Account, ChargesWhatWasSpentAndGivesBackTheRest) {
  const World world;
  const CommandResult first = world.run({"replay", world.stream("sales", .4, "budget = 0.5\n"), "--quiet"});
  ASSERT_EQ(first.code, 0) << first.err;
  const double spent = total_of(world.shown());
  EXPECT_GT(spent, .39);
  EXPECT_LE(spent, .4);
  EXPECT_THAT(world.shown(), HasSubstr("\"spent\":"));
  EXPECT_THAT(world.shown(), Not(HasSubstr("\"reserved\":")));
  const CommandResult second = world.run({"replay", world.stream("visits", .4), "--quiet"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_NEAR(total_of(world.shown()), 2 * spent, 1e-9);
}

// The third stream would cross the account. It goes as far as what is left allows, and stops as at a budget of its
// own.
TEST(Account, StopsTheSumAtItsBudget) {
  const World world;
  for (const char* name : {"one", "two"})
    ASSERT_EQ(world.run({"replay", world.stream(name, .35), "--quiet"}).code, 0);
  const CommandResult third = world.run({"replay", world.stream("three", .35)});
  EXPECT_EQ(third.code, 73) << third.err;
  EXPECT_THAT(third.err, HasSubstr("warning: what the account (privacy.account) leaves to this stream ends this "
                                   "epoch after "));
  EXPECT_THAT(third.err, Not(HasSubstr("privacy.budget ends")));
  EXPECT_THAT(third.err, HasSubstr("that was left of the account " + world.path("people") +
                                   " (privacy.account), whose budget is 1"));
  EXPECT_THAT(third.err, Not(HasSubstr("privacy.budget"))) << "nobody set it";
  EXPECT_LE(total_of(world.shown()), 1);
  EXPECT_GT(total_of(world.shown()), .71);
  const CommandResult none = world.run({"replay", world.stream("four", .4), "--quiet"});
  EXPECT_EQ(none.code, 73) << none.err;
  EXPECT_LE(total_of(world.shown()), 1);
}

// Sums are rounded up, but decimals that add up to the account's budget do not cross it.
TEST(Account, MayBeSpentByFitsAsItWasTyped) {
  const World world;
  const std::string people = world.path("three");
  ASSERT_EQ(world.run({"account", "new", people, "--rho", "0.3"}).code, 0);
  for (int i = 0; i < 3; ++i) {
    const CommandResult fit =
        world.run({"fit", world.path("rows.csv"), "--target", "y", "--features", "x", "--rho", "0.1", "--account",
                   people, "--key-directory", world.path("keys"), "--quiet"});
    EXPECT_EQ(fit.code, 0) << fit.err;
  }
}

// Settings that are measured are read anew from the file, which knows nothing of what the account leaves.
TEST(Account, StopsARunBehindItsMeasuring) {
  const World world;
  ASSERT_EQ(world.run({"replay", world.stream("one", .8), "--quiet"}).code, 0);
  const std::vector<std::string> measured{"--quiet", "--set", "features.0.scale=\"private\""};
  for (const char* command : {"replay", "estimate"}) {
    std::vector<std::string> arguments{command, world.stream(command, .4)};
    arguments.insert(arguments.end(), measured.begin(), measured.end());
    if (std::string(command) == "estimate")
      arguments.insert(arguments.end(), {"--set", "estimate.steps=50", "--set", "privacy.adjacency=\"zero-out\""});
    const CommandResult stopped = world.run(arguments);
    EXPECT_EQ(stopped.code, 73) << stopped.err;
    EXPECT_NEAR(total_of(world.shown()), .8, 1e-9) << "refused before anything is measured";
  }
}

TEST(Account, IsNotNamedWhereTheRunHasALowerBudgetOfItsOwn) {
  const World world;
  const CommandResult own = world.run({"replay", world.stream("one", .35, "budget = 0.2\n"), "--quiet"});
  EXPECT_EQ(own.code, 73) << own.err;
  EXPECT_THAT(own.err, HasSubstr("another step would cross privacy.budget = 0.2"));
  EXPECT_THAT(own.err, Not(HasSubstr("left of the account")));
}

TEST(Account, KeepsWhatAKilledRunMightHaveSpentUntilItEnds) {
  const World world;
  const std::string config = world.stream("sales", .4, "budget = 0.6\n");
  {
    // The pipe never ends, and nothing of it is committed yet.
    const std::string pipe = world.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int held = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
    Command command(NUSTREAM_COMMAND, {"replay", config, "--quiet", "--set", "stream.input=\"-\""}, pipe);
    for (int i = 0; i < 3000 && world.shown().find("reserved") == std::string::npos; ++i) ::usleep(20'000);
    command.signal(SIGKILL);
    EXPECT_EQ(command.wait().code, 128 + SIGKILL);
    ::close(held);
  }
  EXPECT_DOUBLE_EQ(total_of(world.shown()), .6);
  const CommandResult other = world.run({"replay", world.stream("visits", .5), "--quiet"});
  EXPECT_EQ(other.code, 73) << other.err;  // .4 is left
  EXPECT_LE(total_of(world.shown()), 1);
  const CommandResult again = world.run({"replay", config, "--quiet"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_LT(total_of(world.shown()), .85);
}

// A run that reads its table has not looked into its folder yet. If another run could begin there meanwhile, it would
// go on and spend after the first one, told to end, had given back what both were charged.
TEST(Account, IsTakenByOneRunOfAFolderAtATime) {
  const World world;
  const std::string config = world.stream("sales", .4, "budget = 0.6\n");
  const std::string pipe = world.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int held = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  Command first(NUSTREAM_COMMAND,
                {"estimate", config, "--quiet", "--set", "estimate.steps=100", "--set", "privacy.adjacency=zero-out",
                 "--set", "stream.input=\"-\""},
                pipe);
  for (int i = 0; i < 3000 && world.shown().find("reserved") == std::string::npos; ++i) ::usleep(20'000);
  ASSERT_DOUBLE_EQ(total_of(world.shown()), .6);
  const CommandResult second = world.run({"replay", config, "--quiet"});
  EXPECT_EQ(second.code, 75) << second.err;
  EXPECT_THAT(second.err, HasSubstr("is in use by another run"));
  EXPECT_DOUBLE_EQ(total_of(world.shown()), .6);
  first.signal(SIGINT);
  const CommandResult interrupted = first.wait();
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  ::close(held);
  EXPECT_DOUBLE_EQ(total_of(world.shown()), 0);
  EXPECT_EQ(world.run({"replay", config, "--quiet"}).code, 0);
  EXPECT_GT(total_of(world.shown()), .39);
}

// An account that is named too late cannot undo anything: it is charged what was spent, and nothing more is spent.
TEST(Account, ChargesWhatWasSpentBeforeItWasNamed) {
  const World world;
  const std::string config = world.stream("sales", .6);
  const CommandResult alone =
      world.run({"replay", config, "--quiet", "--to", "2000", "--set", "privacy.account=\"\""});
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_DOUBLE_EQ(total_of(world.shown()), 0);
  ASSERT_EQ(world.run({"account", "reserve", world.path("people"), "live", "--rho", "1"}).code, 0);
  const CommandResult late = world.run({"replay", config, "--resume"});
  EXPECT_EQ(late.code, 73) << late.err;
  EXPECT_GT(total_of(world.shown()), 1.5);
  EXPECT_THAT(world.shown(), HasSubstr("\"spent\":"));
}

TEST(Account, IsNamedAgainByAFolderThatItCounts) {
  const World world;
  const std::string config = world.stream("sales", .3);
  ASSERT_EQ(world.run({"replay", config, "--quiet", "--to", "2000"}).code, 0);
  const CommandResult unnamed = world.run({"replay", config, "--quiet", "--resume", "--set", "privacy.account=\"\""});
  EXPECT_EQ(unnamed.code, 78);
  EXPECT_THAT(unnamed.err, HasSubstr("is counted in the account " + world.path("people")));
  EXPECT_EQ(world.run({"replay", config, "--quiet", "--resume"}).code, 0);
}

// An account that is made anew would know nothing of what the others have spent.
TEST(Account, ThatIsGoneIsToBeRestored) {
  const World world;
  const std::string sales = world.stream("sales", .4);
  ASSERT_EQ(world.run({"replay", sales, "--quiet"}).code, 0);
  std::filesystem::rename(world.path("people"), world.path("away"));
  const CommandResult gone = world.run({"replay", sales, "--quiet", "--resume"});
  EXPECT_EQ(gone.code, 78);
  EXPECT_THAT(gone.err, AllOf(HasSubstr("the account is gone, and "), HasSubstr("restore it from a copy"),
                              Not(HasSubstr("account new"))));
  const CommandResult other = world.run({"replay", world.stream("visits", .4), "--quiet"});
  EXPECT_THAT(other.err, HasSubstr("make one with nustream account new")) << "it was never charged";
}

TEST(Account, IsNotReplacedByAnotherOne) {
  const World world;
  const std::string config = world.stream("sales", .3);
  ASSERT_EQ(world.run({"replay", config, "--quiet", "--to", "2000"}).code, 0);
  const double spent = total_of(world.shown());
  ASSERT_EQ(world.run({"account", "new", world.path("others"), "--rho", "1"}).code, 0);
  const CommandResult left = world.run({"replay", config, "--quiet", "--new-epoch", "--from", "0", "--set",
                                        "privacy.account=\"" + world.path("others") + "\""});
  EXPECT_EQ(left.code, 78) << left.err;
  EXPECT_THAT(left.err, AllOf(HasSubstr("is counted in the account " + world.path("people")),
                              HasSubstr("remove the folder's file account-member")));
  EXPECT_DOUBLE_EQ(total_of(world.shown()), spent);
  std::filesystem::rename(world.path("people"), world.path("away"));
  std::filesystem::rename(world.path("others"), world.path("people"));
  const CommandResult replaced = world.run({"replay", config, "--quiet", "--resume"});
  EXPECT_EQ(replaced.code, 78) << replaced.err;
  EXPECT_THAT(replaced.err, HasSubstr("the account knows nothing of "));
}

// A witness would find the older copy where there is one; here the account has to.
TEST(Account, RefusesAnOlderCopyOfAFolder) {
  const World world;
  const std::string config = world.stream("sales", .3);
  const std::string folder = world.path("run-sales");
  const auto replay = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"replay", config, "--quiet", "--set", "state.witness=none"});
    return world.run(more);
  };
  ASSERT_EQ(replay({}).code, 0);
  std::filesystem::copy(folder, world.path("older"),
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  ASSERT_EQ(replay({"--new-epoch", "--from", "0"}).code, 0);
  const double spent = total_of(world.shown());
  std::filesystem::remove_all(folder);
  std::filesystem::rename(world.path("older"), folder);
  const CommandResult older = replay({"--new-epoch", "--from", "0"});
  EXPECT_EQ(older.code, 65) << older.err;
  EXPECT_THAT(older.err, HasSubstr("older copy of the folder"));
  EXPECT_DOUBLE_EQ(total_of(world.shown()), spent);
}

TEST(Account, IsNotChargedByARunThatNeverBegan) {
  const World world;
  const std::string config = world.stream("sales", .4);
  EXPECT_EQ(world.run({"replay", config, "--set", "stream.input=missing.csv"}).code, 74);
  EXPECT_DOUBLE_EQ(total_of(world.shown()), 0);
}

TEST(Account, CountsFitsToo) {
  const World world;
  const auto fit = [&](const std::string& rho) {
    return world.run({"fit", world.path("rows.csv"), "--target", "y", "--rho", rho, "--account", world.path("people"),
                      "--key-directory", world.path("keys")});
  };
  ASSERT_EQ(fit("0.6").code, 0);
  EXPECT_NEAR(total_of(world.shown()), .6, 1e-9);
  const CommandResult second = fit("0.6");
  EXPECT_EQ(second.code, 73);
  EXPECT_THAT(second.err, HasSubstr("would cross the account's budget"));
  EXPECT_NEAR(total_of(world.shown()), .6, 1e-9);
  ASSERT_EQ(fit("0.3").code, 0);
  EXPECT_NEAR(total_of(world.shown()), .9, 1e-9);
}

// A copy of a folder may go on beside the first one. What the folder spent is then charged twice rather than never.
TEST(Account, TakesACopyForAnotherMember) {
  const World world;
  const std::string config = world.stream("sales", .3);
  ASSERT_EQ(world.run({"replay", config, "--quiet", "--to", "2000"}).code, 0);
  const double before = total_of(world.shown());
  std::filesystem::copy(world.path("run-sales"), world.path("copy"),
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  const CommandResult copied =
      world.run({"replay", config, "--quiet", "--resume", "--set", "state.directory=\"" + world.path("copy") + "\""});
  EXPECT_EQ(copied.code, 0) << copied.err;
  EXPECT_GT(total_of(world.shown()), 1.9 * before);
}

TEST(Account, RefusesWhatItCannotAdd) {
  const World world;
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    const CommandResult result = world.run(arguments);
    EXPECT_EQ(result.code, 78) << result.err;
    EXPECT_THAT(result.err, HasSubstr(why));
  };
  const std::string config = world.stream("sales", .3);
  refused({"replay", config, "--set", "privacy.adjacency=replace-one"}, "is about other neighbours");
  refused({"replay", config, "--insecure-seed", "7"}, "counts what private runs spend");
  refused({"replay", config, "--set", "privacy.account=\"nowhere\""}, "nustream account new");
  refused(
      {"attach", config, "-b", "127.0.0.1:9", "-t", "sales", "--set", "state.key_file=\"" + world.path("key") + "\""},
      "nustream account reserve");
  const CommandResult kept = world.run({"account", "reserve", world.path("people"), "live", "--rho", "0.25"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_DOUBLE_EQ(total_of(world.shown()), .25);
  EXPECT_EQ(world.run({"account", "reserve", world.path("people"), "live", "--rho", "0.5"}).code, 0);
  EXPECT_DOUBLE_EQ(total_of(world.shown()), .5);
  EXPECT_EQ(world.run({"account", "reserve", world.path("people"), "more", "--rho", "0.75"}).code, 73);
  const CommandResult less = world.run({"account", "reserve", world.path("people"), "live", "--rho", "0.125"});
  EXPECT_EQ(less.code, 64);
  EXPECT_THAT(less.err, HasSubstr("add --lower"));
  EXPECT_DOUBLE_EQ(total_of(world.shown()), .5);
  EXPECT_EQ(world.run({"account", "reserve", world.path("people"), "live", "--rho", "0.125", "--lower"}).code, 0);
  EXPECT_DOUBLE_EQ(total_of(world.shown()), .125);
}

}  // namespace
}  // namespace nustream::tests
