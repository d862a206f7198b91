package chart

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/result"
)

func TestManyProcessesAreSummedUp(t *testing.T) {
	s := fixture.KafkaThree.Load(t)
	for k := range s.Resources {
		r := &s.Resources[k]
		r.Processes = nil
		for i := range 40 {
			r.Processes = append(r.Processes,
				result.ProcessUse{Name: strings.Repeat("n", i+1), CPUSeconds: 1})
		}
		r.Processes = append(r.Processes, result.ProcessUse{Name: result.Self, CPUSeconds: 0.5})
	}
	s.Run.Observation.Servers = nil
	charts, _, _ := Usage(s)
	lines := charts[0].Series
	if len(lines) != maxMembers+1 || lines[maxMembers-1].Name != "32 others, summed" ||
		lines[maxMembers].Name != "plimsoll" {
		t.Fatalf("lines %s", seriesNames(charts[0]))
	}
	if got := lines[maxMembers-1].Y[0]; got != 32 {
		t.Errorf("32 processes of one core used %v cores", got)
	}
}

// plimsoll's own processes on hosts are one line, beside the servers'.
func TestHostsAreOneLine(t *testing.T) {
	s := fixture.KafkaThree.Load(t)
	for i, host := range []string{"a", "b", "c"} {
		s.Run.System.Hosts = append(s.Run.System.Hosts, result.Host{Name: host})
		for k := range s.Resources {
			r := &s.Resources[k]
			r.Processes = append(r.Processes, result.ProcessUse{Name: result.HostProcess(host),
				CPUSeconds: float64(i + 1)})
		}
	}
	charts, _, _ := Usage(s)
	lines := charts[0].Series
	at := len(lines) - 2
	if len(lines) != 5 || lines[at].Name != "plimsoll on the hosts, summed" {
		t.Fatalf("lines %s", seriesNames(charts[0]))
	}
	seconds := float64(s.Resources[0].EndNs-s.Resources[0].StartNs) / 1e9
	if got, want := lines[at].Y[0], 6/seconds; got != want {
		t.Errorf("three hosts used %v cores, want %v", got, want)
	}
}
