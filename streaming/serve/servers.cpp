// Builds the listeners from [serve]. The public one gets the public surface alone, so that nothing of the operator's
// can be reached through it.
#include "serve/servers.h"

#include "nustream/base/error.h"
#include "serve/bearer_token.h"
#include "serve/routes.h"

namespace nustream::serve {
namespace {

/// The token in a file; nothing where no file is named, or where the setting says "none".
std::optional<BearerToken> token_of(const std::string& file) {
  if (file.empty() || file == no_token) return std::nullopt;
  return load_bearer_token(file);
}

/// Who may read from the operator's listener. Without a token, at least no web page may reach it by a name of its
/// own.
Access operators_access(const std::string& file) {
  Access access{token_of(file)};
  access.literal_hosts_only = !access.token;
  return access;
}

}  // namespace

Servers::Servers(boost::asio::io_context& loop, const Settings& settings, const PublicSurface& shown,
                 const OperatorSurface& operators)
    : public_token_file_(settings.public_token_file), operator_token_file_(settings.operator_token_file) {
  check(settings);
  if (!settings.public_address.empty()) {
    public_.emplace(loop, parse_address("serve.public_address", settings.public_address), settings.limits,
                    Access{token_of(settings.public_token_file)}, public_routes(shown), public_feed(shown));
  }
  if (!settings.health_address.empty()) {
    health_.emplace(loop, parse_address("serve.health_address", settings.health_address), settings.limits, Access{},
                    health_routes(shown));
  }
  if (settings.operator_address.empty()) return;
  const Address address = parse_address("serve.operator_address", settings.operator_address);
  const Access access = operators_access(settings.operator_token_file);
  if (!access.token) require_loopback(settings);
  operator_.emplace(loop, address, settings.limits, access, operator_routes(operators), operator_feed(operators));
}

void Servers::read_tokens_again() {
  // Both files are read before anything is changed: where one of them is bad, both tokens stay as they were.
  const Access for_public{token_of(public_token_file_)};
  const Access for_operators = operators_access(operator_token_file_);
  if (public_) public_->change_access(for_public);
  if (operator_) operator_->change_access(for_operators);
}

void Servers::stop() {
  if (public_) public_->stop();
  if (health_) health_->stop();
  if (operator_) operator_->stop();
}

}  // namespace nustream::serve
