// Letters that are the same to IGNORECASE and are not found by one step to the lower or the upper case: those with one lower case, or
// with one upper case of several characters. Facts of Unicode 14, as CPython's simple mappings see them.
#pragma once

#include <string_view>

namespace tessera::stdlib::regex {

inline constexpr std::u32string_view kCaseClasses[] = {
    U"Ii\u0130\u0131", U"Kk\u212a", U"Ss\u017f", U"\u00b5\u039c\u03bc", U"\u00c5\u00e5\u212b", U"\u00df\u1e9e",
    U"\u01c4\u01c5\u01c6", U"\u01c7\u01c8\u01c9", U"\u01ca\u01cb\u01cc", U"\u01f1\u01f2\u01f3",
    U"\u0345\u0399\u03b9\u1fbe", U"\u0390\u1fd3", U"\u0392\u03b2\u03d0", U"\u0395\u03b5\u03f5",
    U"\u0398\u03b8\u03d1\u03f4", U"\u039a\u03ba\u03f0", U"\u03a0\u03c0\u03d6", U"\u03a1\u03c1\u03f1",
    U"\u03a3\u03c2\u03c3", U"\u03a6\u03c6\u03d5", U"\u03a9\u03c9\u2126", U"\u03b0\u1fe3", U"\u0412\u0432\u1c80",
    U"\u0414\u0434\u1c81", U"\u041e\u043e\u1c82", U"\u0421\u0441\u1c83", U"\u0422\u0442\u1c84\u1c85",
    U"\u042a\u044a\u1c86", U"\u0462\u0463\u1c87", U"\u1c88\ua64a\ua64b", U"\u1e60\u1e61\u1e9b", U"\u1f80\u1f88",
    U"\u1f81\u1f89", U"\u1f82\u1f8a", U"\u1f83\u1f8b", U"\u1f84\u1f8c", U"\u1f85\u1f8d", U"\u1f86\u1f8e",
    U"\u1f87\u1f8f", U"\u1f90\u1f98", U"\u1f91\u1f99", U"\u1f92\u1f9a", U"\u1f93\u1f9b", U"\u1f94\u1f9c",
    U"\u1f95\u1f9d", U"\u1f96\u1f9e", U"\u1f97\u1f9f", U"\u1fa0\u1fa8", U"\u1fa1\u1fa9", U"\u1fa2\u1faa",
    U"\u1fa3\u1fab", U"\u1fa4\u1fac", U"\u1fa5\u1fad", U"\u1fa6\u1fae", U"\u1fa7\u1faf", U"\u1fb3\u1fbc",
    U"\u1fc3\u1fcc", U"\u1ff3\u1ffc", U"\ufb05\ufb06",
};

// All letters of the class that `c` is in; empty: of none.
inline std::u32string_view case_class(char32_t c) {
  for (const std::u32string_view each : kCaseClasses) {
    if (each.find(c) != each.npos) return each;
  }
  return {};
}

}  // namespace tessera::stdlib::regex
