package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// unbroken returns another descriptor of a standard stream. When its reader is gone, as at the end
// of an ssh connection without a terminal, a write to it fails, where a write to the stream itself
// would end the process, and leave the servers that it started without an owner.
func unbroken(stream *os.File) *os.File {
	fd, err := unix.FcntlInt(stream.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return stream // it is closed, or no descriptor is left
	}
	return os.NewFile(uintptr(fd), stream.Name())
}

// endSignals returns the signals that ask the program to end. SIGHUP, the end of the terminal or
// of an ssh connection, is one of them unless the program was started with it ignored, as nohup
// does.
func endSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// untilTold returns a context that ends when the program is asked to end.
func untilTold() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), endSignals()...)
}

// untilInterrupted returns a context that the first request to end cancels. The second ends the
// process at once: run directories are readable at any moment. A terminal that ends sends SIGHUP
// several times, so a repeated one changes nothing. Until the returned function is called, a
// closed standard output does not end the process either.
func untilInterrupted(errOut io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endSignals()...)
	broken := make(chan os.Signal, 1) // nothing reads it: writes then fail with an error instead
	signal.Notify(broken, syscall.SIGPIPE)
	go func() {
		for s := range signals {
			if ctx.Err() == nil {
				cancel()
				fmt.Fprintln(errOut,
					"\nstopping: what was measured will be kept; once more to stop at once")
			} else if s != syscall.SIGHUP {
				os.Exit(exitInterrupted)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(broken)
		close(signals)
		cancel()
	}
}
