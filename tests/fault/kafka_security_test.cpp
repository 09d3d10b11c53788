// How a service proves to a real broker who it is: by SCRAM, tokens or certificates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>

#include "attach_promise.h"
#include "kafka_broker.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The stream's topics are made and filled by the direct listener; the service comes by the guarded one.
class KafkaSecurity : public ::testing::Test {
 protected:
  static void TearDownTestSuite() { cluster_.reset(); }

  static std::string write_secret(const AttachWorld& world, const std::string& name, const std::string& text) {
    const std::string path = world.folder().write(name, text);
    if (::chmod(path.c_str(), 0600) != 0) throw std::runtime_error("chmod");
    return path;
  }
  static KafkaCluster& with_sasl() {
    if (!cluster_ || !of_sasl_) cluster_ = std::make_unique<KafkaCluster>(ClusterOptions{.sasl = true});
    of_sasl_ = true;
    AttachWorld::use(*cluster_);
    return *cluster_;
  }
  static KafkaCluster& with_certificates() {
    if (!cluster_ || of_sasl_) {
      cluster_.reset();
      cluster_ = std::make_unique<KafkaCluster>(
          ClusterOptions{.sasl = true, .certificates = make_certificates(certificates())});
    }
    of_sasl_ = false;
    AttachWorld::use(*cluster_);
    return *cluster_;
  }
  static const TemporaryFolder& certificates() {
    static const TemporaryFolder folder;
    return folder;
  }
  static std::vector<std::string> arguments(const KafkaCluster& cluster, const std::vector<std::string>& properties,
                                            std::vector<std::string> more = {"--until-end"}) {
    more.insert(more.end(), {"-b", cluster.sasl(), "--set", "kafka.give_up_seconds=10"});
    for (const std::string& property : properties) more.insert(more.end(), {"-X", property});
    return more;
  }

 private:
  static std::unique_ptr<KafkaCluster> cluster_;
  static bool of_sasl_;
};
std::unique_ptr<KafkaCluster> KafkaSecurity::cluster_;
bool KafkaSecurity::of_sasl_ = false;

TEST_F(KafkaSecurity, OfAPasswordInAFileByScram) {
  KafkaCluster& cluster = with_sasl();
  const AttachWorld world;
  world.write(AttachWorld::values(500));
  const std::string file = write_secret(world, "password", std::string("no-") + sasl_password + "\n");
  const std::vector<std::string> scram =
      arguments(cluster, {"security.protocol=sasl_plaintext", "sasl.mechanism=SCRAM-SHA-512",
                          std::string("sasl.username=") + sasl_user, "sasl.password_file=" + file});
  const CommandResult refused = world.run(scram);
  EXPECT_EQ(refused.code, 77) << refused.err;
  EXPECT_THAT(refused.err, Not(HasSubstr(sasl_password)));
  write_secret(world, "password", std::string(sasl_password) + "\n");
  const CommandResult taken = world.run(scram);
  EXPECT_EQ(taken.code, 0) << taken.err;
  EXPECT_EQ(ledger_end(world).steps, 500U);
  EXPECT_THAT(taken.err, Not(HasSubstr("stands on the command line"))) << "nothing to be warned of";
}

/// A program that prints a token without a signature, as the broker's own test server takes it, and counts its calls.
/// While there is a file "broken" beside it, it prints one that the broker refuses.
std::string token_program(const AttachWorld& world, int seconds) {
  const std::string text = R"(import base64, json, os, sys, time
part = lambda o: base64.urlsafe_b64encode(json.dumps(o).encode()).rstrip(b"=").decode()
open(sys.argv[1], "a").write("token\n")
now = time.time()
broken = os.path.exists(os.path.join(os.path.dirname(sys.argv[0]), "broken"))
print(part({"alg": "none"}) + "." + part({"other" if broken else "sub": "alice", "iat": now - 1, "exp": now + )" +
                           std::to_string(seconds) + R"(}) + ".")
)";
  return world.folder().write("token.py", text);
}

TEST_F(KafkaSecurity, OfTokensThatACommandPrintsAndThatAreRenewed) {
  KafkaCluster& cluster = with_sasl();
  const AttachWorld world;
  const std::string calls = world.folder().write("calls", "");
  const std::string command =
      "kafka.oauth_token_command=[\"python3\",\"" + token_program(world, 15) + "\",\"" + calls + "\"]";
  const std::vector<std::string> oauth =
      arguments(cluster, {"security.protocol=sasl_plaintext", "sasl.mechanism=OAUTHBEARER"}, {"--set", command});
  Command service(NUSTREAM_COMMAND, world.attach(oauth));
  world.write(AttachWorld::values(500));
  wait_until([&] { return ledger_end(world).steps == 500; });
  const auto count = [&] {
    const std::string text = read_file(calls);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = count();
  EXPECT_GE(before, 1);
  wait_until([&] { return count() >= before + 2; });  // each of its clients fetches a token of its own, every 12 s
  world.write(AttachWorld::values(500));
  wait_until([&] { return ledger_end(world).steps == 1000; });
  service.signal(SIGTERM);
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0) << result.err;
}

// The token is accepted again before the service gives up.
TEST_F(KafkaSecurity, OfATokenThatIsRefusedForAWhile) {
  KafkaCluster& cluster = with_sasl();
  const AttachWorld world;
  const std::string calls = world.folder().write("calls", "");
  const std::string command =
      "kafka.oauth_token_command=[\"python3\",\"" + token_program(world, 15) + "\",\"" + calls + "\"]";
  std::vector<std::string> oauth =
      arguments(cluster, {"security.protocol=sasl_plaintext", "sasl.mechanism=OAUTHBEARER"}, {"--set", command});
  oauth.insert(oauth.end(), {"--set", "kafka.give_up_seconds=300"});
  Command service(NUSTREAM_COMMAND, world.attach(oauth));
  world.write(AttachWorld::values(500));
  wait_until([&] { return ledger_end(world).steps == 500; });
  const std::string broken = world.folder().write("broken", "");
  const auto count = [&] {
    const std::string text = read_file(calls);
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto before = count();
  wait_until([&] { return count() >= before + 2; });
  cluster.kill();  // every connection has to show its token again
  cluster.restart();
  world.write(AttachWorld::values(500));
  const auto while_broken = count();
  wait_until([&] { return count() >= while_broken + 2; });
  EXPECT_EQ(ledger_end(world).steps, 500U) << "not let in";
  std::filesystem::remove(broken);
  wait_until([&] { return ledger_end(world).steps == 1000; });
  service.signal(SIGTERM);
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(KafkaSecurity, OfATokenInAFile) {
  KafkaCluster& cluster = with_sasl();
  const AttachWorld world;
  world.write(AttachWorld::values(500));
  const CommandResult printed = run_command("/usr/bin/python3", {token_program(world, 300), "/dev/null"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  const std::string file = write_secret(world, "token", printed.out);
  const std::vector<std::string> oauth = arguments(
      cluster, {"security.protocol=sasl_plaintext", "sasl.mechanism=OAUTHBEARER", "oauth_token_file=" + file});
  const CommandResult taken = world.run(oauth);
  EXPECT_EQ(taken.code, 0) << taken.err;
  EXPECT_EQ(ledger_end(world).steps, 500U);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const CommandResult open = world.run(oauth);
  EXPECT_NE(open.code, 0);
  EXPECT_THAT(open.err, HasSubstr("is open to group or others"));
  EXPECT_THAT(open.err, Not(HasSubstr(printed.out.substr(0, 40))));
}

TEST_F(KafkaSecurity, OfCertificatesOnBothSides) {
  KafkaCluster& cluster = with_certificates();
  const AttachWorld world;
  world.write(AttachWorld::values(500));
  const std::string place = certificates().path().string() + "/";
  const std::vector<std::string> shown{"security.protocol=ssl", "ssl.certificate.location=" + place + "client.pem",
                                       "ssl.key.location=" + place + "client.key"};
  std::vector<std::string> properties = shown;
  properties.push_back("ssl.ca.location=" + place + "other-ca.pem");
  const CommandResult other = world.run(arguments(cluster, properties));
  EXPECT_NE(other.code, 0) << "a broker of another authority";
  EXPECT_THAT(other.err, HasSubstr("certificate")) << other.err;
  const CommandResult nobody =
      world.run(arguments(cluster, {"security.protocol=ssl", "ssl.ca.location=" + place + "ca.pem"}));
  EXPECT_NE(nobody.code, 0) << "without a certificate";
  properties.back() = "ssl.ca.location=" + place + "ca.pem";
  const CommandResult taken = world.run(arguments(cluster, properties));
  EXPECT_EQ(taken.code, 0) << taken.err;
  EXPECT_EQ(ledger_end(world).steps, 500U);
}

// Certificates end, and others take their place: the service begins anew under the same process id, and shows those.
TEST_F(KafkaSecurity, OfCertificatesThatAreExchangedWhileItRuns) {
  KafkaCluster& cluster = with_certificates();
  const AttachWorld world;
  const std::string place = certificates().path().string() + "/";
  const std::string own = world.folder().path().string() + "/own";
  const auto put = [&](const std::string& name) {
    for (const char* kind : {".pem", ".key"}) {
      std::filesystem::copy_file(place + name + kind, own + kind + ".new",
                                 std::filesystem::copy_options::overwrite_existing);
      std::filesystem::rename(own + kind + ".new", own + kind);
    }
  };
  put("client");
  Command service(NUSTREAM_COMMAND,
                  world.attach(arguments(cluster,
                                         {"security.protocol=ssl", "ssl.certificate.location=" + own + ".pem",
                                          "ssl.key.location=" + own + ".key", "ssl.ca.location=" + place + "ca.pem"},
                                         {"--set", "state.commit_seconds=0.1", "--set", "log.format=\"text\""})));
  world.write(AttachWorld::values(500));
  wait_until([&] { return ledger_end(world).steps == 500; });
  service.signal(SIGHUP);  // no certificate changed, so that nothing begins anew
  world.write(AttachWorld::values(100));
  wait_until([&] { return ledger_end(world).steps == 600; });
  put("second");
  service.signal(SIGHUP);
  world.write(AttachWorld::values(400));
  wait_until([&] { return ledger_end(world).steps == 1000; });
  put("stranger");  // the broker does not know this one; showing it ends the service
  service.signal(SIGHUP);
  const CommandResult result = service.wait();
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("level=info event=starts_again"));
  EXPECT_THAT(result.err,
              HasSubstr("the content of the file of ssl.certificate.location, ssl.key.location has changed"));
  EXPECT_EQ(ledger_end(world).steps, 1000U);
  expect_each_step_once(world.releases());
  expect_one_value_a_step(world.releases_uncommitted());
}

}  // namespace
}  // namespace nustream::tests
