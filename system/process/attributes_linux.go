package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes makes a child the leader of a process group, and has the kernel kill it when
// the thread that forked it ends.
func attributes(spec Spec) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if spec.User != 0 {
		a.AmbientCaps = []uintptr{unix.CAP_DAC_OVERRIDE}
	}
	return a
}
