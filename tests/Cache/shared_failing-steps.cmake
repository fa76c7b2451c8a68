# Servers that aren't there, say nothing, or the wrong thing: one line, two seconds, right objects.
use_cache(ccache)
shared(failing)
