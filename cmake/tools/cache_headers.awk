# SPDX-License-Identifier: Apache-2.0
# What a dependency file names, for cache_launcher.sh and cache_step.sh. The environment says what is wanted:
#
#   CUDAOPS_CACHE_WANTED     all      the files, a line each
#                            own      those of the project: no system, compiler, torch or toolkit
#                            foreign  the others
#                            absent   what would be found of CUDAOPS_CACHE_ABSENT: the name, a colon and the file
#                            shadows  what would shadow one of them if it were a file, and what is absent; of what lies
#                                     in a directory only that, with a slash, until CUDAOPS_CACHE_DEEPER names it: mawk
#                                     ends where it opens a directory. And as below
#                            names    nothing, but the source tree's files get their own names in the dependency file
#   CUDAOPS_CACHE_SOURCE, _BUILD     the two trees, with a slash
#   CUDAOPS_CACHE_FROM               what the source tree is called in the dependency file, with a slash
#   CUDAOPS_CACHE_STANDARD, _SYSTEM  the compiler's own directories, a line each; ROCm's
#   CUDAOPS_CACHE_ABSENT             headers that may be asked for and that the compiler lacks, a line each
#   CUDAOPS_CACHE_HERE               not empty: the working directory is searched first
#   CUDAOPS_CACHE_DIRS_<class>       directories, a line each: Q -iquote, I -I, E CPATH, S -isystem, P CPLUS_INCLUDE_PATH;
#                                    XI and XS those that came by -Xcompiler

function plain(path) {
  if (index(path, "/../") && substr(path, 1, 1) == "/") while (sub(/[^\/]+\/\.\.\//, "", path));
  return path
}
function mapped(path) {
  return index(path, from) == 1 ? source substr(path, length(from) + 1) : path
}
# What comes with the compiler; a directory that CPATH names does not.
function compilers(path, k) {
  path = plain(path) "/"
  for (k = 1; k <= theirs; ++k) if (index(path, their[k]) == 1) return 1
  return 0
}
function own(path) {
  if (system_dir != "" && index(path, system_dir) == 1) return 0
  if (index(path, "CudaOps/links/") && path ~ /(^|\/)CudaOps\/links\//) return 0
  if (index(path, source) == 1 || index(path, build) == 1 || path "/" == source || path "/" == build) return 1
  return index(path, "/usr/") != 1 && !compilers(path)
}
# Distributions leave this directory to the user.
function fills(path) { return path == "/usr/local/include" || own(path) }
function add(list, chain, part, parts, j, d) {
  parts = split(ENVIRON[list], part, "\n")
  for (j = 1; j <= parts; ++j) {
    if (part[j] == "") continue
    d = mapped(part[j] "/")
    d = substr(d, 1, length(d) - 1)
    # gcc passes over one that is a system directory too, and over one that came before.
    if (chain ~ /I$/ && d in last) continue
    if (chain !~ /^X/) {
      if ((chain d) in had) continue
      had[chain d] = 1
    }
    dir[++count] = d
  }
}
function note(list, set, part, parts, j, d) {
  parts = split(ENVIRON[list], part, "\n")
  for (j = 1; j <= parts; ++j) {
    d = mapped(part[j] "/")
    set[substr(d, 1, length(d) - 1)] = 1
  }
}
function tried(place, file, at) {
  place = place == "." ? "" : place "/"
  if ((place file) in asked) return
  asked[place file] = 1
  at = index(file, "/")
  if (!at || (place substr(file, 1, at)) in deeper) {
    print place file
    return
  }
  place = place substr(file, 1, at)
  if (!(place in shown)) print place
  shown[place] = 1
}
BEGIN {
  wanted = ENVIRON["CUDAOPS_CACHE_WANTED"]
  from = ENVIRON["CUDAOPS_CACHE_FROM"]
  source = ENVIRON["CUDAOPS_CACHE_SOURCE"]
  build = ENVIRON["CUDAOPS_CACHE_BUILD"]
  system_dir = ENVIRON["CUDAOPS_CACHE_SYSTEM"]
  words = split(ENVIRON["CUDAOPS_CACHE_DEEPER"], word, "\n")
  for (i = 1; i <= words; ++i) deeper[word[i]] = 1
  standard = split(ENVIRON["CUDAOPS_CACHE_STANDARD"], std, "\n")
  note("CUDAOPS_CACHE_DIRS_E", named)
  note("CUDAOPS_CACHE_DIRS_P", named)
  note("CUDAOPS_CACHE_DIRS_S", last)
  note("CUDAOPS_CACHE_DIRS_XS", last)
  note("CUDAOPS_CACHE_DIRS_P", last)
  for (k = 1; k <= standard; ++k) if (!(std[k] in named)) last[std[k]] = 1
  # For compilers().
  for (k = 1; k <= standard; ++k)
    if (std[k] != "/usr/local/include" && !(std[k] in named)) their[++theirs] = std[k] "/"
  count = 0
  add("CUDAOPS_CACHE_DIRS_Q", "Q")
  add("CUDAOPS_CACHE_DIRS_XI", "XI")
  add("CUDAOPS_CACHE_DIRS_I", "I")
  add("CUDAOPS_CACHE_DIRS_XI", "XI")
  # After them comes the toolkit itself.
  before_toolkit = count + 1
  add("CUDAOPS_CACHE_DIRS_E", "I")
  add("CUDAOPS_CACHE_DIRS_XS", "XS")
  add("CUDAOPS_CACHE_DIRS_S", "S")
  add("CUDAOPS_CACHE_DIRS_XS", "XS")
  add("CUDAOPS_CACHE_DIRS_P", "S")
  for (k = 1; k <= standard; ++k) dir[count + k] = std[k]
  for (k = 1; k <= count + standard; ++k) {
    filled[k] = fills(dir[k])
    below[k] = dir[k] "/"
  }
  if (ENVIRON["CUDAOPS_CACHE_HERE"] != "") { seen["."] = 1; near[++places] = "." }
  quoted = source
  gsub(/ /, "\001", quoted)
  gsub(/#/, "\\#", quoted)
  gsub(/\$/, "$$", quoted)
}
{
  text = $0
  target = ""
  if (NR == 1 && match(text, /^[^:]*: */)) {
    target = substr(text, 1, RLENGTH)
    text = substr(text, RLENGTH + 1)
  }
  end = ""
  if (sub(/ *\\$/, "", text)) end = " \\"
  gsub(/\\ /, "\001", text)
  match(text, /^ */)
  indent = substr(text, 1, RLENGTH)
  words = split(text, word, " ")
  text = ""
  for (i = 1; i <= words; ++i) {
    if (index(word[i], from) == 1) {
      changed = 1
      text = text (i > 1 ? " " : "") quoted substr(word[i], length(from) + 1)
    } else text = text (i > 1 ? " " : "") word[i]
    path = word[i]
    if (path ~ /[\001#$]/) {
      gsub(/\001/, " ", path)
      gsub(/\\#/, "#", path)
      gsub(/\$\$/, "$", path)
    }
    path = mapped(path)
    if (substr(path, 1, 2) == "./") sub(/^(\.\/)+/, "", path)
    header[++headers] = path
    asked[path] = asked[plain(path)] = 1
    if (own(path)) {
      place = path
      if (!sub(/\/[^\/]*$/, "", place)) place = "."
      if (!(place in seen)) { seen[place] = 1; near[++places] = place }
    }
  }
  gsub(/\001/, "\\ ", text)
  all[NR] = target indent text end
}
END {
  if (wanted == "all" || wanted == "own" || wanted == "foreign") {
    for (h = 1; h <= headers; ++h) if (wanted == "all" || own(header[h]) == (wanted == "own")) print header[h]
    exit
  }
  if (wanted == "absent" || wanted == "shadows") {
    names = split(ENVIRON["CUDAOPS_CACHE_ABSENT"], absent, "\n")
    for (k = 1; k <= count + standard; ++k)
      for (i = 1; filled[k] && i <= names; ++i)
        if (wanted == "shadows") tried(dir[k], absent[i])
        else if (!(plain(below[k] absent[i]) in asked)) print absent[i] ":" below[k] absent[i]
    if (wanted == "absent") exit
  }
  for (h = 2; wanted == "shadows" && h <= headers; ++h) {
    path = header[h]
    hits = 0
    for (k = 1; k <= count; ++k)
      if (dir[k] == "." ? path !~ /^(\/|\.\.\/)|(^|\/)CudaOps\/links\// : index(path, below[k]) == 1) {
        name[++hits] = dir[k] == "." ? path : substr(path, length(dir[k]) + 2)
        before[hits] = k
      }
    if (!hits && match(path, /\/bin\/\.\.\/(targets\/[^\/]*\/)?include\/(cccl\/)?/)) {
      name[++hits] = substr(path, RSTART + RLENGTH)
      before[hits] = substr(path, RSTART, RLENGTH) ~ /\/cccl\/$/ ? count + 1 : before_toolkit
    }
    if (!hits && system_dir != "" && index(path, system_dir "include/") == 1) {
      name[++hits] = substr(path, length(system_dir) + 9)
      before[hits] = count + 1
    }
    if (!hits) {
      # One of them may lie in another: /usr/include/c++/12 and /usr/include.
      path = plain(path)
      longest = 0
      for (k = count + 1; k <= count + standard; ++k)
        if (length(dir[k]) > longest && index(path, below[k]) == 1) {
          longest = length(dir[k])
          hits = 1
          name[1] = substr(path, longest + 2)
          before[1] = k
        }
    }
    for (i = 1; i <= hits; ++i) {
      for (k = 1; k < before[i]; ++k) if (filled[k]) tried(dir[k], name[i])
      for (k = 1; k <= places; ++k) tried(near[k], name[i])
    }
  }
  if (changed) {
    for (i = 1; i <= NR; ++i) print all[i] >FILENAME
    close(FILENAME)
  }
}
