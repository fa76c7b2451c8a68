# A cache on a directory and on a web server, shared by two machines; read-only; nothing but the URL is in the build tree.
use_cache(ccache)
shared(kinds)
