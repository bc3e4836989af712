// Small, plain SVG: shapes with classes, one style for all pictures.
#pragma once
#include <string>

namespace paged {

/// Where a text's point is.
enum class Anchor { start, middle, end };

/// One picture. Lengths in pixels, from the upper left corner. Classes of shapes:
///   a, b        asked for, in two kinds that alternate; b is hatched, so that grey paper tells them apart
///   hot         what the picture is about: filled
///   idle        there, and not touched
///   frame       an outline, drawn over others
///   waste       moved or kept for nothing: dotted
///   arrow       a line with a head
/// and of texts: h (heading), small, dim (less important), on (on something filled),
/// halo (on something dotted).
class Svg {
 public:
  /// title: what it is; description: what it shows, for those who cannot see it.
  Svg(double width, double height, std::string title, std::string description);

  void rectangle(double x, double y, double width, double height, const std::string& kind);
  void text(double x, double y, const std::string& text, const std::string& kind = "",
            Anchor anchor = Anchor::start);
  void line(double x1, double y1, double x2, double y2, const std::string& kind);
  /// An S-shaped connection from top to bottom.
  void connect(double x1, double y1, double x2, double y2, const std::string& kind);

  /// In light or dark colours, as the reader's setting is.
  std::string adaptive() const { return document(false); }
  /// In dark colours always.
  std::string dark() const { return document(true); }

 private:
  std::string document(bool always_dark) const;

  double width_, height_;
  std::string title_, description_, body_;
};

/// A length without needless digits.
std::string svg_number(double value);
/// With &, < and > written so that XML and HTML take them as text.
std::string escaped_markup(const std::string& text);

}  // namespace paged
