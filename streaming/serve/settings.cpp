#include "serve/settings.h"

#include "nustream/base/error.h"
#include "serve/address.h"
#include "serve/operator_token.h"

namespace nustream::serve {
namespace {

void require(bool valid, const char* name, const std::string& value, const char* allowed) {
  if (!valid) throw InvalidParameter(name, value, allowed);
}

void check_time(const char* name, std::chrono::milliseconds time) {
  const bool valid = time >= std::chrono::milliseconds{1} && time <= std::chrono::hours{1};
  require(valid, name, std::to_string(std::chrono::duration<double>(time).count()), "0.001 to 3600");
}

}  // namespace

void check(const Limits& limits) {
  require(limits.header_bytes_max >= 256 && limits.header_bytes_max <= 1 << 20, "serve.header_bytes_max",
          std::to_string(limits.header_bytes_max), "256 to 1048576");
  require(limits.connections_max >= 1 && limits.connections_max <= 10'000, "serve.connections_max",
          std::to_string(limits.connections_max), "1 to 10000");
  require(limits.connections_per_address_max >= 1, "serve.connections_per_address_max",
          std::to_string(limits.connections_per_address_max), "at least 1");
  require(limits.events_max <= 10'000, "serve.events_max", std::to_string(limits.events_max), "0 to 10000");
  require(limits.events_per_address_max <= 10'000, "serve.events_per_address_max",
          std::to_string(limits.events_per_address_max), "0 to 10000");
  require(limits.requests_max >= 1, "serve.requests_max", std::to_string(limits.requests_max), "at least 1");
  check_time("serve.timeout_seconds", limits.request_time);
  check_time("serve.idle_seconds", limits.idle_time);
}

void require_loopback(const Settings& settings) {
  if (is_loopback(parse_address("serve.operator_address", settings.operator_address))) return;
  throw InvalidParameter("serve.operator_token_file",
                         settings.operator_token_file.empty() ? "(none)" : settings.operator_token_file,
                         "a file with a bearer token, since serve.operator_address is not loopback and what it shows "
                         "is not private");
}

void check(const Settings& settings) {
  check(settings.limits);
  if (!settings.public_address.empty()) {
    static_cast<void>(parse_address("serve.public_address", settings.public_address));
  }
  if (!settings.health_address.empty()) {
    static_cast<void>(parse_address("serve.health_address", settings.health_address));
  }
  if (settings.operator_address.empty()) return;
  static_cast<void>(parse_address("serve.operator_address", settings.operator_address));
  if (settings.operator_token_file == no_token) require_loopback(settings);
}

}  // namespace nustream::serve
