// A stream on a real broker with the real service over it, told by lines on standard input: what the tests in a
// browser look at where everything but the browser is as in production.
//
//   write COUNT [LANE]             so many records more
//   start [WORD…], stop, kill      the service, with arguments behind "attach CONFIG --set …"
//   ended CODE                     waits until it has ended by itself
//   broker kill|restart|freeze|thaw
//   lose LANE OFFSET               the records below OFFSET are gone from the topic
//   catch STATE                    starts the service again until a lane is seen in STATE, and freezes the broker
//   there
//
// Arguments: the two ports, 0 for any that is free; LANES. Prints the ports, and "ok" after each line that was
// followed.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "attach_world.h"
#include "free_port.h"
#include "operator_listener.h"

namespace nustream::tests {
namespace {

class World {
 public:
  World(const std::string& public_port, const std::string& operator_port, int lanes)
      : ports_{number_of(public_port), number_of(operator_port)},
        world_(lanes),
        written_(static_cast<std::size_t>(lanes)) {
    create_topic(AttachWorld::direct(), world_.name() + ".model", 1, {{"cleanup.policy", "compact"}});
    std::printf("%u %u\n", ports_[0], ports_[1]);
    std::fflush(stdout);
  }

  void follow(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "write") return write(words);
    if (what == "start") return start(rest_of(words));
    if (what == "stop") return end(SIGTERM, 0);
    if (what == "kill") return end(SIGKILL, 128 + SIGKILL);
    if (what == "ended") return ended(words);
    if (what == "broker") return broker(words);
    if (what == "lose") return lose(words);
    if (what == "catch") return caught(words);
    throw std::runtime_error("no such line: " + line);
  }

 private:
  static std::uint16_t number_of(const std::string& port) {
    return port == "0" ? free_port() : static_cast<std::uint16_t>(std::stoul(port));
  }
  static std::vector<std::string> rest_of(std::istringstream& words) {
    std::vector<std::string> rest;
    for (std::string word; words >> word;) rest.push_back(word);
    return rest;
  }

  /// Records of a lane go on where they ended.
  void write(std::istringstream& words) {
    std::size_t count = 0;
    std::size_t lane = 0;
    words >> count >> lane;
    const std::vector<std::string> all = AttachWorld::values(written_.at(lane) + count, 1 + lane);
    world_.write({all.begin() + static_cast<std::ptrdiff_t>(written_[lane]), all.end()}, static_cast<int>(lane));
    written_[lane] += count;
  }

  void start(std::vector<std::string> more) {
    arguments_ = more;
    const std::vector<std::string> own{"--set", "serve.public_address=\"" + loopback(ports_[0]) + "\"",
                                       "--set", "serve.operator_address=\"" + loopback(ports_[1]) + "\"",
                                       "--set", "kafka.model_topic=\"" + world_.name() + ".model\"",
                                       "--set", "kafka.model_seconds=0.2",
                                       "--set", "state.commit_seconds=0.1",
                                       "--set", "release.linger_seconds=0.1"};
    more.insert(more.begin(), own.begin(), own.end());
    service_.emplace(NUSTREAM_COMMAND, world_.attach(std::move(more)));
  }
  void end(int number, int code) {
    service_->signal(number);
    expect_code(code);
  }
  void ended(std::istringstream& words) {
    int code = 0;
    words >> code;
    expect_code(code);
  }
  void expect_code(int code) {
    const CommandResult result = service_->wait();
    service_.reset();
    if (result.code == code) return;
    throw std::runtime_error("the service ended with " + std::to_string(result.code) + ":\n" + result.err);
  }

  static void broker(std::istringstream& words) {
    std::string what;
    words >> what;
    KafkaCluster& cluster = shared_broker();
    if (what == "kill") return cluster.kill();
    if (what == "restart") return cluster.restart();
    if (what == "freeze") return cluster.freeze();
    if (what == "thaw") return cluster.thaw();
    throw std::runtime_error("no such thing to do to a broker: " + what);
  }

  void lose(std::istringstream& words) {
    int lane = 0;
    std::int64_t offset = 0;
    words >> lane >> offset;
    delete_records(AttachWorld::direct(), world_.name(), lane, offset);
  }

  /// A state that passes in some hundredths of a second: once it is seen, nothing goes on.
  void caught(std::istringstream& words) {
    std::string state;
    words >> state;
    const std::string wanted = "\"state\":\"" + state + "\"";
    for (int attempt = 0; attempt < 20; ++attempt) {
      if (service_) end(SIGKILL, 128 + SIGKILL);
      start(arguments_);
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (std::chrono::steady_clock::now() < until) {
        const std::string seen = operator_page(loopback(ports_[1]), "/api/v1/state");
        if (seen.find(wanted) != std::string::npos) {
          shared_broker().freeze();
          if (operator_page(loopback(ports_[1]), "/api/v1/state").find(wanted) != std::string::npos) return;
          shared_broker().thaw();
          break;
        }
        if (seen.find("\"state\":\"running\"") != std::string::npos) break;
      }
    }
    throw std::runtime_error("no lane was seen in the state " + state);
  }

  std::uint16_t ports_[2];
  AttachWorld world_;
  std::vector<std::size_t> written_;
  std::vector<std::string> arguments_;
  std::optional<Command> service_;
};

}  // namespace
}  // namespace nustream::tests

int main(int count, char** arguments) try {
  if (count != 4) return 64;
  nustream::tests::World world(arguments[1], arguments[2], std::stoi(arguments[3]));
  for (std::string line; std::getline(std::cin, line);) {
    world.follow(line);
    std::printf("ok\n");
    std::fflush(stdout);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 70;
}
