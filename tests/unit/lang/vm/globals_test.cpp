// Globals that a program's sites remember, beyond the last number that a dict of globals can be given.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "lang/core/host.h"
#include "lang/core/interpreter.h"
#include "lang/syntax/source.h"

namespace tessera::lang {
namespace {

TEST_CASE("sites of globals forget all when the numbers of dicts of globals end") {
  std::string printed;
  Host host;
  host.write_out = [&](std::string_view text) { printed += text; };
  Interpreter in(std::move(host));
  in.keys_versions = UINT32_MAX - 20;
  in.run(*std::make_shared<Source>("text", R"(
def found():
    try:
        return name
    except NameError:
        return len('gone')

answers = []
for i in range(40):
    answers.append(found())
    name = i
    answers.append(found())
    del name
    if i == 30:
        len = lambda text: 'hidden'
    if i == 35:
        del len
print(answers == [x for i in range(40) for x in ('hidden' if 30 < i <= 35 else 4, i)])
globals()['kept'] = 1
print(kept, found())
)"),
         "__main__");
  CHECK(printed == "True\n1 4\n");
  CHECK(in.keys_versions == UINT32_MAX);
}

}  // namespace
}  // namespace tessera::lang
