package process

import "syscall"

// attributes makes a child the leader of a process group, and has the kernel kill it when
// the thread that forked it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
