# A real Redis that is killed, stopped, or changes its password in the middle of a build, and one whose entries are damaged:
# one line, two seconds, right objects. A wrong password is said at configure.
use_cache(ccache)
use_redis()
shared(failing)
