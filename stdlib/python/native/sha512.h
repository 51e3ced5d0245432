// SHA-512 (FIPS 180-4); random seeds from text go through it.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera::stdlib {

void sha512(std::string_view text, uint8_t digest[64]);

}  // namespace tessera::stdlib
