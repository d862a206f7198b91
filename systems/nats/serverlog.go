package nats

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// maxLog bounds a server's log, which would otherwise grow without end on a full disk.
const maxLog = 32 << 20

// addressInUse is a server's message about a port that another process has.
const addressInUse = "address already in use"

const (
	kindWarning = "WRN"
	kindError   = "ERR"
	kindFatal   = "FTL"
)

// serverLog is one server's log file. The library's own logger ends the
// process on a fatal error, so this one keeps the error instead.
type serverLog struct {
	path string

	mu      sync.Mutex
	file    *os.File // nil: closed
	written int
	failed  error
	last    string // warning or error

	died chan struct{} // closed when failed is set
}

func openServerLog(path string) (*serverLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open a server's log: %w", err)
	}
	return newServerLog(path, file), nil
}

// newServerLog returns a log in an open file.
func newServerLog(path string, file *os.File) *serverLog {
	return &serverLog{path: path, file: file, died: make(chan struct{})}
}

func (l *serverLog) write(kind, format string, v []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil || l.written > maxLog {
		return
	}
	line := fmt.Sprintf(format, v...)
	if kind == kindWarning || kind == kindError {
		l.last = line
	}
	// A failed write to the log must not end the server.
	n, _ := fmt.Fprintf(l.file, "%s [%s] %s\n",
		time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), kind, line)
	l.written += n
}

// The methods of server.Logger.

func (l *serverLog) Noticef(format string, v ...any) { l.write("INF", format, v) }
func (l *serverLog) Warnf(format string, v ...any)   { l.write(kindWarning, format, v) }
func (l *serverLog) Errorf(format string, v ...any)  { l.write(kindError, format, v) }
func (l *serverLog) Debugf(format string, v ...any)  { l.write("DBG", format, v) }
func (l *serverLog) Tracef(format string, v ...any)  { l.write("TRC", format, v) }

// Fatalf keeps the error for the goroutine that waits for the server.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.write(kindFatal, format, v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return
	}
	l.failed = fmt.Errorf(format, v...)
	close(l.died)
	if strings.Contains(l.failed.Error(), addressInUse) {
		l.failed = fmt.Errorf("%w: %w", driver.ErrAddressTaken, l.failed)
	}
}

func (l *serverLog) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// complaint returns the last warning or error, or "".
func (l *serverLog) complaint() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

func (l *serverLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}
