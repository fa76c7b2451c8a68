# Said before the download where it can be known.
use_fake_uv()
case_step(
  room
  RESULT 1
  COMMAND
    "${case_PYTHON}" -c
    "import sys
sys.path.insert(0, '${case_REPO}/python')
sys.dont_write_bytecode = True
import collections, shutil
from cudaops import provide
shutil.disk_usage = lambda path: collections.namedtuple('usage', 'total used free')(10**10, 9 * 10**9, 10**9)
sys.exit(provide.main(['torch', '--store', 'store', '--version', '2.15.0', '--result', 'result', '--pythons', sys.executable]))"
)
file(READ "${case_DIR}/result" text)
string(JSON head GET "${text}" head)
case_equal("head" "${head}" "the disk is too full.")
string(JSON fact GET "${text}" facts 1)
case_equal("fact" "${fact}" "store   store/torch, 1.0 GB free")
expect_calls(0)
expect_store(torch)
