// A listener under test, on a loop of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "serve/listener.h"
#include "serve_client.h"
#include "serve_loop.h"

namespace nustream::serve {

using tests::http_request;
using tests::HttpAnswer;
using tests::HttpClient;
using namespace std::chrono_literals;

/// Limits so long that only a test's own deadline ever passes.
inline constexpr Limits patient{.request_time = 60s, .idle_time = 60s};

/// The size of an answer that is more than the sockets' buffers take: the client has to read before all of it is
/// sent.
inline constexpr std::size_t big = 16 << 20;

/// A listener on a loop of its own. Its routes answer with the path, or as some paths ask for.
class Echo {
 public:
  explicit Echo(const Limits& limits = patient, const Access& access = {}) {
    loop_.on_loop([&] {
      listener_.emplace(loop_.loop, Address{"127.0.0.1", 0}, limits, access, [this](std::string_view path) {
        ++answered;
        if (path == "/big") return Response{200, "text/plain", std::string(big, 'x')};
        if (path == "/throws") throw std::runtime_error("what an exception says stays inside");
        return Response{200, "text/plain; charset=utf-8", "path " + std::string(path) + "\n"};
      });
    });
  }
  ~Echo() { destroy(); }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  void stop() {
    loop_.on_loop([this] { listener_->stop(); });
  }
  void destroy() {
    loop_.on_loop([this] { listener_.reset(); });
  }
  void join() { loop_.join(); }
  HttpAnswer ask(const std::string& request, bool bodyless = false) {
    HttpClient client(port());
    client.send(request);
    return client.read(bodyless);
  }

  std::atomic<int> answered{0};

 private:
  tests::ServeLoop loop_;
  std::optional<Listener> listener_;
};

}  // namespace nustream::serve
