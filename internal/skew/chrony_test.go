package skew

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What chronyc of chrony 4.3 prints, -n -c.
const (
	synchronised = "C0A80001,192.168.0.1,3,1795561616.571427738,-0.000006523,-0.000006747," +
		"0.000035822,-3.225,-0.000,0.129,0.013639022,0.001100737,64.2,Normal\n"
	local = "7F7F0101,,8,1795561616.571427738,0.000000000,0.000000000,0.000000000,0.000,0.000," +
		"0.000,0.000000000,0.000000000,0.0,Normal\n"
	lonely = "00000000,,0,0.000000000,0.000000012,0.000000000,0.000000000,0.000,0.000,0.000," +
		"1.000000000,1.000000000,0.0,Not synchronised\n"
)

func TestChronysWord(t *testing.T) {
	for text, want := range map[string]Chrony{
		synchronised: {Synchronised: true, Stratum: 3, BehindNs: -6523, BoundNs: 7_920_248},
		local:        {Stratum: 8},
		lonely:       {BehindNs: 12, BoundNs: 1_500_000_000},
	} {
		got, err := parseChrony(text)
		if err != nil || *got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func FuzzChrony(f *testing.F) {
	for _, text := range []string{synchronised, local, lonely, "506 Cannot talk to daemon\n",
		"C0A80001,x,3,1,NaN,0,0,0,0,0,Inf,1e300,0,Normal\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseChrony(text)
		if err == nil && c.Check() != nil {
			t.Errorf("%q became %+v", text, c)
		}
	})
}

// A chrony that says nothing, garbage, or nothing in time is no evidence, and costs no more than a
// moment. The command gets nothing of this process's environment.
func TestAskChrony(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("PLIMSOLL_JOIN_TOKEN", "secret")
	if c := AskChrony(t.Context()); c != nil {
		t.Errorf("without chrony: %+v", c)
	}
	for script, want := range map[string]bool{
		"printf '" + local[:len(local)-1] + "\\n'": true,
		"echo 506 Cannot talk to daemon; exit 1":   false,
		"while :; do echo garbage; done":           false,
		"while :; do :; done":                      false,
		"test -z \"$PLIMSOLL_JOIN_TOKEN\" && test \"$*\" = '-n -c tracking' || exit 1; printf '" +
			local[:len(local)-1] + "\\n'": true,
	} {
		if err := os.WriteFile(filepath.Join(dir, "chronyc"), []byte("#!/bin/sh\n"+script+"\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		c := AskChrony(context.Background())
		if took := time.Since(began); (c != nil) != want || took > 10*chronyLimit {
			t.Errorf("%s: %+v after %s", script, c, took)
		}
	}
}
