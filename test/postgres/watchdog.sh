# Ends a throw-away PostgreSQL server with the program that started it, however that one ends:
# standard input is a pipe from it, which the system closes when it dies. $1: the server's folder.
trap '' HUP INT TERM
cat >/dev/null

# A server that is just starting writes its process id a moment later; until then, the file may hold
# the id of its last run.
tries=0
while [ "$tries" -lt 50 ]; do
  pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
  if [ -n "$pid" ] && kill -QUIT "$pid" 2>/dev/null; then
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
  fi
  [ -e "$1/starting" ] || break
  tries=$((tries + 1))
  sleep 0.1
done
rm -rf "$1"
