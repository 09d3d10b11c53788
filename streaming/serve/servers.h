// Makes the listeners of a process, as its settings ask for them.
#pragma once

#include <optional>
#include <string>

#include "serve/listener.h"
#include "serve/operator_surface.h"
#include "serve/public_surface.h"
#include "serve/settings.h"

namespace nustream::serve {

class Servers {
 public:
  /// Throws InvalidParameter for an address or a limit that is not valid, and for an operator's listener beyond
  /// loopback without a token (operator_token_file is empty or "none"; call settle_operator_token() before). Throws
  /// Failure(permission) for a token file that is not private, and the Failures of Listener. The surfaces have to
  /// outlive it.
  Servers(boost::asio::io_context& loop, const Settings& settings, const PublicSurface& shown,
          const OperatorSurface& operators);

  /// Reads the token files again, for all later requests. Throws as the constructor does; the tokens then stay as
  /// they were.
  void read_tokens_again();
  /// Stops all listeners, as Listener::stop() does.
  void stop();

  [[nodiscard]] const std::optional<Listener>& public_listener() const noexcept { return public_; }
  [[nodiscard]] const std::optional<Listener>& health_listener() const noexcept { return health_; }
  [[nodiscard]] const std::optional<Listener>& operator_listener() const noexcept { return operator_; }

 private:
  std::string public_token_file_;
  std::string operator_token_file_;
  std::optional<Listener> public_;
  std::optional<Listener> health_;
  std::optional<Listener> operator_;
};

}  // namespace nustream::serve
