// How charts look, and how text is escaped within them.
#include <string>

#include <fmt/format.h>

#include "chart/chart.h"

namespace nustream::chart {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        // Attributes may stand in quotes of either kind.
        out += "&#39;";
        break;
      default: {
        // XML has no way to write such control characters, not even as a reference. U+FFFD stands in their place.
        const auto byte = static_cast<unsigned char>(c);
        const bool control = (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7f;
        out += control ? "\xEF\xBF\xBD" : std::string(1, c);
      }
    }
  }
  return out;
}

// Hues differ by dash pattern too, for readers who cannot tell the colours apart and for print.
std::string_view colours() {
  return R"(.chart{--line:#0b6e99;--faint:#64748b;--grid:#e2e8f0;--axis:#94a3b8;--tick:#475569;
font:12px system-ui,sans-serif;display:block;width:100%;height:auto}
.chart .h1{--line:#c2410c;stroke-dasharray:7 3}
.chart .h2{--line:#4d7c0f;stroke-dasharray:2 2.5}
.chart .h3{--line:#7e22ce;stroke-dasharray:9 3 2 3}
.chart .h4{--line:#b91c1c;stroke-dasharray:4 2}
.chart .h5{--line:#475569;stroke-dasharray:12 4}
.chart .h6{--line:#0f766e;stroke-dasharray:1 3}
.chart .line{fill:none;stroke:var(--line);stroke-width:2;stroke-linejoin:round}
.chart .faint{fill:none;stroke:var(--faint);stroke-width:1;opacity:.55}
.chart .band{fill:var(--line);opacity:.18}
.chart .error{fill:none;stroke:var(--line);stroke-dasharray:none}
.chart .bar{fill:none;stroke:var(--line);stroke-width:5;stroke-dasharray:none;opacity:.4}
.chart .mark{stroke:var(--tick);stroke-width:1.5;stroke-dasharray:3 2}
.chart .line-end{fill:var(--line)}
.chart .faint-end{fill:var(--faint);opacity:.7}
.chart .grid{stroke:var(--grid);fill:none}
.chart .axis{stroke:var(--axis);fill:none}
.chart .tick{fill:var(--tick)}
.chart .name{fill:var(--tick);font-weight:600}
@media (prefers-color-scheme:dark){.chart{--line:#5cc0ea;--faint:#94a3b8;--grid:#27354a;--axis:#64748b;--tick:#b6c2d2}
.chart .h1{--line:#fb923c}.chart .h2{--line:#a3e635}.chart .h3{--line:#c084fc}.chart .h4{--line:#f87171}.chart .h5{--line:#a9b6c8}.chart .h6{--line:#2dd4bf}}
)";
}

// A file is looked at by itself, on any ground. So it brings its own ground, light or dark, and its style.
std::string file_of(std::string_view title, double width, double height, std::string_view body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
      "aria-labelledby=\"c-t c-d\">\n<style>{}.chart .ground{{fill:#fff}}.chart .head{{fill:#0f172a;font-weight:600}}"
      "@media (prefers-color-scheme:dark){{.chart .ground{{fill:#0f1724}}.chart .head{{fill:#e6edf5}}}}</style>\n"
      "<rect class=\"ground\" width=\"100%\" height=\"100%\"/><text class=\"head\" x=\"12\" "
      "y=\"20\">{}</text>\n{}\n"
      "</svg>\n",
      width, height, colours(), escaped(title), body);
}

}  // namespace nustream::chart
