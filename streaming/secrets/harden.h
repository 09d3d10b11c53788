// Keeps what this process knows inside it.
#pragma once

namespace nustream::secrets {

/// No core dumps, and no reading of this process's memory by others of the same user. First thing in main().
/// Failure(permission) where the system refuses.
void harden_process();

}  // namespace nustream::secrets
