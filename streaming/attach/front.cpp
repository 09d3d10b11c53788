// SIGHUP on the loop: whatever can be read again without a restart is read again, one thing after the other, and the
// log names what was read. Where one of them fails, the others are read all the same.
#include "attach/front.h"

#include <exception>
#include <functional>
#include <string>

#include "log/log.h"

namespace nustream::attach {
namespace {

/// Does `act`, and logs a warning where it fails. A signal never ends the service: what cannot be read again stays as
/// it was. Returns whether `act` went well.
bool try_to(const std::string& what, const std::function<void()>& act) {
  try {
    act();
    return true;
  } catch (const std::exception& failure) {
    log::warning("not_read_again", "SIGHUP: " + what + ", and nothing changes there: " + failure.what());
    return false;
  }
}

}  // namespace

void Front::wait_for_hangup() {
  hangups_.async_wait([this](const boost::system::error_code& cancelled, int /*signal*/) {
    if (cancelled) return;
    const bool reopened = try_to("the log's file could not be opened again", log::reopen);
    const bool read =
        try_to("the listeners' tokens could not be read again", [this] { servers.read_tokens_again(); });
    log::info(
        "read_again",
        std::string("SIGHUP: ") + (reopened ? "the log's file was opened again" : "the log's file is as before") +
            (read ? ", and the listeners' tokens were read again" : ", and the listeners' tokens are as before"));
    if (on_hangup) on_hangup();
    // One wait is for one signal, so that the next signal needs another wait.
    wait_for_hangup();
  });
}

}  // namespace nustream::attach
