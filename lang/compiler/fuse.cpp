#include "lang/compiler/fuse.h"

namespace tessera::lang {

namespace {

constexpr uint32_t kMostCopies = UINT8_MAX;  // that D has room for

// The word that begins a sequence, and those behind it.
class Sequence {
 public:
  Sequence(Code& code, size_t at) : code_(code), first_(code.words[at]), behind_(&first_ + 1), left_(code.words.size() - at - 1) {}

  void fuse() {
    switch (op_of(first_)) {
      case Op::LoadGlobal: return call(Op::LoadGlobalCall, true);
      case Op::Copy: return call(Op::CopyCall, false);
      case Op::LoadFree: return call(Op::LoadFreeCall, false);
      case Op::GetAttr: return attribute();
      case Op::Add: return stored(Op::AddSetAttr);
      case Op::Sub: return stored(Op::SubSetAttr);
      case Op::GetItem:
        tested(Op::JumpIf, Op::GetItemJumpIf);
        return changed();
      case Op::ModK:
        tested(Op::JumpEqI, Op::ModKJumpEqI);
        return tested(Op::JumpNeI, Op::ModKJumpNeI);
      case Op::LoadBool: return item(Op::LoadBoolSetItem);
      case Op::LoadInt: return item(Op::LoadIntSetItem);
      case Op::Clear:
        if (first_.b == 1) become(Op::ClearOne);
        return;
      case Op::ListAppend:
        if (is(0, Op::ForNext)) become(Op::ListAppendForNext);
        return;
      default: return;
    }
  }

 private:
  bool is(size_t k, Op op) const { return k < left_ && op_of(behind_[k]) == op; }
  void become(Op op) { first_.op = static_cast<uint8_t>(op); }
  bool is_temporary(uint32_t distance) const { return distance >= code_.first_temporary << kValueShift; }
  uint16_t behind_first(uint32_t registers) const { return static_cast<uint16_t>(first_.a + (registers << kValueShift)); }
  bool is_call(size_t k, uint32_t count) const { return is(k, Op::Call) && behind_[k].a == first_.a && behind_[k].b == count; }

  // A callee, its arguments, its call.
  void call(Op copies, bool global) {
    uint32_t count = 0;
    while (count < kMostCopies && is(count, Op::Copy) && behind_[count].a == behind_first(count + 1)) ++count;
    if (count != 0 && is_call(count, count)) {
      become(copies);
      first_.d = static_cast<uint8_t>(count);
    } else if (global && left_ != 0 && behind_[0].a == behind_first(1) && is_call(1, 1)) {
      if (is(0, Op::AddI)) become(Op::LoadGlobalAddICall);
      if (is(0, Op::SubI)) become(Op::LoadGlobalSubICall);
    }
  }

  // An attribute as an operand that dies, or one that a sum replaces, which no local keeps.
  void attribute() {
    if (left_ == 0 || !is_temporary(first_.a)) return;
    if (behind_[0].c == first_.a && behind_[0].b != first_.a) {
      if (is(0, Op::Add)) become(Op::GetAttrAdd);
      if (is(0, Op::Sub)) become(Op::GetAttrSub);
      if (is(0, Op::Mul)) become(Op::GetAttrMul);
    } else if (behind_[0].b == first_.a && is(1, Op::SetAttr) && behind_[1].b == behind_[0].a && behind_[1].a == first_.b &&
               !is_temporary(first_.b) && is_temporary(behind_[0].a) && code_.caches[behind_[1].c].name == code_.caches[first_.c].name) {
      if (is(0, Op::Add) && behind_[0].c != first_.a) become(Op::GetAttrAddSetAttr);
      if (is(0, Op::Sub) && behind_[0].c != first_.a) become(Op::GetAttrSubSetAttr);
      if (is(0, Op::AddI)) become(Op::GetAttrAddISetAttr);
      if (is(0, Op::SubI)) become(Op::GetAttrSubISetAttr);
    }
  }

  // A result that becomes an attribute of a local's object, and is not read otherwise.
  void stored(Op both) {
    if (is(0, Op::SetAttr) && behind_[0].b == first_.a && is_temporary(first_.a) && !is_temporary(behind_[0].a)) become(both);
  }

  // A result that decides a jump, and is not read otherwise.
  void tested(Op test, Op both) {
    if (is(0, test) && behind_[0].a == first_.a && is_temporary(first_.a)) become(both);
  }

  // An item of a local's list or dict, which a sum replaces that no local keeps.
  void changed() {
    const bool same = is(1, Op::SetItem) && behind_[1].a == first_.b && behind_[1].b == first_.c && behind_[1].c == behind_[0].a;
    if (!same || behind_[0].b != first_.a || !is_temporary(first_.a) || !is_temporary(behind_[0].a) || is_temporary(first_.b) || is_temporary(first_.c)) return;
    if (is(0, Op::Add) && behind_[0].c != first_.a) become(Op::GetItemAddSetItem);
    if (is(0, Op::AddI)) become(Op::GetItemAddISetItem);
  }

  // A constant that becomes an item of a local's list.
  void item(Op both) {
    if (is(0, Op::SetItem) && behind_[0].c == first_.a && is_temporary(first_.a) && behind_[0].b != first_.a && !is_temporary(behind_[0].a))
      become(both);
  }

  Code& code_;
  Word& first_;
  const Word* const behind_;
  const size_t left_;
};

}  // namespace

void fuse_words(Code& code) {
  for (size_t at = 0; at < code.words.size(); ++at) {
    Sequence(code, at).fuse();
    if (second_of(op_of(code.words[at])) != 0) ++at;
  }
}

}  // namespace tessera::lang
