package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
)

// browsers are the programs that can turn a picture into pixels, by their names on the PATH.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"microsoft-edge", "brave-browser"}

// ErrNoBrowser is returned where no browser is installed.
var ErrNoBrowser = errors.New("a PNG is drawn by a browser, and none is on the PATH: install " +
	"chromium, or write the card as SVG with -f card")

// pngTime bounds the work of the browser.
const pngTime = time.Minute

// PNG is the poster as pixels, drawn by a browser on this machine without any network.
func (p *Poster) PNG(ctx context.Context) ([]byte, error) {
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return p.drawnBy(ctx, path)
		}
	}
	return nil, ErrNoBrowser
}

func (p *Poster) drawnBy(ctx context.Context, browser string) (png []byte, err error) {
	made, err := leftover.Dir("", "plimsoll-card-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the browser: %w", err)
	}
	defer func() { err = errors.Join(err, made.Remove()) }()
	dir := made.Path
	in, out := filepath.Join(dir, "card.svg"), filepath.Join(dir, "card.png")
	if err := os.WriteFile(in, []byte(p.SVG()), 0o600); err != nil {
		return nil, fmt.Errorf("write the card for the browser: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, pngTime)
	defer cancel()
	args := []string{"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--disable-extensions", "--disable-background-networking", "--user-data-dir=" + dir,
		fmt.Sprintf("--window-size=%d,%d", int(posterWidth), int(posterHeight)),
		"--screenshot=" + out}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // its sandbox refuses root; it reads one local file
	}
	c := exec.CommandContext(ctx, browser, append(args, "file://"+in)...)
	var said bytes.Buffer
	c.Stderr = &said
	// The browser has children of its own, which end with its process group.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("draw the card with %s: %w: %s", browser, err,
			cutTo(Clean(said.String()), 300))
	}
	if png, err = os.ReadFile(out); err != nil {
		return nil, fmt.Errorf("%s drew no picture: write the card as SVG with -f card: %w",
			browser, err)
	}
	return png, nil
}
