// Keeps what this process knows inside it.
#pragma once

namespace nustream::secrets {

/// Turns core dumps off, and forbids other processes of the same user to read this one's memory. It has to run first
/// in main(). Throws Failure(permission) where the system refuses.
void harden_process();

}  // namespace nustream::secrets
