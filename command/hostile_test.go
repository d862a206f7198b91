package command

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

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
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
			if used := servePage(t, dir, "/", "/runs/"+filepath.Base(run)); used > mostMemory {
				t.Errorf("serve takes %d MB", used>>20)
			}
		})
	}
}

// An experiment's file with many empty objects takes as little memory: with fewer than the most
// runs, with more than these, and with more than the most values.
func TestHostileExperimentsTakeLittleMemory(t *testing.T) {
	list := map[string]string{"peak": "probes", "sweep": "cells", "verify": "rounds",
		"study": "cells"}
	for _, args := range ended {
		list := list[args[0]]
		if list == "" {
			continue
		}
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			dir := inDir(t, browsed)
			_ = self(t, dir, args...).Run() // 1: the machine is too busy for a peak
			folder := filepath.Join(dir, "runs", result.LatestLink)
			path := filepath.Join(folder, experiment.File)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			list := `"` + list + `": [`
			for _, n := range []int{4_500, 140_000, 4_000_000} {
				many := strings.Replace(string(text), list, list+strings.Repeat("{},", n), 1)
				if err := os.WriteFile(path, []byte(many), 0o644); err != nil ||
					len(many) == len(text) {
					t.Fatalf("%d bytes of %d: %v", len(many), len(text), err)
				}
				report := self(t, dir, "report", "-f", "html", folder)
				_ = report.Run() // refused or not
				if used := memoryOf(report.ProcessState); used > mostMemory {
					t.Errorf("%d: report takes %d MB", n, used>>20)
				}
				if used := servePage(t, dir, "/"); used > mostMemory {
					t.Errorf("%d: serve takes %d MB", n, used>>20)
				}
			}
		})
	}
}

// The largest files that are imported take as little, whatever is in them.
func TestHostileImportsTakeLittleMemory(t *testing.T) {
	for name, c := range map[string]struct {
		command, begin, end string
		line                func(n int) string
		bytes               int
	}{
		"periods": {"omb", `{"publishRate":[`, "1]}", func(int) string { return "1," },
			omb.MaxResultBytes - 1000},
		"quantiles": {"omb", `{"publishRate":[1],"aggregatedPublishLatencyQuantiles":{`, `"9":1}}`,
			func(n int) string { return fmt.Sprintf(`"%f":1,`, float64(n)/1e6) },
			omb.MaxResultBytes - 1000},
		"keys": {"keys", "", "", func(n int) string { return fmt.Sprintf("%x,1", n) },
			maxCSVBytes - 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := inDir(t, map[string]string{"file": c.begin})
			fill(t, filepath.Join(dir, "file"), c.line, c.bytes)
			fill(t, filepath.Join(dir, "file"), func(int) string { return c.end }, 1)
			imported := self(t, dir, "import", c.command, "file")
			said, _ := imported.CombinedOutput() // refused or not
			if strings.Contains(string(said), "JSON") {
				t.Fatalf("the file is not what was meant: %s", said)
			}
			if used := memoryOf(imported.ProcessState); used > mostMemory {
				t.Errorf("takes %d MB", used>>20)
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

// servePage reads pages of a served folder, and returns the server's memory.
func servePage(t *testing.T, dir string, paths ...string) int64 {
	t.Helper()
	cmd := self(t, dir, "serve", "runs")
	line := lineWith(t, linesOf(t, cmd), "page: ")
	address, err := url.Parse(strings.TrimPrefix(line, "page: "))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
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
