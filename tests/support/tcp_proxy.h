// A TCP proxy of the test's own, in front of a broker. It can cut every connection and let none through.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <list>

namespace nustream::tests {

/// Listens on a free port of loopback, and forwards to another one on a thread of its own.
class TcpProxy {
  using Socket = boost::asio::ip::tcp::socket;

 public:
  TcpProxy()
      : acceptor_(loop_, {boost::asio::ip::address_v4::loopback(), 0}), port_(acceptor_.local_endpoint().port()) {}
  ~TcpProxy() {
    loop_.stop();
    if (thread_.joinable()) thread_.join();
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  void start(std::uint16_t target) {
    target_ = target;
    accept();
    thread_ = std::thread([this] { loop_.run(); });
  }
  /// Ends every connection. New ones are closed at once until mend() is called.
  void cut() {
    cut_ = true;
    boost::asio::post(loop_, [this] {
      for (const auto& weak : pairs_) {
        if (const auto pair = weak.lock()) pair->close();
      }
      pairs_.clear();
    });
  }
  void mend() { cut_ = false; }

 private:
  struct Pair {
    explicit Pair(boost::asio::io_context& loop) : client(loop), broker(loop) {}
    void close() {
      boost::system::error_code ignored;
      client.close(ignored);
      broker.close(ignored);
    }
    Socket client;
    Socket broker;
    std::array<char, 65536> up{};
    std::array<char, 65536> down{};
  };

  void accept() {
    auto pair = std::make_shared<Pair>(loop_);
    acceptor_.async_accept(pair->client, [this, pair](const boost::system::error_code& error) {
      if (!error && !cut_) {
        boost::system::error_code refused;
        pair->broker.connect({boost::asio::ip::address_v4::loopback(), target_}, refused);
        if (!refused) {
          pairs_.push_back(pair);
          pump(pair, pair->client, pair->broker, pair->up);
          pump(pair, pair->broker, pair->client, pair->down);
        }
      }
      accept();
    });
  }

  static void pump(const std::shared_ptr<Pair>& pair, Socket& from, Socket& to, std::array<char, 65536>& buffer) {
    from.async_read_some(boost::asio::buffer(buffer),
                         [pair, &from, &to, &buffer](const boost::system::error_code& error, std::size_t count) {
                           boost::system::error_code broken = error;
                           if (!broken) boost::asio::write(to, boost::asio::buffer(buffer.data(), count), broken);
                           if (broken) return pair->close();
                           pump(pair, from, to, buffer);
                         });
  }

  boost::asio::io_context loop_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_;
  std::uint16_t target_ = 0;
  std::atomic<bool> cut_ = false;
  std::list<std::weak_ptr<Pair>> pairs_;
  std::thread thread_;
};

}  // namespace nustream::tests
