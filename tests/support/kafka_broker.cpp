#include "kafka_broker.h"

#include <fcntl.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "free_port.h"
#include "kafka_client.h"
#include "kafka_topics.h"

namespace nustream::tests {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto start_time_max = 300s;
constexpr const char* cluster_id = "bnVzdHJlYW0tdGVzdHMtMQ";

// The same rule as in cmake/kafka.sh.
std::filesystem::path kafka_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path root = cache != nullptr && *cache != '\0'
                                         ? std::filesystem::path(cache)
                                         : std::filesystem::path(home ? home : "") / ".cache";
  const std::filesystem::path folder = root / "nustream" / "kafka-3.9.1";
  if (!std::filesystem::is_directory(folder)) {
    throw std::runtime_error("Apache Kafka is not in " + folder.string() + "; ./test fetches it (cmake/kafka.sh)");
  }
  return folder;
}

std::vector<std::string> java(const std::string& log_settings) {
  const std::filesystem::path folder = kafka_folder();
  std::vector<std::string> command{"java",
                                   "-Xmx512m",
                                   "-XX:+UseSerialGC",
                                   "-XX:TieredStopAtLevel=1",
                                   "-Xlog:disable",
                                   "-Dlog4j.configuration=file:" + log_settings};
  if (std::filesystem::exists(folder / "classes.jsa")) {
    command.push_back("-XX:SharedArchiveFile=" + (folder / "classes.jsa").string());
  }
  command.insert(command.end(), {"-cp", (folder / "*").string()});
  return command;
}

pid_t spawn(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int input = ::open("/dev/null", O_RDONLY);
  if (output < 0 || input < 0) ::_exit(126);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

void mount_memory(const std::string& folder, std::size_t mebibytes) {
  std::filesystem::create_directory(folder);
  const std::string size = "size=" + std::to_string(mebibytes) + "m";
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) != 0) {
    throw std::runtime_error("cannot mount a file system of its own at " + folder);
  }
}

std::string end_of(const std::string& file) {
  const std::string text = read_file(file);
  return text.substr(text.size() > 3000 ? text.size() - 3000 : 0);
}

int brokers_known(const std::string& bootstrap) {
  const TestClient client(RD_KAFKA_PRODUCER, {{"bootstrap.servers", bootstrap}});
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(client.get(), 0, nullptr, &metadata, 1000) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
  const int count = metadata->broker_cnt;
  rd_kafka_metadata_destroy(metadata);
  return count;
}

}  // namespace

std::string make_certificates(const TemporaryFolder& folder) {
  const std::string script = R"(set -eu; cd "$1"
key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
for name in ca other-ca; do openssl req -x509 $key -subj "/CN=$name" -keyout $name.key -out $name.pem; done
sign() {
  openssl req $key -subj "/CN=$1" -keyout $1.key -out $1.csr
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$2" > $1.ext
  openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $1.ext -out $1.crt
}
sign broker IP:127.0.0.1; sign client DNS:client; sign second DNS:second
openssl req -x509 $key -subj "/CN=stranger" -keyout stranger.key -out stranger.pem
cat broker.key broker.crt > broker.pem; mv client.crt client.pem; mv second.crt second.pem)";
  const std::string log = (folder.path() / "openssl.log").string();
  int status = 0;
  ::waitpid(spawn({"/bin/sh", "-c", script, "sh", folder.path().string()}, log), &status, 0);
  if (status != 0) throw std::runtime_error("openssl failed:\n" + end_of(log));
  return folder.path().string();
}

KafkaCluster::KafkaCluster(ClusterOptions options) : options_(std::move(options)) {
  for (int i = 0; i < options_.brokers; ++i) nodes_.push_back({free_port(), free_port(), free_port(), free_port()});
  folder_.write("log4j.properties",
                "log4j.rootLogger=INFO, out\n"
                "log4j.appender.out=org.apache.log4j.ConsoleAppender\n"
                "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
                "log4j.appender.out.layout.ConversionPattern=%d %p %m (%c)%n\n");
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    write_properties(i);
    if (options_.disk_mebibytes > 0) mount_memory(folder(i), options_.disk_mebibytes);
    std::vector<std::string> format{"kafka.tools.StorageTool", "format", "-t", cluster_id, "-c",
                                    folder(i) + ".properties"};
    if (options_.sasl && options_.certificates.empty()) {
      format.insert(format.end(),
                    {"-S", std::string("SCRAM-SHA-512=[name=") + sasl_user + ",password=" + sasl_password + "]"});
    }
    run_tool(format);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) start(i);
  for (std::size_t i = 0; i < nodes_.size(); ++i) wait_until_started(i);
  wait_until_complete();
}

KafkaCluster::~KafkaCluster() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].process > 0) kill(i);
    if (options_.disk_mebibytes > 0) ::umount(folder(i).c_str());
  }
}

std::string KafkaCluster::address(std::size_t broker, std::uint16_t port) const {
  const std::string host = options_.network != nullptr ? options_.network->address(broker) : "127.0.0.1";
  return host + ":" + std::to_string(port);
}

std::string KafkaCluster::bootstrap() const {
  if (options_.advertised_port != 0) return address(0, options_.advertised_port);
  return bootstrap_of(&Node::client_port);
}

std::string KafkaCluster::direct() const {
  return bootstrap_of(&Node::direct_port);
}

std::string KafkaCluster::sasl() const {
  return bootstrap_of(&Node::sasl_port);
}

std::string KafkaCluster::bootstrap_of(std::uint16_t Node::*port) const {
  std::string result;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!result.empty()) result += ',';
    result += address(i, nodes_[i].*port);
  }
  return result;
}

std::string KafkaCluster::folder(std::size_t broker) const {
  return (folder_.path() / std::to_string(broker)).string();
}

std::string KafkaCluster::log(std::size_t broker) const {
  return folder(broker) + "-" + std::to_string(nodes_.at(broker).starts) + ".log";
}

void KafkaCluster::write_properties(std::size_t broker) const {
  const Node& node = nodes_.at(broker);
  std::string voters;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (i > 0) voters += ',';
    voters += std::to_string(i + 1) + "@" + address(i, nodes_[i].controller_port);
  }
  const bool behind_proxy = broker == 0 && options_.advertised_port != 0;
  const std::string clients =
      behind_proxy ? address(broker, options_.advertised_port) : address(broker, node.client_port);
  const std::string direct = ",DIRECT://" + address(broker, node.direct_port);
  const std::string sasl = options_.sasl ? ",SASL://" + address(broker, node.sasl_port) : "";
  const std::string factor = options_.brokers >= 3 ? "3" : "1";
  const std::string in_sync = options_.brokers >= 3 ? "2" : "1";
  std::map<std::string, std::string> properties{
      {"process.roles", "broker,controller"},
      {"node.id", std::to_string(broker + 1)},
      {"controller.quorum.voters", voters},
      {"controller.listener.names", "CONTROLLER"},
      // Brokers speak to each other, and each to itself, past the proxy.
      {"inter.broker.listener.name", "DIRECT"},
      {"listeners", "CLIENTS://" + address(broker, node.client_port) + direct + ",CONTROLLER://" +
                        address(broker, node.controller_port) + sasl},
      {"advertised.listeners", "CLIENTS://" + clients + direct + sasl},
      {"listener.security.protocol.map",
       "CLIENTS:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT"},
      {"log.dirs", folder(broker)},
      {"auto.create.topics.enable", "false"},
      {"default.replication.factor", factor},
      {"min.insync.replicas", in_sync},
      {"offsets.topic.replication.factor", factor},
      {"transaction.state.log.replication.factor", factor},
      {"transaction.state.log.min.isr", in_sync},
      // Records of years ago are kept: a broker looks for old ones 30 s after its start.
      {"log.retention.ms", "-1"},
      {"transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000"},
      // The defaults of what follows only make tests wait.
      {"offsets.topic.num.partitions", "4"},
      {"transaction.state.log.num.partitions", "4"},
      {"group.initial.rebalance.delay.ms", "0"},
      {"group.min.session.timeout.ms", "1000"},
      {"transaction.abort.timed.out.transaction.cleanup.interval.ms", "500"},
      {"log.cleaner.dedupe.buffer.size", "16777216"},
      {"log.cleaner.backoff.ms", "200"},
      {"broker.session.timeout.ms", "1000"},
      {"broker.heartbeat.interval.ms", "200"}};
  if (options_.sasl) {
    properties["sasl.enabled.mechanisms"] = "PLAIN,SCRAM-SHA-512,OAUTHBEARER";
    properties["listener.name.sasl.scram-sha-512.sasl.jaas.config"] =
        "org.apache.kafka.common.security.scram.ScramLoginModule required;";
    // Takes tokens without a signature, which is enough to see that the client's tokens arrive and are renewed.
    properties["listener.name.sasl.oauthbearer.sasl.jaas.config"] =
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
        "unsecuredLoginStringClaim_sub=\"broker\";";
    properties["listener.name.sasl.plain.sasl.jaas.config"] =
        std::string("org.apache.kafka.common.security.plain.PlainLoginModule required user_") + sasl_user + "=\"" +
        sasl_password + "\";";
  }
  if (!options_.certificates.empty()) {
    properties["listener.security.protocol.map"] = "CLIENTS:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SSL";
    const std::string listener = "listener.name.sasl.ssl.";
    properties[listener + "keystore.type"] = "PEM";
    properties[listener + "keystore.location"] = options_.certificates + "/broker.pem";
    properties[listener + "truststore.type"] = "PEM";
    properties[listener + "truststore.location"] = options_.certificates + "/ca.pem";
    properties[listener + "client.auth"] = "required";
  }
  if (options_.acl) {
    properties["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
    properties["super.users"] = "User:ANONYMOUS";
  }
  for (const auto& [name, value] : options_.properties) properties[name] = value;
  std::ofstream file(folder(broker) + ".properties");
  for (const auto& [name, value] : properties) file << name << '=' << value << '\n';
}

void KafkaCluster::run_tool(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = java((folder_.path() / "log4j.properties").string());
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::string output = (folder_.path() / "tool.log").string();
  const pid_t child = spawn(command, output);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error(arguments.front() + " failed:\n" + end_of(output));
}

void KafkaCluster::start(std::size_t broker) {
  ++nodes_.at(broker).starts;
  std::vector<std::string> command;
  if (options_.network != nullptr) command = options_.network->on(broker);
  const std::vector<std::string> machine = java((folder_.path() / "log4j.properties").string());
  command.insert(command.end(), machine.begin(), machine.end());
  command.insert(command.end(), {"kafka.Kafka", folder(broker) + ".properties"});
  nodes_[broker].process = spawn(command, log(broker));
}

void KafkaCluster::wait_until_started(std::size_t broker) const {
  const auto deadline = Clock::now() + start_time_max;
  while (read_file(log(broker)).find("Kafka Server started") == std::string::npos) {
    const bool ended = ::waitpid(nodes_.at(broker).process, nullptr, WNOHANG) != 0;
    if (ended || Clock::now() > deadline) {
      throw std::runtime_error("a broker did not start:\n" + end_of(log(broker)));
    }
    std::this_thread::sleep_for(20ms);
  }
}

// Brokers that have started may still not know of each other.
void KafkaCluster::wait_until_complete() const {
  const auto deadline = Clock::now() + start_time_max;
  const auto running = std::count_if(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.process > 0; });
  while (brokers_known(direct()) < running) {
    if (Clock::now() > deadline) throw std::runtime_error("the brokers did not find each other");
    std::this_thread::sleep_for(20ms);
  }
}

void KafkaCluster::signal(std::size_t broker, int number) const {
  const pid_t process = nodes_.at(broker).process;
  if (process <= 0) throw std::logic_error("this broker is not running");
  ::kill(process, number);
}

void KafkaCluster::wait_for_end(std::size_t broker) {
  ::waitpid(nodes_.at(broker).process, nullptr, 0);
  nodes_[broker].process = 0;
}

void KafkaCluster::kill(std::size_t broker) {
  signal(broker, SIGKILL);
  wait_for_end(broker);
}

void KafkaCluster::stop(std::size_t broker) {
  signal(broker, SIGTERM);
  wait_for_end(broker);
}

void KafkaCluster::restart(std::size_t broker) {
  if (nodes_.at(broker).process > 0) throw std::logic_error("this broker is running");
  start(broker);
  wait_until_started(broker);
  wait_until_complete();
}

void KafkaCluster::freeze(std::size_t broker) {
  signal(broker, SIGSTOP);
}

void KafkaCluster::thaw(std::size_t broker) {
  signal(broker, SIGCONT);
}

bool KafkaCluster::is_running(std::size_t broker) {
  pid_t& process = nodes_.at(broker).process;
  if (process > 0 && ::waitpid(process, nullptr, WNOHANG) == process) process = 0;
  return process > 0;
}

void KafkaCluster::fill_disk(std::size_t broker) {
  std::ofstream ballast(folder(broker) + "/ballast", std::ios::binary);
  const std::string block(1 << 16, 'x');
  while (ballast.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
}

void KafkaCluster::free_disk(std::size_t broker) {
  std::filesystem::remove(folder(broker) + "/ballast");
}

KafkaCluster& shared_broker() {
  static KafkaCluster cluster;
  return cluster;
}

std::string fresh_name(const std::string& what) {
  static std::atomic<int> number{0};
  return what + "-" + std::to_string(++number);
}

}  // namespace nustream::tests
