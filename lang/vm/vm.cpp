// The loop, and nothing else: one case per instruction of opcodes.def.
//
// Rules for whoever writes here:
//  1. Whatever may throw, run script code or collect comes after TS_SAVE(): the traceback, the handlers and whoever looks
//     at the running frames read frame->pc.
//  2. A scope with a destructor ends before TS_NEXT: a computed goto out of it skips the destructor (g++) or does not
//     compile (clang). Longer work is a function in steps.cpp.
//  3. A temporary that was an operand is taken or dropped (Note [Temporaries die] in opcodes.def).
//  4. Natives may run scripts, but when they are back `top_` is this frame again; frames and registers never move, so
//     nothing is loaded anew, except after a call that changed `top_`: then TS_ENTER(frame).
//  5. The first test of a case is the common one; the rest is out of line.
#include "lang/vm/vm.h"

#include <cmath>

#include "lang/vm/call.h"
#include "lang/objects/exception.h"
#include "lang/objects/generator.h"
#include "lang/interpreter.h"
#include "lang/protocol.h"
#include "lang/vm/steps.h"
#include "lang/types/dict.h"
#include "lang/types/list.h"
#include "lang/types/number.h"
#include "lang/types/range.h"
#include "lang/types/set.h"
#include "lang/types/tuple.h"

namespace tessera {

// The cases are labels made by macros, which clang-format takes for something else.
// clang-format off

#if defined(__GNUC__) && !defined(TESSERA_SWITCH_DISPATCH)
#define TS_DISPATCH() goto* kLabels[(w = *pc++) & 0xff]
#define TS_CASE(name) label_##name:
#define TS_NEXT TS_DISPATCH()
#else
#define TS_CASE(name) case Op::name:
#define TS_NEXT break
#endif

#define RA R[a_of(w)]
#define RB R[b_of(w)]
#define RC R[c_of(w)]
#define TS_SAVE() (frame->pc = pc)
// Goes on in another frame, or in this one at another place.
#define TS_ENTER(next)                           \
  do {                                           \
    frame = (next);                              \
    R = frame->registers;                        \
    K = frame->code->constants.data();           \
    temporaries = frame->code->first_temporary;  \
    pc = frame->pc;                              \
  } while (false)
#define TS_TAKE(r) ((r) >= temporaries ? Value(std::move(R[r])) : Value(R[r]))
#define TS_DROP(r)                          \
  do {                                      \
    if ((r) >= temporaries) R[r] = Value(); \
  } while (false)
// Follows the jump word at pc; backward ones are safe points.
#define TS_JUMP()                          \
  do {                                     \
    const int32_t offset = jump_of(*pc++); \
    pc += offset;                          \
    if (offset < 0) TS_POLL();             \
  } while (false)
#define TS_POLL()                                                                                 \
  do {                                                                                            \
    if (in_.interrupt.load(std::memory_order_relaxed) != 0 || --countdown_ < 0) [[unlikely]] {    \
      TS_SAVE();                                                                                  \
      safe_point();                                                                               \
    }                                                                                             \
  } while (false)
// What a call answered: the callee's frame runs next, or the answer is there.
#define TS_AFTER_CALL(next)           \
  if (Frame* const callee_frame = (next)) { \
    TS_ENTER(callee_frame);           \
    TS_NEXT;                          \
  }

bool VirtualMachine::execute(Frame* entry, Value& out) {
#if defined(__GNUC__) && !defined(TESSERA_SWITCH_DISPATCH)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
  static const void* const kLabels[] = {
#define TS_OP(name, form) &&label_##name,
#include "lang/compiler/opcodes.def"
#undef TS_OP
  };
#endif
  const BuiltinTypes& types = in_.types;
  Frame* frame = nullptr;
  const Word* pc = nullptr;
  Value* R = nullptr;
  const Value* K = nullptr;
  uint32_t temporaries = 0;
  Word w = 0;
  TS_ENTER(top_);

#if defined(__GNUC__) && !defined(TESSERA_SWITCH_DISPATCH)
  TS_DISPATCH();
#else
  for (;;) {
    w = *pc++;
    switch (op_of(w)) {
      case Op::Count:
        break;
#endif

  // --- moving

  TS_CASE(Move) {
    const uint32_t b = b_of(w);
    if (b >= temporaries) {
      RA = std::move(R[b]);
    } else {
      RA = R[b];
    }
  }
  TS_NEXT;

  TS_CASE(Copy) { RA = RB; }
  TS_NEXT;

  TS_CASE(LoadK) { RA = K[bx_of(w)]; }
  TS_NEXT;

  TS_CASE(LoadKWide) { RA = K[*pc++]; }
  TS_NEXT;

  TS_CASE(LoadInt) { RA = Value::integer(sbx_of(w)); }
  TS_NEXT;

  TS_CASE(LoadNone) { RA = Value::none(); }
  TS_NEXT;

  TS_CASE(LoadBool) { RA = Value::boolean(c_of(w) != 0); }
  TS_NEXT;

  TS_CASE(Clear) {
    const uint32_t a = a_of(w);
    TS_SAVE();
    for (uint32_t i = 0; i < b_of(w); ++i) R[a + i] = Value();
  }
  TS_NEXT;

  TS_CASE(CheckLocal) {
    if (RA.is_undefined()) [[unlikely]] {
      TS_SAVE();
      throw_unbound_local(in_, frame->code->names[bx_of(w)]);
    }
  }
  TS_NEXT;

  TS_CASE(DeleteLocal) {
    TS_SAVE();
    if (RA.is_undefined()) throw_unbound_local(in_, frame->code->names[bx_of(w)]);
    RA = Value();
  }
  TS_NEXT;

  // --- variables

  TS_CASE(LoadGlobal) {
    const Word name = *pc++;
    InlineCache& cache = frame->code->caches[cache_of(name)];
    Dict* const globals = frame->function->globals;
    if (cache.site.version == globals->keys_version) [[likely]] {
      if (!cache.builtins) {
        RA = globals->entries[cache.site.index].value;
        TS_NEXT;
      }
      if (cache.version2 == builtins_->keys_version) [[likely]] {
        RA = builtins_->entries[cache.site.index].value;
        TS_NEXT;
      }
    }
    TS_SAVE();
    load_global_step(in_, frame, RA, frame->code->names[name_of(name)], cache, builtins_);
  }
  TS_NEXT;

  TS_CASE(StoreGlobal) {
    const Word name = *pc++;
    InlineCache& cache = frame->code->caches[cache_of(name)];
    Dict* const globals = frame->function->globals;
    TS_SAVE();
    if (cache.site.version == globals->keys_version && !cache.builtins) [[likely]] {
      Value& place = globals->entries[cache.site.index].value;
      if (a_of(w) >= temporaries) {
        place = std::move(RA);
      } else {
        place = RA;
      }
    } else {
      Str* const key = frame->code->names[name_of(name)];
      dict_set_str(in_, globals, key, TS_TAKE(a_of(w)));
      cache.site.index = static_cast<uint32_t>(dict_find_str(globals, key));
      cache.site.version = globals->keys_version;
      cache.builtins = false;
    }
  }
  TS_NEXT;

  TS_CASE(DeleteGlobal) {
    Str* const name = frame->code->names[name_of(*pc++)];
    TS_SAVE();
    if (!dict_delete_str(in_, frame->function->globals, name)) throw_name_error(in_, name);
  }
  TS_NEXT;

  TS_CASE(LoadName) {
    Str* const name = frame->code->names[name_of(*pc++)];
    TS_SAVE();
    load_name_step(in_, frame, RA, RB, name, builtins_, nullptr);
  }
  TS_NEXT;

  TS_CASE(LoadNameCell) {
    Str* const name = frame->code->names[name_of(*pc++)];
    TS_SAVE();
    load_name_step(in_, frame, RA, RB, name, builtins_, frame->function->closure[c_of(w)]);
  }
  TS_NEXT;

  TS_CASE(StoreName) {
    Str* const name = frame->code->names[name_of(*pc++)];
    TS_SAVE();
    if (RB.as_object()->type == types.dict) [[likely]] {
      dict_set_str(in_, as_dict(RB), name, TS_TAKE(a_of(w)));
    } else {
      set_item(in_, RB, Value(name), RA);
    }
  }
  TS_NEXT;

  TS_CASE(DeleteName) {
    Str* const name = frame->code->names[name_of(*pc++)];
    TS_SAVE();
    if (!dict_delete_str(in_, as_dict(RB), name)) throw_name_error(in_, name);
  }
  TS_NEXT;

  TS_CASE(MakeCell) {
    Value& a = RA;
    TS_SAVE();
    a = make_cell(in_, std::move(a));
  }
  TS_NEXT;

  TS_CASE(LoadCell) {
    const Word name = *pc++;
    const Value& value = static_cast<const Cell*>(RB.as_object())->value;
    if (value.is_undefined()) [[unlikely]] {
      TS_SAVE();
      throw_unbound_local(in_, frame->code->names[name_of(name)]);
    }
    RA = value;
  }
  TS_NEXT;

  TS_CASE(StoreCell) {
    TS_SAVE();
    static_cast<Cell*>(RB.as_object())->value = TS_TAKE(a_of(w));
  }
  TS_NEXT;

  TS_CASE(DeleteCell) {
    Str* const name = frame->code->names[name_of(*pc++)];
    Value& value = static_cast<Cell*>(RB.as_object())->value;
    TS_SAVE();
    if (value.is_undefined()) throw_unbound_local(in_, name);
    value = Value();
  }
  TS_NEXT;

  TS_CASE(LoadFree) {
    const Word name = *pc++;
    const Value& value = frame->function->closure[b_of(w)]->value;
    if (value.is_undefined()) [[unlikely]] {
      TS_SAVE();
      throw_unbound_free(in_, frame->code->names[name_of(name)]);
    }
    RA = value;
  }
  TS_NEXT;

  TS_CASE(StoreFree) {
    TS_SAVE();
    frame->function->closure[b_of(w)]->value = TS_TAKE(a_of(w));
  }
  TS_NEXT;

  TS_CASE(DeleteFree) {
    Str* const name = frame->code->names[name_of(*pc++)];
    Value& value = frame->function->closure[b_of(w)]->value;
    TS_SAVE();
    if (value.is_undefined()) throw_unbound_free(in_, name);
    value = Value();
  }
  TS_NEXT;

  // --- arithmetic. ints when both are and it fits; floats when both are, or one of each; everything else in
  // binary_step.

#define TS_ARITHMETIC(op, left, breg, right, creg, on_int, float_expression)                       \
  {                                                                                                \
    const Value& x = left;                                                                         \
    const Value& y = right;                                                                        \
    if (x.is_int() && y.is_int()) [[likely]] {                                                     \
      const int64_t i = x.as_int(), j = y.as_int();                                                \
      int64_t r;                                                                                   \
      if (on_int) [[likely]] {                                                                     \
        RA = Value::integer(r);                                                                    \
        TS_NEXT;                                                                                   \
      }                                                                                            \
    } else if (x.is_float()) {                                                                     \
      if (y.is_float()) {                                                                          \
        const double i = x.as_float(), j = y.as_float();                                           \
        RA = Value::real(float_expression);                                                        \
        TS_NEXT;                                                                                   \
      } else if (y.is_int()) {                                                                     \
        const double i = x.as_float(), j = static_cast<double>(y.as_int());                        \
        RA = Value::real(float_expression);                                                        \
        TS_NEXT;                                                                                   \
      }                                                                                            \
    } else if (y.is_float() && x.is_int()) {                                                       \
      const double i = static_cast<double>(x.as_int()), j = y.as_float();                          \
      RA = Value::real(float_expression);                                                          \
      TS_NEXT;                                                                                     \
    }                                                                                              \
    TS_SAVE();                                                                                     \
    binary_step(in_, frame, op, a_of(w), x, breg, y, creg);                                        \
  }                                                                                                \
  TS_NEXT;
#define TS_FORMS_RR RB, b_of(w), RC, c_of(w)
#define TS_FORMS_RK RB, b_of(w), K[c_of(w)], kNoRegister
#define TS_FORMS_KR K[b_of(w)], kNoRegister, RC, c_of(w)
#define TS_ARITHMETIC_FORM(op, forms, on_int, float_expression) \
  TS_ARITHMETIC_EXPAND(op, forms, on_int, float_expression)
#define TS_ARITHMETIC_EXPAND(...) TS_ARITHMETIC(__VA_ARGS__)

  TS_CASE(Add) TS_ARITHMETIC_FORM(BinaryOp::Add, TS_FORMS_RR, !__builtin_add_overflow(i, j, &r), i + j)
  TS_CASE(AddK) TS_ARITHMETIC_FORM(BinaryOp::Add, TS_FORMS_RK, !__builtin_add_overflow(i, j, &r), i + j)
  TS_CASE(KAdd) TS_ARITHMETIC_FORM(BinaryOp::Add, TS_FORMS_KR, !__builtin_add_overflow(i, j, &r), i + j)
  TS_CASE(Sub) TS_ARITHMETIC_FORM(BinaryOp::Sub, TS_FORMS_RR, !__builtin_sub_overflow(i, j, &r), i - j)
  TS_CASE(SubK) TS_ARITHMETIC_FORM(BinaryOp::Sub, TS_FORMS_RK, !__builtin_sub_overflow(i, j, &r), i - j)
  TS_CASE(KSub) TS_ARITHMETIC_FORM(BinaryOp::Sub, TS_FORMS_KR, !__builtin_sub_overflow(i, j, &r), i - j)
  TS_CASE(Mul) TS_ARITHMETIC_FORM(BinaryOp::Mul, TS_FORMS_RR, !__builtin_mul_overflow(i, j, &r), i* j)
  TS_CASE(MulK) TS_ARITHMETIC_FORM(BinaryOp::Mul, TS_FORMS_RK, !__builtin_mul_overflow(i, j, &r), i* j)
  TS_CASE(KMul) TS_ARITHMETIC_FORM(BinaryOp::Mul, TS_FORMS_KR, !__builtin_mul_overflow(i, j, &r), i* j)

#define TS_DIVISION(left, breg, right, creg)                                        \
  {                                                                                 \
    const Value& x = left;                                                          \
    const Value& y = right;                                                         \
    if (x.is_float() && y.is_float() && y.as_float() != 0) {                        \
      RA = Value::real(x.as_float() / y.as_float());                                \
    } else if (x.is_float() && y.is_int() && y.as_int() != 0) {                     \
      RA = Value::real(x.as_float() / static_cast<double>(y.as_int()));             \
    } else {                                                                        \
      TS_SAVE();                                                                    \
      binary_step(in_, frame, BinaryOp::TrueDiv, a_of(w), x, breg, y, creg);        \
    }                                                                               \
  }                                                                                 \
  TS_NEXT;
#define TS_DIVISION_FORM(forms) TS_DIVISION_EXPAND(forms)
#define TS_DIVISION_EXPAND(...) TS_DIVISION(__VA_ARGS__)

  TS_CASE(TrueDiv) TS_DIVISION_FORM(TS_FORMS_RR)
  TS_CASE(TrueDivK) TS_DIVISION_FORM(TS_FORMS_RK)
  TS_CASE(KTrueDiv) TS_DIVISION_FORM(TS_FORMS_KR)

  // Positive divisors of ints; C++ truncates where the language floors.
#define TS_FLOOR(op, left, breg, right, creg, result)                   \
  {                                                                     \
    const Value& x = left;                                              \
    const Value& y = right;                                             \
    if (x.is_int() && y.is_int() && y.as_int() > 0) [[likely]] {        \
      const int64_t i = x.as_int(), j = y.as_int();                     \
      int64_t q = i / j, m = i % j;                                     \
      if (m < 0) {                                                      \
        --q;                                                            \
        m += j;                                                         \
      }                                                                 \
      (void)q, (void)m;                                                 \
      RA = Value::integer(result);                                      \
      TS_NEXT;                                                          \
    }                                                                   \
    TS_SAVE();                                                          \
    binary_step(in_, frame, op, a_of(w), x, breg, y, creg);             \
  }                                                                     \
  TS_NEXT;
#define TS_FLOOR_FORM(op, forms, result) TS_FLOOR_EXPAND(op, forms, result)
#define TS_FLOOR_EXPAND(...) TS_FLOOR(__VA_ARGS__)

  TS_CASE(FloorDiv) TS_FLOOR_FORM(BinaryOp::FloorDiv, TS_FORMS_RR, q)
  TS_CASE(FloorDivK) TS_FLOOR_FORM(BinaryOp::FloorDiv, TS_FORMS_RK, q)
  TS_CASE(Mod) TS_FLOOR_FORM(BinaryOp::Mod, TS_FORMS_RR, m)
  TS_CASE(ModK) TS_FLOOR_FORM(BinaryOp::Mod, TS_FORMS_RK, m)

#define TS_SLOW_BINARY(op)                                                       \
  {                                                                              \
    TS_SAVE();                                                                   \
    binary_step(in_, frame, op, a_of(w), RB, b_of(w), RC, c_of(w));              \
  }                                                                              \
  TS_NEXT;

  TS_CASE(Pow) TS_SLOW_BINARY(BinaryOp::Pow)
  TS_CASE(MatMul) TS_SLOW_BINARY(BinaryOp::MatMul)
  TS_CASE(LShift) TS_SLOW_BINARY(BinaryOp::LShift)
  TS_CASE(RShift) TS_SLOW_BINARY(BinaryOp::RShift)

  TS_CASE(PowK) {
    const Value& x = RB;
    const Value& y = K[c_of(w)];
    if (x.is_float() && y.is_int() && y.as_int() == 2) {
      RA = Value::real(x.as_float() * x.as_float());
      TS_NEXT;
    }
    TS_SAVE();
    binary_step(in_, frame, BinaryOp::Pow, a_of(w), x, b_of(w), y, kNoRegister);
  }
  TS_NEXT;

#define TS_BITS(op, expression)                      \
  {                                                  \
    const Value& x = RB;                             \
    const Value& y = RC;                             \
    if (x.is_int() && y.is_int()) [[likely]] {       \
      const int64_t i = x.as_int(), j = y.as_int();  \
      RA = Value::integer(expression);               \
      TS_NEXT;                                       \
    }                                                \
  }                                                  \
  TS_SLOW_BINARY(op)

  TS_CASE(And) TS_BITS(BinaryOp::And, i & j)
  TS_CASE(Or) TS_BITS(BinaryOp::Or, i | j)
  TS_CASE(Xor) TS_BITS(BinaryOp::Xor, i ^ j)

  // The small number stands in the instruction.
#define TS_IMMEDIATE(op, builtin, float_expression)                                                 \
  {                                                                                                 \
    const Value& x = RB;                                                                            \
    const int64_t j = sc_of(w);                                                                     \
    if (x.is_int()) [[likely]] {                                                                    \
      int64_t r;                                                                                    \
      if (!builtin(x.as_int(), j, &r)) [[likely]] {                                                 \
        RA = Value::integer(r);                                                                     \
        TS_NEXT;                                                                                    \
      }                                                                                             \
    } else if (x.is_float()) {                                                                      \
      const double i = x.as_float();                                                                \
      RA = Value::real(float_expression);                                                           \
      TS_NEXT;                                                                                      \
    }                                                                                               \
    TS_SAVE();                                                                                      \
    binary_step(in_, frame, op, a_of(w), x, b_of(w), Value::integer(j), kNoRegister);               \
  }                                                                                                 \
  TS_NEXT;

  TS_CASE(AddI) TS_IMMEDIATE(BinaryOp::Add, __builtin_add_overflow, i + static_cast<double>(j))
  TS_CASE(SubI) TS_IMMEDIATE(BinaryOp::Sub, __builtin_sub_overflow, i - static_cast<double>(j))

  TS_CASE(Neg) {
    const Value& x = RB;
    if (x.is_int() && x.as_int() != INT64_MIN) {
      RA = Value::integer(-x.as_int());
    } else if (x.is_float()) {
      RA = Value::real(-x.as_float());
    } else {
      TS_SAVE();
      RA = unary(in_, UnaryOp::Neg, x);
      if (a_of(w) != b_of(w)) TS_DROP(b_of(w));
    }
  }
  TS_NEXT;

  TS_CASE(Pos) {
    TS_SAVE();
    RA = unary(in_, UnaryOp::Pos, RB);
    if (a_of(w) != b_of(w)) TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(Invert) {
    TS_SAVE();
    RA = unary(in_, UnaryOp::Invert, RB);
    if (a_of(w) != b_of(w)) TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(Not) {
    const Value& x = RB;
    if (x.is_bool()) {
      RA = Value::boolean(!x.as_bool());
    } else {
      TS_SAVE();
      RA = Value::boolean(!truth(in_, x));
      if (a_of(w) != b_of(w)) TS_DROP(b_of(w));
    }
  }
  TS_NEXT;

  // --- comparison

#define TS_COMPARE(op, sign)                                             \
  {                                                                      \
    const Value& x = RB;                                                 \
    const Value& y = RC;                                                 \
    if (x.is_int() && y.is_int()) [[likely]] {                           \
      RA = Value::boolean(x.as_int() sign y.as_int());                   \
    } else if (x.is_float() && y.is_float()) {                           \
      RA = Value::boolean(x.as_float() sign y.as_float());               \
    } else {                                                             \
      TS_SAVE();                                                         \
      const uint32_t a = a_of(w), b = b_of(w), c = c_of(w);              \
      RA = compare(in_, op, x, y);                                       \
      if (a != b) TS_DROP(b);                                            \
      if (a != c) TS_DROP(c);                                            \
    }                                                                    \
  }                                                                      \
  TS_NEXT;

  TS_CASE(Lt) TS_COMPARE(CompareOp::Lt, <)
  TS_CASE(Le) TS_COMPARE(CompareOp::Le, <=)
  TS_CASE(Eq) TS_COMPARE(CompareOp::Eq, ==)
  TS_CASE(Ne) TS_COMPARE(CompareOp::Ne, !=)
  TS_CASE(Gt) TS_COMPARE(CompareOp::Gt, >)
  TS_CASE(Ge) TS_COMPARE(CompareOp::Ge, >=)

  TS_CASE(Is) {
    const uint32_t a = a_of(w), b = b_of(w), c = c_of(w);
    const bool same = R[b].is(R[c]);
    TS_SAVE();
    TS_DROP(b);
    TS_DROP(c);
    R[a] = Value::boolean(same);
  }
  TS_NEXT;

  TS_CASE(Contains) {
    const uint32_t a = a_of(w), b = b_of(w), c = c_of(w);
    TS_SAVE();
    const bool found = contains(in_, R[c], R[b]);
    TS_DROP(b);
    TS_DROP(c);
    R[a] = Value::boolean(found);
  }
  TS_NEXT;

  // --- jumps

  TS_CASE(Jump) {
    const int32_t offset = jump_of(w);
    pc += offset;
    if (offset < 0) TS_POLL();
  }
  TS_NEXT;

#define TS_BRANCH(condition)              \
  if ((condition) == (c_of(w) != 0)) {    \
    TS_JUMP();                            \
  } else {                                \
    ++pc;                                 \
  }

#define TS_COMPARE_JUMP(op, sign)                                                   \
  {                                                                                 \
    const Value& x = RA;                                                            \
    const Value& y = RB;                                                            \
    if (x.is_int() && y.is_int()) [[likely]] {                                      \
      TS_BRANCH(x.as_int() sign y.as_int())                                         \
    } else if (x.is_float() && y.is_float()) {                                      \
      TS_BRANCH(x.as_float() sign y.as_float())                                     \
    } else {                                                                        \
      TS_SAVE();                                                                    \
      const bool answer = compare_step(in_, op, x, y);                              \
      TS_DROP(a_of(w));                                                             \
      TS_DROP(b_of(w));                                                             \
      TS_BRANCH(answer)                                                             \
    }                                                                               \
  }                                                                                 \
  TS_NEXT;

  TS_CASE(JumpLt) TS_COMPARE_JUMP(CompareOp::Lt, <)
  TS_CASE(JumpLe) TS_COMPARE_JUMP(CompareOp::Le, <=)
  TS_CASE(JumpEq) TS_COMPARE_JUMP(CompareOp::Eq, ==)
  TS_CASE(JumpNe) TS_COMPARE_JUMP(CompareOp::Ne, !=)
  TS_CASE(JumpGt) TS_COMPARE_JUMP(CompareOp::Gt, >)
  TS_CASE(JumpGe) TS_COMPARE_JUMP(CompareOp::Ge, >=)

#define TS_COMPARE_JUMP_I(op, sign)                                                 \
  {                                                                                 \
    const Value& x = RA;                                                            \
    const int64_t j = sb_of(w);                                                     \
    if (x.is_int()) [[likely]] {                                                    \
      TS_BRANCH(x.as_int() sign j)                                                  \
    } else if (x.is_float()) {                                                      \
      TS_BRANCH(x.as_float() sign static_cast<double>(j))                           \
    } else {                                                                        \
      TS_SAVE();                                                                    \
      const bool answer = compare_step(in_, op, x, Value::integer(j));              \
      TS_DROP(a_of(w));                                                             \
      TS_BRANCH(answer)                                                             \
    }                                                                               \
  }                                                                                 \
  TS_NEXT;

  TS_CASE(JumpLtI) TS_COMPARE_JUMP_I(CompareOp::Lt, <)
  TS_CASE(JumpLeI) TS_COMPARE_JUMP_I(CompareOp::Le, <=)
  TS_CASE(JumpEqI) TS_COMPARE_JUMP_I(CompareOp::Eq, ==)
  TS_CASE(JumpNeI) TS_COMPARE_JUMP_I(CompareOp::Ne, !=)
  TS_CASE(JumpGtI) TS_COMPARE_JUMP_I(CompareOp::Gt, >)
  TS_CASE(JumpGeI) TS_COMPARE_JUMP_I(CompareOp::Ge, >=)

#define TS_COMPARE_JUMP_K(op, sign)                                                 \
  {                                                                                 \
    const Value& x = RA;                                                            \
    const Value& y = K[b_of(w)];                                                    \
    if (x.is_float() && y.is_float()) [[likely]] {                                  \
      TS_BRANCH(x.as_float() sign y.as_float())                                     \
    } else if (x.is_int() && y.is_int()) {                                          \
      TS_BRANCH(x.as_int() sign y.as_int())                                         \
    } else {                                                                        \
      TS_SAVE();                                                                    \
      const bool answer = compare_step(in_, op, x, y);                              \
      TS_DROP(a_of(w));                                                             \
      TS_BRANCH(answer)                                                             \
    }                                                                               \
  }                                                                                 \
  TS_NEXT;

  TS_CASE(JumpLtK) TS_COMPARE_JUMP_K(CompareOp::Lt, <)
  TS_CASE(JumpLeK) TS_COMPARE_JUMP_K(CompareOp::Le, <=)
  TS_CASE(JumpEqK) TS_COMPARE_JUMP_K(CompareOp::Eq, ==)
  TS_CASE(JumpNeK) TS_COMPARE_JUMP_K(CompareOp::Ne, !=)
  TS_CASE(JumpGtK) TS_COMPARE_JUMP_K(CompareOp::Gt, >)
  TS_CASE(JumpGeK) TS_COMPARE_JUMP_K(CompareOp::Ge, >=)

  TS_CASE(JumpIs) {
    const bool same = RA.is(RB);
    TS_SAVE();
    TS_DROP(a_of(w));
    TS_DROP(b_of(w));
    TS_BRANCH(same)
  }
  TS_NEXT;

  TS_CASE(JumpNone) {
    const bool none = RA.is_none();
    TS_SAVE();
    TS_DROP(a_of(w));
    TS_BRANCH(none)
  }
  TS_NEXT;

  TS_CASE(JumpIn) {
    TS_SAVE();
    const bool found = contains(in_, RB, RA);
    TS_DROP(a_of(w));
    TS_DROP(b_of(w));
    TS_BRANCH(found)
  }
  TS_NEXT;

  TS_CASE(JumpIf) {
    const Value& x = RA;
    if (x.is_bool()) [[likely]] {
      TS_BRANCH(x.as_bool())
      TS_NEXT;
    }
    TS_SAVE();
    const bool answer = truth(in_, x);
    TS_DROP(a_of(w));
    TS_BRANCH(answer)
  }
  TS_NEXT;

  TS_CASE(JumpKeep) {
    TS_SAVE();
    const bool answer = truth(in_, RA);
    if (answer != (c_of(w) != 0)) RA = Value();
    TS_BRANCH(answer)
  }
  TS_NEXT;

  TS_CASE(JumpSet) { TS_BRANCH(!RA.is_undefined()) }
  TS_NEXT;

  // --- objects

  TS_CASE(GetAttr) {
    const Word name = *pc++;
    InlineCache& cache = frame->code->caches[cache_of(name)];
    const uint32_t b = b_of(w);
    if (R[b].is_object()) [[likely]] {
      Object* const object = R[b].as_object();
      const AttributeSite& site = cache.site_for(object->type->version);
      if (site.version == object->type->version && site.kind == AttributeSite::Kind::Slot) [[likely]] {
        const Attributes& attributes = attributes_of(object);
        if (site.index < attributes.count) [[likely]] {
          if (b >= temporaries) {
            TS_SAVE();
            RA = Value(attributes.values[site.index]);
            if (a_of(w) != b) R[b] = Value();
          } else {
            RA = attributes.values[site.index];
          }
          TS_NEXT;
        }
      }
    }
    TS_SAVE();
    RA = get_attr(in_, R[b], frame->code->names[name_of(name)], cache.fresh());
    if (a_of(w) != b) TS_DROP(b);
  }
  TS_NEXT;

  TS_CASE(SetAttr) {
    const Word name = *pc++;
    InlineCache& cache = frame->code->caches[cache_of(name)];
    const uint32_t b = b_of(w);
    TS_SAVE();
    if (RA.is_object()) [[likely]] {
      Object* const object = RA.as_object();
      const AttributeSite& site = cache.site_for(object->type->version);
      if (site.version == object->type->version && site.kind == AttributeSite::Kind::Slot) [[likely]] {
        Attributes& attributes = attributes_of(object);
        if (site.index < attributes.count) [[likely]] {
          if (b >= temporaries) {
            attributes.values[site.index] = std::move(R[b]);
          } else {
            attributes.values[site.index] = R[b];
          }
          TS_DROP(a_of(w));
          TS_NEXT;
        }
      }
    }
    set_attr(in_, RA, frame->code->names[name_of(name)], R[b], cache.fresh());
    TS_DROP(b);
    TS_DROP(a_of(w));
  }
  TS_NEXT;

  TS_CASE(DelAttr) {
    Str* const name = frame->code->names[name_of(*pc++)];
    TS_SAVE();
    del_attr(in_, RA, name);
    TS_DROP(a_of(w));
  }
  TS_NEXT;

#define TS_ITEM_BY_INT(container, position)                                        \
  if ((container).is_object()) {                                                   \
    Object* const object = (container).as_object();                                \
    if (object->type == types.list) {                                              \
      const List* const list = static_cast<List*>(object);                         \
      int64_t at = position;                                                       \
      if (at < 0) at += list->size;                                                \
      if (static_cast<uint64_t>(at) < list->size && b_of(w) < temporaries) {       \
        RA = list->items[at];                                                      \
        TS_NEXT;                                                                   \
      }                                                                            \
    } else if (object->type == types.tuple) {                                      \
      const Tuple* const tuple = static_cast<Tuple*>(object);                      \
      int64_t at = position;                                                       \
      if (at < 0) at += tuple->size;                                               \
      if (static_cast<uint64_t>(at) < tuple->size && b_of(w) < temporaries) {      \
        RA = tuple->items[at];                                                     \
        TS_NEXT;                                                                   \
      }                                                                            \
    }                                                                              \
  }

  TS_CASE(GetItem) {
    if (RC.is_int()) TS_ITEM_BY_INT(RB, RC.as_int())
    TS_SAVE();
    get_item_step(in_, frame, a_of(w), RB, b_of(w), RC, c_of(w));
  }
  TS_NEXT;

  TS_CASE(GetItemI) {
    TS_ITEM_BY_INT(RB, sc_of(w))
    TS_SAVE();
    get_item_step(in_, frame, a_of(w), RB, b_of(w), Value::integer(sc_of(w)), kNoRegister);
  }
  TS_NEXT;

  TS_CASE(GetItemK) {
    TS_SAVE();
    get_item_step(in_, frame, a_of(w), RB, b_of(w), K[c_of(w)], kNoRegister);
  }
  TS_NEXT;

  TS_CASE(SetItem) {
    const uint32_t c = c_of(w);
    TS_SAVE();
    if (RA.is_object() && RB.is_int() && RA.as_object()->type == types.list) {
      Value* const place = list_at(as_list(RA), RB.as_int());
      if (place != nullptr && a_of(w) < temporaries) [[likely]] {
        if (c >= temporaries) {
          *place = std::move(R[c]);
        } else {
          *place = R[c];
        }
        TS_NEXT;
      }
    }
    set_item_step(in_, RA, RB, R[c]);
    TS_DROP(c);
    TS_DROP(b_of(w));
    TS_DROP(a_of(w));
  }
  TS_NEXT;

  TS_CASE(DelItem) {
    TS_SAVE();
    del_item(in_, RA, RB);
    TS_DROP(b_of(w));
    TS_DROP(a_of(w));
  }
  TS_NEXT;

  TS_CASE(BuildSlice) {
    Value* const parts = &RA;
    TS_SAVE();
    parts[0] = make_slice(in_, parts[0], parts[1], b_of(w) == 3 ? parts[2] : Value::none());
    parts[1] = Value();
    if (b_of(w) == 3) parts[2] = Value();
  }
  TS_NEXT;

  TS_CASE(BuildList) {
    TS_SAVE();
    RA = make_list_moving(in_, &RB, c_of(w));
  }
  TS_NEXT;

  TS_CASE(BuildTuple) {
    TS_SAVE();
    RA = make_tuple_moving(in_, &RB, c_of(w));
  }
  TS_NEXT;

  TS_CASE(BuildSet) {
    TS_SAVE();
    build_set_step(in_, RA, &RB, c_of(w));
  }
  TS_NEXT;

  TS_CASE(BuildDict) {
    TS_SAVE();
    build_dict_step(in_, RA, &RB, c_of(w));
  }
  TS_NEXT;

  TS_CASE(BuildString) {
    TS_SAVE();
    build_string_step(in_, RA, &RB, c_of(w));
  }
  TS_NEXT;

  TS_CASE(FormatValue) {
    TS_SAVE();
    format_value_step(in_, &RA, b_of(w), c_of(w) != 0);
  }
  TS_NEXT;

  TS_CASE(ListAppend) {
    TS_SAVE();
    list_append(in_, as_list(RA), TS_TAKE(b_of(w)));
  }
  TS_NEXT;

  TS_CASE(ListExtend) {
    TS_SAVE();
    list_extend_step(in_, RA, RB, nullptr);
    TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(ListExtendArgs) {
    TS_SAVE();
    list_extend_step(in_, RA, RB, &RC);
    TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(ListToTuple) {
    TS_SAVE();
    RA = tuple_from(in_, RA);
  }
  TS_NEXT;

  TS_CASE(SetAdd) {
    TS_SAVE();
    set_add(in_, as_set(RA), RB);
    TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(SetUpdate) {
    TS_SAVE();
    set_update(in_, as_set(RA), RB);
    TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(DictSet) {
    TS_SAVE();
    dict_set(in_, as_dict(RA), RB, TS_TAKE(c_of(w)));
    TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(DictUpdate) {
    TS_SAVE();
    dict_update_step(in_, RA, RB, nullptr);
    TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(DictMergeArgs) {
    TS_SAVE();
    dict_update_step(in_, RA, RB, &RC);
    TS_DROP(b_of(w));
  }
  TS_NEXT;

  TS_CASE(Unpack) {
    TS_SAVE();
    unpack_step(in_, &RA, R, b_of(w), c_of(w), temporaries);
  }
  TS_NEXT;

  TS_CASE(UnpackStar) {
    const uint32_t after = *pc++;
    TS_SAVE();
    unpack_star_step(in_, &RA, R, b_of(w), c_of(w), after, temporaries);
  }
  TS_NEXT;

  TS_CASE(Length) {
    TS_SAVE();
    RA = Value::integer(length(in_, RB));
  }
  TS_NEXT;

  TS_CASE(Intrinsic) {
    TS_SAVE();
    intrinsic_step(in_, RA, static_cast<IntrinsicId>(c_of(w)), &RB, frame);
  }
  TS_NEXT;

  // --- loops

  TS_CASE(ForPrepare) {
    TS_SAVE();
    for_prepare_step(in_, &RA);
  }
  TS_NEXT;

  TS_CASE(ForPrepareCall) {
    TS_SAVE();
    if (!for_prepare_range(in_, &RA, b_of(w))) {
      RA = call(in_, RA, Args{&RA + 1, b_of(w)});
      for (uint32_t i = 1; i <= b_of(w); ++i) (&RA)[i] = Value();
      for_prepare_step(in_, &RA);
    }
  }
  TS_NEXT;

  TS_CASE(ForNext) {
    Value* const state = &RA;
    if (state->is_int()) {
      const int64_t left = state[1].as_int();
      if (left > 0) [[likely]] {
        const int64_t i = state->as_int();
        RB = Value::integer(i);
        *state = Value::integer(static_cast<int64_t>(static_cast<uint64_t>(i) + static_cast<uint64_t>(state[2].as_int())));
        state[1] = Value::integer(left - 1);
        TS_JUMP();
        TS_NEXT;
      }
    } else {
      Object* const object = state->as_object();
      TS_SAVE();
      if (state[1].is_int()) {
        const uint64_t i = static_cast<uint64_t>(state[1].as_int());
        if (object->kind == ObjectKind::List) {
          const List* const list = static_cast<List*>(object);
          if (i < list->size) [[likely]] {
            state[1] = Value::integer(static_cast<int64_t>(i) + 1);
            RB = list->items[i];
            TS_JUMP();
            TS_NEXT;
          }
        } else {
          const Tuple* const tuple = static_cast<Tuple*>(object);
          if (i < tuple->size) [[likely]] {
            state[1] = Value::integer(static_cast<int64_t>(i) + 1);
            RB = tuple->items[i];
            TS_JUMP();
            TS_NEXT;
          }
        }
      } else if (object->kind == ObjectKind::Generator) {
        Generator* const generator = static_cast<Generator*>(object);
        if (generator->state != Generator::State::Finished) {
          TS_POLL();
          TS_ENTER(resume_generator(generator, FrameKind::ForNext, b_of(w)));
          TS_NEXT;
        }
      } else if (next(in_, *state, RB)) {
        TS_JUMP();
        TS_NEXT;
      }
    }
    TS_SAVE();
    for (uint32_t i = 0; i < 3; ++i) state[i] = Value();
    ++pc;
  }
  TS_NEXT;

  // --- calls

  TS_CASE(MakeFunction) {
    const Word code = *pc++;
    TS_SAVE();
    make_function_step(in_, frame, static_cast<Code*>(K[code].as_object()), &RA, b_of(w));
  }
  TS_NEXT;

  // A script function with the right number of arguments runs at once; a native one without checks is called straight.
#define TS_CALL_FUNCTION(callee_value, window, count)                                                       \
  if ((callee_value).is_object()) [[likely]] {                                                              \
    Object* const callee = (callee_value).as_object();                                                      \
    if (callee->kind == ObjectKind::Function) {                                                             \
      Function* const function = static_cast<Function*>(callee);                                            \
      const Code* const code = function->code;                                                              \
      if ((code->code_flags & kSimpleCall) && code->positional == (count) && frame->generator == nullptr)   \
          [[likely]] {                                                                                      \
        TS_POLL();                                                                                          \
        TS_ENTER(push_frame(function, (window), (count), FrameKind::Call, c_of(w)));                        \
        TS_NEXT;                                                                                            \
      }                                                                                                     \
    } else if (callee->kind == ObjectKind::NativeFunction) {                                                \
      const NativeFunction* const native = static_cast<NativeFunction*>(callee);                            \
      if (native->signature != nullptr && native->signature->plain &&                                       \
          native->signature->parameters.size() == (count)) {                                                \
        call_native_step(in_, native, (window), (count), RC);                                               \
        TS_NEXT;                                                                                            \
      }                                                                                                     \
    }                                                                                                       \
  }

  TS_CASE(Call) {
    Value* const callee_place = &RA;
    const uint32_t count = b_of(w);
    TS_SAVE();
    TS_CALL_FUNCTION(*callee_place, callee_place + 1, count)
    TS_AFTER_CALL(begin_call(*callee_place, callee_place + 1, count, nullptr, c_of(w)))
  }
  TS_NEXT;

  TS_CASE(CallKeywords) {
    const Value& keywords = K[*pc++];
    Value* const callee_place = &RA;
    TS_SAVE();
    TS_AFTER_CALL(begin_call(*callee_place, callee_place + 1, b_of(w), as_tuple(keywords), c_of(w)))
  }
  TS_NEXT;

  TS_CASE(CallSpread) {
    TS_SAVE();
    TS_AFTER_CALL(begin_spread(&RA, b_of(w) != 0, c_of(w)))
  }
  TS_NEXT;

  TS_CASE(LoadMethod) {
    const Word name = *pc++;
    InlineCache& cache = frame->code->caches[cache_of(name)];
    Value* const target = &RA;
    const uint32_t b = b_of(w);
    TS_SAVE();
    if (R[b].is_object()) [[likely]] {
      Object* const object = R[b].as_object();
      const AttributeSite& site = cache.site_for(object->type->version);
      if (method_is_cached(site, object)) [[likely]] {
        if (b >= temporaries) {
          target[1] = std::move(R[b]);
        } else {
          target[1] = R[b];
        }
        target[0] = *site.value;
        TS_NEXT;
      }
    }
    load_method_step(in_, target, R[b], frame->code->names[name_of(name)], cache.fresh());
    if (b >= temporaries && &R[b] != target && &R[b] != target + 1) R[b] = Value();
  }
  TS_NEXT;

  TS_CASE(CallMethod) {
    Value* const place = &RA;
    TS_SAVE();
    if (!place->is_undefined()) [[likely]] {
      const uint32_t count = b_of(w) + 1;
      TS_CALL_FUNCTION(*place, place + 1, count)
      TS_AFTER_CALL(begin_call(*place, place + 1, count, nullptr, c_of(w)))
    } else {
      const uint32_t count = b_of(w);
      TS_CALL_FUNCTION(place[1], place + 2, count)
      TS_AFTER_CALL(begin_call(place[1], place + 2, count, nullptr, c_of(w)))
    }
  }
  TS_NEXT;

  TS_CASE(CallMethodKeywords) {
    const Value& keywords = K[*pc++];
    Value* const place = &RA;
    TS_SAVE();
    const uint32_t shift = place->is_undefined() ? 1 : 0;
    TS_AFTER_CALL(begin_call(place[shift], place + shift + 1, b_of(w) + 1 - shift, as_tuple(keywords), c_of(w)))
  }
  TS_NEXT;

  TS_CASE(Invoke) {
    const Word name = *pc++;
    InlineCache& cache = frame->code->caches[cache_of(name)];
    Value* const place = &RA;
    TS_SAVE();
    if (place->is_object()) [[likely]] {
      Object* const object = place->as_object();
      const AttributeSite& site = cache.site_for(object->type->version);
      if (method_is_cached(site, object)) [[likely]] {
        const uint32_t count = b_of(w) + 1;
        TS_CALL_FUNCTION(*site.value, place, count)
      }
    }
    TS_AFTER_CALL(begin_invoke(place, b_of(w), frame->code->names[name_of(name)], cache.fresh(), c_of(w)))
  }
  TS_NEXT;

  TS_CASE(Return) {
    TS_SAVE();
    if (frame->kind == FrameKind::Call && frame->generator == nullptr) [[likely]] {
      Frame* const done = frame;
      Value answer = std::move(RA);
      pop_frame(done);
      TS_ENTER(top_);
      R[done->result] = std::move(answer);
    } else {
      frame = return_special(frame, Value(std::move(RA)), out);
      if (frame == nullptr) return true;
      TS_ENTER(frame);
    }
  }
  TS_NEXT;

  TS_CASE(ReturnNone) {
    TS_SAVE();
    if (frame->kind == FrameKind::Call && frame->generator == nullptr) [[likely]] {
      Frame* const done = frame;
      pop_frame(done);
      TS_ENTER(top_);
      R[done->result] = Value::none();
    } else {
      frame = return_special(frame, Value::none(), out);
      if (frame == nullptr) return true;
      TS_ENTER(frame);
    }
  }
  TS_NEXT;

  TS_CASE(Yield) {
    TS_SAVE();
    frame = suspend_generator(frame, TS_TAKE(b_of(w)), a_of(w), out);
    if (frame == nullptr) return true;
    TS_ENTER(frame);
  }
  TS_NEXT;

  TS_CASE(YieldFrom) {
    TS_SAVE();
    if (yield_from_step(in_, &RA, RB)) {
      // Not ended: hands the item on, and will be here again.
      frame->pc = pc - 1;
      frame = suspend_generator(frame, Value(std::move((&RA)[1])), a_of(w) + 1, out);
      if (frame == nullptr) return true;
      TS_ENTER(frame);
    }
  }
  TS_NEXT;

  // --- exceptions

  TS_CASE(Raise) {
    TS_SAVE();
    pending_ = raise_step(in_, &RA, b_of(w));
    if (!unwind(entry, std::move(pending_), b_of(w) != 0)) return false;
    TS_ENTER(top_);
  }
  TS_NEXT;

  TS_CASE(Reraise) {
    TS_SAVE();
    pending_ = RA;
    if (!unwind(entry, std::move(pending_), false)) return false;
    TS_ENTER(top_);
  }
  TS_NEXT;

  TS_CASE(Match) {
    TS_SAVE();
    const bool matches = exception_matches(in_, RB, RC);
    TS_DROP(c_of(w));
    RA = Value::boolean(matches);
  }
  TS_NEXT;

  TS_CASE(EndHandler) {
    frame->handled = static_cast<uint8_t>(b_of(w));
    TS_SAVE();
    RA = Value();
  }
  TS_NEXT;

  TS_CASE(WithSetup) {
    TS_SAVE();
    with_setup_step(in_, &RA);
  }
  TS_NEXT;

  TS_CASE(ExitArguments) {
    TS_SAVE();
    exit_arguments_step(in_, &RA, RB);
  }
  TS_NEXT;

  TS_CASE(AssertFailed) {
    TS_SAVE();
    throw_assertion(in_, b_of(w) != 0 ? &RA : nullptr);
  }
  TS_NEXT;

  TS_CASE(Nop) {}
  TS_NEXT;

#if defined(__GNUC__) && !defined(TESSERA_SWITCH_DISPATCH)
#pragma GCC diagnostic pop
#else
    }
  }
#endif
}

}  // namespace tessera
