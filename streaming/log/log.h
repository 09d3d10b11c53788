// The log of the process: standard error or a file, one entry a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log/entry.h"

namespace nustream::log {

/// Where entries go, and how they look there.
struct Settings {
  Format format = Format::plain;
  std::string file{};  ///< appended to, mode 0600 where it is made; empty: standard error
};

/// From now on entries go there. Until the first call they go to standard error, in plain words. Where standard error
/// is systemd's journal (JOURNAL_STREAM says so), the journal stamps them. Throws Failure(io) for a file that cannot
/// be opened, and then nothing has changed.
void use(const Settings& settings);

/// Opens the file by its name again, for tools that move a log away and signal its writer. Throws as use() does, and
/// then the old file stays in use. Nothing to do for standard error.
void reopen();

/// One write of a whole line, so that lines of several threads do not mix. Any thread. A log that cannot be written
/// stops nothing.
void write(const Entry& entry);

void info(std::string_view event, std::string message, std::vector<Field> fields = {});
void warning(std::string_view event, std::string message, std::vector<Field> fields = {});

}  // namespace nustream::log
