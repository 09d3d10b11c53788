// The accept loop of a listener and the bookkeeping of its connections: how many there are, who has to go when it is
// full, and how it stops. Everything runs on the one thread of the loop, so that nothing is locked.
#include "serve/listener.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "error.h"
#include "serve/connection.h"

namespace nustream::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

/// How long to wait after a failed accept, such as for too many open files: long enough that the loop does not spin.
constexpr std::chrono::milliseconds accept_pause{100};

/// An acceptor that listens. A restarted process may bind the port at once, while connections of the old one still
/// end.
tcp::acceptor listen(asio::io_context& loop, const Address& address) {
  const tcp::endpoint endpoint(asio::ip::make_address(address.ip), address.port);
  tcp::acceptor acceptor(loop);
  beast::error_code error;
  static_cast<void>(acceptor.open(endpoint.protocol(), error));
  if (!error) static_cast<void>(acceptor.set_option(tcp::acceptor::reuse_address(true), error));
  if (!error) static_cast<void>(acceptor.bind(endpoint, error));
  if (!error) static_cast<void>(acceptor.listen(asio::socket_base::max_listen_connections, error));
  if (error) {
    throw system_failure(error == asio::error::access_denied ? Exit::permission : Exit::io, "listen on",
                         to_text(address), error.value(), "choose another address in [serve]");
  }
  return acceptor;
}

/// Whether the routes answered with an event stream. A HEAD request for one gets its header alone.
bool asks_for_events(const RequestParser& parser, const Answer& answer) {
  const auto type = answer[beast::http::field::content_type];
  return parser.get().method() == beast::http::verb::get &&
         std::string_view(type.data(), type.size()) == event_stream;
}

/// The client's address; the unspecified address where the client is gone already.
asio::ip::address address_of(const tcp::socket& socket) {
  beast::error_code gone;
  return socket.remote_endpoint(gone).address();
}

}  // namespace

class Listener::Service : public std::enable_shared_from_this<Service> {
 public:
  Service(asio::io_context& loop, const Address& address, const Limits& limits, const Access& access, Routes routes,
          Feed feed)
      : acceptor_(listen(loop, address)),
        port_(acceptor_.local_endpoint().port()),
        pause_(loop),
        limits_(limits),
        access_(access),
        routes_(std::move(routes)),
        feed_(std::move(feed)) {}

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  void start() { asio::co_spawn(acceptor_.get_executor(), accept_connections(shared_from_this()), asio::detached); }

  /// Changes the token. With another token, connections that are idle or follow events are closed, and have to ask
  /// again.
  void change_access(const Access& access) {
    const bool is_another = access.token != access_.token;
    access_ = access;
    if (is_another) close_those_in({Activity::idle, Activity::following});
  }

  void stop() {
    stopping_ = true;
    beast::error_code ignored;
    // Nobody is accepted any more. Connections with a request in flight close after its answer.
    static_cast<void>(acceptor_.close(ignored));
    pause_.cancel();
    dismiss({Activity::fresh, Activity::idle, Activity::leaving, Activity::following});
  }

  /// Stops, and also cuts off requests in flight: what the routes refer to may be gone from now on.
  void abandon() {
    stop();
    routes_ = nullptr;
    feed_ = nullptr;
    dismiss({Activity::fresh, Activity::idle, Activity::leaving, Activity::reading, Activity::answering});
  }

 private:
  /// A connection that counts from its accept to its end, whatever ends it.
  struct Client {
    Client(std::shared_ptr<Service> owner, tcp::socket socket)
        : service(std::move(owner)), connection{beast::tcp_stream(std::move(socket))} {
      connection.guest.address = address_of(connection.stream.socket());
      connection.enter(Activity::fresh);
      service->connections_.insert(&connection);
    }
    ~Client() {
      service->connections_.erase(&connection);
      // A place is free: the accept loop need not wait any longer.
      service->pause_.cancel();
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    std::shared_ptr<Service> service;
    Connection connection;
  };

  // The coroutines hold the service. They end when the loop next runs, which may be after the listener is gone.
  static asio::awaitable<void> accept_connections(std::shared_ptr<Service> service);
  static asio::awaitable<void> serve(std::unique_ptr<Client> client);
  asio::awaitable<void> accept_one();
  asio::awaitable<void> pause(std::chrono::steady_clock::duration longest);

  [[nodiscard]] bool full() const noexcept { return connections_.size() >= limits_.connections_max; }
  [[nodiscard]] std::size_t of(const asio::ip::address& address) const;
  [[nodiscard]] bool make_room(const std::optional<asio::ip::address>& among);
  void dismiss(std::initializer_list<Activity> at_once);
  void close_those_in(std::initializer_list<Activity> activities);
  [[nodiscard]] Reply reply(Client& client, const RequestParser& parser, std::size_t number);
  [[nodiscard]] Reply follow(Client& client, Answer answer, const RequestParser& parser);
  [[nodiscard]] bool has_room_for_follower(const asio::ip::address& address) const;

  tcp::acceptor acceptor_;
  std::uint16_t port_;
  asio::steady_timer pause_;  // for the accept loop; cancelled when a connection ends
  Limits limits_;
  Access access_;
  Routes routes_;
  Feed feed_;
  std::unordered_set<Connection*> connections_;
  bool stopping_ = false;
};

asio::awaitable<void> Listener::Service::accept_connections(std::shared_ptr<Service> service) {
  while (!service->stopping_) {
    bool failed = false;
    try {
      co_await service->accept_one();
    } catch (const std::exception&) {  // an error of the system, or no memory; both may pass
      failed = true;
    }
    if (failed && !service->stopping_) co_await service->pause(accept_pause);
  }
}

asio::awaitable<void> Listener::Service::accept_one() {
  tcp::socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
  const asio::ip::address address = address_of(socket);
  // One address cannot take the places of others: its own connections make room, or it gets none.
  if (of(address) >= limits_.connections_per_address_max && !make_room(address)) co_return;
  while (full() && !stopping_) {
    if (make_room({})) continue;
    // No connection can go. The end of any of them cancels the pause, so that its length does not matter.
    co_await pause(std::chrono::hours{1});
  }
  if (stopping_) co_return;  // the client was accepted right before the end
  auto client = std::make_unique<Client>(shared_from_this(), std::move(socket));
  asio::co_spawn(acceptor_.get_executor(), serve(std::move(client)), asio::detached);
}

asio::awaitable<void> Listener::Service::pause(std::chrono::steady_clock::duration longest) {
  pause_.expires_after(longest);
  static_cast<void>(co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable)));
}

asio::awaitable<void> Listener::Service::serve(std::unique_ptr<Client> client) {
  // The coroutine owns the client, so that the connection is counted until this function returns.
  const Answerer answerer = [&client](const RequestParser& parser, std::size_t number) {
    return client->service->reply(*client, parser, number);
  };
  co_await serve_requests(client->connection, client->service->limits_, answerer);
}

// Counted anew each time, since there are at most connections_max of them.
std::size_t Listener::Service::of(const asio::ip::address& address) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      connections_, [&](const Connection* connection) { return connection->guest.address == address; }));
}

/// Closes the connection that has to go first, of that address where one is given. Returns false where none can go.
/// Those that stay give up their places after their present requests.
bool Listener::Service::make_room(const std::optional<asio::ip::address>& among) {
  std::vector<Connection*> connections(connections_.begin(), connections_.end());
  std::vector<Guest> guests;
  // When a listener is full, every connection becomes one of a single request more, so that places go round.
  for (Connection* const connection : connections) {
    connection->last_request = true;
    guests.push_back(connection->guest);
  }
  const std::optional<std::size_t> first = who_makes_room(guests, among);
  if (!first) return false;
  connections[*first]->stream.close();
  connections_.erase(connections[*first]);  // it ends when the loop next runs, and must not count until then
  return true;
}

/// Closes connections in one of these activities at once, and the others after their present requests.
void Listener::Service::dismiss(std::initializer_list<Activity> at_once) {
  for (Connection* const connection : connections_) connection->last_request = true;
  close_those_in(at_once);
}

void Listener::Service::close_those_in(std::initializer_list<Activity> activities) {
  for (Connection* const connection : connections_) {
    if (std::find(activities.begin(), activities.end(), connection->guest.activity) != activities.end())
      connection->stream.close();
  }
}

Reply Listener::Service::reply(Client& client, const RequestParser& parser, std::size_t number) {
  Answer out = answer(parser, access_, routes_);
  // The token was checked by answer(). The stream lasts, and change_access() ends it when the token changes.
  if (feed_ && asks_for_events(parser, out)) return follow(client, std::move(out), parser);
  // A bound on requests gives others a chance of a place, even where a client never pauses.
  if (client.connection.last_request || number >= limits_.requests_max) out.keep_alive(false);
  return {std::move(out)};
}

/// The reply's follower may use `client`, and with it the service: both live as long as the connection's coroutine,
/// which asks the follower.
Reply Listener::Service::follow(Client& client, Answer answer, const RequestParser& parser) {
  if (!has_room_for_follower(client.connection.guest.address)) return {too_many_followers()};
  const auto last = parser.get()["Last-Event-ID"];
  Seen seen{.lanes = seen_lanes({last.data(), last.size()})};
  return {std::move(answer), [this, seen = std::move(seen)]() mutable -> std::optional<std::string> {
            // Asked before each message: after abandon() the feed refers to what may be gone.
            if (stopping_ || !feed_) return std::nullopt;
            return feed_(seen);
          }};
}

/// Followers never take more than half of the places, so that other clients are always answered.
bool Listener::Service::has_room_for_follower(const asio::ip::address& address) const {
  std::size_t all = 0;
  std::size_t same = 0;
  for (const Connection* const connection : connections_) {
    if (connection->guest.activity != Activity::following) continue;
    ++all;
    same += connection->guest.address == address ? 1U : 0U;
  }
  return all < std::min(limits_.events_max, limits_.connections_max / 2) &&
         same < std::min(limits_.events_per_address_max, limits_.connections_per_address_max / 2);
}

Listener::Listener(asio::io_context& loop, const Address& address, const Limits& limits, const Access& access,
                   Routes routes, Feed feed) {
  // Before the address is bound: a listener with bad limits is not there at all.
  check(limits);
  service_ = std::make_shared<Service>(loop, address, limits, access, std::move(routes), std::move(feed));
  service_->start();
}

Listener::~Listener() {
  if (service_) service_->abandon();
}

std::uint16_t Listener::port() const noexcept {
  return service_->port();
}

void Listener::change_access(const Access& access) {
  service_->change_access(access);
}

void Listener::stop() {
  service_->stop();
}

}  // namespace nustream::serve
