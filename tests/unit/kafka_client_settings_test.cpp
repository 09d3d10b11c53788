// The properties that clients run with: defaults, the user's properties over them, and those that are refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "expect_failure.h"
#include "kafka/client_settings.h"

namespace nustream::tests {
namespace {

using kafka::check_properties;
using kafka::ClientSettings;
using kafka::Properties;
using kafka::property_in_force;
using kafka::Role;

constexpr Role roles[] = {Role::group_consumer, Role::transactional_producer, Role::committed_reader,
                          Role::uncommitted_reader};

std::string in_force(Role role, const std::string& name, const Properties& properties = {}) {
  return property_in_force({"localhost:9092", properties}, role, name);
}

TEST(KafkaSettings, AreWhatExactlyOnceNeeds) {
  EXPECT_EQ(in_force(Role::group_consumer, "isolation.level"), "read_committed");
  EXPECT_EQ(in_force(Role::group_consumer, "partition.assignment.strategy"), "cooperative-sticky");
  EXPECT_EQ(in_force(Role::transactional_producer, "enable.idempotence"), "true");
  EXPECT_EQ(in_force(Role::committed_reader, "isolation.level"), "read_committed");
  EXPECT_EQ(in_force(Role::uncommitted_reader, "isolation.level"), "read_uncommitted");
  for (const Role role : {Role::group_consumer, Role::committed_reader, Role::uncommitted_reader}) {
    EXPECT_EQ(in_force(role, "enable.auto.commit"), "false");
    EXPECT_EQ(in_force(role, "enable.auto.offset.store"), "false");
    EXPECT_EQ(in_force(role, "auto.offset.reset"), "error");
    EXPECT_EQ(in_force(role, "enable.partition.eof"), "true");
    EXPECT_EQ(in_force(role, "allow.auto.create.topics"), "false");
  }
}

TEST(KafkaSettings, TakeTheUsersPropertiesOverTheDefaults) {
  EXPECT_EQ(in_force(Role::transactional_producer, "transaction.timeout.ms"), "60000");
  EXPECT_EQ(in_force(Role::transactional_producer, "transaction.timeout.ms", {{"transaction.timeout.ms", "70000"}}),
            "70000");
  for (const Role role : roles) {
    EXPECT_EQ(in_force(role, "bootstrap.servers"), "localhost:9092");
    EXPECT_EQ(in_force(role, "client.id", {{"client.id", "me"}}), "me");
  }
}

// librdkafka refuses a request timeout that is longer than the transaction's.
TEST(KafkaSettings, ShortenRequestsWithTheTransaction) {
  const Properties six_seconds{{"transaction.timeout.ms", "6000"}};
  EXPECT_EQ(in_force(Role::transactional_producer, "socket.timeout.ms"), "10000");
  EXPECT_EQ(in_force(Role::transactional_producer, "socket.timeout.ms", six_seconds), "6000");
  EXPECT_EQ(in_force(Role::group_consumer, "socket.timeout.ms", six_seconds), "10000");
  const Properties both{{"transaction.timeout.ms", "6000"}, {"socket.timeout.ms", "3000"}};
  EXPECT_EQ(in_force(Role::transactional_producer, "socket.timeout.ms", both), "3000");
}

TEST(KafkaSettings, RefuseWhatWouldBreakExactlyOnceByName) {
  const std::vector<std::pair<std::string, std::string>> properties = {
      {"enable.auto.commit", "true"},
      {"auto.commit.interval.ms", "100"},
      {"enable.auto.offset.store", "true"},
      {"isolation.level", "read_uncommitted"},
      {"enable.idempotence", "false"},
      {"acks", "1"},
      {"request.required.acks", "0"},
      {"transactional.id", "mine"},
      {"auto.offset.reset", "latest"},
      {"partition.assignment.strategy", "range"},
      {"enable.partition.eof", "false"},
      {"allow.auto.create.topics", "true"},
      {"bootstrap.servers", "other:9092"},
      {"metadata.broker.list", "other:9092"},
      {"group.id", "other"},
      {"group.instance.id", "other"},
  };
  for (const auto& [name, value] : properties) {
    expect_failure(
        Exit::configuration,
        [&] {
          check_properties({{name, value}});
        },
        "'" + name + "' cannot be changed: ");
    for (const Role role : roles) {
      expect_failure(Exit::configuration, [&] { static_cast<void>(in_force(role, "client.id", {{name, value}})); });
    }
  }
}

TEST(KafkaSettings, RefuseWhatDoesNotExistAndTellTheNearest) {
  expect_failure(
      Exit::configuration,
      [] {
        check_properties({{"sesion.timeout.ms", "6000"}});
      },
      "'sesion.timeout.ms' does not exist (did you mean 'session.timeout.ms'?)");
  expect_failure(
      Exit::configuration, [] { static_cast<void>(in_force(Role::group_consumer, "no.such")); }, "'no.such'");
}

TEST(KafkaSettings, RefuseValuesThatAreNotAllowed) {
  expect_failure(
      Exit::configuration,
      [] {
        check_properties({{"session.timeout.ms", "soon"}});
      },
      "'session.timeout.ms'");
  expect_failure(
      Exit::configuration,
      [] {
        check_properties({{"security.protocol", "trust"}});
      },
      "'security.protocol'");
}

// The place is that of the key that somebody wrote, also where a file holds the secret.
TEST(KafkaSettings, RefuseAPropertyAtItsPlace) {
  config::Kafka kafka;
  const auto refused = [&](const std::string& name, const std::string& told) {
    kafka.properties = {{name, "/nowhere"}};
    try {
      check_properties(kafka, "a.toml");
      ADD_FAILURE() << name;
    } catch (const Failure& failure) {
      EXPECT_EQ(std::string(failure.what()).substr(0, told.size()), told);
    }
  };
  refused("acks", "a.toml: kafka.librdkafka: the property 'acks' cannot be changed: it has to be all");
  kafka.places = {{"acks", "-X acks"}, {"sasl.password_file", "a.toml:3:1: the key"}};
  refused("acks", "-X acks cannot be changed: it has to be all");
  refused("sasl.password_file", "a.toml:3:1: the key names a file that cannot be used: cannot open secret file /now");
}

// An error that shows a password would carry it into a log, and from there everywhere.
TEST(KafkaSettings, NeverShowASecret) {
  const std::string secret = "hunter2-4711";
  for (const std::string name : {"sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem",
                                 "sasl.oauthbearer.client.secret"}) {
    const Properties properties{{name, secret}};
    EXPECT_EQ(kafka::blot_secrets("the password '" + secret + "' was\nrefused: " + secret, properties),
              "the password '***' was refused: ***")
        << name;
    try {
      check_properties(properties);
    } catch (const Failure& failure) {
      EXPECT_EQ(std::string(failure.what()).find(secret), std::string::npos) << failure.what();
    }
  }
  EXPECT_EQ(kafka::blot_secrets("user alice", {{"sasl.username", "alice"}, {"sasl.password", ""}}), "user alice");
}

}  // namespace
}  // namespace nustream::tests
