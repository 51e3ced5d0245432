// :save and :restore.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/repl/fake_client.h"

using namespace tessera;
using namespace tessera::repl;

namespace {

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "session-XXXXXX").string();
  Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return path + "/" + name; }
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

TEST_CASE("a session comes back whole") {
  const Folder folder;
  const std::string file = folder / "s.tsn";
  {
    FakeSession s;
    s.run(
        "class Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.fc = nn.Linear(n, 2)\n"
        "    def forward(self, x): return self.fc(x)\n");
    s.run("net = Net(3); opt = optim.Adam(net.parameters())");
    s.run("net(torch.ones(1, 3)).sum().backward(); opt.step()");
    s.run("x = torch.arange(6.).reshape(2, 3); y = x.T; N = 3; words = ['a', 'b']; alias = words");
    s.run("import math as m\nfrom math import sqrt\nfrom collections import deque, defaultdict");
    s.run("def f(a, b=N): return a * b + m.pi\n");
    s.run("from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\n    b: str = 'x'\n\np = P(1)");
    s.run(
        "q = deque([1]); dd = defaultdict(list, a=[1]); s = {1}; fs = frozenset([1]); r = range(3); z = 1j; t = np.arange(3)");
    s.run("g = (i for i in range(3)); h = lambda v: v + 1");
    const std::string said = s.run(":save " + file);
    CHECK(said.find("not kept: g: cannot pickle 'generator' object") != std::string::npos);
    CHECK(said.find("not kept: h: a lambda that is no statement of its own") != std::string::npos);
  }
  FakeSession s;
  s.run("old = 1");
  CHECK(s.run(":restore " + file).find("are back") != std::string::npos);
  CHECK(s.session->number() == 11);
  CHECK(s.run("type(net).__name__, net.fc.weight is opt.param_groups[0]['params'][0], x.data_ptr() == y.data_ptr()") ==
        "Out[11]: ('Net', True, True)\n");
  CHECK(
      s.run("words is alias, round(f(2), 2), sqrt(4), p, q, dd, s, fs, r, z, t") ==
      "Out[12]: (True, 9.14, 2.0, P(a=1, b='x'), deque([1]), defaultdict(<class 'list'>, {'a': [1]}), {1}, frozenset({1}), "
      "range(0, 3), 1j, array([0, 1, 2]))\n");
  CHECK(s.run("net(torch.ones(1, 3)).sum().backward(); opt.step(); x.add_(1).sum().item()") == "Out[13]: 21.0\n");
  CHECK(s.run("old").find("NameError") != std::string::npos);
  CHECK(s.run("In[4]").find("torch.arange(6.)") != std::string::npos);
  CHECK(s.run("f??").find("def f(a, b=N): return a * b + m.pi") != std::string::npos);
  CHECK(s.run(":save " + file).find("are in") != std::string::npos);  // over the file that is mapped
  CHECK(s.run("y.sum().item()").ends_with("21.0\n"));
}

TEST_CASE("with -d nothing of the file is run") {
  const Folder folder;
  const std::string file = folder / "s.tsn";
  {
    FakeSession s;
    s.run(
        "print('run')\nclass A:\n    print('class body')\n    def m(self): pass\n\na = A(); x = torch.ones(3); sd = {'w': x}");
    s.run(":save " + file);
  }
  FakeSession s;
  const std::string said = s.run(":restore -d " + file);
  CHECK(said.find("class body") == std::string::npos);
  CHECK(said.find("not restored: A") != std::string::npos);
  CHECK(said.find("not restored: a:") != std::string::npos);
  CHECK(s.run("sd['w'] is x, x.sum().item()").ends_with("(True, 3.0)\n"));
  CHECK(s.run(":restore " + file).find("class body") != std::string::npos);
}

TEST_CASE("a file that is none, or damaged, changes nothing") {
  const Folder folder;
  const std::string file = folder / "s.tsn";
  FakeSession s;
  s.run("x = torch.arange(1000.); names = {'k': [1, 2, 3]}");
  s.run("def f(): return 1\n");
  s.run(":save " + file);
  const std::string good = text_of(file);
  s.run("mark = 'as before'");
  const std::string bad = folder / "bad";
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(bad, std::ios::binary) << bytes;
    const int number = s.session->number();
    const std::string said = s.run(":restore " + bad);
    const bool whole = said.find("are back") != std::string::npos;
    CHECK(!said.empty());
    CHECK(s.session->number() == (whole ? 4 : number + 1));
    if (!whole) CHECK(s.run("mark, x.numel()").find("('as before', 1000)") != std::string::npos);
    s.run("mark = 'as before'");
    return !whole;
  };
  CHECK(refused(""));
  CHECK(refused("print('no session')\n"));
  CHECK(refused(good.substr(0, good.size() / 2)));
  CHECK(refused(good.substr(0, good.size() - 10)));
  for (size_t i = 0; i < good.size(); i += good.size() / 97) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    refused(damaged);  // a byte of a tensor, or of a pad: it may come back
  }
  CHECK(s.run(":restore " + folder.path).find("rror") != std::string::npos);
  CHECK(s.run(":restore /nowhere/s") == "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/s'\n");
  CHECK(s.run(":restore") == "usage: :restore [-d] FILE\n");
}

TEST_CASE("a file of strange content is refused") {
  const Folder folder;
  FakeSession s;
  s.run(
      "import pickle, io, zlib\nfrom torch._archive import Writer\n"
      "def write(path, head):\n    with open(path, 'wb') as file:\n        archive = Writer(file.write, 'session')\n"
      "        archive.add('session.pkl', pickle.dumps(head, 2))\n        archive.add('data.pkl', pickle.dumps({'data': {}, 'random': None}, 2))\n"
      "        archive.add('byteorder', b'little')\n        archive.close()\n");
  s.run(
      "good = {'format': 'tessera session', 'version': 1, 'modules': {}, 'imports': {}, 'own': [], 'plain': {'mark': 5}, 'blocks': "
      "[''], 'number': 1, 'definitions': []}");
  const std::string file = folder / "s";
  for (const char* strange :
       {"{}", "[1]", "None", "{'format': 'tessera session'}", "{**good, 'version': 99}", "{**good, 'definitions': [5]}",
        "{**good, 'definitions': [['x = 1', 'a', 'b', 'c', 'd']]}", "{**good, 'definitions': [['x', 1, -5, 'f', 'x']]}",
        "{**good, 'definitions': {}}", "{**good, 'blocks': 'text'}", "{**good, 'blocks': [1]}",
        "{**good, 'number': 'x'}", "{**good, 'number': -1}", "{**good, 'modules': {'a': 5}}",
        "{**good, 'imports': {'a': 'b'}}", "{**good, 'plain': [1]}", "{**good, 'plain': {1: 2}}",
        "{**good, 'own': 3}"}) {
    s.run("write('" + file + "', " + strange + ")");
    const std::string said = s.run(":restore " + file);
    CHECK_MESSAGE(said.find(file + " is ") == 0, strange << ": " << said);
    CHECK(s.run("'good' in globals()").ends_with("True\n"));
  }
}

TEST_CASE("a place that cannot be written leaves the old file") {
  FakeSession s;
  s.run("x = torch.ones(100000)");
  CHECK(s.run(":save /nowhere/s").find("No such file or directory") != std::string::npos);
  CHECK(s.run(":save /proc/s").find("rror") != std::string::npos);
  CHECK(s.run(":save /dev/full").find("No space left on device") != std::string::npos);
  CHECK(s.run("x.sum().item()").ends_with("100000.0\n"));
}

TEST_CASE("programs and texts from files") {
  const Folder folder;
  FakeSession s;
  std::ofstream(folder / "p.py")
      << "import sys\nprint(__name__, sys.argv[1:], 'mine' in globals())\nmade = 3\nif __name__ == "
         "'__main__' and len(sys.argv) > 2: sys.exit(2)\n";
  s.run("mine = 1");
  CHECK(s.run("%run " + (folder / "p.py") + " one") == "__main__ ['one'] False\n");
  CHECK(s.run("made, mine") == "Out[3]: (3, 1)\n");
  CHECK(s.run(":run -i " + (folder / "p.py")) == "__main__ [] True\n");
  CHECK(s.run(":run " + (folder / "p.py") + " a b").ends_with("the program left with 2\n"));
  s.run(":load " + (folder / "p.py"));
  CHECK(s.client.offered.find("made = 3") != std::string::npos);
  CHECK(s.run(":load /nowhere").find("FileNotFoundError") != std::string::npos);
  CHECK(s.run(":load " + folder.path).find("IsADirectoryError") != std::string::npos);
  std::ofstream(folder / "b.py") << std::string("\0\1\2", 3);
  CHECK(s.run(":load " + (folder / "b.py")).find("not a text") != std::string::npos);
  CHECK(s.run("%%writefile " + (folder / "w.txt") + "\none\n  two\n\n") == "Writing " + (folder / "w.txt") + "\n");
  CHECK(s.run("%%writefile -a " + (folder / "w.txt") + "\nthree") == "Appending to " + (folder / "w.txt") + "\n");
  CHECK(text_of(folder / "w.txt") == "one\n  two\nthree\n");
  CHECK(s.run("%%writefile /nowhere/x\n1").find("FileNotFoundError") != std::string::npos);
  CHECK(s.run("%%writefile /dev/full\n1").find("No space left") != std::string::npos);
  CHECK(s.run(":edit") == "there is no editor here, or it has failed: nothing was run\n");
  s.client.edited = "40 + 2";
  CHECK(s.run(":edit").ends_with("42\n"));
}
