// The log of the process: one entry a line, on standard error or in a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log/entry.h"

namespace nustream::log {

/// Where entries go, and in which form.
struct Settings {
  Format format = Format::plain;
  std::string file{};  ///< appended to, and made with mode 0600; empty: standard error
};

/// Sends all later entries where `settings` say. Before the first call they go to standard error in plain words.
/// Where standard error is systemd's journal (JOURNAL_STREAM says so), the journal stamps them. Throws Failure(io)
/// for a file that cannot be opened; nothing has changed then.
void use(const Settings& settings);

/// Throws as use() does for a file that could not be opened. It makes no file, and changes nothing.
void require_writable(const std::string& file);

/// Opens the file by its name again, for tools that move a log away and then signal its writer. Throws as use() does;
/// the old file stays in use then. Does nothing for standard error.
void reopen();

/// Writes an entry by one write of its whole line, so that lines of several threads do not mix. Any thread may call
/// it. A log that cannot be written stops nothing.
void write(const Entry& entry);

void info(std::string_view event, std::string message, std::vector<Field> fields = {});
void warning(std::string_view event, std::string message, std::vector<Field> fields = {});

}  // namespace nustream::log
