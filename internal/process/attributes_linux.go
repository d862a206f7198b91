package process

import "syscall"

// attributes make a child the leader of a group, and have the kernel kill it
// when the thread that forked it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
