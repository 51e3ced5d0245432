// A source for libraries whose folder has no file yet: an archive must have a member.
namespace tessera {
extern const int kEmptyLibrary;
const int kEmptyLibrary = 0;
}  // namespace tessera
