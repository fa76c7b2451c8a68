# Builds that are killed, half-written objects, file times of another age: the next build is right.
use_cache(ccache)
shared(killed)
