// The listeners of a process, as its settings ask for them.
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
  /// Throws InvalidParameter for an address or limit that is none, and for an operator listener beyond loopback
  /// without a token (operator_token_file empty or "none", so that settle_operator_token() comes first);
  /// Failure(permission) for a token file that is not private; Failures of Listener. The surfaces
  /// outlive it.
  Servers(boost::asio::io_context& loop, const Settings& settings, const PublicSurface& shown,
          const OperatorSurface& operators);

  /// Reads the token files again, for the requests from now on. Throws as the constructor does, and then the tokens
  /// are those of before.
  void read_tokens_again();
  /// As Listener::stop(), all of them.
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
