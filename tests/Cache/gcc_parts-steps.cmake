# Every place that gcc would have taken a part from is named, whatever language it speaks and whatever is in the paths.
file(
  WRITE "${case_DIR}/my g++"
  [==[
#!/bin/sh
case $1 in
  -print-prog-name=cc1plus) echo "/opt/my gcc/cc1plus" ;;
  -print-prog-name=as) echo as ;;
  -print-file-name=specs) echo specs ;;
  -print-search-dirs)
    if [ "$LC_ALL" = C ]; then
      echo "install: /opt/my gcc/"
      echo "programs: =/opt/my gcc/:/opt/bin/"
      echo "libraries: =/opt/lib/"
    else
      echo "installiert: /opt/my gcc/"
      echo "Programme: =/opt/my gcc/:/opt/bin/"
      echo "Bibliotheken: =/opt/lib/"
    fi
    ;;
esac
]==]
)
file(CHMOD "${case_DIR}/my g++" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
case_environment("LANG=de_DE.UTF-8" "LC_ALL=de_DE.UTF-8")
case_step(
  build
  COMMAND
    "${case_CXX}" -std=c++17 -O0 -fno-exceptions "${case_REPO}/cmake/launcher/cudaops_launch.cpp" -o
    "${case_DIR}/cudaops-launch"
)
case_step(
  parts
  COMMAND
    sh -c "\"$1\" --gcc-parts \"$2\" | LC_ALL=C sort -u" sh "${case_DIR}/cudaops-launch" "${case_DIR}/my g++"
)
case_equal(
  "what the parts follow from"
  "${case_STEP_STDOUT}"
  "as=as
cc1plus=/opt/my gcc/cc1plus
depends=/opt/bin/as
depends=/opt/bin/cc1plus
depends=/opt/lib/specs
depends=/opt/my gcc/as
depends=/opt/my gcc/cc1plus
specs=specs
"
)
