// matplotlib._canvas: paper to draw on, by cairo. Lengths are in pixels of the picture, y downwards; colours are four numbers
// from 0 to 1. What is drawn where is decided in the language (stdlib/matplotlib/*.tsr).
// compile: small (the drawing takes longer)
#include "stdlib/matplotlib/native/canvas.h"

#include <cmath>
#include <vector>

#include "lang/core/booking.h"
#include "lang/core/make_object.h"
#include "lang/core/object_cast.h"
#include "lang/objects/own_type.h"
#include "lang/types/bytes.h"
#include "stdlib/matplotlib/native/cairo.h"
#include "stdlib/python/native/support.h"

namespace tessera::stdlib {
namespace {

constexpr double kLargest = 32767;  // cairo's limit of a picture's side

struct Canvas : Object {
  cairo::Surface* surface = nullptr;
  cairo::Context* context = nullptr;
  bool is_image = false;
  std::string written;
  Booking pixels;
  std::string steps;  // of the path, and their numbers
  std::vector<double> at;
};

int append(void* closure, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return cairo::kSuccess;
}

const cairo::Library& library() {
  const cairo::Library& found = cairo::library();
  if (!found.problem.empty()) throw Error(ErrorKind::RuntimeError, found.problem);
  return found;
}

void close_canvas(Canvas* c) {
  if (c->context != nullptr) library().destroy(c->context);
  if (c->surface != nullptr) library().surface_destroy(c->surface);
  c->context = nullptr;
  c->surface = nullptr;
}

void destroy_canvas(Interpreter& in, Object* self) {
  close_canvas(known_cast<Canvas>(self));
  free_object(in, known_cast<Canvas>(self));
}

cairo::Context* pen(const Args& args) {
  cairo::Context* context = object_cast<Canvas>(args[0])->context;
  if (context == nullptr) throw Error(ErrorKind::ValueError, "the canvas is finished");
  return context;
}

double number(Interpreter& in, const Args& args, uint32_t i) { return real_argument(in, args[i]); }

// A list of floats.
std::vector<double> numbers(Interpreter& in, const Value& v) {
  if (!is_list(v)) throw Error(ErrorKind::TypeError, "numbers are given as a list");
  std::vector<double> out;
  const List* list = as_list(v);
  out.reserve(list->size);
  for (uint32_t i = 0; i < list->size; i++) {
    const Value item = list->items[i];  // its __float__ may change the list
    out.push_back(real_argument(in, item));
  }
  return out;
}

Value open_canvas(Interpreter& in, const Args& args) {
  const std::string_view kind = text_argument(in, args[0], "kind");
  const double width = number(in, args, 1), height = number(in, args, 2);
  if (!(width >= 1 && width <= kLargest && height >= 1 && height <= kLargest)) {
    throw_error(ErrorKind::ValueError,
                "Image size of %.0fx%.0f pixels is too large. It must be less than 2^16 in each direction.",
                std::abs(width), std::abs(height));
  }
  const cairo::Library& c = library();
  const Value type = get_attr(in, Value(in.import("matplotlib._canvas")), intern(in, "Canvas"));
  Value made = Value::adopt(make_object<Canvas>(in, own_type(type, layout_of<Canvas>, "matplotlib._canvas.Canvas")));
  Canvas* canvas = object_cast<Canvas>(made);
  canvas->is_image = kind == "png";
  if (kind == "svg") canvas->surface = c.svg_surface_create_for_stream(append, &canvas->written, width, height);
  else if (kind == "pdf") canvas->surface = c.pdf_surface_create_for_stream(append, &canvas->written, width, height);
  else {
    canvas->pixels.set(in.heap, static_cast<size_t>(width) * static_cast<size_t>(height) * 4);
    canvas->surface = c.image_surface_create(cairo::kArgb32, static_cast<int>(width), static_cast<int>(height));
  }
  const int status = c.surface_status(canvas->surface);
  if (status != cairo::kSuccess)
    throw Error(ErrorKind::RuntimeError, std::string("cairo: ") + c.status_to_string(status));
  canvas->context = c.create(canvas->surface);
  return made;
}

// The bytes of the file; nothing can be drawn after it.
Value finish(Interpreter& in, const Args& args) {
  pen(args);
  Canvas* canvas = object_cast<Canvas>(args[0]);
  const cairo::Library& c = library();
  int status = c.status(canvas->context);
  if (status == cairo::kSuccess && canvas->is_image)
    status = c.surface_write_to_png_stream(canvas->surface, append, &canvas->written);
  c.surface_finish(canvas->surface);
  if (status == cairo::kSuccess) status = c.surface_status(canvas->surface);
  close_canvas(canvas);
  if (status != cairo::kSuccess)
    throw Error(ErrorKind::RuntimeError, std::string("cairo: ") + c.status_to_string(status));
  return make_bytes(in, canvas->written);
}

Value save(Interpreter&, const Args& args) { return library().save(pen(args)), Value::none(); }
Value restore(Interpreter&, const Args& args) { return library().restore(pen(args)), Value::none(); }
Value translate(Interpreter& in, const Args& args) {
  library().translate(pen(args), number(in, args, 1), number(in, args, 2));
  return Value::none();
}
Value rotate(Interpreter& in, const Args& args) {
  library().rotate(pen(args), number(in, args, 1));
  return Value::none();
}

Value clip(Interpreter& in, const Args& args) {
  cairo::Context* context = pen(args);
  library().new_path(context);
  library().rectangle(context, number(in, args, 1), number(in, args, 2), number(in, args, 3), number(in, args, 4));
  library().clip(context);
  library().new_path(context);
  return Value::none();
}

Value clip_path(Interpreter&, const Args& args) {
  library().clip(pen(args));
  return Value::none();
}

size_t numbers_of(char step) { return step == 'C' ? 6 : step == 'Z' ? 0 : 2; }

void add_steps(cairo::Context* context, std::string_view steps, const double* p) {
  const cairo::Library& c = library();
  for (const char step : steps) {
    if (step == 'M') c.move_to(context, p[0], p[1]);
    else if (step == 'C') c.curve_to(context, p[0], p[1], p[2], p[3], p[4], p[5]);
    else if (step == 'Z') c.close_path(context);
    else c.line_to(context, p[0], p[1]);
    p += numbers_of(step);
  }
}

// A letter a step: M and L take two numbers, C six, Z none. Takes the place of the path before.
Value path(Interpreter& in, const Args& args) {
  cairo::Context* context = pen(args);
  Canvas* const canvas = object_cast<Canvas>(args[0]);
  const std::string_view steps = text_argument(in, args[1], "steps");
  std::vector<double> at = numbers(in, args[2]);
  size_t taken = 0;
  for (const char step : steps) taken += numbers_of(step);
  if (taken > at.size()) throw Error(ErrorKind::ValueError, "a path has fewer numbers than its steps take");
  library().new_path(context);
  add_steps(context, steps, at.data());
  canvas->steps = steps;
  canvas->at = std::move(at);
  return Value::none();
}

// cairo looks at all of a path at once, for a time that grows faster than it. So a long open line is drawn in pieces, between
// which the program can be stopped; where one ends the next begins.
void stroke_in_pieces(Interpreter& in, const Canvas& canvas) {
  constexpr size_t kPiece = 2000;
  const cairo::Library& c = library();
  const std::string_view steps = canvas.steps;
  const double* at = canvas.at.data();
  if (steps.size() <= 2 * kPiece || steps.find('Z') != steps.npos) return c.stroke_preserve(canvas.context);
  for (size_t i = 0; i < steps.size(); i += kPiece) {
    in.check_stop(1000);
    const std::string_view part = steps.substr(i, kPiece);
    c.new_path(canvas.context);
    if (i != 0 && at - canvas.at.data() >= 2) c.move_to(canvas.context, at[-2], at[-1]);
    add_steps(canvas.context, part, at);
    for (const char step : part) at += numbers_of(step);
    c.stroke_preserve(canvas.context);
  }
  c.new_path(canvas.context);
  add_steps(canvas.context, steps, canvas.at.data());
}

void set_colour(Interpreter& in, cairo::Context* context, const Args& args) {
  library().set_source_rgba(context, number(in, args, 1), number(in, args, 2), number(in, args, 3),
                            number(in, args, 4));
}

Value fill(Interpreter& in, const Args& args) {
  set_colour(in, pen(args), args);
  library().fill_preserve(pen(args));
  return Value::none();
}

Value stroke(Interpreter& in, const Args& args) {
  cairo::Context* context = pen(args);
  const cairo::Library& c = library();
  set_colour(in, context, args);
  c.set_line_width(context, number(in, args, 5));
  c.set_line_cap(context, static_cast<int>(int_argument(in, args[6])));
  c.set_line_join(context, static_cast<int>(int_argument(in, args[7])));
  const std::vector<double> dashes = numbers(in, args[8]);
  c.set_dash(context, dashes.data(), static_cast<int>(dashes.size()), number(in, args, 9));
  stroke_in_pieces(in, *object_cast<Canvas>(args[0]));
  return Value::none();
}

void choose_font(Interpreter& in, cairo::Context* context, const Args& args, uint32_t first) {
  const std::string family(text_argument(in, args[first], "family"));
  library().select_font_face(context, family.c_str(), truth(in, args[first + 1]) ? 1 : 0,
                             truth(in, args[first + 2]) ? 1 : 0);
  library().set_font_size(context, number(in, args, first + 3));
}

Value extents(Interpreter& in, const Args& args) {
  cairo::Context* context = pen(args);
  choose_font(in, context, args, 2);
  cairo::TextExtents e{};
  library().text_extents(context, std::string(text_argument(in, args[1], "text")).c_str(), &e);
  return make_tuple(in, {Value::real(e.x_bearing), Value::real(e.y_bearing), Value::real(e.width),
                         Value::real(e.height), Value::real(e.x_advance)});
}

// With its left end on the base line at (x, y).
Value text(Interpreter& in, const Args& args) {
  cairo::Context* context = pen(args);
  const cairo::Library& c = library();
  c.set_source_rgba(context, number(in, args, 4), number(in, args, 5), number(in, args, 6), number(in, args, 7));
  choose_font(in, context, args, 8);
  c.move_to(context, number(in, args, 2), number(in, args, 3));
  c.show_text(context, std::string(text_argument(in, args[1], "text")).c_str());
  c.new_path(context);
  return Value::none();
}

// `pixels`: rows from the top, four bytes each: blue, green, red, alpha, the colours multiplied with alpha.
Value image(Interpreter& in, const Args& args) {
  cairo::Context* context = pen(args);
  const cairo::Library& c = library();
  const BytesLike data(in, args[1]);
  const int64_t columns = int_argument(in, args[2]), rows = int_argument(in, args[3]);
  if (columns < 1 || rows < 1 || columns > kLargest || rows > kLargest ||
      data.view().size() != static_cast<size_t>(columns) * static_cast<size_t>(rows) * 4)
    throw Error(ErrorKind::ValueError, "an image's bytes are four for each of its pixels");
  std::string pixels(data.view());  // stays until the surface is gone; a vector file copies it
  cairo::Surface* source =
      c.image_surface_create_for_data(reinterpret_cast<unsigned char*>(pixels.data()), cairo::kArgb32,
                                      static_cast<int>(columns), static_cast<int>(rows), static_cast<int>(columns) * 4);
  c.save(context);
  c.translate(context, number(in, args, 4), number(in, args, 5));
  c.scale(context, number(in, args, 6) / static_cast<double>(columns), number(in, args, 7) / static_cast<double>(rows));
  c.set_source_surface(context, source, 0, 0);
  cairo::Pattern* pattern = c.get_source(context);
  c.pattern_set_filter(pattern, truth(in, args[8]) ? cairo::kFilterBilinear : cairo::kFilterNearest);
  c.pattern_set_extend(pattern, cairo::kExtendPad);
  c.rectangle(context, 0, 0, static_cast<double>(columns), static_cast<double>(rows));
  c.clip(context);
  c.paint_with_alpha(context, number(in, args, 9));
  c.restore(context);
  c.surface_finish(source);
  c.surface_destroy(source);
  return Value::none();
}

const NativeDef kMethods[] = {
    {"finish(self)", finish, "The bytes of the file; nothing can be drawn after it."},
    {"save(self)", save, "Keeps the place, turn and clip until restore()."},
    {"restore(self)", restore},
    {"translate(self, x, y)", translate},
    {"rotate(self, angle)", rotate, "Turns by radians, clockwise."},
    {"clip(self, x, y, width, height)", clip, "Nothing is drawn outside from here on."},
    {"clip_path(self)", clip_path, "Nothing is drawn outside of the path from here on."},
    {"path(self, steps, numbers)", path, "A letter a step: M and L take two numbers, C six, Z none."},
    {"fill(self, r, g, b, a)", fill, "Fills the path, which stays."},
    {"stroke(self, r, g, b, a, width, cap, join, dashes, offset)", stroke, "Draws along the path, which stays."},
    {"extents(self, text, family, slanted, bold, size)", extents, "(x_bearing, y_bearing, width, height, x_advance)"},
    {"text(self, text, x, y, r, g, b, a, family, slanted, bold, size)", text},
    {"image(self, pixels, columns, rows, x, y, width, height, smooth, alpha)", image},
};

void fill_canvas(Interpreter& in, Module& module) {
  NativeTypeSpec spec;
  spec.name = "Canvas";
  spec.module = "matplotlib._canvas";
  spec.size = sizeof(Canvas);
  spec.flags = kFinalType;
  Type* type = in.new_type(spec);
  type->slots.layout = layout_of<Canvas>;
  type->slots.destroy = destroy_canvas;
  in.add_methods(type, kMethods, std::size(kMethods));
  set_member(in, module, "Canvas", Value(type));
  in.def(module, "open(kind, width, height)", "A canvas: kind is png, svg or pdf.", open_canvas);
}

}  // namespace

void add_matplotlib_modules(Interpreter& in) {
  in.add_native_module("matplotlib._canvas", fill_canvas);
  in.add_native_module("matplotlib._terminal", fill_terminal);
}

}  // namespace tessera::stdlib
