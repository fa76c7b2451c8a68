# sccache on a real Redis: found by another machine, a wrong password said at configure, one that hangs left out.
use_cache(sccache)
use_redis()
shared(sccache)
