// The command line: nustream COMMAND …
#pragma once

namespace nustream::cli {

/// Runs one command and returns its exit code (docs/exit-codes.md). Every failure is one line on standard error.
[[nodiscard]] int run(int argc, char** argv);

}  // namespace nustream::cli
