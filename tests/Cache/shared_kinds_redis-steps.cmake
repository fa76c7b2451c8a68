# The same on a real Redis: databases, a socket, each way to write a password, which is nowhere below the build tree.
use_cache(ccache)
use_redis()
shared(kinds)
