// What a run would refuse is refused, or warned of, by `check` before; and what differs from a state is told by keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "first_contact_world.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RefusedSettings : public FirstContact {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  /// A key as a run takes it.
  [[nodiscard]] std::string key() const {
    std::string file = path("key");
    if (!fs::exists(file)) {
      EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", file}).code, 0);
    }
    return file;
  }
  /// A check of settings alone, of a stream that is attached to a topic and has no files.
  [[nodiscard]] CommandResult attached(Words more) const {
    const std::string of_files = "input = \"in.csv\"";
    std::string stream = door_without_noise();
    stream.replace(stream.find(of_files), of_files.size(), "format = \"jsonl\"");
    const std::string file = write("attached.toml", stream +
                                                        "[kafka]\nbrokers = \"127.0.0.1:1\"\ntopic = \"in\"\n"
                                                        "[state]\nkey_file = \"" +
                                                        key() + "\"\n");
    more.insert(more.begin(), {"check", file});
    return run_command(NUSTREAM_COMMAND, more);
  }
  /// The names in the folder.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
};

Words set(const std::string& key, const std::string& value) {
  return {"--set", key + "=\"" + value + "\""};
}

// The reader is that of a run, with whatever it refuses.
TEST_F(RefusedSettings, AKeyThatIsNone) {
  const std::string zero = write("zero", std::string(32, '\0'));
  const std::string length = write("length", "short");
  for (const std::string& file : {zero, length})
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::copy_file(key(), path("open"));
  fs::permissions(path("open"), fs::perms::owner_read | fs::perms::others_read);
  const std::pair<std::string, const char*> wrong[] = {
      {zero, "is all zero"}, {length, "does not have 32 bytes"}, {path("open"), "is open to group or others"}};
  for (const auto& [file, why] : wrong) {
    SCOPED_TRACE(file);
    const CommandResult refused =
        run_command(NUSTREAM_COMMAND, {"check", config_, "--set", "state.key_file=" + file});
    EXPECT_EQ(refused.code, 77) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("nustream: error: state.key_file: key file " + file + " " + why));
  }
}

TEST_F(RefusedSettings, FilesOfTheService) {
  const CommandResult valid = attached({});
  EXPECT_EQ(valid.code, 0) << valid.err;
  EXPECT_THAT(valid.out, Not(HasSubstr("but ")));
  const std::string open = write("open", "a-token-of-16-letters\n");
  fs::permissions(open, fs::perms::owner_read | fs::perms::others_read);
  const std::vector<std::string> before = names();
  for (const char* const key : {"serve.public_token_file", "serve.operator_token_file"}) {
    const CommandResult token = attached(set(key, open));
    EXPECT_EQ(token.code, 77) << token.out;
    EXPECT_THAT(token.err, HasSubstr(std::string(key) + ": token file " + open + " is open to group or others"));
  }
  const CommandResult log = attached(set("log.file", folder_.path().string()));
  EXPECT_EQ(log.code, 74) << log.out;
  EXPECT_THAT(log.err, AllOf(HasSubstr("cannot open " + folder_.path().string()), HasSubstr("log.file")));
  EXPECT_EQ(attached(set("log.file", path("log"))).code, 0);
  const CommandResult address = attached(set("serve.operator_address", "127.0.0.1:9464"));
  EXPECT_EQ(address.code, 78);
  EXPECT_THAT(address.err,
              HasSubstr("serve.operator_address = 127.0.0.1:9464 is not allowed: an address or a port of "
                        "its own, not that of serve.public_address"));
  EXPECT_EQ(names(), before) << "a check makes nothing";
}

// As a key that is not there, they may be on another machine.
TEST_F(RefusedSettings, FilesOfTheServiceThatAreNotThere) {
  const std::pair<const char*, std::string> missing[] = {
      {"serve.public_token_file", "'" + path("nowhere") + "' is not there"},
      {"serve.operator_token_file", "the folder of '" + path("nowhere/token") + "' is not there"},
      {"log.file", "the folder of '" + path("nowhere/log") + "' is not there"}};
  for (const auto& [key, told] : missing) {
    const std::string file = told.substr(told.find('\'') + 1, told.rfind('\'') - told.find('\'') - 1);
    const CommandResult warned = attached(set(key, file));
    EXPECT_EQ(warned.code, 0) << warned.err;
    EXPECT_THAT(warned.out, HasSubstr("but " + std::string(key) + ": " + told + ": a run on this machine would be "));
  }
}

// A run over files is another one than attach, so that what attach would refuse is a warning there.
TEST_F(RefusedSettings, FilesOfTheServiceAreAWarningBesideInput) {
  write("in.jsonl", "{\"x\":1,\"y\":1}\n");
  Words of_files = set("stream.input", "in.jsonl");
  const Words more = set("log.file", folder_.path().string());
  of_files.insert(of_files.end(), more.begin(), more.end());
  const CommandResult warned = attached(of_files);
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_THAT(warned.out, HasSubstr("but attach would refuse this: cannot open "));
}

// What a run over files takes and no topic can have is told before a broker is asked, by check as by attach.
TEST_F(RefusedSettings, WhatIsForFilesIsForNoTopic) {
  write("in.csv", "1,1\n");
  const Words lines{
      "--set", "stream.format=csv",     "--set", "stream.header=false", "--set", "stream.columns=[\"x\",\"y\"]",
      "--set", "stream.framing=trusted"};
  const std::pair<Words, const char*> wrong[] = {
      {lines, " is for files: a topic's records end where their lengths say"},
      {{"--set", "privacy.unit=user", "--set", "privacy.user=u", "--set", "users.participations=2", "--set",
        "users.separation=1", "--set", "users.period=P1D", "--set", "users.times=trusted", "--set",
        "stream.time=@timestamp", "--set", "stream.times_public=true"},
       " is for recorded files: the windows of an attached topic go by append time"},
      {set("features.0.column", "@header:"), "@header:"}};
  for (const auto& [words, told] : wrong) {
    SCOPED_TRACE(told);
    const CommandResult checked = attached(words);
    EXPECT_EQ(checked.code, 78) << checked.out;
    EXPECT_THAT(checked.err, HasSubstr(told));
    Words attach = words;
    attach.insert(attach.begin(), {"attach", path("attached.toml"), "--set", "kafka.give_up_seconds=1"});
    const CommandResult refused = run_command(NUSTREAM_COMMAND, attach);
    EXPECT_EQ(refused.code, 78) << "before a broker is asked, which is not there: " << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(told));
  }
  Words of_files = lines;
  of_files.insert(of_files.end(), {"--set", "stream.input=in.csv"});
  const CommandResult warned = attached(of_files);
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_THAT(warned.out, HasSubstr("but attach would refuse this: --set stream.framing: stream.framing = "));
}

TEST_F(RefusedSettings, TokensForTheBrokersHaveASource) {
  const Words tokens{"-X", "security.protocol=SASL_SSL", "-X", "sasl.mechanism=OAUTHBEARER"};
  const auto with = [&](const Words& more) {
    Words words = tokens;
    words.insert(words.end(), more.begin(), more.end());
    return attached(words);
  };
  const CommandResult none = with({});
  EXPECT_EQ(none.code, 78) << none.out;
  EXPECT_THAT(none.err, HasSubstr("-X sasl.mechanism = OAUTHBEARER needs a source of tokens"));
  const CommandResult missing = with(set("kafka.oauth_token_file", path("nix")));
  EXPECT_EQ(missing.code, 0) << missing.err;
  EXPECT_THAT(missing.out, HasSubstr("but kafka.oauth_token_file: '" + path("nix") + "' is not there: a run on "));
  const std::string open = write("token", "t.o.ken\n");
  fs::permissions(open, fs::perms::owner_read | fs::perms::others_read);
  const CommandResult refused = with(set("kafka.oauth_token_file", open));
  EXPECT_EQ(refused.code, 77) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("token file " + open + " is open to group or others"));
  fs::permissions(open, fs::perms::owner_read);
  EXPECT_THAT(with(set("kafka.oauth_token_file", open)).out, Not(HasSubstr("but kafka.oauth")));
  for (const std::string& program : {std::string("no-such-program-of-nustream"), path("nix")}) {
    const CommandResult command = with({"--set", "kafka.oauth_token_command=[\"" + program + "\",\"-s\"]"});
    EXPECT_EQ(command.code, 0) << command.err;
    EXPECT_THAT(command.out, HasSubstr("but kafka.oauth_token_command: the program '" + program + "' is not there"));
  }
  EXPECT_THAT(with({"--set", "kafka.oauth_token_command=[\"true\"]"}).out, Not(HasSubstr("but kafka.oauth")));
}

// The file that is named is looked at, and not the one of the settings.
TEST_F(RefusedSettings, CheckLooksAtTheFileThatIsNamed) {
  write("in.csv", "x,y\n1,2\n");
  const std::string other = write("other.csv", "t,x,y,u\n0,1,2,a\n1,2,1,b\n");
  Words words{"check", config_,
              other,   "--data",
              "--set", "privacy.unit=user",
              "--set", "privacy.user=u",
              "--set", "users.participations=2",
              "--set", "users.separation=1",
              "--set", "users.period=P1D",
              "--set", "users.times=trusted",
              "--set", "stream.time=t",
              "--set", "stream.times_public=true"};
  const CommandResult looked = run_command(NUSTREAM_COMMAND, words);
  EXPECT_EQ(looked.code, 0) << looked.err;
  words[2] = path("in.csv");
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, words).code, 78) << "it has no such columns";
}

TEST_F(RefusedSettings, AStateFolderThatIsAFile) {
  write("in.csv", "x,y\n1,2\n");
  const CommandResult refused = run_command(
      NUSTREAM_COMMAND, {"replay", config_, "--set", "state.directory=" + path("in.csv"), "--insecure-seed", "1"});
  EXPECT_EQ(refused.code, 74) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("--set state.directory: state.directory = '" + path("in.csv") + "' is a file"));
}

TEST_F(RefusedSettings, ATableIsNotAttached) {
  const CommandResult refused = attached({"--set", "estimate.steps=10"});
  EXPECT_EQ(refused.code, 78);
  EXPECT_THAT(refused.err, HasSubstr("estimate.steps = 10: allowed is nothing for a stream"));
}

// Brokers tell their limits to attach alone; what none of them allows by default is warned of before.
TEST_F(RefusedSettings, TimesBeyondWhatBrokersAllow) {
  EXPECT_THAT(attached({}).out, Not(HasSubstr("but ")));
  EXPECT_THAT(
      attached({"--set", "kafka.transaction_seconds=1000"}).out,
      HasSubstr("but a transaction may take 1000000 ms (kafka.transaction_seconds): brokers allow 900000 unless"));
  EXPECT_THAT(attached({"-X", "session.timeout.ms=1000"}).out, HasSubstr("but session.timeout.ms = 1000: brokers"));
}

TEST_F(RefusedSettings, AnAccountThatIsNotThere) {
  const CommandResult warned = run("check", set("privacy.account", path("account")));
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_THAT(warned.out, HasSubstr("but privacy.account: '" + path("account") + "' is not there"));
}

// Both would be met at the first line of a file, which a check of settings does not read.
TEST_F(RefusedSettings, ColumnsBesideAHeader) {
  write("in.csv", "x,y\n1,1\n");
  const CommandResult both = run("check", {"--set", "stream.columns=[\"x\",\"y\"]"});
  EXPECT_EQ(both.code, 78) << both.out;
  EXPECT_THAT(both.err, HasSubstr("stream.columns are named although stream.header = true"));
  const CommandResult late =
      run("check", {"--set", "stream.columns=[\"x\",\"when\",\"y\"]", "--set", "stream.header=false", "--set",
                    "stream.time=when", "--set", "stream.times_public=true"});
  EXPECT_EQ(late.code, 78) << late.out;
  EXPECT_THAT(late.err, HasSubstr("column 'when' is not the first in stream.columns"));
}

// What [users] has is not used where the unit is the record, whatever else is to be measured.
TEST_F(RefusedSettings, LimitsOfNobodyAreWarnedOf) {
  const char* const said = "privacy.user or [users] is set, and privacy.unit is \"record\"";
  const Words mass{"--set", "users.mass=3"};
  EXPECT_THAT(run("check", mass).out, HasSubstr(said));
  Words measured = mass;
  measured.insert(measured.end(), {"--set", "features.0.center=private"});
  EXPECT_THAT(run("check", measured).out, HasSubstr(said));
  measured.insert(measured.begin(), {"plan", config_});
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, measured).out, HasSubstr(said));
  measured.emplace_back("--json");
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, measured).out, HasSubstr("\"warnings\":[\"privacy.user or [users]"));
}

// Neither option leads on from another stream's state.
TEST_F(RefusedSettings, AStateOfAnotherStreamIsNotGoneOnFrom) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return std::to_string(i % 3) + ",1"; }));
  ASSERT_EQ(run("replay", {"--quiet"}).code, 0);
  const CommandResult other = run("replay", {"--set", "stream.name=gate"});
  EXPECT_EQ(other.code, 65);
  EXPECT_THAT(other.err,
              AllOf(HasSubstr("holds a state (stream door, lane 0, epoch 0, step 40); this run is of stream "
                              "gate, lane 0: give it the name that made the state"),
                    Not(HasSubstr("--resume"))));
  EXPECT_THAT(run("replay").err, HasSubstr("go on from it with: nustream replay"));
}

// The command that is printed may be logged, and a person's password is no part of it.
TEST_F(RefusedSettings, ACommandIsToldWithoutSecretsAndWithWhatItCharges) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return std::to_string(i % 3) + ",1"; }));
  const Words secret{"--set", "kafka.brokers=\"127.0.0.1:1\"",
                     "--set", "kafka.topic=\"in\"",
                     "--set", "kafka.librdkafka={\"sasl.password\"=\"hunter2\"}"};
  ASSERT_EQ(run("replay", {"--quiet", "--passes", "2"}).code, 0);
  Words other = secret;
  other.insert(other.end(), {"--passes", "2", "--resume", "--set", "descent.clip_norm=3", "--from", "0"});
  const CommandResult refused = run("replay", other);
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("--set kafka.librdkafka=… "), HasSubstr("--passes 2 --from 0 --new-epoch "),
                    HasSubstr("it reads the same records again: what both epochs spend adds up")));
  EXPECT_EQ(refused.err.substr(refused.err.find("begin a new epoch")).find("hunter2"), std::string::npos);
}

// A replay has no steps to be asked for, and what a table has is not told as noise and passes.
TEST_F(RefusedSettings, AStateOfAnEstimateIsToldByItsSteps) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return std::to_string(i % 3) + ",1"; }));
  ASSERT_EQ(run("estimate", {"--quiet", "--set", "estimate.steps=10"}).code, 0);
  const CommandResult other = run("replay", {"--resume"});
  EXPECT_EQ(other.code, 65);
  EXPECT_THAT(other.err, AllOf(HasSubstr("estimate.steps (10 there, none here)"), Not(HasSubstr("noise.horizon")),
                               Not(HasSubstr("--passes")), Not(HasSubstr("descent.minibatch"))));
}

}  // namespace
}  // namespace nustream::tests
