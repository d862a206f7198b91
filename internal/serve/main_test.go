package serve

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// report is the page that tests render: a report with everything that the server looks for.
const report = `<!doctype html><html><head>
<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; ` +
	`style-src &#39;sha256-a&#39;; form-action &#39;none&#39;">
<title>t</title></head><body><main>%s</main></body></html>`

// pageOfDirs is a page that names its directories.
func pageOfDirs(_ context.Context, dirs []string) ([]byte, error) {
	var names []string
	for _, dir := range dirs {
		if _, err := result.ReadHead(dir); err != nil {
			return nil, err
		}
		names = append(names, filepath.Base(dir))
	}
	return fmt.Appendf(nil, report, html.EscapeString(strings.Join(names, "+"))), nil
}

const testToken = "the token of the tests"

// folder serves a folder with a run "a", a run "b" within "nested", and a folder "other".
func folder(t *testing.T) (f *Folder, root string) {
	t.Helper()
	root = t.TempDir()
	writeRun(t, filepath.Join(root, "a"), &result.Run{Name: "nats", State: result.Complete,
		StartedAt: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC),
		Summary:   result.Summary{AchievedRate: 5000}})
	writeRun(t, filepath.Join(root, "nested", "b"), &result.Run{Name: "kafka",
		State: result.Failed, StateReason: "full", Summary: result.Summary{AchievedRate: 9000}})
	if err := os.Mkdir(filepath.Join(root, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(root, Options{Page: pageOfDirs, Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, root
}

func writeRun(t *testing.T, dir string, r *result.Run) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.SchemaVersion = result.SchemaVersion
	if err := result.Save(dir, r); err != nil {
		t.Fatal(err)
	}
}

// asked is a request to a server of the tests.
type asked struct {
	method, path, body string
	host               string // "": the server's own
	head               map[string]string
	anonymous          bool // without the token
}

func (a asked) of(t *testing.T, s *Server) (code int, head http.Header, body string) {
	t.Helper()
	method := a.method
	if method == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.address+a.path,
		strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	if a.host != "" {
		r.Host = a.host
	}
	if a.body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if !a.anonymous {
		r.AddCookie(&http.Cookie{Name: s.cookie(), Value: s.options.Token})
	}
	for name, value := range a.head {
		r.Header.Set(name, value)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(raw)
}

// pipes is a listener whose connections have no buffer and, in a bubble, virtual deadlines.
type pipes struct {
	arrive chan net.Conn
	closed chan struct{}
	open   atomic.Int64 // connections that the server holds
}

func newPipes() *pipes {
	return &pipes{arrive: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.arrive:
		p.open.Add(1)
		return &counted{Conn: c, open: &p.open}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// counted is a connection that counts as open until it is closed.
type counted struct {
	net.Conn

	open *atomic.Int64
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// ask sends a request with the token and reads nothing.
func (p *pipes) ask(t *testing.T, path string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	p.arrive <- server
	if _, err := fmt.Fprintf(client, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: "+
		"Bearer %s\r\n\r\n", path, testToken); err != nil {
		t.Fatal(err)
	}
	return client
}

// lines reads an event stream up to its first event, and returns a reader of the rest.
func lines(t *testing.T, c net.Conn) *bufio.Reader {
	t.Helper()
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil) //nolint:bodyclose // the connection is closed
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v", res, err)
	}
	return bufio.NewReader(res.Body)
}
