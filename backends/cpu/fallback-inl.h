// Included behind hwy/foreach_target.h, once for each instruction set. The one without vectors is a fallback for machines
// from before 2013; it is compiled for size, which makes the program a tenth smaller. (Clang has no such pragma.)
#if HWY_TARGET == HWY_SCALAR && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif
