// Are the tests built with a sanitizer? Arithmetic takes a hundred times as long then: a test does with less of it where its claim allows.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
