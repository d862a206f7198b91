package disk

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const asNobodyEnv = "PLIMSOLL_DISK_AS_NOBODY"

// TestMain lets a test start itself as an unprivileged user.
func TestMain(m *testing.M) {
	if base := os.Getenv(asNobodyEnv); base != "" {
		err := Check(nil, base) //nolint:staticcheck // it returns before it uses the context
		if err != nil {
			os.Stdout.WriteString(err.Error())
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// made makes a disk that is removed at the end of the test.
func made(t *testing.T, bytes int64) *Disk {
	t.Helper()
	base := t.TempDir()
	err := Check(t.Context(), base)
	if os.Geteuid() != 0 || errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		t.Skipf("no disks here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	image, dir := filepath.Join(base, "images", "n1.img"), filepath.Join(base, "a node", "n1")
	d, err := Make(t.Context(), image, dir, bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Release(base); err != nil {
			t.Error(err)
		}
		if left := attached(t, base); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return d
}

// attached lists the mounts below a directory, and the loop devices whose images are there.
func attached(t *testing.T, base string) (left []string) {
	t.Helper()
	all, err := mounts()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if strings.HasPrefix(m.dir, base) {
			left = append(left, m.dir)
		}
	}
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(raw), base) {
			left = append(left, file)
		}
	}
	return left
}

// write writes a file of size bytes and syncs the first synced bytes of it.
func write(t *testing.T, path string, size, synced int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, piece := range []int{synced, size - synced} {
		if _, err := f.Write(bytes.Repeat([]byte{'x'}, piece)); err != nil {
			t.Fatal(err)
		}
		if i == 0 && synced > 0 {
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPowerCutKeepsWhatWasSyncedAndNothingElse(t *testing.T) {
	d := made(t, 64<<20)
	for round := range 2 { // the second round works on the remounted disk
		in := func(name string) string { return filepath.Join(d.dir, name) }
		synced, half, lost := in("synced"), in("half"), in("lost")
		write(t, lost, 1<<20, 0)
		write(t, synced, 1<<20, 1<<20)
		write(t, half, 1<<20, 1<<19)
		if err := d.Cut(); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(in("after"), []byte("too late"), 0o600)
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("round %d: a write after the cut: %v", round, err)
		}
		if err := d.Remount(t.Context()); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]int{synced: 1 << 20, half: 1 << 19, lost: 0} {
			got, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
			if !bytes.Equal(got, bytes.Repeat([]byte{'x'}, want)) {
				t.Errorf("round %d: %s has %d bytes after the cut, want %d",
					round, path, len(got), want)
			}
		}
		os.Remove(lost)
	}
}

func TestSyncKeepsAllFiles(t *testing.T) {
	d := made(t, 64<<20)
	path := filepath.Join(d.dir, "configuration")
	write(t, path, 1000, 0)
	remount := func() error { return d.Remount(t.Context()) }
	for _, step := range []func() error{d.Sync, d.Cut, remount} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || len(got) != 1000 {
		t.Errorf("%d bytes: %v", len(got), err)
	}
	if entries, err := os.ReadDir(d.dir); err != nil || len(entries) != 1 {
		t.Errorf("a new disk is not empty: %v: %v", entries, err)
	}
}

func TestFullDisk(t *testing.T) {
	d := made(t, 64<<20)
	path := filepath.Join(d.dir, "segment")
	for range 2 {
		if err := d.Fill(); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, make([]byte, 64<<10), 0o600)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("on a full disk: %v", err)
		}
		if err := d.Empty(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 32<<20), 0o600); err != nil {
			t.Errorf("on an emptied disk: %v", err)
		}
		os.Remove(path)
	}
	// A power cut soon after Empty does not fill the disk again.
	remount := func() error { return d.Remount(t.Context()) }
	for _, step := range []func() error{d.Fill, d.Sync, d.Empty, d.Cut, remount} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, make([]byte, 32<<20), 0o600); err != nil {
		t.Errorf("after a power cut: %v", err)
	}
	// Empty on a disk without ballast is no error.
	if err := d.Empty(); err != nil {
		t.Error(err)
	}
}

// syncTime returns how long all of the syncs take together, each after one written byte.
func syncTime(t *testing.T, d *Disk) time.Duration {
	t.Helper()
	f, err := os.Create(filepath.Join(d.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	began := time.Now()
	for range syncs {
		if _, err := f.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(began)
}

const (
	syncs = 20
	// slowSyncs is the least time of all syncs on a throttled disk. Each takes 100 ms,
	// but the first ones may pass at once.
	slowSyncs = 300 * time.Millisecond
)

func TestThrottle(t *testing.T) {
	if err := CheckThrottle(); err != nil {
		t.Skip(err)
	}
	d := made(t, 64<<20)
	device := deviceOf(t, d)
	for round := range 2 {
		before := syncTime(t, d)
		if err := d.Throttle(); err != nil {
			t.Fatal(err)
		}
		slow := syncTime(t, d)
		if slow < slowSyncs {
			t.Errorf("%d syncs take %s, and took %s before the disk was throttled",
				syncs, slow, before)
		}
		t.Logf("%d syncs took %s, and on the throttled disk %s", syncs, before, slow)
		if round == 0 {
			if err := d.Unthrottle(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		// A killed process leaves a disk throttled. Release removes the bound.
		if err := Release(filepath.Dir(d.dir)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := mounts()
	if err != nil {
		t.Fatal(err)
	}
	throttle, err := throttleOf(all)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(throttle)
	if err != nil || strings.Contains("\n"+string(raw), "\n"+device+" ") {
		t.Errorf("a bound of %s is left: %s%v", device, raw, err)
	}
}

func deviceOf(t *testing.T, d *Disk) string {
	t.Helper()
	all, err := mounts()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(m mounted) bool { return m.dir == d.dir })
	if at < 0 {
		t.Fatalf("%s is not mounted", d.dir)
	}
	return all[at].device
}

// Release unmounts what lies below a directory. It leaves the directory's own mount and
// mounts whose paths only share a prefix.
func TestReleaseOnlyWhatIsBelow(t *testing.T) {
	d := made(t, 64<<20)
	beside := filepath.Dir(d.dir)
	if err := Release(d.dir); err != nil { // the directory itself is the mount
		t.Fatal(err)
	}
	if err := Release(filepath.Join(beside, "n")); err != nil { // a prefix of n1
		t.Fatal(err)
	}
	if left := attached(t, d.dir); len(left) != 1 {
		t.Errorf("released what is not below: %v", left)
	}
}

func TestCheckTellsUsersWithoutRightsInASentence(t *testing.T) {
	base := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{asNobodyEnv + "=" + base}
	if os.Geteuid() == 0 {
		// That user may not read root's folders, so it gets the program as an open file.
		program, err := os.Open(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		cmd.Path, cmd.ExtraFiles = "/proc/self/fd/3", []*os.File{program}
		nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
	}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	want := "only root may mount a disk for each node: run plimsoll as root"
	if err != nil || string(out) != want {
		t.Errorf("printed %q: %v", out, err)
	}
}

func TestPathsAsTheKernelWritesThem(t *testing.T) {
	for raw, want := range map[string]string{
		`/a\040b\134c`: `/a b\c`, `/plain`: `/plain`, `/end\04`: `/end\04`, `/no\0xx`: `/no\0xx`,
	} {
		if got := unescape(raw); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestChecksThatWereKilledAreRemoved(t *testing.T) {
	d := made(t, 64<<20) // stands for a disk in use
	base := filepath.Dir(filepath.Dir(d.dir))
	recent, old := filepath.Join(base, checkName+"1"), filepath.Join(base, checkName+"2")
	for _, dir := range []string{recent, old} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
		if _, err := Make(t.Context(), image, mount, checkBytes); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	if err := Check(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	if left := attached(t, old); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if left := attached(t, recent); len(left) != 2 { // a mount and its loop device
		t.Errorf("a check that may still run has %v, want its mount and loop device", left)
	}
}
