package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// mostMemory is what a command may take for a run directory that anyone may have made.
const mostMemory = 300 << 20

// No file of 100 MB takes more than 300 MB in report or serve: the damage is told, and the rest is
// shown.
func TestHostileFilesTakeLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes files of 100 MB")
	}
	const whole, part = 100 << 20, 25 << 20
	dense := densePayload(t)
	same := func(line string) func(int) string { return func(int) string { return line } }
	for name, c := range map[string]struct {
		file  string
		line  func(n int) string
		bytes int
		serve bool
	}{
		"empty intervals": {"intervals.jsonl", same("{}"), whole, true},
		"dense histograms": {"latency.hlog", func(n int) string {
			return fmt.Sprintf("Tag=publish,%d.000,1.000,1.000,%s", n, dense)
		}, whole, false},
		"long intervals": {"intervals.jsonl",
			same(`{"latency":[` + strings.Repeat("{},", 50_000) + "{}]}"), part, true},
		"empty processes": {"resources.jsonl", same(`{"processes":[{},{},{},{}]}`), part, false},
		"empty events":    {"events.jsonl", same("{}"), part, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := inDir(t, map[string]string{"short.yaml": shortLoad})
			plimsoll(t, dir, "run", "-t", "sim", "-w", "short.yaml")
			run, err := filepath.EvalSymlinks(filepath.Join(dir, "runs", result.LatestLink))
			if err != nil {
				t.Fatal(err)
			}
			lengthen(t, run)
			fill(t, filepath.Join(run, c.file), c.line, c.bytes)
			report := self(t, dir, "report", "-f", "html", run)
			page, err := report.Output()
			if err != nil || !strings.Contains(string(page), c.file) {
				t.Errorf("a report of %d bytes does not name the damage: %v", len(page), err)
			}
			if used := memoryOf(report.ProcessState); used > mostMemory {
				t.Errorf("report takes %d MB", used>>20)
			}
			if !c.serve {
				return
			}
			if used := servePage(t, dir, filepath.Base(run)); used > mostMemory {
				t.Errorf("serve takes %d MB", used>>20)
			}
		})
	}
}

// memoryOf returns the greatest memory of an ended process.
func memoryOf(p *os.ProcessState) int64 { return p.SysUsage().(*syscall.Rusage).Maxrss << 10 }

// lengthen makes a run claim that it took a week, so that its files may be long.
func lengthen(t *testing.T, run string) {
	t.Helper()
	saved, err := result.Read(run)
	if err != nil {
		t.Fatal(err)
	}
	saved.Run.Phases[len(saved.Run.Phases)-1].EndNs = 7 * 24 * 3600 * 1e9
	if err := result.Save(run, &saved.Run); err != nil {
		t.Fatal(err)
	}
}

// fill appends lines to a file until it has so many bytes more.
func fill(t *testing.T, path string, line func(n int) string, bytes int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	for written, n := 0, 0; written < bytes; n++ {
		size, err := out.WriteString(line(n) + "\n")
		if err != nil {
			t.Fatal(err)
		}
		written += size
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// densePayload is a histogram whose buckets all hold something, which is short when compressed.
func densePayload(t *testing.T) []byte {
	t.Helper()
	h := result.NewHistogram()
	for ns := int64(1); ns < result.HistogramMaxNs; ns += max(1, ns>>10) {
		_ = h.RecordValue(ns)
	}
	payload, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// servePage reads the page of a run from a served folder, and returns the server's memory.
func servePage(t *testing.T, dir, run string) int64 {
	t.Helper()
	cmd := self(t, dir, "serve", "runs")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(strings.TrimSpace(strings.TrimPrefix(line, "page: ")))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/runs/" + run} {
		asked := http.Request{URL: address.JoinPath(path), Header: http.Header{
			"Authorization": {"Bearer " + address.Query().Get("token")}}}
		asked.URL.RawQuery = ""
		answer, err := http.DefaultClient.Do(&asked)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v, %.200s", path, answer.Status, err, page)
		}
		_ = answer.Body.Close()
	}
	signalTo(t, cmd, syscall.SIGTERM)
	_ = cmd.Wait()
	return memoryOf(cmd.ProcessState)
}
