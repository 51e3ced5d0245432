// A source for libraries whose folder has no file yet: an archive must have a member.
