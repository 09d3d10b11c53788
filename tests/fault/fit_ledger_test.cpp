// What fits over one file spend together: their sum, its budget, what third parties verify, and copies of the folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "fit_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

TEST_F(Fit, AddsUpOverOneFile) {
  ASSERT_EQ(fit({"--target", "y", "--features", "a", "--rho", "0.5"}).code, 0);
  const CommandResult second = fit({"--target", "y", "--features", "b", "--rho", "0.25"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("0.25 (zCDP) by this fit, 0.75 by all 2 in this folder"));
  EXPECT_EQ(ledger_rho(), "0.750000");
  const CommandResult third = fit({"--target", "y", "--features", "b", "--rho", "0.5", "--budget", "1"});
  EXPECT_EQ(third.code, 73);
  EXPECT_THAT(third.err,
              AllOf(HasSubstr("rho 0.75 is spent in this folder (" + file + ".fit)"), HasSubstr("nothing is spent")));
  EXPECT_EQ(ledger_rho(), "0.750000");
}

// Sums are rounded up, but decimals that add up to the budget do not cross it.
TEST_F(Fit, MaySpendTheWholeBudgetThatWasTyped) {
  for (int i = 0; i < 3; ++i) {
    const CommandResult result = fit({"--target", "y", "--features", "a", "--rho", "0.1", "--budget", "0.3"});
    EXPECT_EQ(result.code, 0) << result.err;
  }
  EXPECT_EQ(fit({"--target", "y", "--features", "a", "--rho", "0.05", "--budget", "0.3"}).code, 73);
  const CommandResult all = fit({"--target", "y", "--features", "a", "--rho", "0.1", "--budget", "0.1", "--state",
                                 (folder.path() / "once").string()});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("rho spent       0.1 (zCDP) by this fit, the first in this folder; epsilon "));
}

// What a release tells of the ledger is what the ledger comes to, also where there is one fit.
TEST_F(Fit, IsVerifiedByThirdParties) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(fit({"--target", "y", "--features", "a,b", "--rho", "0.1"}).code, 0);
    const CommandResult seen = run_command(NUSTREAM_COMMAND, {"inspect", file + ".fit", "--json"});
    const std::string key(parser.parse(seen.out)["public_key"].get_string().value());
    const CommandResult verified = run_command(
        NUSTREAM_COMMAND, {"verify", file + ".fit/releases.jsonl", file + ".fit/ledger", "--public-key", key});
    EXPECT_EQ(verified.code, 0) << verified.err;
    EXPECT_THAT(verified.out, HasSubstr(i == 0 ? "spent     rho 0.1 (zCDP, per record, zero-out) over all epochs\n"
                                               : " (zCDP, per record, zero-out) over all epochs\n"));
  }
}

// A replaced record is one that goes and one that comes: that is twice as far, and costs four times the rho.
TEST_F(Fit, SaysWhyEarlierFitsCountMoreOverOtherNeighbours) {
  ASSERT_EQ(fit({"--target", "y", "--features", "a", "--rho", "0.1"}).code, 0);
  const CommandResult second = fit({"--target", "y", "--features", "b", "--rho", "0.2", "--replace-one"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("0.6 by all 2 in this folder (earlier ones were by zero-out: for neighbours by "
                                    "replace-one each counts four times)"));
  const CommandResult third = fit({"--target", "y", "--features", "b", "--rho", "0.1"});
  EXPECT_THAT(third.out, AllOf(HasSubstr("0.4 by all 3 in this folder"), Not(HasSubstr("four times"))));
}

TEST_F(Fit, RefusesAFolderThatWasRolledBackOrLost) {
  const std::vector<std::string> options{"--target", "y", "--features", "a"};
  ASSERT_EQ(fit(options).code, 0);
  const std::string state = file + ".fit";
  std::filesystem::copy(state, folder.path() / "copy",
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  ASSERT_EQ(fit(options).code, 0);
  std::filesystem::remove_all(state);
  const CommandResult lost = fit(options);
  EXPECT_EQ(lost.code, 65);
  EXPECT_THAT(lost.err, HasSubstr("the ledger is gone"));
  std::filesystem::remove_all(state);
  std::filesystem::copy(folder.path() / "copy", state,
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  const CommandResult older = fit(options);
  EXPECT_EQ(older.code, 65);
  EXPECT_THAT(older.err, HasSubstr("holds an older state"));
}

// Nobody knows what was spent in such a folder. What to do is said in options that this command has.
TEST_F(Fit, RefusesReleasesOrALedgerWithoutAState) {
  const std::vector<std::string> options{"--target", "y", "--features", "a"};
  ASSERT_EQ(fit(options).code, 0);
  const std::string help = run_command(NUSTREAM_COMMAND, {"fit", "--help"}).out;
  const std::string state = file + ".fit";
  ASSERT_TRUE(std::filesystem::remove(state + "/state"));
  for (const char* const left : {"ledger", "releases.jsonl"}) {
    SCOPED_TRACE(std::string("with a file ") + left);
    const CommandResult refused = fit(options);
    EXPECT_EQ(refused.code, 65);
    EXPECT_THAT(refused.err,
                HasSubstr(state + ": holds releases or a ledger and no state; restore the folder as it was, or name "
                                  "another one for other records with --state"));
    static const std::regex option("--[a-z][a-z-]*");
    for (std::sregex_iterator at(refused.err.begin(), refused.err.end(), option), end; at != end; ++at) {
      EXPECT_THAT(help, HasSubstr(at->str() + " ")) << refused.err;
    }
    ASSERT_TRUE(std::filesystem::remove(state + "/" + left));
  }
}

// What was lost is told in the same way, and no option is advised that this command lacks.
TEST_F(Fit, RefusesADamagedStateOrLedgerInItsOwnWords) {
  const std::vector<std::string> options{"--target", "y", "--features", "a"};
  for (const char* const name : {"state", "ledger", "releases.jsonl"}) {
    SCOPED_TRACE(name);
    const std::string state = (folder.path() / (std::string("damaged ") + name)).string();
    std::vector<std::string> there = options;
    there.insert(there.end(), {"--state", state});
    // The one line of a first fit would only be written again.
    for (int i = 0; i < 2; ++i) ASSERT_EQ(fit(there).code, 0);
    std::filesystem::resize_file(state + "/" + name, 0);
    const CommandResult refused = fit(there);
    EXPECT_EQ(refused.code, 65);
    EXPECT_THAT(refused.err, AllOf(HasSubstr(state),
                                   HasSubstr("restore the folder as it was, or name another one for "
                                             "other records with --state"),
                                   Not(HasSubstr("epoch"))));
  }
}

// A fit's state has no marks of its records, so that nobody can tell whether a stream that begins behind it reads
// some of them again.
TEST_F(Fit, AStreamBehindItMayReadItsRecordsAgain) {
  const std::string config = (folder.path() / "w.toml").string();
  ASSERT_EQ(fit({"--target", "y", "--features", "a", "--rho", "0.1", "--write-config", config}).code, 0);
  const std::string rows = read_file(file);
  const std::string records = rows.substr(rows.find('\n') + 1);
  const std::string twice = folder.write("twice.csv", rows + records);  // its second half are the fit's records
  const CommandResult behind = run_command(
      NUSTREAM_COMMAND,
      {"replay", config, twice, "--set", "state.directory=\"" + file + ".fit\"", "--new-epoch", "--quiet"});
  ASSERT_EQ(behind.code, 0) << behind.err;
  EXPECT_GT(std::stod(ledger_rho()), 0.19);
}

// Fits of a copy have the same numbers, and may be as many and as dear as those that the witness knows.
TEST_F(Fit, RefusesACopyThatWentOnByItself) {
  const auto by = [&](const char* rho) { return fit({"--target", "y", "--features", "a", "--rho", rho}); };
  const std::string state = file + ".fit";
  const auto copy = std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks;
  ASSERT_EQ(by("0.1").code, 0);
  std::filesystem::copy(state, folder.path() / "copy", copy);
  ASSERT_EQ(by("0.5").code, 0);
  std::vector<std::filesystem::path> witnesses;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "keys")) {
    if (entry.path().extension() == ".witness") witnesses.push_back(entry.path());
  }
  ASSERT_EQ(witnesses.size(), 1U);
  const std::filesystem::path away = folder.path() / "away";
  std::filesystem::rename(witnesses.front(), away);
  std::filesystem::remove_all(state);
  std::filesystem::copy(folder.path() / "copy", state, copy);
  for (const char* rho : {"0.5", "0.5"}) ASSERT_EQ(by(rho).code, 0);
  std::filesystem::rename(away, witnesses.front());
  const CommandResult refused = by("0.1");
  EXPECT_EQ(refused.code, 65);
  EXPECT_THAT(refused.err, HasSubstr("holds an older state"));
}

}  // namespace
}  // namespace nustream::tests
