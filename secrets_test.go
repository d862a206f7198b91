package plimsoll_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type unwatched struct{}

func (unwatched) Phase(result.PhaseName, string) {}
func (unwatched) Interval(result.Interval)       {}

// A run's resolved target says where its secrets are. No file of the run holds a secret.
func TestNoFileOfARunHoldsASecret(t *testing.T) {
	const secret = "hunter2-of-the-test"
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SECRET_OF_THE_TEST", secret)
	to, err := target.Parse("target.yaml", []byte("system: sim\ncredentials: {"+
		"user_env: SECRET_OF_THE_TEST, password_file: "+file+", "+
		"admin_user_file: "+file+", admin_password_env: SECRET_OF_THE_TEST}\n"))
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := to.Credentials.Resolve(os.LookupEnv)
	if err != nil || secrets.Password != secret || secrets.AdminPassword != secret {
		t.Fatal("the secrets are not resolved:", err)
	}
	dir := runOnSim(t, to, secrets)
	saved, err := result.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"user_env: SECRET_OF_THE_TEST", file} {
		if !strings.Contains(saved.Run.Resolved.Target, place) {
			t.Errorf("the resolved target lacks %s:\n%s", place, saved.Run.Resolved.Target)
		}
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s holds a secret", entry.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// runOnSim measures the simulated system for a second of virtual time.
func runOnSim(t *testing.T, to *target.Target, secrets target.Secrets) (dir string) {
	t.Helper()
	w := workload.Default()
	w.Warmup = 0
	if err := w.SetDuration(time.Second); err != nil {
		t.Fatal(err)
	}
	w.SetRate(100)
	runs := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(clock.Timers(), func(sim.Planted) {})
		settings, err := system.Resolve(s.Describe().Settings, to.Settings)
		if err != nil {
			t.Fatal(err)
		}
		dir, err = bench.Run(t.Context(), &bench.Job{
			Workload: w, Target: to, System: s, Settings: settings, Secrets: secrets,
			Runs: runs, Clock: clock.Virtual(), Process: time.Now(),
			Asked: result.Asked{Target: to.YAML()},
		}, unwatched{})
		if err != nil {
			t.Fatal(err)
		}
	})
	return dir
}
