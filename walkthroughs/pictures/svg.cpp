#include "walkthroughs/pictures/svg.h"

#include <cstdio>
#include <utility>

namespace paged {
namespace {

constexpr const char* kLight =
    "svg{--ink:#1c2733;--dim:#5b6b7b;--paper:#fff;--line:#b4c0cc;--a:#2f6fde;--as:#dbe7fb;"
    "--b:#b4620a;--bs:#fbe9d2;--hot:#1d4fb0;--on:#fff}";
constexpr const char* kDark =
    "svg{--ink:#dde5ee;--dim:#9aa9b8;--paper:#11171e;--line:#46535f;--a:#7aa7ff;--as:#1f3355;"
    "--b:#f0a850;--bs:#4a3314;--hot:#8fb5ff;--on:#0b1118}";
constexpr const char* kShapes =
    "text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:var(--ink)}"
    ".h{font-weight:600;font-size:14px}.small{font-size:10px}.dim{fill:var(--dim)}"
    ".halo{paint-order:stroke;stroke:var(--paper);stroke-width:3px}.on{fill:var(--on)}.paper{fill:"
    "var(--paper)}"
    "rect{stroke-width:1}.a{fill:var(--as);stroke:var(--a)}.b{fill:url(#hatch);stroke:var(--b)}"
    ".hot{fill:var(--hot);stroke:var(--hot)}.idle{fill:none;stroke:var(--line)}"
    ".waste{fill:url(#dots);stroke:var(--line)}"
    ".frame{fill:none;stroke:var(--ink);stroke-width:2}"
    ".thin{fill:none;stroke:var(--line)}"
    ".arrow{fill:none;stroke:var(--a);stroke-width:1.5;marker-end:url(#head)}"
    ".arrow2{fill:none;stroke:var(--b);stroke-width:1.5;stroke-dasharray:5 3;"
    "marker-end:url(#head2)}"
    ".head{fill:var(--a)}.head2{fill:var(--b)}.hb{fill:var(--bs)}.hl{stroke:var(--b)}"
    ".dot{fill:var(--dim)}";
constexpr const char* kDefinitions =
    "<defs><pattern id='hatch' width='6' height='6' patternUnits='userSpaceOnUse' "
    "patternTransform='rotate(45)'><rect class='hb' width='6' height='6'/>"
    "<path class='hl' d='M0 0V6' opacity='.45'/></pattern>"
    "<pattern id='dots' width='5' height='5' patternUnits='userSpaceOnUse'>"
    "<circle class='dot' cx='2' cy='2' r='.8'/></pattern>"
    "<marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' "
    "orient='auto'><path class='head' d='M0 0L8 4L0 8z'/></marker>"
    "<marker id='head2' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' "
    "orient='auto'><path class='head2' d='M0 0L8 4L0 8z'/></marker></defs>";

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "='" + svg_number(value) + "'";
}

}  // namespace

std::string svg_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string number = text;
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number == "-0" ? "0" : number;
}

std::string escaped_markup(const std::string& text) {
  std::string safe;
  for (const char c : text) switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      default:
        safe += c;
    }
  return safe;
}

Svg::Svg(double width, double height, std::string title, std::string description)
    : width_(width),
      height_(height),
      title_(std::move(title)),
      description_(std::move(description)) {}

void Svg::rectangle(double x, double y, double width, double height, const std::string& kind) {
  body_ += "<rect class='" + kind + "'" + attribute("x", x) + attribute("y", y) +
           attribute("width", width) + attribute("height", height) + "/>\n";
}

void Svg::text(double x, double y, const std::string& text, const std::string& kind,
               Anchor anchor) {
  body_ += "<text" + attribute("x", x) + attribute("y", y);
  if (!kind.empty()) body_ += " class='" + kind + "'";
  if (anchor != Anchor::start)
    body_ += anchor == Anchor::middle ? " text-anchor='middle'" : " text-anchor='end'";
  body_ += ">" + escaped_markup(text) + "</text>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& kind) {
  body_ += "<path class='" + kind + "' d='M" + svg_number(x1) + " " + svg_number(y1) + "L" +
           svg_number(x2) + " " + svg_number(y2) + "'/>\n";
}

void Svg::connect(double x1, double y1, double x2, double y2, const std::string& kind) {
  const std::string middle = svg_number((y1 + y2) / 2);
  body_ += "<path class='" + kind + "' d='M" + svg_number(x1) + " " + svg_number(y1) + "C" +
           svg_number(x1) + " " + middle + " " + svg_number(x2) + " " + middle + " " +
           svg_number(x2) + " " + svg_number(y2) + "'/>\n";
}

std::string Svg::document(bool always_dark) const {
  const std::string width = svg_number(width_);
  const std::string height = svg_number(height_);
  std::string colours = always_dark ? kDark : kLight;
  if (!always_dark)
    colours += std::string("@media screen and (prefers-color-scheme:dark){") + kDark + "}";
  return "<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-labelledby='t d' viewBox='0 0 " +
         width + " " + height + "' width='" + width + "' height='" + height + "'>\n<title id='t'>" +
         escaped_markup(title_) + "</title>\n<desc id='d'>" + escaped_markup(description_) +
         "</desc>\n<style>" + colours + kShapes + "</style>\n" + kDefinitions +
         "\n<rect class='paper' width='" + width + "' height='" + height + "'/>\n" + body_ +
         "</svg>\n";
}

}  // namespace paged
