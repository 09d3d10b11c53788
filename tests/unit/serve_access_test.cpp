// Who may read: bearer tokens, their files, addresses, and the names by which a client may ask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <string>

#include "expect_failure.h"
#include "nustream/base/error.h"
#include "serve/bearer_token.h"
#include "serve/servers.h"
#include "serve/settings.h"
#include "serve_client.h"
#include "serve_loop.h"
#include "temporary_folder.h"

namespace nustream::serve {
namespace {

using tests::expect_failure;
using tests::http_request;
using tests::HttpAnswer;
using tests::HttpClient;

constexpr const char* token = "dG9rZW4tb2YtdGhlLXRlc3Q=";

TEST(BearerToken, MatchesItselfAlone) {
  const BearerToken secret(token);
  EXPECT_TRUE(secret.matches(token));
  std::string changed = token;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    changed = token;
    changed[i] = '!';
    EXPECT_FALSE(secret.matches(changed)) << i;
    EXPECT_FALSE(secret.matches(std::string(token).substr(0, i))) << i;
  }
  EXPECT_FALSE(secret.matches(std::string(token) + "=") || secret.matches(" " + std::string(token)));
}

TEST(BearerToken, RefusesWeakAndUnprintableOnes) {
  for (const std::string& bad :
       {std::string(), std::string("fifteen-letters"), std::string(1025, 'a'), std::string("with a space in it"),
        std::string("with\nline ends in it"), std::string("sixteen-letters\0", 16)}) {
    EXPECT_THROW(BearerToken{bad}, InvalidParameter);
  }
  EXPECT_TRUE(BearerToken(std::string(1024, 'a')).matches(std::string(1024, 'a')));
  EXPECT_TRUE(BearerToken("sixteen-letters-").matches("sixteen-letters-"));
}

class TokenFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text, mode_t mode = 0600) {
    std::string file = folder_.write("token", text);
    ::chmod(file.c_str(), mode);
    return file;
  }
  tests::TemporaryFolder folder_;
};

TEST_F(TokenFile, IsReadWithOrWithoutALineEnd) {
  EXPECT_TRUE(load_bearer_token(write(token)).matches(token));
  EXPECT_TRUE(load_bearer_token(write(std::string(token) + "\n")).matches(token));
  EXPECT_TRUE(load_bearer_token(write(std::string(1024, 'a') + "\n", 0400)).matches(std::string(1024, 'a')));
}

TEST_F(TokenFile, IsRefusedWhereOthersCouldReadIt) {
  for (const mode_t mode : {0640U, 0604U, 0660U, 0644U, 0620U, 0602U, 0610U, 0601U}) {
    const std::string file = write(token, mode);
    expect_failure(
        Exit::permission, [&] { static_cast<void>(load_bearer_token(file)); }, "chmod 600");
  }
}

TEST_F(TokenFile, IsRefusedWhereItIsNoToken) {
  for (const std::string& text :
       {std::string(), std::string("short"), std::string(token) + "\n\n", std::string(token) + "\n" + token + "\n",
        std::string(token) + "\r\n", std::string(1025, 'a'), std::string(5000, 'a')}) {
    const std::string file = write(text);
    expect_failure(
        Exit::permission, [&] { static_cast<void>(load_bearer_token(file)); }, "does not hold one token");
  }
  expect_failure(Exit::permission, [&] { static_cast<void>(load_bearer_token(folder_.path())); });
  expect_failure(Exit::permission, [&] { static_cast<void>(load_bearer_token(folder_.path() / "none")); });
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_failure(
      Exit::permission, [&] { static_cast<void>(load_bearer_token(pipe)); }, "regular file");
}

TEST_F(TokenFile, FailuresNeverShowTheToken) {
  const std::string file = write(std::string(token) + " trailing");
  try {
    static_cast<void>(load_bearer_token(file));
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), ::testing::Not(::testing::HasSubstr("dG9r")));
  }
  try {
    static_cast<void>(BearerToken("secret with spaces"));
    FAIL();
  } catch (const InvalidParameter& error) {
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("secret")));
  }
}

TEST(Address, ReadsLiteralsAndNothingElse) {
  EXPECT_EQ(to_text(parse_address("a", "127.0.0.1:9464")), "127.0.0.1:9464");
  EXPECT_EQ(to_text(parse_address("a", "localhost:0")), "127.0.0.1:0");
  EXPECT_EQ(to_text(parse_address("a", "0.0.0.0:65535")), "0.0.0.0:65535");
  EXPECT_EQ(to_text(parse_address("a", "[::1]:80")), "[::1]:80");
  for (const char* bad : {"", ":", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                          "127.0.0.1:80a", "127.0.0.1: 80", "127.0.0.1:+80", "host:80", "::1:80", "[127.0.0.1]:80",
                          "[::1]", "1.2.3:80", "1.2.3.4.5:80", "http://127.0.0.1:80"}) {
    EXPECT_THROW(static_cast<void>(parse_address("serve.public_address", bad)), InvalidParameter) << bad;
  }
  try {
    static_cast<void>(parse_address("serve.public_address", "host:80"));
  } catch (const InvalidParameter& error) {
    EXPECT_EQ(error.name(), "serve.public_address");
  }
}

// The second of two listeners on one address could not begin.
TEST(Address, EachListenerHasItsOwn) {
  const auto refused = [](const std::string& shown, const std::string& operators, const std::string& health = {}) {
    Settings settings;
    settings.public_address = shown;
    settings.operator_address = operators;
    settings.health_address = health;
    try {
      check(settings);
      return std::string();
    } catch (const InvalidParameter& error) {
      return error.name() + ": " + error.allowed();
    }
  };
  EXPECT_EQ(refused("127.0.0.1:9464", "localhost:9464"),
            "serve.operator_address: an address or a port of its own, not that of serve.public_address");
  EXPECT_EQ(refused("0.0.0.0:9464", "127.0.0.1:9465", "127.0.0.1:9464"),
            "serve.health_address: an address or a port of its own, not that of serve.public_address");
  EXPECT_EQ(refused("127.0.0.1:9464", "127.0.0.1:9465", "127.0.0.2:9464"), "");
  EXPECT_EQ(refused("127.0.0.1:0", "127.0.0.1:0"), "") << "any free port";
  EXPECT_NE(refused("[::1]:9464", "[0:0:0:0:0:0:0:1]:9464"), "") << "two texts of one address";
  EXPECT_NE(refused("127.0.0.1:9464", "[::ffff:127.0.0.1]:9464"), "");
  EXPECT_NE(refused("[::]:9464", "127.0.0.1:9464"), "");
  EXPECT_EQ(refused("0.0.0.0:9464", "[::1]:9464"), "") << "every address of IPv4, and one of IPv6";
  EXPECT_EQ(refused("", "127.0.0.1:9464"), "");
}

TEST(Address, KnowsLoopback) {
  for (const char* text : {"127.0.0.1:1", "127.255.0.3:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "localhost:1"}) {
    EXPECT_TRUE(is_loopback(parse_address("a", text))) << text;
  }
  for (const char* text : {"0.0.0.0:1", "10.0.0.1:1", "128.0.0.1:1", "[::]:1", "[::2]:1", "[::ffff:10.0.0.1]:1"}) {
    EXPECT_FALSE(is_loopback(parse_address("a", text))) << text;
  }
}

TEST(Address, KnowsHostsThatNoResolverCanPointHere) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:9465", "[::1]", "[::1]:9465", "localhost", "localhost:80", "10.0.0.7"}) {
    EXPECT_TRUE(is_literal_host(host)) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:9465", "localhost.evil.example",
                           "127.0.0.1.evil.example", "::1", "127.0.0.1@evil.example"}) {
    EXPECT_FALSE(is_literal_host(host)) << host;
  }
}

/// Both listeners, on free ports.
class ServersAccess : public TokenFile {
 protected:
  void open(Settings settings) {
    settings.public_address = "127.0.0.1:0";
    settings.operator_address = "127.0.0.1:0";
    loop_.on_loop([&] { servers_.emplace(loop_.loop, settings, loop_.shown, loop_.operators); });
  }
  void TearDown() override {
    loop_.on_loop([&] { servers_.reset(); });
  }
  HttpAnswer ask(const std::optional<Listener>& listener, const std::string& path, const std::string& headers = {}) {
    HttpClient client(listener->port());
    client.send(http_request(path, headers));
    return client.read();
  }
  HttpAnswer ask_public(const std::string& path, const std::string& headers = {}) {
    return ask(servers_->public_listener(), path, headers);
  }
  HttpAnswer ask_operator(const std::string& path, const std::string& headers = {}) {
    return ask(servers_->operator_listener(), path, headers);
  }

  tests::ServeLoop loop_;
  std::optional<Servers> servers_;
};

TEST_F(ServersAccess, TheOperatorsTokenGuardsEveryPath) {
  open({.operator_token_file = write(std::string(token) + "\n")});
  const std::string good = "Authorization: Bearer " + std::string(token) + "\r\n";
  for (const char* path : {"/metrics", "/healthz", "/readyz", "/version", "/api/v1/state", "/unknown"}) {
    const HttpAnswer refused = ask_operator(path);
    EXPECT_EQ(refused.status, 401) << path;
    EXPECT_EQ(refused.headers.at("WWW-Authenticate"), "Bearer realm=\"nustream\", Basic realm=\"nustream\"");
    EXPECT_NE(ask_operator(path, good).status, 401) << path;
    EXPECT_NE(ask_public(path).status, 401) << path;
  }
  EXPECT_EQ(ask_operator("/metrics", good).status, 200);
  EXPECT_EQ(ask_operator("/metrics", "authorization: bEARER " + std::string(token) + "\r\n").status, 200);
  for (const char* bad :
       {"Authorization: Bearer\r\n", "Authorization: Bearer \r\n", "Authorization: Basic dXNlcjpwYXNz\r\n"}) {
    EXPECT_EQ(ask_operator("/metrics", bad).status, 401) << bad;
  }
  EXPECT_EQ(ask_operator("/metrics", "Authorization: " + std::string(token) + "\r\n").status, 401);
  EXPECT_EQ(ask_operator("/metrics", "Authorization: Bearer " + std::string(token) + "x\r\n").status, 401);
  EXPECT_EQ(ask_operator("/metrics", good + good).status, 401) << "two of them";
  EXPECT_EQ(ask_operator("/metrics?token=" + std::string(token)).status, 401);
}

// A browser asks its user for a name and a password: the token is the password, whatever the name.
TEST_F(ServersAccess, ABrowserShowsTheTokenAsAPassword) {
  open({.operator_token_file = write(token)});
  const auto ask = [&](const std::string& credentials) {
    return ask_operator("/", "Authorization: Basic " + credentials + "\r\n").status;
  };
  EXPECT_EQ(ask("b3BlcmF0b3I6ZEc5clpXNHRiMll0ZEdobExYUmxjM1E9"), 200);  // operator:TOKEN
  EXPECT_EQ(ask("OmRHOXJaVzR0YjJZdGRHaGxMWFJsYzNRPQ=="), 200);          // :TOKEN
  for (const char* const bad : {"", "b3BlcmF0b3I6", "b3BlcmF0b3I6d3Jvbmc=", "ZEc5clpXNHRiMll0ZEdobExYUmxjM1E9",
                                "not base64 at all", "===="}) {
    EXPECT_EQ(ask(bad), 401) << bad;
  }
}

// A token is replaced because somebody else has it; an open stream of events would go on for him.
TEST_F(ServersAccess, ANewTokenCutsOffWhoFollowsWithTheOldOne) {
  open({.operator_token_file = write(token)});
  const auto follow = [&](const std::string& with) {
    auto client = std::make_unique<HttpClient>(servers_->operator_listener()->port());
    client->send(http_request("/api/v1/events", "Authorization: Bearer " + with + "\r\n"));
    EXPECT_THAT(client->read_until("\r\n\r\n"), ::testing::HasSubstr("200 OK"));
    return client;
  };
  const auto of_old = follow(token);
  loop_.on_loop([this] { servers_->read_tokens_again(); });
  EXPECT_NO_THROW(static_cast<void>(of_old->read_until("retry: 3000\n\n"))) << "the same token changes nothing";
  const std::string other = "another-token-of-the-test";
  static_cast<void>(write(other));
  loop_.on_loop([this] { servers_->read_tokens_again(); });
  static_cast<void>(of_old->read_to_end());
  EXPECT_EQ(ask_operator("/metrics", "Authorization: Bearer " + std::string(token) + "\r\n").status, 401);
  static_cast<void>(follow(other));
}

TEST_F(ServersAccess, ThePublicTokenIsItsOwn) {
  open({.public_token_file = write(token)});
  EXPECT_EQ(ask_public("/metrics").status, 401);
  EXPECT_EQ(ask_public("/metrics", "Authorization: Bearer " + std::string(token) + "\r\n").status, 200);
  EXPECT_EQ(ask_operator("/metrics").status, 200);
}

// DNS rebinding: a web page under a name that resolves to 127.0.0.1 must not read the operator's figures.
TEST_F(ServersAccess, WithoutATokenTheOperatorIsAskedByAddressAlone) {
  open({});
  const auto host = [](const std::string& name) { return "GET /metrics HTTP/1.1\r\nHost: " + name + "\r\n\r\n"; };
  for (const auto& [name, status] : {std::pair{"evil.example:9465", 421}, std::pair{"127.0.0.1:9465", 200}}) {
    HttpClient client(servers_->operator_listener()->port());
    client.send(host(name));
    EXPECT_EQ(client.read().status, status) << name;
  }
  HttpClient anyone(servers_->public_listener()->port());
  anyone.send(host("model.example"));
  EXPECT_EQ(anyone.read().status, 200) << "a proxy passes its own name on";
}

TEST_F(ServersAccess, WithATokenTheOperatorMayBeAskedByAnyName) {
  open({.operator_token_file = write(token)});
  HttpClient client(servers_->operator_listener()->port());
  client.send("GET /metrics HTTP/1.1\r\nHost: nustream:9465\r\nAuthorization: Bearer " + std::string(token) +
              "\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
}

TEST(Servers, BeyondLoopbackTheOperatorNeedsAToken) {
  boost::asio::io_context loop;
  PublicSurface shown("retail");
  const OperatorSurface operators(shown);
  for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
    const Settings open{.public_address = "", .operator_address = address};
    try {
      const Servers servers(loop, open, shown, operators);
      ADD_FAILURE() << address;
    } catch (const InvalidParameter& error) {
      EXPECT_EQ(error.name(), "serve.operator_token_file");
    }
  }
  const tests::TemporaryFolder folder;
  const std::string file = folder.write("token", token);
  ::chmod(file.c_str(), 0600);
  const Servers servers(loop, {.public_address = "", .operator_address = "0.0.0.0:0", .operator_token_file = file},
                        shown, operators);
  EXPECT_FALSE(servers.public_listener());
  EXPECT_TRUE(servers.operator_listener());
}

TEST(Servers, MayBeOff) {
  boost::asio::io_context loop;
  PublicSurface shown("retail");
  const OperatorSurface operators(shown);
  Servers servers(loop, {.public_address = "", .operator_address = ""}, shown, operators);
  EXPECT_FALSE(servers.public_listener() || servers.operator_listener());
  servers.stop();
  loop.run();
}

}  // namespace
}  // namespace nustream::serve
