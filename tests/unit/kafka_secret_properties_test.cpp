// Secrets of the client library that lie in files of their own, and what is said of those that stand in the settings.
#include "kafka/secret_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "error.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using kafka::Properties;
using kafka::with_secrets;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* secret = "hunter2-4711";

std::string secret_file(const TemporaryFolder& folder, const std::string& text, mode_t mode = 0600) {
  const std::string path = folder.write("secret", text);
  if (::chmod(path.c_str(), mode) != 0) throw std::runtime_error("chmod");
  return path;
}

std::string told_of(const Properties& properties, Exit code) {
  try {
    static_cast<void>(with_secrets(properties));
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), code) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "was to be refused";
  return {};
}

TEST(KafkaSecrets, AreTheFirstLineOfAFile) {
  const TemporaryFolder folder;
  for (const char* const text : {"hunter2-4711", "hunter2-4711\n", "hunter2-4711\r\nmore\n"}) {
    const Properties read = with_secrets({{"sasl.password_file", secret_file(folder, text)}, {"client.id", "me"}});
    EXPECT_EQ(read, (Properties{{"client.id", "me"}, {"sasl.password", secret}})) << text;
  }
}

TEST(KafkaSecrets, AreAWholeFileWhereTheyArePem) {
  const TemporaryFolder folder;
  const std::string key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n";
  EXPECT_EQ(with_secrets({{"ssl.key.pem_file", secret_file(folder, key)}}), (Properties{{"ssl.key.pem", key}}));
}

TEST(KafkaSecrets, AreReadFromTheEnvironment) {
  ::setenv("NUSTREAM_TEST_SECRET", secret, 1);
  EXPECT_EQ(with_secrets({{"sasl.password_env", "NUSTREAM_TEST_SECRET"}}), (Properties{{"sasl.password", secret}}));
  ::unsetenv("NUSTREAM_TEST_SECRET");
  EXPECT_THAT(told_of({{"sasl.password_env", "NUSTREAM_TEST_SECRET"}}, Exit::configuration),
              HasSubstr("NUSTREAM_TEST_SECRET"));
}

TEST(KafkaSecrets, AreRefusedWhereOthersMayReadThem) {
  const TemporaryFolder folder;
  // Modes as systemd and Kubernetes hand secrets over: the file is root's, and nobody else may write it.
  for (const mode_t mode : {0600U, 0400U, 0440U}) {
    if (mode == 0440U && ::geteuid() != 0) continue;
    EXPECT_EQ(with_secrets({{"sasl.password_file", secret_file(folder, secret, mode)}}).at("sasl.password"), secret);
  }
  for (const mode_t mode : {0640U, 0644U, 0660U, 0604U, 0444U, 0620U}) {
    const std::string told = told_of({{"sasl.password_file", secret_file(folder, secret, mode)}}, Exit::permission);
    EXPECT_THAT(told, HasSubstr("is open to group or others")) << mode;
    EXPECT_THAT(told, Not(HasSubstr(secret)));
  }
  const std::string missing = (folder.path() / "missing").string();
  EXPECT_THAT(told_of({{"sasl.password_file", missing}}, Exit::permission), HasSubstr("sasl.password_file"));
  EXPECT_THAT(told_of({{"sasl.password_file", secret_file(folder, "\n")}}, Exit::configuration),
              HasSubstr("without"));
}

TEST(KafkaSecrets, AreGivenOnceAndAreSecrets) {
  const TemporaryFolder folder;
  const std::string file = secret_file(folder, secret);
  const std::string twice = told_of({{"sasl.password", secret}, {"sasl.password_file", file}}, Exit::configuration);
  EXPECT_THAT(twice, HasSubstr("twice"));
  EXPECT_THAT(twice, Not(HasSubstr(secret)));
  EXPECT_THAT(told_of({{"client.id_file", file}}, Exit::configuration), HasSubstr("is no secret"));
}

struct Advised {
  TemporaryFolder folder;
  std::string file;
  config::Kafka kafka;

  Advised(const std::string& brokers, const Properties& written, const Properties& given = {}) {
    std::string text = "[kafka]\nbrokers = \"" + brokers + "\"\n[kafka.librdkafka]\n";
    for (const auto& [name, value] : written) text += '"' + name + "\" = \"" + value + "\"\n";
    file = folder.write("stream.toml", text);
    kafka.brokers = brokers;
    kafka.properties = written;
    for (const auto& one : given) kafka.properties.insert(one);
  }
  [[nodiscard]] std::vector<std::string> advice() const { return kafka::security_advice(kafka, file); }
};

TEST(KafkaSecurityAdvice, WarnsOfAPasswordThatOthersCanRead) {
  const Advised written("localhost:9092", {{"sasl.password", secret}});
  ::chmod(written.file.c_str(), 0644);
  EXPECT_THAT(written.advice(), ElementsAre(HasSubstr("can be read by others")));
  EXPECT_THAT(written.advice().front(), Not(HasSubstr(secret)));
  ::chmod(written.file.c_str(), 0600);
  EXPECT_THAT(written.advice(), IsEmpty());
  const Advised given("localhost:9092", {}, {{"sasl.password", secret}});
  EXPECT_THAT(given.advice(), ElementsAre(HasSubstr("command line")));
  EXPECT_THAT(given.advice().front(), Not(HasSubstr(secret)));
}

TEST(KafkaSecurityAdvice, WarnsOfPasswordsOnTheNetwork) {
  const Properties plain{
      {"security.protocol", "SASL_PLAINTEXT"}, {"sasl.mechanism", "PLAIN"}, {"sasl.username", "alice"}};
  EXPECT_THAT(Advised("broker.example:9092", plain).advice(), ElementsAre(HasSubstr("without TLS")));
  EXPECT_THAT(Advised("localhost:9092,broker.example:9092", plain).advice(), ElementsAre(HasSubstr("without TLS")));
  EXPECT_THAT(Advised("127.0.0.1:9092,[::1]:9092,localhost:1", plain).advice(), IsEmpty());
  Properties encrypted = plain;
  encrypted["security.protocol"] = "sasl_ssl";
  EXPECT_THAT(Advised("broker.example:9092", encrypted).advice(), IsEmpty());
  Properties scram = plain;
  scram["sasl.mechanism"] = "SCRAM-SHA-512";
  EXPECT_THAT(Advised("broker.example:9092", scram).advice(), IsEmpty()) << "it does not send the password";
}

TEST(KafkaSecurityAdvice, WarnsOfCertificatesThatAreNotChecked) {
  EXPECT_THAT(Advised("b:1", {{"security.protocol", "ssl"}}).advice(), IsEmpty());
  EXPECT_THAT(
      Advised("b:1", {{"security.protocol", "ssl"}, {"enable.ssl.certificate.verification", "false"}}).advice(),
      ElementsAre(HasSubstr("any broker")));
  EXPECT_THAT(
      Advised("b:1", {{"security.protocol", "ssl"}, {"ssl.endpoint.identification.algorithm", "none"}}).advice(),
      ElementsAre(HasSubstr("names")));
}

}  // namespace
}  // namespace nustream::tests
