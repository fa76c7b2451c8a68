#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which programs a gcc runs to make an object, and its specs file: a line <name>=<path> each, as gcc says it, where it
# says none the bare name. Then, a line depends=<path> each, every place that gcc would have taken one from.
#
#   gcc_parts.sh <gcc>

# gcc translates the names of its lists.
LC_ALL=C
export LC_ALL
for program in cc1plus as; do
  path=$("$1" "-print-prog-name=$program") || exit
  echo "$program=$path"
  case $path in */*) echo "depends=$path" ;; esac
done
path=$("$1" -print-file-name=specs) || exit
echo "specs=$path"
"$1" -print-search-dirs | awk -F '[=:]' '
  $1 == "programs" { for (i = 3; i <= NF; ++i) { place[$i "cc1plus"]; place[$i "as"] } }
  $1 == "libraries" { for (i = 3; i <= NF; ++i) place[$i "specs"] }
  END { for (path in place) print "depends=" path }'
