# The list of commands of the Makefile; with T, what one of them takes: its comment.
/^##@ / && !T { printf "\n%s\n", substr($0, 5) }
/^# / { note = note "  " substr($0, 3) "\n"; next }
split($0, parts, /:.*## /) == 2 && /^[a-z0-9-]+:/ {
    if (!T) printf "  make %-19s %s\n", parts[1], parts[2]
    else if (parts[1] == T) { printf "make %s: %s\n%s", T, parts[2], note; found = 1 }
}
{ note = "" }
END { if (T && !found) { printf "There is no `make %s`; `make` alone lists what there is.\n", T; exit 2 } }
