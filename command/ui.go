package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/plimsoll-bench/plimsoll/internal/metrics"
	"github.com/plimsoll-bench/plimsoll/internal/serve"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// tokenEnv holds the token of served pages, if the user has set one.
const tokenEnv = "PLIMSOLL_TOKEN"

// metricsAt is the path of a server's metrics.
const metricsAt = "GET /metrics"

// uiFlags are the flags of commands whose page can be followed while they measure.
type uiFlags struct {
	UI     uiFlag `name:"ui" placeholder:"[open,stay]" help:"Serve the report on this machine while it is written, at the printed address. --ui=open opens a browser; --ui=stay goes on serving after the end."`
	UIPort uint16 `name:"ui-port" placeholder:"PORT" help:"The port of --ui, instead of a free one."`
}

// uiFlag is a flag that may have words, after an equals sign.
type uiFlag struct{ given, open, stay bool }

// IsBool lets the flag stand without a value.
func (*uiFlag) IsBool() bool { return true }

// Decode takes the words after the equals sign.
func (f *uiFlag) Decode(ctx *kong.DecodeContext) error {
	f.given = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	var words string
	if err := ctx.Scan.PopValueInto("words", &words); err != nil {
		return err
	}
	for word := range strings.SplitSeq(words, ",") {
		switch word {
		case "open":
			f.open = true
		case "stay":
			f.stay = true
		default:
			return errors.New(strict.Unknown("word", word, []string{"open", "stay"}))
		}
	}
	return nil
}

// followed measures until the user interrupts. Meanwhile, if requested, the page of the experiment
// and the metrics of its runs are served; runs is the parent of their directories.
func (f *uiFlags) followed(con console, runs string,
	measure func(context.Context, *serve.Live) error) error {
	page, err := f.follow(con, runs)
	if err != nil {
		return err
	}
	err = func() error {
		ctx, done := untilInterrupted(con.err)
		defer done()
		defer sendMetrics(con, runs)()
		return measure(ctx, page)
	}()
	return f.end(con, page, err)
}

// follow serves the page of the command's experiment, or returns nil if it is not requested.
func (f *uiFlags) follow(con console, runs string) (*serve.Live, error) {
	if !f.UI.given {
		if f.UIPort != 0 {
			return nil, inputError{errors.New("--ui-port is the port of --ui: add --ui")}
		}
		return nil, nil
	}
	live, err := serve.Follow(serve.Options{Page: pageOf,
		Token:  os.Getenv(tokenEnv),
		Listen: net.JoinHostPort("127.0.0.1", strconv.Itoa(int(f.UIPort)))})
	if err != nil {
		return nil, inputError{fmt.Errorf("--ui: %w", err)}
	}
	live.Handle(metricsAt, metrics.Handler(ownRuns(runs)))
	fmt.Fprintf(con.err, "page: %s\n", live.Address())
	if f.UI.open {
		openPage(con, live.Address())
	}
	return live, nil
}

// end shows the last page and ends the server, if there is one; with --ui=stay, after an interrupt.
// err is how the command ends: an interrupted command does not stay.
func (f *uiFlags) end(con console, live *serve.Live, err error) error {
	shown := live.End()
	code, _ := errors.AsType[exitError](err)
	if f.UI.stay && shown && code != exitInterrupted {
		told, stop := untilTold()
		defer stop()
		fmt.Fprintf(con.err, "the page stays at %s: Ctrl-C ends it\n", live.Address())
		<-told.Done()
	}
	return errors.Join(err, live.Close())
}

// pageOf renders the report of directories, as plimsoll report -f html does.
func pageOf(_ context.Context, dirs []string) ([]byte, error) {
	var page bytes.Buffer
	err := (&reportCommand{RunDirs: dirs, Format: "html"}).Run(console{&page, io.Discard})
	return page.Bytes(), err
}

const openHTML = `<!doctype html><meta charset="utf-8">` +
	`<meta http-equiv="refresh" content="0; url=%[1]s">` +
	`<title>plimsoll</title><a href="%[1]s">Open the page</a>`

// openPage opens an address in a browser. The address has a token, which the list of processes
// must not show, so the browser gets a file with a link. A browser that plimsoll opens stays when
// plimsoll ends.
func openPage(con console, address string) {
	opener := cmp.Or(map[string]string{"darwin": "open"}[runtime.GOOS], "xdg-open")
	path, err := linkFile(address)
	if err == nil {
		cmd := exec.Command(opener, path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is not for the browser
		if err = cmd.Start(); err == nil {
			go func() { _ = cmd.Wait() }()
		}
	}
	if err != nil {
		fmt.Fprintf(con.err, "warning: no browser was opened: %v: open the address yourself\n", err)
	}
}

// linkFile returns a file that only this user can read and that leads to an address. It is
// replaced by the next one.
func linkFile(address string) (path string, err error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "plimsoll")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "open.html")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err // an existing file may have another mode
	}
	page := fmt.Sprintf(openHTML, html.EscapeString(address))
	return path, os.WriteFile(path, []byte(page), 0o600)
}

// ownRuns finds the runs that this process makes below a folder.
func ownRuns(runs string) metrics.Options {
	return metrics.Options{Source: metrics.Below(runs),
		Only: func(r *result.Run) bool { return r.PID == os.Getpid() }}
}

// sendMetrics sends metrics of the runs that this process makes below a folder, if the
// environment asks for it. A run does not fail because of metrics that cannot be sent.
func sendMetrics(con console, runs string) (stop func()) {
	warn := func(err error) { fmt.Fprintln(con.err, "warning:", err) }
	stop, err := metrics.Export(ownRuns(runs), warn)
	if err != nil {
		warn(err)
		return func() {}
	}
	return stop
}
