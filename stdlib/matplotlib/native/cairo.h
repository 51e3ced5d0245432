// Cairo, the drawing library behind matplotlib.pyplot, opened with dlopen at the first picture: start-up stays small, and a
// machine without it still runs programs that draw nothing. Only what canvas.cpp calls is declared, after cairo's own
// documentation of its C interface (version 1.16), whose numbers for formats, caps and so on never change.
#pragma once

#include <string>

namespace tessera::stdlib::cairo {

struct Surface;
struct Context;
struct Pattern;

// Lengths in user space, y downwards.
struct TextExtents {
  double x_bearing, y_bearing, width, height, x_advance, y_advance;
};

using Write = int (*)(void* closure, const unsigned char* data, unsigned length);  // answers kSuccess

inline constexpr int kSuccess = 0, kArgb32 = 0, kExtendPad = 3, kFilterNearest = 3, kFilterBilinear = 4, kEvenOdd = 1;

// name, result, parameters
#define TS_CAIRO_FUNCTIONS(F)                                                            \
  F(image_surface_create, Surface*, (int format, int width, int height))                 \
  F(image_surface_create_for_data, Surface*, (unsigned char*, int format, int width, int height, int stride)) \
  F(surface_write_to_png_stream, int, (Surface*, Write, void* closure))                  \
  F(svg_surface_create_for_stream, Surface*, (Write, void* closure, double width, double height)) \
  F(pdf_surface_create_for_stream, Surface*, (Write, void* closure, double width, double height)) \
  F(surface_finish, void, (Surface*))                                                    \
  F(surface_destroy, void, (Surface*))                                                   \
  F(surface_status, int, (Surface*))                                                     \
  F(status_to_string, const char*, (int))                                                \
  F(create, Context*, (Surface*))                                                        \
  F(destroy, void, (Context*))                                                           \
  F(status, int, (Context*))                                                             \
  F(save, void, (Context*))                                                              \
  F(restore, void, (Context*))                                                           \
  F(translate, void, (Context*, double, double))                                         \
  F(scale, void, (Context*, double, double))                                             \
  F(rotate, void, (Context*, double))                                                    \
  F(new_path, void, (Context*))                                                          \
  F(move_to, void, (Context*, double, double))                                           \
  F(line_to, void, (Context*, double, double))                                           \
  F(curve_to, void, (Context*, double, double, double, double, double, double))          \
  F(close_path, void, (Context*))                                                        \
  F(rectangle, void, (Context*, double, double, double, double))                         \
  F(clip, void, (Context*))                                                              \
  F(fill_preserve, void, (Context*))                                                     \
  F(stroke_preserve, void, (Context*))                                                   \
  F(paint_with_alpha, void, (Context*, double))                                          \
  F(set_source_rgba, void, (Context*, double, double, double, double))                   \
  F(set_source_surface, void, (Context*, Surface*, double, double))                      \
  F(get_source, Pattern*, (Context*))                                                    \
  F(pattern_set_filter, void, (Pattern*, int))                                           \
  F(pattern_set_extend, void, (Pattern*, int))                                           \
  F(set_line_width, void, (Context*, double))                                            \
  F(set_line_cap, void, (Context*, int))                                                 \
  F(set_line_join, void, (Context*, int))                                                \
  F(set_dash, void, (Context*, const double*, int, double))                              \
  F(select_font_face, void, (Context*, const char*, int slant, int weight))              \
  F(set_font_size, void, (Context*, double))                                             \
  F(text_extents, void, (Context*, const char*, TextExtents*))                           \
  F(show_text, void, (Context*, const char*))

struct Library {
#define TS_CAIRO_MEMBER(NAME, RESULT, PARAMETERS) RESULT(*NAME) PARAMETERS = nullptr;
  TS_CAIRO_FUNCTIONS(TS_CAIRO_MEMBER)
#undef TS_CAIRO_MEMBER
  std::string problem;  // empty: every function is there
};

// Opened at the first call.
const Library& library();

}  // namespace tessera::stdlib::cairo
