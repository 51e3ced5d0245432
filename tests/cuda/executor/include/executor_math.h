// Functions of CUDA's math library that C's does not have, for the few kernels that call them.
#pragma once

double cyl_bessel_i0(double x);
double cyl_bessel_i1(double x);
double erfcx(double x);
double normcdfinv(double p);
