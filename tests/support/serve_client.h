// A plain TCP client that sends what it is told, well-formed or not, and reads answers byte by byte.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace nustream::tests {

/// One answer as it came.
struct HttpAnswer {
  int status = 0;  ///< 0 where the connection ended without an answer
  std::string reason;
  std::map<std::string, std::string> headers;
  std::string body;
};

class HttpClient {
 public:
  /// A socket, not connected yet.
  HttpClient() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (socket_ < 0) throw std::runtime_error("no socket");
    const int few = 16 * 1024;  // so that a long answer is not all in the kernel's buffers before it is read
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
  }
  explicit HttpClient(std::uint16_t port) : HttpClient() {
    if (!connect(port)) throw std::runtime_error("cannot connect");
  }
  ~HttpClient() { ::close(socket_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  [[nodiscard]] bool connect(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  /// Sends bytes; returns false where the other side no longer takes them.
  bool send(const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }
  /// Says that no more will be sent.
  void finish() { ::shutdown(socket_, SHUT_WR); }

  /// Whether something (an answer or the end) can be read within that time.
  [[nodiscard]] bool readable(std::chrono::milliseconds within) {
    if (!received_.empty()) return true;
    pollfd entry{socket_, POLLIN, 0};
    return ::poll(&entry, 1, static_cast<int>(within.count())) > 0;
  }

  /// Waits for one answer, or for the end. An answer to HEAD is `bodyless`.
  HttpAnswer read(bool bodyless = false) {
    HttpAnswer answer;
    std::size_t end;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return answer;
    }
    parse(received_.substr(0, end), answer);
    received_.erase(0, end + 4);
    const std::size_t size = bodyless ? 0 : std::stoul(answer.headers["Content-Length"]);
    while (received_.size() < size) {
      if (!receive()) throw std::runtime_error("a body was cut");
    }
    answer.body = received_.substr(0, size);
    received_.erase(0, size);
    return answer;
  }
  /// Waits for `text` and returns what came up to its end, which the next read no longer sees. Throws where the
  /// connection ends before.
  std::string read_until(const std::string& text) {
    std::size_t at;
    while ((at = received_.find(text)) == std::string::npos) {
      if (!receive()) throw std::runtime_error("the connection ended in: " + received_);
    }
    const std::string read = received_.substr(0, at + text.size());
    received_.erase(0, read.size());
    return read;
  }
  /// Waits for the end of the connection and returns what came before it. Throws where the end does not come.
  std::string read_to_end() {
    while (receive()) {
    }
    return std::exchange(received_, {});
  }
  /// Whether the connection ended by a reset.
  [[nodiscard]] bool was_reset() const noexcept { return reset_; }

 private:
  /// Receives some bytes. Returns false at the end of the connection, orderly or not. A test that would wait for ever
  /// fails.
  bool receive() {
    pollfd entry{socket_, POLLIN, 0};
    if (::poll(&entry, 1, 20'000) != 1) throw std::runtime_error("no answer in 20 s");
    char buffer[4096];
    const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
    reset_ = count < 0;
    if (count <= 0) return false;
    received_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  static void parse(const std::string& head, HttpAnswer& answer) {
    std::size_t line_end = head.find("\r\n");
    const std::string status_line = head.substr(0, line_end);
    if (!status_line.starts_with("HTTP/1.1 ")) throw std::runtime_error("no status line");
    answer.status = std::stoi(status_line.substr(9, 3));
    answer.reason = status_line.substr(13);
    while (line_end != std::string::npos) {
      const std::size_t begin = line_end + 2;
      line_end = head.find("\r\n", begin);
      const std::string line = head.substr(begin, line_end == std::string::npos ? line_end : line_end - begin);
      const std::size_t colon = line.find(": ");
      answer.headers[line.substr(0, colon)] = line.substr(colon + 2);
    }
  }

  int socket_;
  std::string received_;
  bool reset_ = false;
};

/// A request for a path by GET or another method. `headers` are whole lines, CRLF included.
inline std::string http_request(const std::string& path, const std::string& headers = {},
                                const std::string& method = "GET") {
  return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

}  // namespace nustream::tests
