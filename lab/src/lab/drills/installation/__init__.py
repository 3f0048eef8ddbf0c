"""Install the system on an empty machine: an own root of files, processes and network, without systemd."""
