#include "attach/front.h"

#include <exception>
#include <functional>
#include <string>

#include "log/log.h"

namespace nustream::attach {
namespace {

/// Does `act`, and logs a warning where it fails. A signal never ends the service: what cannot be read again stays as
/// it was.
void try_to(const std::string& what, const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& failure) {
    log::warning("not_read_again", what + " stays as before: " + failure.what());
  }
}

}  // namespace

void Front::wait_for_hangup() {
  hangups_.async_wait([this](const boost::system::error_code& cancelled, int /*signal*/) {
    if (cancelled) return;
    try_to("the log's file", log::reopen);
    try_to("who may read the listeners", [this] { servers.read_tokens_again(); });
    log::info("read_again", "SIGHUP: the log's file and the tokens are those of now");
    if (on_hangup) on_hangup();
    wait_for_hangup();
  });
}

}  // namespace nustream::attach
