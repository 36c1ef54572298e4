"""Names of Python that Windows does not have, by the module that has them elsewhere."""

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty", "uvloop")
NAMES: dict[str, tuple[str, ...]] = {
    "os": (
        *("fork", "forkpty", "getpgid", "setpgid", "getpgrp", "setsid", "getsid", "killpg"),
        *("pread", "pwrite", "preadv", "pwritev", "readv", "writev", "sendfile", "fdatasync"),
        *("fchown", "fchmod", "mkfifo", "mknod", "lockf", "sync", "nice", "wait"),
        *("posix_fallocate", "posix_fadvise", "posix_spawn", "posix_spawnp", "sched_getaffinity"),
        *("getloadavg", "sysconf", "fstatvfs", "O_CLOEXEC", "O_DIRECTORY", "O_NONBLOCK", "O_SYNC"),
    ),
    "signal": (
        *("SIGKILL", "SIGHUP", "SIGCHLD", "SIGPIPE", "SIGSTOP", "SIGCONT", "SIGUSR1", "SIGUSR2"),
        *("SIGALRM", "SIGQUIT", "pthread_sigmask", "sigwait", "alarm", "setitimer", "pause"),
    ),
    "socket": ("AF_UNIX", "SO_REUSEPORT", "MSG_DONTWAIT", "send_fds", "recv_fds"),
}
USED_BY_OTHERS: dict[str, tuple[str, ...]] = {
    "os": ("statvfs", "getuid", "geteuid", "getgid", "getegid", "chown", "lchown", "WNOHANG"),
    "select": ("poll", "epoll"),
}
"""The standard library or pytest cannot be without these on this system."""
