// Tokens of OAUTHBEARER: what is read from a file's or a command's text, and how commands are run.
#include "kafka/oauth_token.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "error.h"
#include "kafka/client_settings.h"

namespace nustream::tests {
namespace {

using kafka::OAuthToken;
using kafka::output_of_command;
using kafka::parse_oauth_token;
using std::chrono::seconds;
using std::chrono::system_clock;

const system_clock::time_point now{seconds(1'764'158'400)};

// The token {"alg":"none"}.{"sub":"alice","exp":1764158460}. of RFC 7519, encoded by another program (python3's
// base64).
constexpr const char* web_token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImV4cCI6MTc2NDE1ODQ2MH0.";

TEST(KafkaOAuthToken, TellsItsOwnEndOfLife) {
  const OAuthToken token = parse_oauth_token(std::string(web_token) + "\n", now);
  EXPECT_EQ(token.value, web_token);
  EXPECT_EQ(token.expires, now + seconds(60));
  EXPECT_EQ(token.principal, "alice");
}

TEST(KafkaOAuthToken, IsReadOutOfAServersAnswer) {
  const OAuthToken token =
      parse_oauth_token(R"({"access_token":"opaque-1","token_type":"Bearer","expires_in":3600})", now);
  EXPECT_EQ(token.value, "opaque-1");
  EXPECT_EQ(token.expires, now + seconds(3600));
  const OAuthToken both =
      parse_oauth_token(std::string(R"({"access_token":")") + web_token + R"(","expires_in":30})", now);
  EXPECT_EQ(both.expires, now + seconds(30)) << "the server's word goes first";
  EXPECT_EQ(both.principal, "alice");
}

TEST(KafkaOAuthToken, IsReadOutOfASignersAnswer) {
  const OAuthToken token = parse_oauth_token(R"({"token":"aHR0cHM6","expiryMs":1764159300000})", now);
  EXPECT_EQ(token.value, "aHR0cHM6");
  EXPECT_EQ(token.expires, now + seconds(900));
}

TEST(KafkaOAuthToken, LastsFiveMinutesWhereNobodySays) {
  EXPECT_EQ(parse_oauth_token("opaque", now).expires, now + seconds(300));
  EXPECT_EQ(parse_oauth_token("no.claims!.here", now).expires, now + seconds(300));
}

TEST(KafkaOAuthToken, IsRefusedWithoutBeingShown) {
  for (const char* const text : {"", "  \n", "two words", "{\"access_token\":1}", "{\"broken", "{\"token\":\"a b\"}",
                                 "{\"access_token\":\"s3cret\",\"expires_in\":0}"}) {
    try {
      static_cast<void>(parse_oauth_token(text, now));
      ADD_FAILURE() << text;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), Exit::permission);
      EXPECT_THAT(failure.what(), ::testing::Not(::testing::HasSubstr("s3cret")));
    }
  }
  EXPECT_THROW(static_cast<void>(parse_oauth_token(web_token, now + seconds(60))), Failure) << "past its end";
}

TEST(KafkaOAuthSource, NeedsItsMechanismAndIsOne) {
  const kafka::Properties file{{"oauth_token_file", "/nowhere"}};
  EXPECT_THROW(kafka::check_properties(file), Failure);
  EXPECT_NO_THROW(kafka::check_properties({{"oauth_token_file", "/nowhere"}, {"sasl.mechanism", "OAUTHBEARER"}}));
  EXPECT_THROW(
      kafka::check_properties(
          {{"oauth_token_file", "/nowhere"}, {"oauth_token_command", "true"}, {"sasl.mechanism", "OAUTHBEARER"}}),
      Failure);
}

// Without a source a client would wait for a token without a word, and the brokers would seem to be away.
TEST(KafkaOAuthSource, IsNeededWhereClientsSignInByTokens) {
  const auto refused = [](kafka::Properties properties) -> std::string {
    try {
      kafka::check_properties(properties);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), Exit::configuration);
      return failure.what();
    }
    return "";
  };
  const kafka::Properties tokens{{"security.protocol", "SASL_SSL"}, {"sasl.mechanism", "OAUTHBEARER"}};
  EXPECT_THAT(refused(tokens), ::testing::HasSubstr("needs a source of tokens: set kafka.oauth_token_file or "));
  kafka::Properties others = tokens;
  others["enable.sasl.oauthbearer.unsecure.jwt"] = "true";
  EXPECT_EQ(refused(others), "");
  EXPECT_EQ(refused({{"security.protocol", "ssl"}, {"sasl.mechanism", "OAUTHBEARER"}}), "") << "nobody signs in";
}

// The library would take Kerberos, and complain of properties that nobody set.
TEST(KafkaSasl, NeedsAMechanism) {
  for (const char* const protocol : {"sasl_ssl", "SASL_PLAINTEXT"}) {
    try {
      kafka::check_properties({{"security.protocol", protocol}});
      ADD_FAILURE() << protocol;
    } catch (const kafka::RefusedProperty& failure) {
      EXPECT_EQ(failure.name(), "security.protocol");
      EXPECT_THAT(failure.reason(), ::testing::HasSubstr("needs kafka.librdkafka.\"sasl.mechanism\""));
    }
  }
  EXPECT_NO_THROW(kafka::check_properties({{"security.protocol", "ssl"}}));
  EXPECT_NO_THROW(kafka::check_properties({{"security.protocol", "sasl_ssl"}, {"sasl.mechanism", "PLAIN"}}));
  EXPECT_NO_THROW(
      kafka::check_properties({{"security.protocol", "sasl_ssl"}, {"sasl.kerberos.service.name", "kafka"}}));
}

TEST(CommandOutput, IsWhatAProgramPrintsWithoutAShell) {
  EXPECT_EQ(output_of_command("printf\n%s-%s\na b\n$HOME;`id`", 100), "a b-$HOME;`id`");
  EXPECT_EQ(output_of_command("cat", 100), "") << "nothing is on its standard input";
}

TEST(CommandOutput, IsNothingWhereTheProgramFails) {
  for (const char* const words : {"false", "/nowhere/program", "sh\n-c\necho s3cret; exit 3", "sh\n-c\nkill -9 $$",
                                  "head\n-c\n200\n/dev/zero"}) {
    try {
      static_cast<void>(output_of_command(words, 100));
      ADD_FAILURE() << words;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), Exit::permission) << words;
      EXPECT_THAT(failure.what(), ::testing::Not(::testing::HasSubstr("s3cret\n")));
    }
  }
  EXPECT_THROW(static_cast<void>(output_of_command("", 100)), Failure);
}

// A command that has closed its output and goes on is waited for as long as any other, and then killed.
TEST(CommandOutput, IsNothingWhereTheProgramDoesNotEnd) {
  for (const char* const words : {"sleep\n1000", "sh\n-c\necho token; exec >&-; exec sleep 1000"}) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW(static_cast<void>(output_of_command(words, 100, std::chrono::milliseconds{300})), Failure) << words;
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds{300}) << words;
  }
}

// The descriptor has a number that the shell does not use itself, as it uses one for the list of names.
TEST(CommandOutput, IsOfAProgramWithoutTheDescriptorsOfThisProcess) {
  const int opened = ::open("/dev/null", O_RDONLY);
  const int left_open = ::fcntl(opened, F_DUPFD, 50);
  ::close(opened);
  ASSERT_GE(left_open, 50);
  const std::string seen = output_of_command("sh\n-c\nfor n in /proc/self/fd/*; do printf %s, ${n##*/}; done", 100);
  EXPECT_EQ(seen.find("0,"), 0U) << "the command sees its own";
  EXPECT_EQ(seen.find(std::to_string(left_open) + ","), std::string::npos) << seen;
  ::close(left_open);
}

}  // namespace
}  // namespace nustream::tests
