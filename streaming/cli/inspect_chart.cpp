#include "cli/inspect_chart.h"

#include <fmt/format.h>

#include "console/main_path.h"
#include "console/terminal.h"
#include "publish/release_json.h"
#include "serve/page_parts.h"

namespace nustream::cli {

void print_chart(const std::string& stream, const std::string& release, const serve::History& history) {
  const auto last = publish::read_release(release);
  if (!last) return;
  const std::size_t j = console::main_coefficient(*last);
  chart::Chart chart = serve::page::coefficient_chart(history, *last, j, last->estimate[j].first);
  chart.title = stream + ": " + chart.title;
  fmt::print("\n{}", chart::text_of(chart, console::style_of(stdout)));
}

}  // namespace nustream::cli
