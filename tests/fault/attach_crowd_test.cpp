// Ten thousand clients keep silent, or send a byte now and then, from hundreds of addresses. Probes are answered all
// the same, and the lane goes on releasing.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "attach_promise.h"
#include "free_port.h"
#include "measured_time.h"
#include "serve_client.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::size_t clients = 10'000;
constexpr std::size_t addresses = 500;  // in 127.0.0.0/8
constexpr seconds probe_timeout{5};     // as in the container's own health check

/// Sockets that are connected, or about to be, until the object goes. One that is cut off connects again within
/// seconds.
class Crowd {
 public:
  explicit Crowd(std::uint16_t port) : port_(port), sockets_(clients, -1) {
    thread_ = std::jthread([this](const std::stop_token& stop) { press(stop); });
  }
  ~Crowd() {
    thread_.request_stop();
    thread_.join();
    for (const int socket : sockets_) {
      if (socket >= 0) ::close(socket);
    }
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  [[nodiscard]] std::size_t connections() const { return connections_; }

 private:
  void press(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (std::size_t i = 0; i < clients && !stop.stop_requested(); ++i) {
        if (is_gone(sockets_[i])) sockets_[i] = connect(i);
        // Every other socket drips a request that never ends.
        if (i % 2 == 0) static_cast<void>(::send(sockets_[i], "G", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
      }
      std::this_thread::sleep_for(milliseconds(2000));
    }
  }
  [[nodiscard]] static bool is_gone(int socket) {
    if (socket < 0) return true;
    char byte = 0;
    const ssize_t got = ::recv(socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    const bool gone = got == 0 || (got < 0 && errno != EAGAIN && errno != ENOTCONN);
    if (gone) ::close(socket);
    return gone;
  }
  [[nodiscard]] int connect(std::size_t client) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) throw std::runtime_error("no socket");
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 256 + static_cast<std::uint32_t>(client % addresses));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0) {
      static_cast<void>(::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to));
    }
    ++connections_;
    return socket;
  }

  std::uint16_t port_;
  std::vector<int> sockets_;
  std::atomic<std::size_t> connections_{0};
  std::jthread thread_;
};

/// How long a probe took; empty where it was not answered by 200 in time.
std::optional<milliseconds> probe(std::uint16_t port) {
  const auto begin = steady_clock::now();
  HttpClient client;
  if (!client.connect(port) || !client.send(http_request("/readyz"))) return std::nullopt;
  if (!client.readable(probe_timeout + std::chrono::duration_cast<milliseconds>(busy_allowance())))
    return std::nullopt;
  if (client.read().status != 200) return std::nullopt;
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
}

void allow_descriptors() {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < clients + 1'000) GTEST_SKIP() << "only " << limit.rlim_max << " descriptors are allowed";
  limit.rlim_cur = clients + 1'000;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(AttachCrowd, TenThousandSlowClientsKeepNobodyOut) {
  allow_descriptors();
  if (IsSkipped()) return;
  const AttachWorld world;
  const std::uint16_t everybody = free_port();
  const std::uint16_t health = free_port();
  Command service(NUSTREAM_COMMAND, world.attach({"--set", "serve.public_address=\"" + loopback(everybody) + "\"",
                                                  "--set", "serve.health_address=\"" + loopback(health) + "\"",
                                                  "--set", "state.commit_seconds=0.2"}));
  world.write(AttachWorld::values(500));
  wait_until([&] { return ledger_end(world).steps == 500; });
  const std::size_t before = world.committed(world.name() + ".releases").size();

  const Crowd crowd(everybody);
  wait_until([&] { return crowd.connections() >= clients; });
  milliseconds longest{0};
  constexpr int probes = 20;
  for (int i = 0; i < probes; ++i) {
    world.write(AttachWorld::values(100, static_cast<std::uint64_t>(i) + 2));
    for (const std::uint16_t port : {everybody, health}) {
      const std::optional<milliseconds> took = probe(port);
      ASSERT_TRUE(took) << "probe " << i << (port == health ? " of the health listener" : " of the public listener");
      longest = std::max(longest, *took);
    }
    std::this_thread::sleep_for(milliseconds(100));
  }
  wait_until([&] { return ledger_end(world).steps == 500 + 100 * probes; });
  wait_until([&] { return world.committed(world.name() + ".releases").size() >= before + probes; });
  RecordProperty("connections", static_cast<int>(crowd.connections()));
  RecordProperty("longest_probe_milliseconds", static_cast<int>(longest.count()));
  service.signal(SIGTERM);
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0) << result.err;
}

}  // namespace
}  // namespace nustream::tests
